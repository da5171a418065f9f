"""One colour for each method, in every figure: colours.yaml."""

import re
from collections.abc import Iterable
from pathlib import Path

from matplotlib.colors import to_hex, to_rgb

from seqcap.report.paper import read_yaml

# Of what belongs to no method; people's captions are grey.
BLACK, MUTED, PEOPLE = "#000000", "#8a8a8a", "#555555"
# Part of the code of every module that imports this one (`pipeline.code`).
DATA_FILES = "colours.yaml"
_METHODS: dict[str, list[str]] = read_yaml(Path(__file__).with_name("colours.yaml"), dict[str, list[str]])
_BY_LABEL = {label: colour for colour, labels in _METHODS.items() for label in labels}
_OF_OTHERS = re.compile(r"\*$| \(clips\)$")  # what other captioners and data add to a label
_SPARE = ("#F0E442", "#B15928", "#6A3D9A", "#33A02C")


def colour_of(label: str) -> str | None:
    """The colour of a method by its label, or by what stands before its settings; None without one."""
    method = _OF_OTHERS.sub("", label)
    return _BY_LABEL.get(method) or _BY_LABEL.get(_OF_OTHERS.sub("", re.split(r", | \| ", method)[0]))


def palette(labels: Iterable[str]) -> dict[str, str]:
    """A colour for every label; methods that colours.yaml does not have get spare ones."""
    colours = {label: colour_of(label) for label in labels}
    unknown = sorted(label for label, colour in colours.items() if colour is None)
    spare = {label: _SPARE[index % len(_SPARE)] for index, label in enumerate(unknown)}
    return {label: colour or spare[label] for label, colour in colours.items()}


def lighter(colour: str, share: float) -> str:
    """A colour, by a share on the way to white."""
    red, green, blue = (part + share * (1 - part) for part in to_rgb(colour))
    return to_hex((red, green, blue))
