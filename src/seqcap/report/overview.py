"""A table of many systems, as markdown from the lines of its CSV file, so that the first page can add columns."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seqcap.files.json_file import read_json
from seqcap.report.markdown import markdown_table

ACROSS = "across"  # the papers' objectives on one captioner: made like a paper, but of none

# Of a line: one system in one column. `pareto`: whether the system is on a front (FRONT) of this column and the first.
COLUMNS = [
    *("paper", "row", "run", "objective", "column", "direction"),
    *("ours", "ours_low", "ours_high", "n", "pareto"),
]
FRONT = "front"
READING = (
    "±: half of the 95% interval over training seeds and test images ({n}); rows share both, so a difference is surer "
    "than its two intervals look. Bold: the best of a column. "
    "◆: on the Pareto front of this column and the first (drawn below): no other row is better in one and as good in "
    "the other."
)
Lines = Sequence[Mapping[str, str]]
_MARK = " ◆"


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def overview(lines: Lines, more: Mapping[str, Mapping[str, str]] | None = None) -> list[str]:
    """The markdown of lines with `COLUMNS`. `more`: heading -> run -> text, further columns."""
    more = more or {}
    columns = {line["column"]: line["direction"] for line in lines if line["ours"]}
    best = {column: _best(lines, column, direction) for column, direction in columns.items() if direction}
    cells = {(line["run"], line["column"]): _text(line, best.get(line["column"])) for line in lines}
    arrows = {"higher": " ↑", "lower": " ↓"}
    matrix = [["", "", *(f"{name}{arrows.get(of, '')}" for name, of in columns.items()), *more]]
    for run, (paper, row) in {line["run"]: (line["paper"], line["row"]) for line in lines}.items():
        ours = [cells[run, column] for column in columns]
        matrix.append([paper, row, *ours, *(texts.get(run, "–") for texts in more.values())])
    counts = "; ".join(dict.fromkeys(line["n"] for line in lines if line["n"]))
    return [*markdown_table(matrix), "", READING.format(n=counts)]


def on_first_page(folder: Path, minutes: Mapping[str, float]) -> dict[str, Any]:
    """The table of `ACROSS` and its figure, from its folder; `minutes`: run -> what one seed's training took."""
    lines = read(folder / "tables/across.csv")
    figures = read_json(folder / "figures/figures.json")
    drawn = [{"name": name, **figures["figures"][name]} for name in figures["order"]]
    picture = next((figure for figure in drawn if "missing" not in figure), None)
    more = {"minutes": {run: f"{number:.1f}" for run, number in minutes.items()}}
    return {"table": overview(lines, more) if lines else [], "picture": picture}


def _best(lines: Lines, column: str, direction: str) -> float:
    """The best number of a column, as the table shows it."""
    shown = [round(float(line["ours"]), 1) for line in lines if line["column"] == column and line["ours"]]
    return min(shown) if direction == "lower" else max(shown)


def _text(line: Mapping[str, str], best: float | None) -> str:
    if not line["ours"]:
        return "–"
    value = float(line["ours"])
    text = f"{value:.1f}"
    if best is not None and round(value, 1) == best:
        text = f"__{text}__"
    if line["ours_low"] and line["direction"]:
        text += f" ±{(float(line['ours_high']) - float(line['ours_low'])) / 2:.1f}"
    return text + (_MARK if line["pareto"] == FRONT else "")
