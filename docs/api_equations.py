"""Shows the equations of docstrings, which are indented lines, as such: Markdown wants empty lines around them."""

from itertools import groupby
from typing import Any

from griffe import Extension, Object

SECTIONS = ("Args:", "Raises:", "Returns:", "Attributes:")


class Equations(Extension):
    """Sets equations in docstrings apart, as Markdown needs it."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = with_space(obj.docstring.value)


def with_space(text: str) -> str:
    """The text with an empty line before and after each run of indented lines, but for those of sections."""
    blocks = [(indented, list(lines)) for indented, lines in groupby(text.splitlines(), is_indented)]
    spaced = []
    before = ""
    for indented, lines in blocks:
        equation = indented and before not in SECTIONS
        spaced += ["", *lines, ""] if equation else lines
        before = lines[-1]
    return "\n".join(spaced)


def is_indented(line: str) -> bool:
    return line.startswith("    ")
