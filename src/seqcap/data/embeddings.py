"""Reads word embeddings in the order of a vocabulary. `seqcap.data.glove` makes them."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from seqcap.data.vocabulary import EOS, SPECIALS, Vocabulary
from seqcap.files.parquet import open_parquet, read_table
from seqcap.files.schemas import embeddings_schema

Floats = npt.NDArray[np.float32]


def read(path: str | Path, vocabulary: Vocabulary) -> Floats:
    """The vectors [V, dimension] of a vocabulary, float32; zeros for words without one. Of the specials only EOS can
    have one, as "<eos>"."""
    dimension = open_parquet(path).schema_arrow.field("vector").type.list_size
    table = read_table(path, embeddings_schema(dimension))
    words = table["word"].to_pylist()
    ids = {word: i for i, word in enumerate(vocabulary.words) if i >= len(SPECIALS) or i == EOS}
    rows = [row for row, word in enumerate(words) if word in ids]
    matrix: Floats = table["vector"].combine_chunks().flatten().to_numpy().reshape(len(words), -1)
    aligned = np.zeros((len(vocabulary), matrix.shape[1]), np.float32)
    aligned[[ids[words[row]] for row in rows]] = matrix[rows]
    return aligned
