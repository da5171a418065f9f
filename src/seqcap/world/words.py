"""The words of captions: the tables in words/*.yaml, and what follows from the English ones. Annotators choose among
English words by weight; the tables of the other languages translate these."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

DATA_FILES = "words/*.yaml"  # part of the code of every module that imports this one (`pipeline.code`)


def read(language: str) -> Mapping[str, Any]:
    """A language's tables. Random draws depend on the order of their entries."""
    tables: Mapping[str, Any] = YAML(typ="safe").load(Path(__file__).parent / f"words/{language}.yaml")
    return tables


ENGLISH = read("english")
# Garment -> who wears it.
GARMENTS: Mapping[str, frozenset[str]] = {
    garment: wearers
    for name, wearers in (
        ("shirts", frozenset({"man"})),
        ("dresses", frozenset({"woman"})),
        ("outfits", frozenset({"man", "woman"})),
    )
    for garment in (*ENGLISH[name], *ENGLISH[f"{name}_of_several"])
}
UNCOUNTED = frozenset(ENGLISH["uncounted"])
PEOPLE = frozenset({"man", "woman", "person"})
ANIMALS = frozenset({"dog", "cat", "bird", "animal"})
TIMES = frozenset({"snow", "night"})  # times of the day and year, which need a verb: "a cat is at night" is not said


def finite_form(participle: str, plural: bool) -> str | None:
    """ "runs around" for "running around"; None for "seated", which is only said with "is"."""
    first, _, rest = participle.partition(" ")
    return f"{ENGLISH['finite'][first][plural]} {rest}".strip() if first in ENGLISH["finite"] else None
