"""The table of every paper's objectives on one captioner: what its CSV file says, and its markdown."""

import csv
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Self

from seqcap.report.markdown import markdown_table
from seqcap.report.verdicts import LEAST_SEEDS

ACROSS = "across"  # the papers' objectives on one captioner: made like a paper, but of none
PEOPLE = "human"  # the run of people's captions
CROSS_ENTROPY = "cross_entropy"  # the objective that all others are compared with

# Columns of the table. Of the beam it is the best caption, of samples all of them.
CIDER, DISTINCT, LITERAL = "CIDEr, beam", "R@10 by the judge", "R@10 by the literal listener"
# By a retriever like the one that pays, with another random seed. The judge is of another kind.
TWIN = "R@10 by the twin"
TRUTH, PRECISION, RECALL = "true captions", "true precision, beam", "true recall, beam"
WORDS, SAMPLES, DIVERSITY = "words", "CIDEr, samples", "Div-2, samples"
BETTER, WORSE = "▲", "▼"  # clearly, than cross-entropy trained further
RECALL_OF_SAMPLES = "true recall, samples"
# How much more samples have than cross-entropy's at the temperature that makes those as diverse, by Div-2; and of
# which column that is.
MORE_CIDER, MORE_RECALL = (f"{of}, over cross-entropy's as diverse" for of in (SAMPLES, RECALL_OF_SAMPLES))
AS_DIVERSE = MappingProxyType({MORE_CIDER: SAMPLES, MORE_RECALL: RECALL_OF_SAMPLES})

# Of a line of the CSV file: one row in one column. `ahead_of`: the runs of which it is shown to be better in this
# column, separated by spaces.
FIELDS = [
    *("paper", "row", "run", "objective", "column", "direction"),
    *("ours", "ours_low", "ours_high", "n", "ahead_of"),
]
READING = (
    "±: half of the 95% interval over training seeds and test images ({n}). ▲ ▼: clearly better or worse than "
    "cross-entropy trained further. Bold: clearly better than every other objective. {clearly}"
)
PAIRED = (
    "*Clearly*: q < .05 of the paired difference (Benjamini and Hochberg), over a column's comparisons with "
    "cross-entropy or, of others, over all other pairs. Rows share seeds and images, so that their intervals alone do "
    "not tell."
)
ALONE = "A row in brackets has too few seeds to be compared with others."
APART = (
    "*Clearly*: the two 95% intervals do not overlap. This table is of older code, which kept no paired differences; "
    "they would tell more rows apart."
)


@dataclass(frozen=True)
class Level:
    """A number of a row, in points (x100; words as they are), with its 95% interval, if it has one."""

    value: float
    low: float | None
    high: float | None
    ahead_of: frozenset[str]

    @property
    def half(self) -> float | None:
        """Half of the interval's width."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


@dataclass(frozen=True)
class Row:
    """A run of the table across papers."""

    paper: str
    label: str
    run: str
    objective: str
    levels: Mapping[str, Level]  # column -> its number, where there is one
    seeds: int = 0  # training seeds; 0: it has none, or its numbers do not say
    is_compared: bool = True  # whether it has seeds enough to be told apart from others


@dataclass(frozen=True)
class Overview:
    """`paired`: whether rows are told apart by paired differences, else by intervals that do not overlap."""

    rows: Sequence[Row]
    directions: Mapping[str, str]  # column -> "higher" or "lower" is better, "" if neither
    n: str  # how many images and seeds
    paired: bool
    budget: str = ""  # what the training of one seed took

    @classmethod
    def of(cls, lines: Sequence[Mapping[str, str]]) -> Self:
        """From lines with `FIELDS`."""
        paired = all("ahead_of" in line for line in lines)
        known = [line for line in lines if line["ours"]]
        rows = []
        for run in dict.fromkeys(line["run"] for line in lines):
            first = next(line for line in lines if line["run"] == run)
            own = [line for line in known if line["run"] == run]
            levels = {line["column"]: _level(line, known, paired) for line in own}
            seeds = max(map(_seeds, own), default=0)
            is_compared = not (paired and 0 < seeds < LEAST_SEEDS)
            rows.append(Row(first["paper"], first["row"], run, first["objective"], levels, seeds, is_compared))
        directions = {line["column"]: line["direction"] for line in known}
        return cls(rows, directions, "; ".join(dict.fromkeys(line["n"] for line in known if "x" in line["n"])), paired)

    @classmethod
    def read(cls, path: Path) -> Self:
        """From a file. Older code called a twin the judge, and had no other."""
        with path.open(newline="", encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
        if all(line["column"] != TWIN for line in lines):
            lines = [line | {"column": TWIN} if line["column"] == DISTINCT else line for line in lines]
        return cls.of(lines)

    @property
    def baseline(self) -> Row | None:
        """Cross-entropy trained further, as the others are. The first row of it is where all start."""
        likelihood = [row for row in self.rows if row.objective == CROSS_ENTROPY]
        return likelihood[-1] if likelihood else None

    @property
    def objectives(self) -> list[Row]:
        """The rows of objectives that are compared, cross-entropy not among them."""
        trained = [row for row in self.rows if row.run != PEOPLE and row.is_compared]
        return [row for row in trained if row.objective != CROSS_ENTROPY]

    @property
    def distinct(self) -> str:
        """The column of R@10 by a retriever that pays nobody: the judge's or, without one, the twin's."""
        return DISTINCT if self.has(DISTINCT) else TWIN

    def has(self, column: str) -> bool:
        return any(column in row.levels for row in self.rows if row.run != PEOPLE)

    def is_ahead(self, row: Row, other: Row, column: str) -> bool:
        """Whether a row is shown to be better than another in a column."""
        return column in row.levels and other.run in row.levels[column].ahead_of

    def compared(self, left: str, right: str, column: str) -> str:
        """ "46.9 (PSST) against 61.2 (Luo et al. 2018), clearly worse": two runs in a column; "" where it lacks one."""
        sides = [row for run in (left, right) for row in self.rows if row.run == run and column in row.levels]
        if len(sides) < 2:
            return ""
        one, other = sides
        told = "clearly better" if self.is_ahead(one, other, column) else "not told apart"
        told = "clearly worse" if self.is_ahead(other, one, column) else told
        left, right = (f"{row.levels[column].value:.1f} ({row.label})" for row in sides)
        return f"{left} against {right}, {told}"

    def best(self, column: str, rows: Sequence[Row]) -> Row | None:
        measured = [row for row in rows if column in row.levels]
        sign = -1 if self.directions.get(column) == "lower" else 1
        return max(measured, key=lambda row: sign * row.levels[column].value, default=None)

    def close(self, best: Row, column: str) -> list[Row]:
        """The objectives, cross-entropy among them, that the best one of a column is not told apart from."""
        others = [*self.objectives, *([self.baseline] if self.baseline else [])]
        measured = [row for row in others if column in row.levels and row is not best]
        return [row for row in measured if not self.is_ahead(best, row, column)]

    def markdown(
        self, without: Collection[str] = (), more: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    ) -> list[str]:
        """`without`: columns that are left out. `more`: heading -> run -> text, further ones."""
        arrows = {"higher": " ↑", "lower": " ↓"}
        columns = [column for column in self.directions if column not in without]
        headings = [f"{column}{arrows.get(self.directions[column], '')}" for column in columns]
        matrix = [["", "", *headings, *more]]
        for row in self.rows:
            ours = [self._cell(row, column) for column in columns]
            label = row.label if row.is_compared else f"({row.label})"
            matrix.append([row.paper, label, *ours, *(texts.get(row.run, "–") for texts in more.values())])
        reading = READING.format(n=self.n, clearly=PAIRED if self.paired else APART)
        if not all(row.is_compared for row in self.rows):
            reading += f" {ALONE}"
        return [*markdown_table(matrix), "", reading]

    def _cell(self, row: Row, column: str) -> str:
        if column not in row.levels:
            return "–"
        level = row.levels[column]
        text = f"{level.value:.1f}"
        if row in self.objectives and self.directions[column] and not self.close(row, column):
            text = f"__{text}__"
        if level.half is not None and self.directions[column]:
            text += f" ±{level.half:.1f}"
        return text + self._mark(row, column)

    def beside_likelihood(self, row: Row, column: str) -> str:
        """ "CIDEr, beam 84.8 ▲ (73.8)": a row's number and, in brackets, cross-entropy's; "" where one lacks it."""
        base = self.baseline
        if base is None or column not in row.levels or column not in base.levels:
            return ""
        value, likelihood = row.levels[column].value, base.levels[column].value
        return f"{column} {value:.1f}{self._mark(row, column)} ({likelihood:.1f})"

    def _mark(self, row: Row, column: str) -> str:
        """Whether a row is clearly better or worse than cross-entropy that was trained further."""
        base = self.baseline
        if base is None or row is base or row.run == PEOPLE:
            return ""
        if self.is_ahead(row, base, column):
            return f" {BETTER}"
        return f" {WORSE}" if self.is_ahead(base, row, column) else ""


def _level(line: Mapping[str, str], lines: Sequence[Mapping[str, str]], paired: bool) -> Level:
    low, high = (float(line[name]) if line[name] else None for name in ("ours_low", "ours_high"))
    ahead = line["ahead_of"].split() if paired else [other["run"] for other in lines if _is_apart(line, other)]
    return Level(float(line["ours"]), low, high, frozenset(ahead))


def _seeds(line: Mapping[str, str]) -> int:
    """Of how many training seeds a number is; 0: of none, as what people say."""
    seeds = re.search(r"x (\d+) seed", line["n"])
    return int(seeds.group(1)) if seeds else 0


def _is_apart(line: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether a number is better than another of its column, and their intervals do not overlap."""
    if line["column"] != other["column"] or not (line["direction"] and line["ours_low"] and other["ours_low"]):
        return False
    if line["direction"] == "lower":
        return float(line["ours_high"]) < float(other["ours_low"])
    return float(line["ours_low"]) > float(other["ours_high"])
