"""Captions and the tuples they must give, one line for each rule of Schuster et al. and of SPICE."""

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from seqcap.errors import InputError
from seqcap.spice.cache import CachedParser
from seqcap.spice.parser import MAX_CHARACTERS, Parser, normalised

CAPTIONS = YAML(typ="safe").load(Path(__file__).with_name("captions.yaml").read_text(encoding="utf-8"))


def written(found: tuple[tuple[str, ...], ...]) -> set[str]:
    """As in captions.yaml."""
    return {(">" if len(words) == 3 else ".").join(words).replace(" ", "_") for words in found}


@pytest.fixture(scope="module")
def parses(uncached: CachedParser) -> dict[str, tuple[tuple[str, ...], ...]]:
    return uncached.parse(CAPTIONS)


@pytest.mark.parametrize("caption", CAPTIONS)
def test_tuples_of_a_caption(caption, parses):
    assert written(parses[caption]) == set(CAPTIONS[caption].split())
    assert len(set(parses[caption])) == len(parses[caption])


def test_lemmas_agree_between_forms(uncached):
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
def test_any_string_is_a_caption(caption, uncached):
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


def test_a_missing_model_is_one_line(monkeypatch):
    monkeypatch.setattr("seqcap.spice.parser.MODEL", "no_such_model")
    with pytest.raises(InputError, match=r"no_such_model: cannot be loaded .*; pip install") as raised:
        Parser()
    assert "\n" not in str(raised.value)


def test_other_processes_parse_alike(parser, monkeypatch, full):
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
