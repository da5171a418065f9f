"""The checker: the truth of single statements, ungrammatical captions, and every human caption."""

from __future__ import annotations

import time
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scenes_languages import english_words

from seqcap.world.captions import DETAILS, plan
from seqcap.world.checker import Verdict, check, recall_of_set
from seqcap.world.english import realise
from seqcap.world.graph import COLOURS, Scene, SceneObject, sample
from seqcap.world.words import ENGLISH, GARMENTS, finite_form


def thing(kind, colour, left, top, width, height, *, size="medium", texture="plain", action=None):
    return SceneObject(kind, colour, size, texture, action, left, top, width, height, False)


# A man waves on the left, next to a large sleeping dog; far to the right a kite flies over a car with a cat on it;
# the second, small dog stands in front of the first.
PARK = Scene(
    "meadow",
    (
        thing("man", "red", 10, 90, 40, 80, texture="striped", action="waving"),
        thing("dog", "black", 60, 120, 60, 50, size="large", action="sleeping"),
        thing("car", "blue", 160, 150, 90, 50),
        thing("cat", "white", 180, 112, 40, 40, action="sitting", texture="dotted"),
    ),
)
TWINS = Scene(
    "beach",
    (
        thing("dog", "red", 10, 180, 50, 40, action="running"),
        thing("dog", "red", 110, 180, 50, 40, action="running"),
        thing("dog", "green", 200, 180, 50, 40, action="sitting", size="small"),
        thing("kite", "yellow", 20, 40, 40, 70, action="flying"),
    ),
)
DEPTH = Scene(
    "night",
    (
        thing("woman", "purple", 100, 60, 40, 80, action="standing"),
        thing("boat", "orange", 90, 180, 80, 60),
    ),
)


def judge(text: str, scene: Scene = PARK) -> list[tuple[str, str, bool]]:
    return [(s.kind, s.text, s.true) for s in check(text.split(), scene).statements]


def truth(text: str, scene: Scene = PARK) -> tuple[int, int]:
    verdict = check(text.split(), scene)
    return sum(s.true for s in verdict.statements), len(verdict.statements)


@pytest.mark.parametrize(
    ("text", "scene", "expected"),
    [
        # what there is
        ("a man", PARK, (1, 1)),
        ("a woman", PARK, (0, 1)),
        ("a person", PARK, (1, 1)),
        ("an animal", PARK, (1, 1)),
        ("a picture of a guy", PARK, (1, 1)),
        ("the kitten", PARK, (1, 1)),
        # attributes
        ("a blue car", PARK, (2, 2)),
        ("a green car", PARK, (1, 2)),
        ("a green boat", PARK, (0, 2)),
        ("a large dog", PARK, (2, 2)),
        ("a tiny dog", PARK, (1, 2)),
        ("a big black puppy", PARK, (3, 3)),
        ("a spotted white cat", PARK, (3, 3)),
        ("a striped white cat", PARK, (2, 3)),
        ("a cat with spots", PARK, (2, 2)),
        ("a man in a striped red shirt", PARK, (3, 3)),
        ("a man wearing red", PARK, (2, 2)),
        ("a man dressed in blue", PARK, (1, 2)),
        ("a person in red clothes", PARK, (2, 2)),
        ("a person in a red dress", PARK, (0, 2)),
        ("a red blue man", PARK, (2, 3)),
        # synonyms and shades
        ("a crimson feline", PARK, (1, 2)),
        ("an ivory feline with polka dots", PARK, (3, 3)),
        ("a navy sedan", PARK, (2, 2)),
        ("a gentleman clad in scarlet", PARK, (2, 2)),
        ("a bloke sporting a streaked ruby jumper", PARK, (3, 3)),
        ("an individual in crimson attire", PARK, (2, 2)),
        ("a lady in a ruby gown", PARK, (0, 2)),
        # what says nothing that could be false
        ("the cute dog outside", PARK, (1, 1)),
        ("one happy man is waving cheerfully in the picture", PARK, (2, 2)),
        # actions
        ("a man says hello", PARK, (2, 2)),
        ("a dozing pooch and a seated kitty", PARK, (4, 4)),
        ("dogs sprint", TWINS, (3, 3)),
        ("a dog that is asleep", PARK, (2, 2)),
        ("a dog that is asleep", TWINS, (1, 2)),
        ("a man is waving", PARK, (2, 2)),
        ("a man waves", PARK, (2, 2)),
        ("a man walking", PARK, (1, 2)),
        ("a dog taking a nap", PARK, (2, 2)),
        ("a sleeping dog and a sitting cat", PARK, (4, 4)),
        ("a man and a dog are sleeping", PARK, (3, 4)),
        ("a man with a dog that is sleeping", PARK, (3, 3)),
        ("two dogs are running", TWINS, (3, 3)),
        ("dogs run", TWINS, (3, 3)),
        # backgrounds
        ("a man in the grass", PARK, (2, 2)),
        ("a man on the beach", PARK, (1, 2)),
        ("a meadow with a man waving", PARK, (3, 3)),
        ("a beach scene with a man", PARK, (1, 2)),
        ("under the stars a woman stands", DEPTH, (3, 3)),
        ("a man on a lawn", PARK, (2, 2)),
        ("a man downtown", PARK, (1, 2)),
        ("a man after dark", PARK, (1, 2)),
        ("a lady in the evening", DEPTH, (2, 2)),
        ("along the coast we see a dog", TWINS, (2, 2)),
        # the weather
        ("a man on a sunny day", PARK, (2, 2)),
        ("a man under the moon", PARK, (1, 2)),
        ("a man in the cold", PARK, (1, 2)),
        ("under the moon a woman stands", DEPTH, (3, 3)),
        # relations, each with its inverse and its opposite
        ("a man to the left of a dog", PARK, (3, 3)),
        ("a man to the right of a dog", PARK, (2, 3)),
        ("a dog is right of a man", PARK, (3, 3)),
        ("a man next to a dog", PARK, (3, 3)),
        ("a man beside a car", PARK, (2, 3)),
        ("a cat on top of a car", PARK, (3, 3)),
        ("a cat on a car", PARK, (3, 3)),
        ("a car on a cat", PARK, (2, 3)),
        ("a car under a cat", PARK, (3, 3)),
        ("a cat above a car", PARK, (3, 3)),
        ("a cat behind a car", PARK, (2, 3)),
        ("a car with a cat on top", PARK, (3, 3)),
        ("a man with a dog next to him", PARK, (3, 3)),
        ("a man with a dog on the right", PARK, (3, 3)),
        ("a man with a dog on the left", PARK, (2, 3)),
        ("next to a dog there is a man", PARK, (3, 3)),
        ("to the right of a dog is a man", PARK, (2, 3)),
        ("a woman behind a boat", DEPTH, (3, 3)),
        ("a woman in back of a boat", DEPTH, (3, 3)),
        ("a boat ahead of a woman", DEPTH, (3, 3)),
        ("a boat with a woman in the background", DEPTH, (3, 3)),
        ("a boat with a woman in the foreground", DEPTH, (2, 3)),
        ("a boat with a woman nearby", DEPTH, (2, 3)),
        ("a man with a dog alongside", PARK, (3, 3)),
        ("a man by a dog by the sea", PARK, (3, 4)),
        ("a cat atop a car", PARK, (3, 3)),
        ("a car underneath a cat", PARK, (3, 3)),
        ("a dog with a kite up above it", TWINS, (3, 3)),
        ("a boat in front of a woman", DEPTH, (3, 3)),
        ("a boat behind a woman", DEPTH, (2, 3)),
        ("a woman above a boat", DEPTH, (2, 3)),
        ("a kite over a dog", TWINS, (3, 3)),
        ("a dog below a kite", TWINS, (3, 3)),
        ("a dog behind a kite", TWINS, (2, 3)),
        # "is" goes back to the subject; a participle stays with the phrase before it
        ("a man next to a dog is waving", PARK, (4, 4)),
        ("a man next to a dog sleeping", PARK, (4, 4)),
        ("a man next to a dog is sleeping", PARK, (3, 4)),
        # numbers
        ("three dogs", TWINS, (2, 2)),
        ("two dogs", TWINS, (1, 2)),
        ("two red dogs", TWINS, (3, 3)),
        ("a couple of red dogs", TWINS, (3, 3)),
        ("three red dogs", TWINS, (2, 3)),
        ("two men", PARK, (1, 2)),
        ("dogs", TWINS, (2, 2)),
        ("men", PARK, (1, 2)),
        ("three animals", TWINS, (2, 2)),
    ],
)
def test_truth(text: str, scene: Scene, expected: tuple[int, int]) -> None:
    assert truth(text, scene) == expected, judge(text, scene)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("<unk>", [("unparsed", "<unk>", False)]),
        ("a man on a", [("object", "man", True), ("unparsed", "on a", False)]),
        ("a red", [("unparsed", "a red", False)]),
        ("a <unk> man <unk>", [("object", "man", True), ("unparsed", "a <unk>", False), ("unparsed", "<unk>", False)]),
        ("a man and", [("object", "man", True), ("unparsed", "and", False)]),
        ("and and a man", [("object", "man", True), ("unparsed", "and and", False)]),
        ("a man is", [("object", "man", True), ("unparsed", "is", False)]),
        ("is walking", [("unparsed", "is walking", False)]),
        ("man dog", [("object", "man", True), ("object", "dog", True)]),
        ("a picture of", [("unparsed", "a picture of", False)]),
        ("there is", [("unparsed", "there is", False)]),
        ("a man next to", [("object", "man", True), ("unparsed", "next to", False)]),
        ("a car in a red shirt", [("object", "car", True), ("unparsed", "in a red shirt", False)]),
        ("on top", [("unparsed", "on top", False)]),
        ("next to it", [("unparsed", "next to it", False)]),
        ("that is sleeping", [("unparsed", "that is sleeping", False)]),
        ("two", [("unparsed", "two", False)]),
        ("outside", [("unparsed", "outside", False)]),
        ("slowly a man", [("object", "man", True), ("unparsed", "slowly", False)]),
        ("with a", [("unparsed", "with a", False)]),
    ],
)
def test_ungrammatical(text: str, expected: list[tuple[str, str, bool]]) -> None:
    assert judge(text) == expected


def test_repeating_does_not_raise_precision() -> None:
    once = check(["a", "red", "car", "on", "the", "grass"], PARK)
    assert once.precision == pytest.approx(2 / 3)
    assert (
        check(["a", "red", "red", "car", "on", "the", "grass", "on", "the", "grass"], PARK).statements
        == once.statements
    )
    # A second phrase is a second thing.
    assert truth("a car and a car") == (1, 2)
    assert truth("a dog next to a dog") == (1, 3)
    assert truth("a man waving is waving and is waving") == (2, 2)
    # The same relation told from both ends.
    assert truth("a man with a dog next to him beside him") == (3, 3)


def test_one_object_for_one_phrase() -> None:
    # No dog is both green and running, so one of the two must be false; another phrase may fit another dog.
    assert truth("a green dog running", TWINS) == (2, 3)
    assert truth("a green dog sitting and a red dog running", TWINS) == (6, 6)
    assert truth("a red dog running and a small green dog", TWINS) == (6, 6)
    # The order of the phrases does not matter: the first must leave the only green dog to the second.
    assert truth("a dog and another green dog", TWINS) == (3, 3)


def test_facts() -> None:
    assert PARK.facts == {
        "background", "object:0", "object:1", "object:2", "object:3", "colour:0", "colour:1", "colour:2", "colour:3",
        "size:1", "texture:0", "texture:3", "action:0", "action:1", "action:3",
        "left_of:0:1", "left_of:0:2", "left_of:0:3", "left_of:1:2", "left_of:1:3", "next_to:0:1", "on:3:2",
    }  # fmt: skip
    verdict = check(["a", "black", "dog", "to", "the", "right", "of", "a", "man", "in", "the", "grass"], PARK)
    assert verdict.facts == {"background", "object:0", "object:1", "colour:1", "left_of:0:1"}
    assert verdict.total_facts == len(PARK.facts)
    assert verdict.recall == pytest.approx(5 / 22)
    # True, but it tells no fact: what kind of animal is left open, and "above" is less than "on".
    assert check(["an", "animal"], PARK).facts == frozenset()
    assert check(["a", "cat", "above", "a", "car"], PARK).facts == {"object:3", "object:2"}
    assert check(["three", "dogs"], TWINS).facts == {"object:0", "object:1", "object:2", "count:dog"}
    # The weather is true of several backgrounds.
    assert check(["a", "dog", "on", "a", "sunny", "day"], PARK).facts == {"object:1"}
    assert check(["a", "dog", "next", "to", "a", "man"], PARK).facts == {"object:0", "object:1", "next_to:0:1"}


def test_sets() -> None:
    verdicts = [check(text.split(), PARK) for text in ("a man", "a man waving", "a blue car", "a red car")]
    assert recall_of_set(verdicts) == pytest.approx(4 / 22)
    assert recall_of_set(verdicts[:1]) == pytest.approx(1 / 22)


def test_nothing_said() -> None:
    assert check([], PARK).precision == 0.0
    assert check([], PARK).recall == 0.0


def captions(count: int, wrong_colours: float, seed: int) -> list[tuple[Scene, list[str], Verdict]]:
    found = []
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        scene = sample(rng)
        for detail in DETAILS:
            tokens = realise(plan(scene, detail, wrong_colours, rng), rng)
            found.append((scene, tokens, check(tokens, scene)))
    return found


def test_human_captions_without_noise_are_true(full: bool) -> None:
    for scene, tokens, verdict in captions(1500 if full else 600, 0.0, 5):
        assert verdict.precision == 1.0, (scene, tokens, verdict)


def test_wrong_colours_are_judged() -> None:
    judged = captions(400, 1.0, 6)
    colours = [s for _, _, v in judged for s in v.statements if s.kind == "attribute" and s.text.split()[0] in COLOURS]
    # A wrong colour may be right of another object of the kind, but hardly ever is.
    assert len(colours) > 500
    assert np.mean([s.true for s in colours]) < 0.08
    others = [s for _, _, v in judged for s in v.statements if s.kind in ("object", "background")]
    assert all(s.true for s in others)


def test_human_captions_tell_a_third_of_the_facts() -> None:
    judged = captions(400, 0.05, 7)
    assert 0.97 < np.mean([v.precision for _, _, v in judged]) < 1.0
    generic, medium, detailed = (np.mean([v.recall for _, _, v in judged[i::3]]) for i in range(3))
    assert 0.2 < generic < medium < detailed < 0.7


@cache
def some_word() -> st.SearchStrategy[str]:
    said = {word for _, tokens, _ in captions(100, 0.05, 8) for word in tokens}
    return st.sampled_from(sorted(said | {"<unk>", "top", "it", "walks", "zebra"}))


@settings(max_examples=300, deadline=None)
@given(tokens=st.lists(st.deferred(lambda: some_word()), max_size=20), seed=st.integers(0, 1000))
def test_any_words_can_be_judged(tokens: list[str], seed: int) -> None:
    scene = sample(np.random.default_rng(seed))
    verdict = check(tokens, scene)
    assert verdict.facts <= scene.facts
    assert 0 <= verdict.precision <= 1
    assert (not verdict.statements) <= (not tokens)
    assert sum(s.kind == "unparsed" for s in verdict.statements) <= len(tokens)
    assert check(tokens, scene) == verdict


def test_every_synonym_is_understood() -> None:
    """Each word of the tables, put into a sentence, leaves nothing unparsed."""
    texts = [f"a {noun}" for pair in english_words("nouns") for noun in pair.split()]
    participles = english_words("participles", "bird_participles")
    texts += [f"a dog {phrase}" for phrase in participles]
    texts += [f"a {phrase} dog" for phrase in participles if phrase.isalpha()]
    forms = [finite_form(phrase, plural) for phrase in participles for plural in (False, True)]
    texts += [f"a dog {form}" for form in forms if form is not None]
    texts += [f"a person {manner} a {garment}" for manner in ENGLISH["manners_of_dress"] for garment in GARMENTS]
    for frame, *names in (
        ("a dog running {}", "manners"),
        ("a {} dog", "colours", "sizes", "person_sizes", "textures", "opinions"),
        ("a dog with {}", "marks"),
        ("a person {} red", "manners_of_colour"),
        ("{} a dog", "introductions", "there"),
        ("{} dogs", "numbers", "groups"),
        ("a dog {}", "outdoors", "pictures", "weather", "places", "places_below"),
        ("a dog {} a cat", "relations"),
        ("a dog with a cat {}", "self_relations"),
        ("{} with a dog", "settings"),
    ):
        texts += [frame.format(word) for word in english_words(*names)]
    assert len(texts) > 400
    for text in texts:
        assert not [s for s in check(text.split(), PARK).statements if s.kind == "unparsed"], text


def test_long_repetitions_stay_fast() -> None:
    begin = time.process_time()
    for text in ("dog " * 40, "dog left of " * 8 + "dog", "dogs " * 20, "red dog dog " * 10):
        assert truth(text, TWINS)[0] >= 2
    assert time.process_time() - begin < 2
