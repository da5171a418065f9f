"""Captions and the tuples they must give, one line for each rule of Schuster et al. and of SPICE."""

from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest

from seqcap.errors import InputError
from seqcap.spice.cache import CachedParser
from seqcap.spice.parser import MAX_CHARACTERS, Parser, normalised

# A tuple is written object.attribute or object>relation>object; underscores stand for spaces.
CAPTIONS = {
    # SPICE, figure 1.
    "a young girl standing on top of a tennis court": (
        "girl court girl.young girl.stand court.tennis girl>on_top_of>court"
    ),
    # Objects only, plurals, irregular forms.
    "two children": "child child.two",
    "men and women": "man woman",
    # Adjectives: before the noun, joined, after a copula, of a participle.
    "a black and white cat": "cat cat.black cat.white",
    "the sky is blue and cloudy": "sky sky.blue sky.cloudy",
    "a parked car": "car car.park",
    "the biggest dog": "dog dog.big",
    "a bowl full of food": "bowl food bowl.full bowl>of>food",
    # Verbs: with an object, without, joined, passive, with a particle.
    "a man rides a horse": "man horse man>ride>horse",
    "a man is riding horses": "man horse man>ride>horse",
    "a cat is laying down on a bed": "cat bed cat.lay cat>on>bed",
    "a man holding a racket and hitting a ball": "man racket ball man>hold>racket man>hit>ball",
    "a man and a woman are riding a bike": "man woman bike man>ride>bike woman>ride>bike",
    "the cake was cut by a woman": "cake woman woman>cut>cake",
    "a house surrounded by trees": "house tree tree>surround>house",
    "a car parked on the street": "car street car.park car>on>street",
    "a man throwing a frisbee to his dog": "man frisbee dog man>throw>frisbee man>to>dog man>have>dog",
    # Relative clauses.
    "a woman who is wearing a hat": "woman hat woman>wear>hat",
    "a dog that is on the beach": "dog beach dog>on>beach",
    "the horse that the man rides is white": "horse man horse.white man>ride>horse",
    # Copulas with a noun, and existentials.
    "a man is a doctor": "man doctor man>be>doctor",
    # Prepositions of one word and of several.
    "a bathroom with a sink and toilet": "bathroom sink toilet bathroom>with>sink bathroom>with>toilet",
    "a dog in front of a house": "dog house dog>in_front_of>house",
    "a dog to the left of a car": "dog car dog>to_left_of>car",
    "a dog jumping out of the water": "dog water dog.jump dog>out_of>water",
    "a cup in the middle of a table": "cup table cup>in_middle_of>table",
    # Quantifiers count, and are no objects.
    "a lot of people are walking": "people people.walk",
    "a couple of dogs to the right of a car": "dog car dog>to_right_of>car",
    "a group of people on the beach": "group people beach group>of>people people>on>beach",
    # Possessives and pronouns.
    "a man's hat": "man hat man>have>hat",
    "a boy is washing his dog": "boy dog boy>wash>dog boy>have>dog",
    "a table with a cake on it": "table cake table>with>cake cake>on>table",
    "a large house with a cat on top of it": "house cat house.large house>with>cat cat>on_top_of>house",
    # A pronoun without an antecedent stands for nothing.
    "it is raining": "",
    # Compounds: the last noun is the object.
    "a baseball player": "player player.baseball",
    # Capitals and punctuation.
    "A Dog, on a Couch!!!": "dog couch dog>on>couch",
}


def written(found: tuple[tuple[str, ...], ...]) -> set[str]:
    """As in `CAPTIONS`."""
    return {(">" if len(words) == 3 else ".").join(words).replace(" ", "_") for words in found}


@pytest.fixture(scope="module")
def parses(uncached: CachedParser) -> dict[str, tuple[tuple[str, ...], ...]]:
    return uncached.parse(CAPTIONS)


@pytest.mark.parametrize("caption", CAPTIONS)
def test_tuples_of_a_caption(caption: str, parses: dict[str, tuple[tuple[str, ...], ...]]) -> None:
    assert written(parses[caption]) == set(CAPTIONS[caption].split())
    assert len(set(parses[caption])) == len(parses[caption])


def test_lemmas_agree_between_forms(uncached: CachedParser) -> None:
    """spaCy's own lemmatizer gives "rid" for "riding" and "ride" for "rides"."""
    forms = {
        "ride": "a man riding a bike; a man rides a bike; a man rode a bike",
        "catch": "a man catching a ball; a man catches a ball; a man caught a ball",
    }
    for lemma, captions in forms.items():
        for tuples in uncached.parse(captions.split("; ")).values():
            assert [words[1] for words in tuples if len(words) == 3] == [lemma]
    words = {"buses": "bus", "boxes": "box", "bunches": "bunch", "leaves": "leaf", "clothes": "clothes", "men": "man"}
    for plural, lemma in words.items():
        caption = f"a picture of two big {plural}"
        assert (lemma, "big") in uncached.parse([caption])[caption]


# Captions and how many tuples they have, if that is certain.
ODD = {
    **dict.fromkeys(["", " ", "\n\0\t", "... !!! ?", "'s", "🙂🎉", "\ud800", "\u200b", "((((((((", "<unk> <unk>"]),
    **dict.fromkeys(["", " ", "\n\0\t", "... !!! ?", "🙂🎉", "\ud800", "\u200b", "of of of of in in to"], 0),
    "dog": 1,
    **dict.fromkeys(["dog\ndog", "a dog 🙂 on a\0couch", "a man " * 100, "x" * 100_000, "a dog on " * 20_000]),
    **dict.fromkeys(["собака на диване", "that that which who whose", "his her its their"]),
}


@pytest.mark.parametrize("caption", ODD, ids=lambda caption: repr(caption[:12]))
def test_any_string_is_a_caption(caption: str, uncached: CachedParser) -> None:
    tuples = uncached.parse([caption])[caption]
    assert ODD[caption] in (None, len(tuples))
    for words in tuples:
        assert 1 <= len(words) <= 3
        assert all(word and word.isprintable() for word in words)
        # Whatever is described or related is an object.
        assert {(words[0],), (words[-1] if len(words) == 3 else words[0],)} <= set(tuples)
    once = normalised(caption)
    assert normalised(once) == once
    assert len(once) <= MAX_CHARACTERS
    assert once.isprintable()


def test_a_missing_model_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seqcap.spice.parser.MODEL", "no_such_model")
    with pytest.raises(InputError, match=r"no_such_model: cannot be loaded .*; install") as raised:
        Parser()
    assert "\n" not in str(raised.value)


def test_other_processes_parse_alike(parser: Parser, monkeypatch: pytest.MonkeyPatch, full: bool) -> None:
    """One process parses three chunks; a second would say the same, and takes 5 seconds to start."""
    asked: list[int] = []

    def pool(workers: int, *arguments: Any) -> ProcessPoolExecutor:
        asked.append(workers)
        return ProcessPoolExecutor(workers if full else 1, *arguments)

    monkeypatch.setattr("seqcap.spice.parser.MANY", 4)
    monkeypatch.setattr("seqcap.spice.parser.CHUNK", 20)
    monkeypatch.setattr("seqcap.spice.parser.ProcessPoolExecutor", pool)
    monkeypatch.setattr(parser, "_processes", 2)
    captions = [normalised(caption) for caption in CAPTIONS]
    found = list(parser.parse(captions))
    assert asked == [2]
    monkeypatch.setattr(parser, "_processes", 1)
    assert found == list(parser.parse(captions))
