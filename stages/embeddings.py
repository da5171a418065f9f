"""Word embeddings of a task's vocabulary (of the target language), trained on its captions or read from a GloVe file:
`embeddings.py <task>` -> artifacts/words/<task>/embeddings.parquet."""

import sys

import pyarrow as pa
import pyarrow.compute as pc

from seqcap.config.data import EmbeddingsConfig
from seqcap.data.glove import coverage, read_text, train
from seqcap.data.vocabulary import Vocabulary
from seqcap.errors import one_line_errors
from seqcap.files.parquet import read_table, write_table
from seqcap.files.schemas import VOCABULARY
from seqcap.system.scratch import alone
from seqcap.tasks import ARTIFACTS, KINDS


def main(task: str) -> None:
    config = EmbeddingsConfig.read("embeddings", task)
    data, kind = ARTIFACTS / task / "data", KINDS[config.kind]
    vocabulary = Vocabulary.read(data / VOCABULARY)
    schema = pa.schema([("split", pa.string()), (kind.captions_column, pa.list_(pa.string()))])
    rows = read_table(data / f"{kind.captions_file}.parquet", schema)
    captions = rows.filter(pc.equal(rows["split"], "train"))[kind.captions_column]
    if config.source is None:
        table = train(captions, vocabulary, config.glove)
    else:
        table = read_text(config.source, vocabulary, config.glove.dimension)
    print(coverage(table, captions, vocabulary))
    write_table(ARTIFACTS / f"words/{task}/embeddings.parquet", table, table.schema)


if __name__ == "__main__":
    with one_line_errors(), alone(f"embeddings-{sys.argv[1]}"):
        main(sys.argv[1])
