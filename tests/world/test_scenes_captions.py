"""Plans and English sentences."""

from __future__ import annotations

import hashlib
import re
from collections import Counter

import numpy as np
import pytest

from seqcap.world.captions import DETAILS, Mention, Plan, plan
from seqcap.world.english import realise
from seqcap.world.graph import Scene, pick, sample
from seqcap.world.wording import MAX_WORDS
from seqcap.world.words import ENGLISH

OUTDOORS, PICTURES, WEATHER = (ENGLISH[name] for name in ("outdoors", "pictures", "weather"))


def write_captions(count: int) -> list[list[str]]:
    found = []
    for number in range(count):
        rng = np.random.default_rng([3, number])
        scene = sample(rng)
        found += [realise(plan(scene, pick(rng, DETAILS, (4, 4, 2)), 0.05, rng), rng) for _ in range(5)]
    return found


DIGEST = "c4df59601a3be17366682a8aa1b86d4e3ac02141c92a05b6cd9a2f2fcf8113ae"


@pytest.fixture(scope="module")
def captions() -> list[list[str]]:
    """As many as a captioner trains on by default."""
    return write_captions(2000)


def test_captions_are_the_same_on_every_machine(captions: list[list[str]]) -> None:
    """Committed results are built on them. Whoever changes scenes, plans or words on purpose changes the digest."""
    assert hashlib.sha256("\n".join(" ".join(tokens) for tokens in captions).encode()).hexdigest() == DIGEST


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
    assert 350 <= sum(count >= 5 for count in words.values()) <= 450
    assert 8 <= np.mean([len(tokens) for tokens in captions]) <= 10
    assert 0.93 < len({" ".join(tokens) for tokens in captions}) / len(captions) < 0.98


def _tables(value: object) -> list[dict[object, float]]:
    """The weights in a table of words, at any depth."""
    if not isinstance(value, dict) or not value:
        return []
    if all(isinstance(weight, int) for weight in value.values()):
        return [value]
    return [table for part in value.values() for table in _tables(part)]


def test_the_commonest_word_is_said_most_of_the_time() -> None:
    """As with people: synonyms are skewed, and the first of each table is the commonest."""
    tables = [table for name, value in ENGLISH.items() if name not in ("numbers", "groups") for table in _tables(value)]
    assert len(tables) > 60
    for table in tables:
        weights = list(table.values())
        assert weights[0] == max(weights), table
        assert weights[0] >= 0.25 * sum(weights), table


def test_synonyms_are_as_frequent_as_their_weights(captions: list[list[str]]) -> None:
    words = Counter(word for tokens in captions for word in tokens)
    for name in ("man", "woman", "dog", "house"):
        counts = [sum(words[form] for form in pair.split()) for pair in ENGLISH["nouns"][name]]
        share = counts[0] / sum(counts)
        assert 0.5 < share < 0.7, counts


def test_asides_fit_the_background_and_the_opening() -> None:
    seen = set()
    for number in range(400):
        text = " ".join(realise(Plan((MAN,), None, "snow"), np.random.default_rng(number)))
        said = {
            phrase
            for table in (OUTDOORS, PICTURES, *WEATHER.values())
            for phrase in table
            if f" {phrase} " in f" {text} "
        }
        seen |= said
        assert said <= {*OUTDOORS, *PICTURES, *WEATHER["snow"]}, text
        assert not said & set(PICTURES) or not text.startswith(tuple(ENGLISH["introductions"])), text
    assert seen == {*OUTDOORS, *PICTURES, *WEATHER["snow"]}


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
DOGS = Mention("dog", (1, 2), colour="white")


MEN, DOG_WORDS, ANIMALS = (
    {form for pair in ENGLISH["nouns"][name] for form in pair.split()} for name in ("man", "dog", "animal")
)


@pytest.mark.parametrize(
    ("what", "required"),
    [
        (Plan((MAN,), None, "beach"), [MEN, set(ENGLISH["colours"]["red"]), set(ENGLISH["person_sizes"]["large"])]),
        (Plan((DOGS,), None, None), [{"two", "couple", "pair"}, DOG_WORDS, set(ENGLISH["colours"]["white"])]),
        (Plan((MAN, DOGS), "behind", None), [MEN, DOG_WORDS, {"behind", "back", "background"}]),
        (
            Plan((DOGS, Mention("man", (0,))), "next_to", "night"),
            [
                {"next", "beside", "near", "by", "close", "alongside", "nearby"},
                {"night", "dark", "stars", "evening", "nighttime", "darkness"},
            ],
        ),
        (Plan((Mention("animal", (1,)), Mention("kite", (2,))), None, None), [ANIMALS, {"kite"}]),
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
        assert MEN & set(tokens)


def test_a_bare_mention_says_where() -> None:
    scene: Scene = sample(np.random.default_rng([9, 1]))
    for number in range(300):
        made = plan(scene, "generic", 0, np.random.default_rng(number))
        first = made.mentions[0]
        assert len(made.mentions) > 1 or first != Mention(first.noun, first.objects) or made.background is not None
