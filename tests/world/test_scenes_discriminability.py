"""Of how many scenes captions are true: always as `check` says of one scene after the other."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scenes_languages import table, written_scene

from seqcap.world.captions import DETAILS, HYPERNYMS, plan
from seqcap.world.checker import check
from seqcap.world.discriminability import Matcher
from seqcap.world.english import realise
from seqcap.world.graph import Kind, Scene, SceneObject, pick, sample
from seqcap.world.words import ENGLISH

Words = list[str]


@cache
def scenes() -> dict[int, Scene]:
    """Items that are no positions; a third of the scenes have objects of one kind and colour more than once."""
    found = [sample(np.random.default_rng([41, number])) for number in range(60)]
    twins: dict[Kind, Kind] = {"cat": "dog", "woman": "man", "tree": "ball", "car": "ball", "house": "ball"}
    found += [
        Scene(
            scene.background,
            tuple(replace(t, kind=twins.get(t.kind, t.kind), colour="red" if i != 1 else "blue") for i, t in things),
        )
        for scene in found[:30]
        for things in [list(enumerate(scene.objects))]
    ]
    return {7 * number + 3: scene for number, scene in enumerate(found)}


@cache
def said_by_people() -> list[Words]:
    captions = []
    for item, scene in scenes().items():
        rng = np.random.default_rng([42, item])
        captions += [realise(plan(scene, detail, 0.05, rng), rng) for detail in DETAILS for _ in range(2)]
    return captions


def broken(number: int) -> list[Words]:
    """People's captions with words lost, swapped for others, or put in between, and two captions run together."""
    rng = np.random.default_rng(43)
    captions = said_by_people()
    found = []
    for _ in range(number):
        words, other = list(pick(rng, captions)), pick(rng, captions)
        place = int(rng.integers(len(words)))
        change = int(rng.integers(5))
        if change == 0:
            del words[place]
        elif change == 1:
            words[place] = pick(rng, other)
        elif change == 2:
            words.insert(place, pick(rng, [*other, "<unk>"]))
        elif change == 3:
            words[place:] = other[int(rng.integers(len(other))) :]
        else:
            words += ["and", *other]
        found.append(words)
    return found


def composed(number: int) -> list[Words]:
    """Phrases of objects of one scene, some of them wrong, with the numbers, plurals and relations that people, who
    name each object once, seldom combine."""
    rng = np.random.default_rng(44)
    relations = [text for texts in ENGLISH["relations"].values() for text in texts]
    numbers = {1: "a", 2: "two", 3: "three", 4: "a group of four"}

    def phrase(thing: SceneObject, counts: Mapping[Kind, int]) -> str:
        wider = [name for name, kinds in HYPERNYMS.items() if thing.kind in kinds]
        noun = next(iter(ENGLISH["nouns"][pick(rng, [thing.kind, thing.kind, thing.kind, *wider])])).split()
        # Often right, often one of several.
        right = numbers[counts[thing.kind]]
        article = pick(rng, (right, right, right, right if right == "a" else "", "a", "a", "two", "three"))
        adjective = pick(rng, (thing.colour, thing.size, "red", "", "", "", ""))
        return f"{article} {adjective} {noun[article != 'a']}"

    def caption(scene: Scene) -> str:
        i, j = (int(number) for number in rng.integers(len(scene.objects), size=2))
        names = [name for name in scene.relations.get((i, j), ()) if name != "carries"]
        true = [text for name in names for text in ENGLISH["relations"][name]]
        text, other = (phrase(scene.objects[k], scene.counts) for k in (i, j))
        related = f" {pick(rng, [*true, pick(rng, relations)])} {other}"
        more = ("", "", "", f" {scene.objects[i].action}", " is sitting", f" and {text}", f" with {other} nearby")
        end = ("", "", "", " in the grass", " on a sunny day")
        return text + pick(rng, more) + pick(rng, ("", f" and {other}", related, related)) + pick(rng, end)

    return [caption(pick(rng, list(scenes().values()))).split() for _ in range(number)]


def brute_force(words: Words) -> frozenset[int]:
    return frozenset(item for item, scene in scenes().items() if check(words, scene).precision == 1)


def true_of(matcher: Matcher, words: Words) -> frozenset[int]:
    found = matcher._true_of(tuple(words))
    return frozenset(item for item, n in matcher._numbers.items() if found >> n & 1)


def compare(captions: Iterable[Words]) -> Counter[str]:
    """Compares every caption with brute force. Returns of how many captions, true of some scene, say what."""
    matcher = Matcher(scenes())
    seen: Counter[str] = Counter()
    for words in captions:
        expected = brute_force(words)
        assert true_of(matcher, words) == expected, " ".join(words)
        if expected:
            seen["true"] += 1
            seen["alone"] += len(expected) == 1
            seen.update({statement.kind for statement in check(words, scenes()[min(expected)]).statements})
    return seen


def test_what_people_say_is_true_of_the_scenes_that_the_checker_says():
    seen = compare(said_by_people())
    assert seen["alone"] > 200
    assert min(seen[kind] for kind in ("relation", "background", "attribute", "action", "count")) > 50


def test_broken_captions_are_true_of_the_scenes_that_the_checker_says(full):
    number = 500 if full else 250
    seen = compare(broken(number))
    assert 0.1 < seen["true"] / number < 0.8


def test_numbers_plurals_and_relations_among_many_of_a_kind(full):
    number = 800 if full else 400
    seen = compare(composed(number))
    assert min(seen[kind] for kind in ("alone", "relation", "count")) > number / 40


TEXTS = table("checker.yaml")
DOGS = {name: written_scene(scene) for name, scene in TEXTS["listeners_scenes"].items()}


@pytest.mark.parametrize(("text", "expected"), TEXTS["listener"].items())
def test_single_statements(text, expected):
    assert true_of(Matcher(DOGS), text.split()) == set(expected)
    assert {item for item, scene in DOGS.items() if check(text.split(), scene).precision == 1} == set(expected)


def test_measures():
    matcher = Matcher(DOGS)

    def measured(item: int, text: str) -> tuple[float, ...]:
        found = matcher.measures(item, text.split())
        names = ["true_of_own", "alone", "bits", "literal_R@1", "literal_R@5", "literal_R@10", "unparsed"]
        assert list(found) == names
        assert found["literal_R@5"] == found["literal_R@10"] == found["true_of_own"]
        return tuple(found[name] for name in ("true_of_own", "alone", "bits", "literal_R@1", "unparsed"))

    assert measured(2, "a dog") == pytest.approx((1, 0, math.log2(4 / 3), 1 / 3, 0))
    assert measured(2, "a dog and a ball") == pytest.approx((1, 0, 1, 1 / 2, 0))
    assert measured(9, "a dog in the cold") == pytest.approx((1, 1, 2, 1, 0))
    # True of one scene alone, but of another.
    assert measured(2, "a dog in the cold") == (0, 0, 0, 0, 0)
    assert measured(9, "zebra a dog on on in the cold zebra") == (0, 0, 0, 0, 3)
    assert measured(1, "") == (0, 0, 0, 0, 0)
    # Asked again, and of another scene.
    assert measured(5, "a dog") == measured(2, "a dog")


def test_a_literal_listener_guesses_among_what_is_true():
    """Twelve scenes with a dog: among the first 1, 5 and 10 of them."""
    scenes = {number: next(iter(DOGS.values())) for number in range(12)}
    found = Matcher(scenes).measures(3, ["a", "dog"])
    assert [found[f"literal_R@{k}"] for k in (1, 5, 10)] == pytest.approx([1 / 12, 5 / 12, 10 / 12])


@pytest.mark.parametrize("text", ["dog " * 40, "dog left of " * 8 + "dog", "red dog dog " * 10, "people " * 9])
def test_long_repetitions_end(text):
    """To try every choice of dogs would take for ever."""
    assert true_of(Matcher(DOGS), text.split()) == {
        item for item, scene in DOGS.items() if check(text.split(), scene).precision == 1
    }
