"""SPICE (spaCy) on ids: the metric's numbers, bounded memory, and ids that are no words."""

from functools import partial
from itertools import chain

import numpy as np
import pytest

from seqcap.data.vocabulary import EOS, PAD, Vocabulary
from seqcap.metrics.spice import spice
from seqcap.rewards import sequences
from seqcap.rewards.spice import SpiceReward
from seqcap.spice.cache import CachedParser

References = partial(sequences.References, eos=False)
REFERENCES = [
    ["a brown dog is sleeping on a couch", "a dog on a sofa"],
    ["two men are riding horses", "a man on a horse"],
    ["a red car next to a house", "an automobile near a big house"],
]
HYPOTHESES = ["a dog on a couch", "a man rides a horse", "a car near a house", "", "a a a", "a big red dog", "dog"]


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Vocabulary.build([text.split() for text in [*HYPOTHESES, *chain.from_iterable(REFERENCES)]], min_count=1)


def encoded(vocabulary: Vocabulary, texts: list[str], time: int = 10) -> np.ndarray:
    rows = np.full((len(texts), time), PAD)
    for row, text in zip(rows, texts, strict=True):
        ids = [*vocabulary.encode(text.split()), EOS]
        row[: len(ids)] = ids
    return rows


@pytest.fixture
def reward(vocabulary: Vocabulary, uncached: CachedParser) -> SpiceReward:
    ids = [[vocabulary.encode_reference(text.split()) for text in texts] for texts in REFERENCES]
    return SpiceReward(References(ids), vocabulary.words, uncached, remembered=5)


def test_the_reward_is_the_metric(reward, vocabulary, uncached):
    references = {i: [text.split() for text in texts] for i, texts in enumerate(REFERENCES)}
    pairs = [(image, text) for image in range(3) for text in HYPOTHESES]
    expected = spice(references, [(image, text.split()) for image, text in pairs], uncached)
    rows = encoded(vocabulary, [text for _, text in pairs])
    images = np.array([image for image, _ in pairs])
    scores = reward.score(rows, images)
    assert scores.dtype == np.float64
    np.testing.assert_array_equal(scores, expected)
    # Scored again (from memory, some of it forgotten), in another order, without EOS, with other words after it.
    order = np.random.default_rng(0).permutation(len(rows))
    np.testing.assert_array_equal(reward.score(rows[order], images[order]), expected[order])
    np.testing.assert_array_equal(reward.score(np.where(rows == EOS, PAD, rows), images), expected)
    rows[:, 7:] = np.where((rows == EOS).cumsum(axis=1)[:, 7:] > 0, 5, rows[:, 7:])
    np.testing.assert_array_equal(reward.score(rows, images), expected)
    assert 0 == scores.min() < scores.max() <= 1


def test_hypotheses_are_parsed_once_and_forgotten_in_turn(reward, vocabulary, monkeypatch):
    parsed: list[str] = []
    parse = CachedParser.parse

    def counted(self: CachedParser, texts: list[str]) -> object:
        parsed.extend(texts)
        return parse(self, parsed)

    monkeypatch.setattr(CachedParser, "parse", counted)

    def score(*texts: str) -> list[str]:
        parsed.clear()
        reward.score(encoded(vocabulary, list(texts)), np.zeros(len(texts), dtype=int))
        return parsed

    assert score("dog", "dog", "horse") == ["dog", "horse"]
    assert score("horse", "dog") == []
    # Room for five: the least recently seen goes first.
    assert score("car", "man", "house", "couch") == ["car", "man", "house", "couch"]
    assert score("dog") == []
    assert score("horse") == ["horse"]
    assert score(*(f"{word} {word}" for word in ["a", "dog", "man", "car", "house", "big", "red"])) != []
    assert len(reward._graphs) == 5


def test_unknown_words_never_match(uncached):
    words = ["<pad>", "<bos>", "<eos>", "<unk>", "a", "dog"]
    # A reference about a rare animal, and a hypothesis that says "<unk>".
    reward = SpiceReward(References([[[4, len(words)], [4, 65_535]]]), words, uncached)
    assert reward.score([[4, 3, EOS], [4, 5, EOS], [1, 1, 1]], [0, 0, 0]).tolist() == [0, 0, 0]
    reward = SpiceReward(References([[[4, len(words)], [4, 5]]]), words, uncached)
    assert reward.score([[4, 5, EOS]], [0]).tolist() == [2 / 3]
