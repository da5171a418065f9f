"""A retriever, trained on captions or read from a folder, and its recalls:
`retriever.py <name>` -> starts/retriever/<name>/{seed<k>.safetensors,curves.parquet,recalls.json}."""

import importlib
import sys
from pathlib import Path

from seqcap.config.retrieval import RetrieverConfig
from seqcap.errors import one_line_errors
from seqcap.files.json_file import write_json
from seqcap.files.parquet import write_rows
from seqcap.files.schemas import CURVES
from seqcap.system import machine
from seqcap.system.processes import start_server
from seqcap.system.scratch import alone


def main(name: str) -> None:
    config = RetrieverConfig.read("retriever", name)
    # By name: a retriever that is read does not depend on the code of training, nor the other way round.
    made_by = "seqcap.training.retrievers" if config.training is not None else f"seqcap.retrieval.{config.architecture}"
    if machine.workers() > 1 and len(config.seeds) > 1:
        # The server imports the same modules meanwhile.
        start_server(made_by)
    from seqcap.retrieval.recalls import recalls_per_seed

    curves = importlib.import_module(made_by).make(config)
    write_rows(Path(config.weights) / "curves.parquet", curves, CURVES)
    write_json(Path(config.weights) / "recalls.json", recalls_per_seed(config, machine.device()))


if __name__ == "__main__":
    with one_line_errors(), alone(f"retriever-{sys.argv[1]}"):
        main(sys.argv[1])
