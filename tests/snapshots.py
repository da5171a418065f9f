"""Pages of invented runs as committed text: `make snapshots` writes tests/papers/snapshots anew. Read the difference
before you commit it."""

import os
import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

FOLDER = Path(__file__).parent / "papers/snapshots"
RENEW = "SEQCAP_RENEW_SNAPSHOTS"
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def check(name: str, text: str) -> None:
    """Fails at the first line that differs from the committed text. Numbers may differ by one in their last digit:
    processors add in different orders."""
    path = FOLDER / name
    if os.environ.get(RENEW):
        path.write_text(text, encoding="utf-8")
    expected = path.read_text(encoding="utf-8").splitlines()
    for number, (line, wanted) in enumerate(zip_longest(text.splitlines(), expected), start=1):
        if not _alike(line, wanted):
            raise AssertionError(f"{name}, line {number}:\n  {wanted}\nis now\n  {line}\n`make snapshots` renews it")


def _alike(line: str | None, wanted: str | None) -> bool:
    if line is None or wanted is None or _NUMBER.sub("0", line) != _NUMBER.sub("0", wanted):
        return line == wanted
    pairs = zip(_NUMBER.findall(line), _NUMBER.findall(wanted), strict=True)
    return all(ours == theirs or _is_near(ours, theirs) for ours, theirs in pairs)


def _is_near(ours: str, theirs: str) -> bool:
    decimals = len(theirs.partition(".")[2])
    return decimals > 0 and abs(float(ours) - float(theirs)) < 1.5 * 10**-decimals


def in_words(figure: Figure) -> list[str]:
    """What a figure shows, as lines of text: words, axes, lines and bars with their values."""
    lines = [f"text: {text.get_text()!r}" for text in figure.texts]
    for axis in figure.axes:
        lines += ["axis: " + ", ".join(_named(axis)), *(f"  {line}" for line in _drawn(axis))]
    for legend in figure.legends:
        lines.append("legend: " + ", ".join(text.get_text() for text in legend.get_texts()))
    return lines


def _named(axis: Axes) -> Iterator[str]:
    values = {"title": axis.get_title("left"), "x": axis.get_xlabel(), "y": axis.get_ylabel()}
    yield from (f"{name} {value!r}" for name, value in values.items() if value)


def _drawn(axis: Axes) -> Iterator[str]:
    for line in axis.get_lines():
        own = str(line.get_label())
        label = "" if own.startswith("_") else f" {own!r}"
        look = f"{to_hex(line.get_color())} {line.get_linestyle()}{line.get_marker()}"
        yield f"line{label} {look}: {_values(line.get_xdata())}; {_values(line.get_ydata())}"
    for bar in axis.patches:
        yield f"bar {to_hex(bar.get_facecolor())}: {_values([getattr(bar, 'get_height', float)()])}"
    for bars in axis.collections:
        if isinstance(bars, LineCollection):
            ends = [value for segment in bars.get_segments() for value in np.asarray(segment).flat]
            yield f"bars: {_values(ends)}"
    for text in axis.texts:
        yield f"text: {text.get_text()!r}"
    legend = axis.get_legend()
    if legend is not None:
        yield "legend: " + ", ".join(text.get_text() for text in legend.get_texts())


def _values(numbers: object) -> str:
    """The first three and the last of some numbers, and how many there are."""
    values = np.asarray(numbers, dtype=float)
    shown = [f"{round(value, 9):z.4g}" if abs(value) >= 1 else f"{round(value, 9):z.3f}" for value in values]
    return " ".join(shown) if len(shown) <= 5 else f"{' '.join(shown[:3])} .. {shown[-1]} ({len(shown)})"
