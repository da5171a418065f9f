"""Tasks of sentences: sentences as ids, batches of similar length, words of subwords."""

import numpy as np
import pyarrow as pa
import pytest
from small_task import write_translation_task

from seqcap import tasks
from seqcap.data.vocabulary import EOS, PAD, SPECIALS, UNK, Vocabulary
from seqcap.errors import InputError
from seqcap.files.parquet import read_table
from seqcap.files.schemas import PAIRS
from seqcap.models.translator import Model
from seqcap.tasks.sentences import SentenceInputs, Sentences, SentenceSplit, SingleReferences

VOCABULARY = Vocabulary([*SPECIALS, "a", "b"])


def sentences(words, unknown=UNK):
    return Sentences.encode(pa.chunked_array([words[:2], words[2:]], pa.list_(pa.string())), VOCABULARY, unknown)


def test_sentences_are_the_vocabularys_ids():
    words = [["a", "b"], ["c"], ["<eos>", "a", "a"]]
    encoded = sentences(words)
    for i, row in enumerate(words):
        expected = [*VOCABULARY.encode(row), EOS]
        assert encoded.padded(np.array([i])).tolist() == [expected]
    assert encoded.padded(np.array([2, 0])).tolist() == [[UNK, 4, 4, EOS], [4, 5, EOS, PAD]]
    assert encoded.lengths.tolist() == [3, 2, 4]


def test_references_are_those_of_the_vocabulary():
    words = [["a", "b"], ["c", "a"]]
    references = SingleReferences(sentences(words, len(VOCABULARY)))
    assert list(references) == [[VOCABULARY.encode_reference(row)] for row in words]


def split_of(lengths):
    encoded = sentences([["a"] * length for length in lengths])
    ids = np.arange(len(lengths))
    return SentenceSplit(SentenceInputs(ids, encoded), SingleReferences(encoded), encoded, [], 30)


def test_batches_hold_sentences_of_similar_length_and_every_sentence_once():
    lengths = np.random.default_rng(0).integers(1, 20, 205)
    split = split_of(lengths)
    order = split.order(np.random.default_rng([1, 0]), 10)
    assert sorted(order) == list(range(205))
    assert (order == split.order(np.random.default_rng([1, 0]), 10)).all()
    assert (order != split.order(np.random.default_rng([1, 1]), 10)).any()
    spread = [np.ptp(lengths[order[i : i + 10]]) for i in range(0, 200, 10)]
    assert max(spread) <= 3
    # Short batches do not all come first.
    assert not (np.diff([lengths[order[i]] for i in range(0, 200, 10)]) >= 0).all()


def test_fewer_sentences_than_a_batch():
    assert sorted(split_of([3, 1, 2]).order(np.random.default_rng(0), 10)) == [0, 1, 2]


@pytest.fixture(params=[None, 12])
def task(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_translation_task(tmp_path, request.param)
    return tasks.load("sentences", "de_en", Model)


def test_words_are_those_of_the_reference(task):
    rows = read_table("artifacts/de_en/data/pairs.parquet", PAIRS).to_pylist()
    expected = [row["reference"] for row in rows if row["split"] == "test"]
    split = task.split("test", 20)
    assert [task.words(row) for row in split.captions(np.arange(len(split)))[:, 0].tolist()] == expected
    assert task.inputs("test").ids.tolist() == [row["item"] for row in rows if row["split"] == "test"]


def test_an_unknown_split_is_one_line(task):
    with pytest.raises(InputError, match="no pairs in split 'dev'"):
        task.inputs("dev")


def test_the_files_of_a_task_are_listed(task):
    names = [path.name for path in tasks.files("de_en")]
    assert {"pairs.parquet", "vocabulary.json", "source_vocabulary.json"} <= set(names)
    assert tasks.files("fr_en") == []
