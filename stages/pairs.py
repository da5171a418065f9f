"""A translation task's sentence pairs, vocabularies and subwords: `pairs.py <task>` -> artifacts/<task>/data/."""

import sys
from pathlib import Path

from seqcap.artifacts import read_json
from seqcap.data.pairs import Config, prepare
from seqcap.data.scenes.parallel import ParallelConfig, write_parallel
from seqcap.errors import one_line_errors


def main(task: str) -> None:
    config = read_json(f"configs/data_{task}.json")
    folder = Path("artifacts") / task / "data"
    corpus = Config(**config["corpus"])
    if config["parallel"] is not None:
        write_parallel(folder, ParallelConfig(**config["parallel"]), config["seed"], corpus.source, corpus.target)
    prepare(config["root"], corpus, folder)


if __name__ == "__main__":
    with one_line_errors():
        main(sys.argv[1])
