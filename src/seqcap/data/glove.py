"""Word embeddings: GloVe (Pennington, Socher & Manning, EMNLP 2014), trained on captions or read from its text files.

Both give a table of words and vectors (`schemas.embeddings_schema`). The end of a caption is the word "<eos>".
"""

from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from seqcap.config import Frozen
from seqcap.data.text import open_text
from seqcap.data.vocabulary import EOS, SPECIALS, Vocabulary
from seqcap.errors import InputError
from seqcap.files.schemas import embeddings_schema
from seqcap.system.compilation import compiled
from seqcap.system.progress import progress

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
EXPONENT = 0.75  # the exponent of the weighting function in all models of Pennington et al. (eq. 9)


class Glove(Frozen):
    """How GloVe is trained.
    Elbayad et al. 2018 train on the captions, with window 15 and 300 dimensions. They do not print the rest: x_max, the
    learning rate and the epochs are Pennington et al.'s (who take 50 epochs below 300 dimensions), with corpora a
    thousand times larger. With few captions, a smaller x_max gives more counts their full weight."""

    window: int = Field(15, ge=1, le=100)  # words to either side that count as context
    dimension: int = Field(300, ge=1, le=10_000)
    epochs: int = Field(100, ge=1)
    x_max: float = Field(100.0, gt=0)  # pairs with at least so many co-occurrences have full weight
    learning_rate: float = Field(0.05, gt=0, le=1)  # AdaGrad's
    seed: int = Field(0, ge=0, lt=2**31)


def train(captions: pa.Array | pa.ChunkedArray, vocabulary: Vocabulary, config: Glove) -> pa.Table:
    """Trains GloVe on captions, list<string> (Pennington et al., eqs. 8 and 9, section 4.2).

        sum_ij f(X_ij) (w_i . w~_j + b_i + b~_j - log X_ij)^2,   f(x) = min(1, (x / x_max)^.75)

    over the nonzero co-occurrences X, in random order by AdaGrad. As in their program, a word's vector is w + w~, and
    words outside the vocabulary are dropped before distances are measured. EOS ends every caption and is a word, too,
    because loss smoothing needs to know what it is similar to. The same machine gives the same vectors.

    Returns word and vector [dimension] for EOS and every word that occurs. An `InputError` if there is no word of the
    vocabulary, or the vectors diverge.
    """
    rows, columns, counts = cooccurrences(captions, vocabulary, config.window)
    if not len(counts):
        raise InputError("captions", "hold no word of the vocabulary", "check the training split")
    rng = np.random.default_rng(config.seed)
    size, dimension = len(vocabulary), config.dimension
    vectors = ((rng.random((2, size, dimension), np.float32) - 0.5) / dimension).astype(np.float32)
    biases = ((rng.random((2, size), np.float32) - 0.5) / dimension).astype(np.float32)
    squares = np.ones_like(vectors), np.ones_like(biases)
    logs = np.log(counts).astype(np.float32)
    weights = np.minimum(1, (counts / config.x_max) ** EXPONENT).astype(np.float32)
    for _ in progress(range(config.epochs), desc="GloVe", unit="epoch"):
        order = rng.permutation(len(counts))
        _epoch(rows, columns, logs, weights, order, vectors, biases, *squares, np.float32(config.learning_rate))
    if not np.isfinite(vectors).all():
        raise InputError("params.yaml", "embeddings.glove: vectors became NaN or infinite", "lower its learning_rate")
    trained = np.unique(rows)
    return _table([vocabulary.words[i] for i in trained], vectors.sum(0)[trained])


def cooccurrences(
    captions: pa.Array | pa.ChunkedArray, vocabulary: Vocabulary, window: int
) -> tuple[Ints, Ints, npt.NDArray[np.float64]]:
    """The nonzero X_ij, the sum of 1 / distance between i and j up to `window`, both ways, over all captions with EOS:
    i, j (ids of the vocabulary) and X_ij, each [nonzero], sorted by i, then j."""
    captions = pa.chunked_array([captions]) if isinstance(captions, pa.Array) else captions
    captions = captions.combine_chunks()
    values = pa.array(vocabulary.words[len(SPECIALS) :], pa.string())
    ids = pc.index_in(pc.list_flatten(captions), value_set=values)
    known = pc.is_valid(ids).to_numpy(zero_copy_only=False)
    words: Ints = pc.fill_null(ids, 0).to_numpy(zero_copy_only=False)[known].astype(np.int64) + len(SPECIALS)
    caption = pc.list_parent_indices(captions).to_numpy(zero_copy_only=False)[known]
    # EOS follows the last word of each caption.
    ends = np.searchsorted(caption, np.arange(len(captions)), side="right")
    words, caption = np.insert(words, ends, EOS), np.insert(caption, ends, np.arange(len(captions)))
    size = len(vocabulary)
    # One pass for each distance, so that only its pairs are in memory before they are counted.
    keys, counts = [], []
    for distance in range(1, window + 1):
        together = caption[distance:] == caption[:-distance]
        if not together.any():
            break
        pairs = (words[:-distance] * size + words[distance:])[together]
        key, count = np.unique(pairs, return_counts=True)
        keys += [key, key % size * size + key // size]
        counts += [count / distance] * 2
    if not keys:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    key, index = np.unique(np.concatenate(keys), return_inverse=True)
    total: npt.NDArray[np.float64] = np.bincount(index, np.concatenate(counts)).astype(np.float64)
    return key // size, key % size, total


# With sums in any order, the dot product can use the whole vector register.
@partial(compiled, fastmath={"reassoc", "contract"})
def _epoch(
    rows: Ints,
    columns: Ints,
    logs: Floats,
    weights: Floats,
    order: Ints,
    vectors: Floats,
    biases: Floats,
    vector_squares: Floats,
    bias_squares: Floats,
    learning_rate: np.float32,
) -> None:
    """One pass of AdaGrad over the co-occurrences. Axis 0 of vectors and biases: word, context."""
    dimension = vectors.shape[2]
    for k in order:
        i, j = rows[k], columns[k]
        word, context = vectors[0, i], vectors[1, j]
        word_squares, context_squares = vector_squares[0, i], vector_squares[1, j]
        product = np.float32(0)
        for d in range(dimension):
            product += word[d] * context[d]
        error = weights[k] * (product + biases[0, i] + biases[1, j] - logs[k])
        for d in range(dimension):
            word_gradient, context_gradient = error * context[d], error * word[d]
            word[d] -= learning_rate * word_gradient / np.sqrt(word_squares[d])
            context[d] -= learning_rate * context_gradient / np.sqrt(context_squares[d])
            word_squares[d] += word_gradient * word_gradient
            context_squares[d] += context_gradient * context_gradient
        biases[0, i] -= learning_rate * error / np.sqrt(bias_squares[0, i])
        biases[1, j] -= learning_rate * error / np.sqrt(bias_squares[1, j])
        bias_squares[0, i] += error * error
        bias_squares[1, j] += error * error


def read_text(path: str | Path, vocabulary: Vocabulary, dimension: int) -> pa.Table:
    """The vectors of a vocabulary's words from a text file like glove.6B.300d.txt, plain or gzipped: "word v1 v2 ...",
    with spaces or tabs. A first line with the numbers of words and values, as in word2vec's and fastText's files, is
    passed over.

    EOS has a vector if the file has a line "<eos>", which is rare. An `InputError` if a line has not `dimension` finite
    numbers, a word has two vectors, or no word of the vocabulary is there.
    """
    wanted = {word.encode(): word for word in [SPECIALS[EOS], *vocabulary.words[len(SPECIALS) :]]}
    vectors: dict[str, Floats] = {}
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            word, _, values = line.rstrip().replace(b"\t", b" ").partition(b" ")
            if number == 1 and word.isdigit() and values == b"%d" % dimension:
                continue
            # How long a line is, is checked of other words, too: a damaged file must not pass for a small one.
            count = values.count(b" ") + 1 if values else 0
            if count != dimension:
                fix = (
                    f"expected a word and {dimension} values (the configured dimension), between single spaces or tabs"
                )
                raise InputError(path, f"line {number} has {count} values", fix)
            key = wanted.get(word)
            if key is None:
                continue
            try:
                vector = np.array(values.split(b" "), dtype=np.bytes_).astype(np.float32)
            except ValueError:
                vector = np.zeros(0, np.float32)
            # Python, and so numpy, takes 1_0 for 10.
            if not len(vector) or b"_" in values:
                raise InputError(path, f"line {number} holds a value that is no number", "check the file")
            if not np.isfinite(vector).all():
                raise InputError(path, f"line {number} holds a value that is not finite", "check the file")
            if not np.array_equal(vectors.setdefault(key, vector), vector):
                problem = f"line {number}: {key!r} has another vector than before"
                raise InputError(path, problem, "keep one of the lines")
    if not vectors.keys() - {SPECIALS[EOS]}:
        raise InputError(path, "covers no word of the vocabulary", "use embeddings of the captions' language")
    return _table(list(vectors), np.stack(list(vectors.values())))


def coverage(table: pa.Table, captions: pa.Array | pa.ChunkedArray, vocabulary: Vocabulary) -> str:
    """One line: how many words of a vocabulary and of its captions have a vector, and whether EOS has one."""
    words = vocabulary.words[len(SPECIALS) :]
    ends = SPECIALS[EOS] in table["word"].to_pylist()
    tokens = pc.list_flatten(captions)
    spoken = pc.sum(pc.is_in(tokens, value_set=table["word"].combine_chunks())).as_py() or 0
    share = spoken / max(1, len(tokens))
    line = f"{len(table) - ends:,} of {len(words):,} words have a vector: {share:.1%} of the words in the captions"
    return line if ends else f"{line}; {SPECIALS[EOS]} has none, so token-level smoothing leaves endings as they are"


def _table(words: list[str], vectors: Floats) -> pa.Table:
    schema = embeddings_schema(vectors.shape[1])
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), type=schema.field("vector").type)
    return pa.Table.from_arrays([pa.array(words, pa.string()), column], schema=schema)
