"""METEOR on ids: equal to the plain Python beside it; metrics/test_meteor.py shows that it is equal to Java's."""

import gzip
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_meteor import best_statistics, corpus_score, score
from plain_rewards import rows

from seqcap.errors import InputError
from seqcap.files.parquet import read_table, write_table
from seqcap.files.schemas import PARAPHRASES
from seqcap.rewards import sequences
from seqcap.rewards.meteor import Lexicon, Meteor, meteor_from_statistics, summable
from seqcap.rewards.meteor_resources import filter_paraphrases, normalize, stems_of
from seqcap.spice.wordnet import wordnet

References = partial(sequences.References, eos=False)
SPECIALS = ["<pad>", "<bos>", "<eos>", "<unk>"]
# Stems, synonyms, function words, and phrases with paraphrases on both sides.
WORDS = ["a", "the", "of", "cat", "cats", "run", "running", "big", "large", "couple", "two", "t-shirt", "'s", "."]
PAIRS = [("a couple of", "two"), ("two", "a couple of"), ("couple", "two"), ("a", "the"), ("big cat", "large cats")]
PAIRS += [("the", "of the"), ("of", "the"), ("a big", "the large"), ("cat", "big cats"), ("of", "a couple")]

Captions = list[list[int]]


def pairs_table(pairs: list[tuple[str, str]]) -> pa.Table:
    return pa.table([[left for left, _ in pairs], [right for _, right in pairs]], schema=PARAPHRASES)


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return Lexicon([*SPECIALS, *WORDS], pairs_table(PAIRS))


def tokens(caption: list[int]) -> list[str | None]:
    """Tokens of a caption none of whose words end in a period; ids without a word are unknown."""
    known = 4 + len(WORDS)
    return [token for word in caption for token in (normalize(WORDS[word - 4]) if 4 <= word < known else [None])]


captions = st.lists(st.integers(3, 4 + len(WORDS)), max_size=12)


@settings(deadline=None, max_examples=150)
@given(st.lists(captions, min_size=1, max_size=3), st.lists(captions, min_size=1, max_size=4), st.randoms())
def test_any_captions_score_as_the_plain_reference_says(lexicon, references, hypotheses, shuffler):
    table = {pair: rank for rank, pair in enumerate(PAIRS)}
    image = np.zeros(len(hypotheses), dtype=np.int64)
    expected = [
        best_statistics(tokens(hypothesis), [tokens(reference) for reference in references], table)
        for hypothesis in hypotheses
    ]
    reward = Meteor(References([references]), lexicon)
    scores, statistics = reward.measure(rows(hypotheses), image)
    np.testing.assert_array_equal(statistics, summable(np.array(expected)))
    np.testing.assert_allclose(scores, [score(counts) for counts in expected], rtol=0, atol=1e-12)
    assert np.isfinite(scores).all()
    assert (scores >= 0).all()
    assert (scores <= 1).all()
    corpus = meteor_from_statistics(statistics.sum(axis=0))
    assert corpus == pytest.approx(corpus_score(expected), abs=1e-12)

    shuffler.shuffle(references)
    np.testing.assert_array_equal(Meteor(References([references]), lexicon).score(rows(hypotheses), image), scores)
    # Padding is not part of a caption.
    np.testing.assert_array_equal(reward.score(rows(hypotheses, time=30), image), scores)


def test_empty_and_long_captions_have_a_score(lexicon):
    reward = Meteor(References([[[4, 5]], [[], [6]], [[]]]), lexicon)
    assert reward.score(np.zeros((3, 3), dtype=np.int64), np.arange(3)).tolist() == [0, 0, 0]
    assert reward.score(np.zeros((1, 0), dtype=np.int64), np.array([2])).tolist() == [0]
    assert reward.score(np.zeros((0, 5), dtype=np.int64), np.zeros(0, dtype=np.int64)).shape == (0,)
    assert reward.score(rows([[6]]), np.array([1])).tolist() == [1]
    assert meteor_from_statistics(np.zeros(23)) == 0
    # More words than one machine word has bits.
    long = [[4, 7] * 100]
    assert Meteor(References([long]), lexicon).score(rows(long), np.array([0])).tolist() == [1]


def test_eos_is_no_token_and_unknown_words_match_nothing(lexicon):
    reward = Meteor(References([[[7, 8]], [[7, 3]], [[7, 60_000]]]), lexicon)
    scores = reward.score(np.array([[7, 8, 2], [7, 8, 0], [7, 3, 2], [7, 60_000, 2]]), np.array([0, 0, 1, 2]))
    assert scores[0] == scores[1] == 1
    assert 0 < scores[2] == scores[3] < 1


def test_paraphrases_are_filtered_and_cached(tmp_path):
    table = tmp_path / "paraphrase.gz"
    with gzip.open(table, "wt") as file:
        file.write("0.5\na cat\nthe cats\n0.1\na cat\na dog\n0.2\ncafé\ncat\n0.2\nt\nshirt\n0.1\na cat\ncat\n")
    found = filter_paraphrases(["a", "the", "cat", "cats", "café", "t-shirt", "ca"], table)
    expected = [("a cat", "the cats"), ("café", "cat"), ("t", "shirt"), ("a cat", "cat")]
    assert list(zip(*found.to_pydict().values(), strict=True)) == expected
    write_table(tmp_path / "found.parquet", found, PARAPHRASES)
    assert read_table(tmp_path / "found.parquet", PARAPHRASES).equals(found)
    # A table made for more words serves fewer.
    reward = Meteor(References([[[4]]]), Lexicon([*SPECIALS, "cat", "café"], found))
    assert 0 < reward.score(rows([[5]]), np.array([0]))[0] < 1
    assert filter_paraphrases(["zebra"], table).num_rows == 0


def test_words_are_split_stemmed_and_looked_up_as_java_does():
    assert normalize("A t-shirt's 3.5-m \u201cU.S.\u201d, can't bar-b-q...") == [
        *["a", "t", "shirt", "'s", "3.5", "m", '"', "us", '"', ",", "can", "'t", "bar", "b-q", "..."]
    ]
    # snowballstemmer 3 would answer "add".
    assert stems_of(["added", "riding"]) == ["ad", "ride"]
    synsets = wordnet().find_synsets
    assert synsets("lives") & synsets("life")
    assert synsets("bunches").isdisjoint(synsets("bunch"))


def test_wrong_input_is_named(lexicon, tmp_path):
    with pytest.raises(InputError, match="index 1"):
        Meteor(References([[[4]]]), lexicon).score(np.array([[4]]), np.array([1]))
    with pytest.raises(InputError, match=r"none\.gz"):
        filter_paraphrases(["a"], tmp_path / "none.gz")
