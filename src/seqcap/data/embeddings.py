"""Word embeddings lined up with a vocabulary. Where they come from: `seqcap.data.glove`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seqcap.data.vocabulary import EOS, SPECIALS, Vocabulary
from seqcap.errors import InputError
from seqcap.files.parquet import check_columns, open_parquet, read_table
from seqcap.files.schemas import embeddings_schema

Floats = npt.NDArray[np.float32]


def read(path: str | Path, vocabulary: Vocabulary) -> Floats:
    """The vectors of an embedding file, lined up with a vocabulary.

    Returns:
        [V, dimension] float32; zeros for what has no vector. Of the specials only EOS can have one, under its name in
        the vocabulary, "<eos>".

    Raises:
        InputError: the file is missing, damaged or of another layout, a word is there twice, a value is not finite, or
            no word of the vocabulary is in it.
    """
    fix = "delete it and run `dvc repro`"
    found = open_parquet(path).schema_arrow
    check_columns(path, found, ("word", "vector"))
    kind = found.field("vector").type
    if not pa.types.is_fixed_size_list(kind) or kind.list_size < 1:
        raise InputError(path, f"column 'vector' is {kind}", "expected a fixed-size list of float")
    table = read_table(path, embeddings_schema(kind.list_size))
    words, column = table["word"].to_pylist(), table["vector"].combine_chunks()
    values = column.flatten()
    if values.null_count:
        raise InputError(path, "has nulls", fix)
    ids = {word: i for i, word in enumerate(vocabulary.words) if i >= len(SPECIALS) or i == EOS}
    rows = [row for row, word in enumerate(words) if word in ids]
    if not {words[row] for row in rows} - {SPECIALS[EOS]}:
        raise InputError(path, "covers no word of the vocabulary", fix)
    if len(set(words)) < len(words):
        raise InputError(path, f"word {Counter(words).most_common(1)[0][0]!r} is there twice", fix)
    matrix: Floats = values.to_numpy().reshape(len(words), -1)
    finite = np.isfinite(matrix).all(1)
    if not finite.all():
        raise InputError(path, f"word {words[int(np.argmin(finite))]!r} has a value that is not finite", fix)
    aligned = np.zeros((len(vocabulary), matrix.shape[1]), np.float32)
    aligned[[ids[words[row]] for row in rows]] = matrix[rows]
    return aligned
