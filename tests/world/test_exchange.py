"""Captions with one fact exchanged: false by the checker, one phrase apart, and of every kind."""

import numpy as np
import pytest

from seqcap.world.checker import check
from seqcap.world.english import annotate
from seqcap.world.exchange import TABLES, exchange, exchanged_words
from seqcap.world.graph import sample


@pytest.fixture(scope="module")
def captions():
    """Scenes, and a caption of each, a few of them wrong."""
    rng = np.random.default_rng(0)
    scenes = [sample(rng) for _ in range(250)]
    return [(scene, annotate(scene, (1, 4, 5), 0.1, rng)) for scene in scenes]


def changed(words, other):
    """How many words at the start and at the end are the same, articles apart."""
    plain = [[word for word in caption if word not in ("a", "an")] for caption in (words, other)]
    shortest = min(map(len, plain))
    start = next((i for i in range(shortest) if plain[0][i] != plain[1][i]), shortest)
    end = next((i for i in range(shortest - start) if plain[0][-1 - i] != plain[1][-1 - i]), shortest - start)
    return start, len(plain[0]) - end


def test_each_is_false_and_says_as_much(captions):
    rng, kinds = np.random.default_rng(1), []
    for scene, words in captions:
        before = check(words, scene)
        found = exchange(words, scene, rng)
        assert not found or before.precision == 1
        for kind, other in found.items():
            after = check(other, scene)
            assert after.precision < 1
            assert len(after.statements) == len(before.statements)
            assert all(statement.kind != "unparsed" for statement in after.statements)
            start, end = changed(words, other)
            assert other != words
            assert end - start <= 5, (words, other)
            kinds.append(kind)
    assert {kind: kinds.count(kind) > 5 for kind in TABLES} == dict.fromkeys(TABLES, True)


def test_a_caption_that_is_wrong_is_not_exchanged(captions):
    wrong = [(scene, words) for scene, words in captions if check(words, scene).precision < 1]
    assert len(wrong) > 3
    assert [exchange(words, scene, np.random.default_rng(0)) for scene, words in wrong] == [{}] * len(wrong)


def test_articles_fit_the_new_word():
    rng, words = np.random.default_rng(0), ["a", "red", "ball"]
    found = {" ".join(other) for _ in range(40) for other in exchanged_words(words, TABLES["colour"], rng)}
    assert "an orange ball" in found
    assert all(said.startswith("an ") == (said.split()[1][0] in "aeiou") for said in found)
