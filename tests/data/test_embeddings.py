"""Word embeddings: what is counted, what is learnt, and what is wrong with files."""

import gzip
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from small_task import WORDS

from seqcap.data import glove
from seqcap.data.embeddings import read
from seqcap.data.glove import Glove, cooccurrences, coverage, read_text, train
from seqcap.data.vocabulary import EOS, SPECIALS, Vocabulary
from seqcap.errors import InputError
from seqcap.files.json_file import write_json
from seqcap.files.parquet import write_rows
from seqcap.files.schemas import embeddings_schema

ROOT = Path(__file__).parents[2]
COLOURS = ["red", "green", "blue", "white", "black"]
ANIMALS = ["dog", "cat", "bird", "horse", "cow"]
PLACES = ["beach", "street", "field", "park"]
SMALL = Glove(window=5, dimension=8, epochs=60, x_max=10, learning_rate=0.05, seed=1)


def captions() -> pa.Array:
    """Words of a kind are interchangeable; words of two kinds never are."""
    rng = np.random.default_rng(0)
    rows = [
        ["a", colour, animal, "on", "the", place]
        for colour, animal, place in product(COLOURS, ANIMALS, PLACES)
        if rng.random() < 0.8
    ]
    rows += [[animal, "runs", "past", "a", colour, "car"] for colour, animal in product(COLOURS, ANIMALS)]
    return pa.array(rows, pa.list_(pa.string()))


CAPTIONS = captions()
VOCABULARY = Vocabulary.build(CAPTIONS.to_pylist(), 1)


def vectors_by_word(table: pa.Table) -> dict[str, np.ndarray]:
    return dict(zip(table["word"].to_pylist(), map(np.array, table["vector"].to_pylist()), strict=True))


@pytest.mark.parametrize("window", [1, 2, 15])
def test_cooccurrences_are_those_of_a_loop(window):
    rows = [["a", "b", "a", "unseen", "c"], [], ["c"], ["unseen"], ["b", "a"], ["c", "c", "a", "b", "a"]]
    vocabulary = Vocabulary([*SPECIALS, "a", "b", "c"])
    expected = np.zeros((7, 7))
    for row in rows:
        ids = [*vocabulary.encode([word for word in row if word != "unseen"]), EOS]
        for i, j in product(range(len(ids)), repeat=2):
            if 0 < abs(i - j) <= window:
                expected[ids[i], ids[j]] += 1 / abs(i - j)
    column = pa.chunked_array([rows[:2], rows[2:]], pa.list_(pa.string()))
    i, j, counts = cooccurrences(column, vocabulary, window)
    actual = np.zeros((7, 7))
    actual[i, j] = counts
    np.testing.assert_allclose(actual, expected)
    assert len(counts) == (expected > 0).sum()
    # A column as a filter leaves it: a slice of a larger one.
    sliced = pa.array([["b", "b", "b"], *rows], pa.list_(pa.string()))[1:]
    np.testing.assert_allclose(cooccurrences(sliced, vocabulary, window)[2], counts)


def test_interchangeable_words_end_closer_than_others():
    vectors = vectors_by_word(train(CAPTIONS, VOCABULARY, SMALL))
    matrix = {word: vector / np.linalg.norm(vector) for word, vector in vectors.items()}
    kind_of = {word: kind for kind, words in enumerate((COLOURS, ANIMALS, PLACES)) for word in words}
    for word, kind in kind_of.items():
        similarity = {other: matrix[word] @ matrix[other] for other in kind_of if other != word}
        within = [value for other, value in similarity.items() if kind_of[other] == kind]
        across = [value for other, value in similarity.items() if kind_of[other] != kind]
        assert min(within) > max(across)


def test_one_update_is_adagrads():
    """One co-occurrence, written out: gradient f(X) (w.w~ + b + b~ - log X), divided by the root of past squares."""
    word, context = np.array([0.5, -0.25], np.float32), np.array([0.1, 0.4], np.float32)
    vectors = np.zeros((2, 2, 2), np.float32)
    vectors[0, 0], vectors[1, 1] = word, context
    biases = np.array([[0.2, 0], [0, -0.1]], np.float32)
    squares = np.full_like(vectors, 4), np.full_like(biases, 4)
    one = np.ones(1, np.int64)
    logs, weights = np.array([1.5], np.float32), np.array([0.3], np.float32)
    glove._epoch(one * 0, one, logs, weights, one * 0, vectors, biases, *squares, np.float32(0.1))
    error = 0.3 * (word @ context + 0.2 - 0.1 - 1.5)
    np.testing.assert_allclose(vectors[0, 0], word - 0.1 * error * context / 2, rtol=1e-5)
    np.testing.assert_allclose(vectors[1, 1], context - 0.1 * error * word / 2, rtol=1e-5)
    np.testing.assert_allclose(biases, [[0.2 - 0.1 * error / 2, 0], [0, -0.1 - 0.1 * error / 2]], rtol=1e-5)
    np.testing.assert_allclose(squares[0][0, 0], 4 + (error * context) ** 2, rtol=1e-5)
    np.testing.assert_allclose(squares[1][1, 1], 4 + error**2, rtol=1e-5)


def test_the_same_seed_gives_the_same_vectors():
    one, two = (train(CAPTIONS, VOCABULARY, SMALL) for _ in range(2))
    assert one.equals(two)
    assert not one.equals(train(CAPTIONS, VOCABULARY, SMALL.model_copy(update={"seed": 2})))


def test_words_that_do_not_occur_have_no_vector():
    column = pa.array([["alone"], ["red", "dog"]], pa.list_(pa.string()))
    table = train(column, Vocabulary([*SPECIALS, "alone", "cat", "dog", "red"]), SMALL)
    assert table["word"].to_pylist() == ["<eos>", "alone", "dog", "red"]


def test_vectors_are_lined_up_with_the_vocabulary(tmp_path):
    vocabulary = Vocabulary([*SPECIALS, "cat", "dog", "emu"])
    # Of the specials only EOS has a vector, whatever the file says.
    words = ["dog", "gnu", "<eos>", "cat", "<unk>"]
    vectors = [[1, 2], [3, 4], [9, 10], [5, 6], [7, 8]]
    rows = [{"word": word, "vector": vector} for word, vector in zip(words, vectors, strict=True)]
    write_rows(tmp_path / "e.parquet", rows, embeddings_schema(2))
    expected = [[0, 0], [0, 0], [9, 10], [0, 0], [5, 6], [1, 2], [0, 0]]
    matrix = read(tmp_path / "e.parquet", vocabulary)
    assert matrix.dtype == np.float32
    assert matrix.tolist() == expected


def test_what_cannot_be_learnt_is_one_line():
    with pytest.raises(InputError, match="no word of the vocabulary"):
        train(pa.array([["other"], []], pa.list_(pa.string())), VOCABULARY, SMALL)
    with pytest.raises(InputError, match=r"params\.yaml: embeddings\.glove: vectors became NaN or infinite"):
        train(CAPTIONS, VOCABULARY, SMALL.model_copy(update={"learning_rate": 1e30}))


TEXT = "the 0.1 -0.2 0.3\nred 1 2 3e-1\nzebra 4 5 6\ndog -1.5 0 2\n<unk> 9 9 9\nred 1 2 .3\nzebra 7 7 7\n"


@pytest.mark.parametrize("zipped", [False, True])
def test_text_files_are_read(tmp_path, zipped):
    path = tmp_path / ("glove.txt.gz" if zipped else "glove.txt")
    path.write_bytes(gzip.compress(TEXT.encode()) if zipped else TEXT.encode())
    vocabulary = Vocabulary([*SPECIALS, "dog", "red", "emu"])
    table = read_text(path, vocabulary, 3)
    expected = {"red": [1, 2, 0.3], "dog": [-1.5, 0, 2]}
    assert set(table["word"].to_pylist()) == set(expected)
    for word, vector in vectors_by_word(table).items():
        np.testing.assert_allclose(vector, expected[word], rtol=1e-6)
    assert table.schema.equals(embeddings_schema(3))
    spoken = pa.array([["red", "red", "emu"], ["dog"]], pa.list_(pa.string()))
    line = "2 of 3 words have a vector: 75.0% of the words in the captions"
    without = "; <eos> has none, so token-level smoothing leaves endings as they are"
    assert coverage(table, spoken, vocabulary) == line + without
    # A file may say how captions end.
    (tmp_path / "ended.txt").write_text(f"{TEXT}<eos> 3 2 1\n")
    table = read_text(tmp_path / "ended.txt", vocabulary, 3)
    assert vectors_by_word(table)["<eos>"].tolist() == [3, 2, 1]
    assert coverage(table, spoken, vocabulary) == line


@pytest.mark.parametrize("content", ["2 3\na 0.1 0.2 -0.3\nb 1 2 3\n", "a\t0.1\t0.2\t-0.3\nb\t1\t2\t3\n"])
def test_headers_and_tabs_of_other_programs_are_read(tmp_path, content):
    path = tmp_path / "vectors.txt"
    path.write_text(content)
    table = read_text(path, Vocabulary([*SPECIALS, "a", "b"]), 3)
    assert table["word"].to_pylist() == ["a", "b"]
    assert table["vector"].to_pylist()[1] == [1, 2, 3]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"red 1 2 3\ndog 1 2\n", "line 2 has 2 values; expected a word and 3 values"),
        (b"4 300\nred 1 2 3\n", "line 1 has 1 values"),
        (b"red 1 two 3\n", "line 1 holds a value that is no number"),
        (b"red 1 1_0 3\n", "line 1 holds a value that is no number"),
        (b"red 1 2 3\ndog 1 2 3\nred 1 2 4\n", "line 3: 'red' has another vector than before; keep one of the lines"),
        (b"red 1 nan 3\n", "line 1 holds a value that is not finite"),
        (b"zebra 1 2 3\n<eos> 1 2 3\n", "covers no word of the vocabulary"),
        (b"PAR1\x00\x00\x15\x04", "is not a text file"),
        (gzip.compress(TEXT.encode(), mtime=0)[:-12], "is damaged"),
        (gzip.compress(TEXT.encode(), mtime=0)[:30] + b"\xff" * 40, "is damaged"),
    ],
)
def test_what_is_no_such_text_is_one_line(tmp_path, content, problem):
    path = tmp_path / "glove.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=problem) as caught:
        read_text(path, VOCABULARY, 3)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_the_stage_trains_or_reads_pretrained_vectors(small_images, command):
    def stage(source=None, **changes):
        glove = {"window": 15, "dimension": 6, "epochs": 5, "x_max": 10, "learning_rate": 0.05, "seed": 0} | changes
        config = {"task": "image", "kind": "images", "glove": glove, "source": source, "fingerprint": {}, "code": {}}
        write_json(small_images / "configs/embeddings/image.json", config)
        return command("image", script=ROOT / "stages/embeddings.py")

    done = stage()
    assert done.returncode == 0, done.stderr
    assert "100.0% of the words" in done.stdout
    vocabulary = Vocabulary.read(small_images / "artifacts/image/data/vocabulary.json")
    matrix = read(small_images / "artifacts/words/image/embeddings.parquet", vocabulary)
    assert matrix[[EOS, *range(len(SPECIALS), len(vocabulary))]].any(1).all()
    lines = [" ".join([word, *map(str, np.arange(6) + i)]) for i, word in enumerate(WORDS)]
    (small_images / "glove.txt").write_text("\n".join(lines))
    done = stage(source="glove.txt")
    assert done.returncode == 0, done.stderr
    assert "6 of 9 words have a vector" in done.stdout
    done = stage(source="glove.txt", dimension=50)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "glove.txt: line 1 has 6 values" in done.stderr
