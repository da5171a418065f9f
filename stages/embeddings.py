"""Word embeddings of a task's vocabulary, trained on its training captions or read from a file of GloVe's:
`embeddings.py <task>` -> artifacts/<task>/embeddings.parquet. Of a translation task, those of the target language."""

import sys
from pathlib import Path

import pyarrow.compute as pc

from seqcap.artifacts import LANGUAGES, PAIRS, REFERENCES, read_json, read_table, write_table
from seqcap.data.vocabulary import Vocabulary
from seqcap.embeddings import Config, coverage, read_text, train
from seqcap.errors import one_line_errors


def main(task: str) -> None:
    folder = Path("artifacts") / task
    config = read_json(f"configs/embeddings_{task}.json")
    glove = Config(**{name: config[name] for name in Config.model_fields})
    vocabulary = Vocabulary.read(folder / "data/vocabulary.json")
    file, schema, column = ("pairs", PAIRS, "target") if task in LANGUAGES else ("references", REFERENCES, "tokens")
    rows = read_table(folder / f"data/{file}.parquet", schema)
    captions = rows.filter(pc.equal(rows["split"], "train"))[column]
    if config["source"] is None:
        table = train(captions, vocabulary, glove)
    else:
        table = read_text(config["source"], vocabulary, glove.dimension)
    print(coverage(table, captions, vocabulary))
    write_table(folder / "embeddings.parquet", table, table.schema)


if __name__ == "__main__":
    with one_line_errors():
        main(sys.argv[1])
