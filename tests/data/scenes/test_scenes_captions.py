"""Plans and English sentences."""

from __future__ import annotations

import hashlib
import re
from collections import Counter

import numpy as np
import pytest

from seqcap.data.scenes.captions import DETAILS, Mention, Plan, plan
from seqcap.data.scenes.english import MAX_WORDS, realise
from seqcap.data.scenes.graph import Scene, pick, sample


def write_captions(count: int) -> list[list[str]]:
    found = []
    for number in range(count):
        rng = np.random.default_rng([3, number])
        scene = sample(rng)
        found += [realise(plan(scene, pick(rng, DETAILS, (4, 4, 2)), 0.05, rng), rng) for _ in range(5)]
    return found


# By their number: what they are, and how many of them are different, at least and at most.
DIGESTS = {
    2_500: "155a0a17abfba63682c25de9962521e8fc88ff31f26162b7558c9bef3ca4b265",
    10_000: "03527f53c60e3e37b3f026feb6921b72cad465ba9060b6d7dd545d84447ccfaa",
}
DIFFERENT = {2_500: (0.9, 0.97), 10_000: (0.75, 0.92)}


@pytest.fixture(scope="module")
def captions(full: bool) -> list[list[str]]:
    return write_captions(2000 if full else 500)


def test_english_captions_are_what_they_were(captions: list[list[str]]) -> None:
    """Committed results are built on them: sharing the wording with other languages must not change a word."""
    digest = hashlib.sha256("\n".join(" ".join(tokens) for tokens in captions).encode()).hexdigest()
    assert digest == DIGESTS[len(captions)]


def test_words_are_plain(captions: list[list[str]]) -> None:
    for tokens in captions:
        assert 2 <= len(tokens) <= MAX_WORDS
        assert all(re.fullmatch("[a-z]+", word) for word in tokens), tokens
        for word, following in zip(tokens, [*tokens[1:], "end"], strict=True):
            assert word != "an" or following[0] in "aeiou", tokens
            assert word != "a" or following[0] not in "aeiou", tokens
            assert word != following, tokens


def test_vocabulary_and_length(captions: list[list[str]]) -> None:
    words = Counter(word for tokens in captions for word in tokens)
    assert 120 <= sum(count >= 5 for count in words.values()) <= 180
    assert 8 <= np.mean([len(tokens) for tokens in captions]) <= 9.5
    least, most = DIFFERENT[len(captions)]
    assert least < len({" ".join(tokens) for tokens in captions}) / len(captions) < most


def test_detail() -> None:
    lengths = []
    for detail in DETAILS:
        words = 0
        for number in range(200):
            rng = np.random.default_rng([4, number])
            words += len(realise(plan(sample(rng), detail, 0, rng), rng))
        lengths.append(words / 200)
    assert lengths[0] + 1 < lengths[1] < lengths[2] - 1


def told_colours(wrong: float, count: int) -> list[bool]:
    right = []
    for number in range(count):
        rng = np.random.default_rng([5, number])
        scene = sample(rng)
        for mention in plan(scene, "detailed", wrong, rng).mentions:
            if mention.colour is not None:
                right.append(mention.colour == scene.objects[mention.objects[0]].colour)
    return right


def test_wrong_colours() -> None:
    assert all(told_colours(0.0, 200))
    assert not any(told_colours(1.0, 200))
    assert 0.03 < 1 - np.mean(told_colours(0.05, 1000)) < 0.07


MAN = Mention("man", (0,), colour="red", size="large", action="walking")
NIGHT = {"night", "dark", "stars"}
DOGS = Mention("dog", (1, 2), colour="white")


@pytest.mark.parametrize(
    ("what", "required"),
    [
        (Plan((MAN,), None, "beach"), [{"man", "guy"}, {"red"}, {"tall", "big", "large"}]),
        (Plan((DOGS,), None, None), [{"two", "couple", "pair"}, {"dogs", "puppies"}, {"white"}]),
        (Plan((MAN, DOGS), "behind", None), [{"man", "guy"}, {"dogs", "puppies"}, {"behind"}]),
        (
            Plan((DOGS, Mention("man", (0,))), "next_to", "night"),
            [{"next", "beside", "near", "close"}, {"night", "dark", "stars"}],
        ),
        (Plan((Mention("animal", (1,)), Mention("kite", (2,))), None, None), [{"animal"}, {"kite"}]),
    ],
)
def test_what_is_planned_is_told(what: Plan, required: list[set[str]]) -> None:
    seen = set()
    for number in range(40):
        tokens = realise(what, np.random.default_rng(number))
        seen.add(" ".join(tokens))
        for words in required:
            assert words & set(tokens), tokens
    assert len(seen) > 3


def test_long_plans_are_cut() -> None:
    mentions = tuple(
        Mention(noun, (i,), "yellow", "large", "striped", "sitting") for i, noun in enumerate(("man", "woman", "cat"))
    )
    for number in range(200):
        tokens = realise(Plan(mentions, "left_of", "desert"), np.random.default_rng(number))
        assert len(tokens) <= MAX_WORDS
        assert {"man", "guy"} & set(tokens)


def test_a_bare_mention_says_where() -> None:
    scene: Scene = sample(np.random.default_rng([9, 1]))
    for number in range(300):
        made = plan(scene, "generic", 0, np.random.default_rng(number))
        first = made.mentions[0]
        assert len(made.mentions) > 1 or first != Mention(first.noun, first.objects) or made.background is not None
