"""Tables with our numbers beside the published ones, as CSV for machines and markdown for readers.

To find where a number comes from: a paper's `ROWS` say which run and decoder make a row, its columns which metric
over which captions, and `estimate` how the value and its interval are computed.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from seqcap import artifacts
from seqcap.config.report import ReportedRun
from seqcap.errors import InputError
from seqcap.metrics import registry
from seqcap.reporting import REPORTS, published, statistics
from seqcap.reporting.inputs import HUMAN, Run
from seqcap.reporting.markdown import letters, markdown_table
from seqcap.reporting.papers import Captions, Columns, Rows

COLUMNS = ["block", "row", "column", "direction", "paper", "ours", "ours_low", "ours_high", "n", "note"]

# Which way a column is better, as an arrow; none where neither is.
_ARROWS = {"higher": "↑", "lower": "↓", "": ""}
SEEDS = "the lowest and the highest seed"
HUMAN_LABEL = "human captions"


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95% interval, in the metric's own scale; `remarks` say what a reader must know."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cell:
    """One cell of a table.

    Attributes:
        printed: the paper's number; "" where it has none.
        scale: multiplies our numbers into the printed scale.
        decimals: of our numbers in the CSV file.
        data: what was captioned.
    """

    block: str
    row: str
    column: str
    direction: str
    printed: str
    ours: Estimate
    scale: float
    decimals: int
    data: str

    @classmethod
    def of(cls, metric: str, block: str, row: str, column: str, ours: Estimate, data: str, printed: str = "") -> Cell:
        """A cell in the scale of our own tables, as the registry describes the metric."""
        known = registry.find(metric)
        decimals = known.digits(known.scale)
        return cls(block, row, column, known.direction, printed, ours, known.scale, decimals, data)

    @property
    def note(self) -> str:
        common = (self.data,) if self.ours.value is not None else ()
        return "; ".join((*common, *self.ours.remarks))

    def remarked(self, *remarks: str) -> Cell:
        """The cell with more remarks."""
        return replace(self, ours=replace(self.ours, remarks=(*self.ours.remarks, *remarks)))

    def number(self, value: float | None) -> str:
        """A number in the printed scale, or nothing."""
        return "" if value is None else f"{value * self.scale:.{self.decimals}f}"

    def record(self) -> list[str]:
        """The cell's line in the CSV file, in the order of `COLUMNS`."""
        ours = self.ours
        numbers = [self.number(ours.value), self.number(ours.low), self.number(ours.high)]
        return [self.block, self.row, self.column, self.direction, self.printed, *numbers, ours.n, self.note]

    def short(self) -> str:
        """Our number with its interval, for readers."""
        ours, decimals = self.ours, max(0, self.decimals - 1)
        if ours.value is None:
            return "–"
        if ours.low is None or ours.high is None:
            return f"{ours.value * self.scale:.{decimals}f}"
        value, low, high = (number * self.scale for number in (ours.value, ours.low, ours.high))
        return f"{value:.{decimals}f} [{low:.{decimals}f}, {high:.{decimals}f}]"


@dataclass(frozen=True)
class Table:
    """A table of the report: `reading` tells how to read it, `brackets` what [ ] hold."""

    title: str
    reading: str
    cells: list[Cell]
    brackets: str = "95% bootstrap interval of the mean over test images"

    def write(self, name: str, folder: Path) -> None:
        """Writes <name>.csv and <name>.md."""
        with (
            artifacts.atomic(folder / f"{name}.csv") as path,
            path.open("w", newline="", encoding="utf-8") as file,
        ):
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(cell.record() for cell in self.cells)
            if not self.cells:
                writer.writerow([""] * (len(COLUMNS) - 1) + [self.reading])
        with artifacts.atomic(folder / f"{name}.md") as path:
            path.write_text(self.markdown(), encoding="utf-8")

    def markdown(self) -> str:
        """Rows by columns; remarks become lettered notes below the matrix."""
        lines = [f"## {self.title}", "", self.reading, ""]
        if not self.cells:
            return "\n".join(lines)
        columns = list(dict.fromkeys(cell.column for cell in self.cells))
        directions = {cell.column: cell.direction for cell in self.cells}
        with_paper = any(cell.printed for cell in self.cells)
        with_block = len({cell.block for cell in self.cells}) > 1
        header = ["block", "row"] if with_block else ["row"]
        for column in columns:
            name = f"{column} {_ARROWS[directions[column]]}".rstrip()
            header += ([f"{name} paper"] if with_paper else []) + [f"{name} ours"]
        matrix = [[*header, "n"]]
        notes: dict[str, str] = {}
        rows: dict[tuple[str, str], dict[str, Cell]] = {}
        for cell in self.cells:
            rows.setdefault((cell.block, cell.row), {})[cell.column] = cell
        for (block, row), cells in rows.items():
            line = [block, row] if with_block else [row]
            for column in columns:
                cell = cells[column]
                marks = [notes.setdefault(remark, letters(len(notes))) for remark in cell.ours.remarks]
                mark = f" ({','.join(marks)})" if marks else ""
                line += ([cell.printed or "–"] if with_paper else []) + [cell.short() + mark]
            # Corpus metrics have fewer (seeds only): their remark says so.
            matrix.append([*line, max((cell.ours.n for cell in cells.values()), key=len) or "–"])
        lines += markdown_table(matrix)
        data = "; ".join(dict.fromkeys(cell.data for cell in self.cells))
        brackets = f"[ ]: {self.brackets}. " if any(cell.ours.low is not None for cell in self.cells) else ""
        lines += ["", f"{brackets}–: no number. Data: {data}.", ""]
        lines += [f"- ({mark}) {remark}" for remark, mark in notes.items()]
        return "\n".join(lines) + "\n"


def write_tables(run: Run, tables: Mapping[str, Callable[[Run], Table]], folder: Path | None = None) -> None:
    """Writes every table of a paper, and tables.json: their order."""
    folder = folder or REPORTS / run.paper.name / "tables"
    for name, make in tables.items():
        make(run).write(name, folder)
    artifacts.write_json(folder / "tables.json", {"order": list(tables)})


# --- Our numbers


def estimate(run: Run, name: str, decoder: str, metric: str, captions: Captions) -> Estimate:
    """A run's mean score with its 95% interval.

    - A metric with a score per item: the mean over items and seeds; bootstrap over items of the items' means over
      seeds and captions.
    - A corpus metric of one caption per item (METEOR): the mean over seeds of the corpus value; the bootstrap over
      items of its single scores gives the interval's width on either side.
    - A corpus metric of a set (mBLEU-4): the mean over seeds; bootstrap over seeds.

    Args:
        run: what the evaluate stage wrote is in its scores.
        name, decoder, metric: as in the scores.
        captions: every caption of an item, the best only, or the set as a whole.
    """
    corpus = run.scores.corpus(name, decoder, metric) if captions != "every" else None
    items = run.scores.per_item(name, decoder, metric, captions)
    if items is None and corpus is None:
        return missing(run, name, decoder, metric)
    if items is not None:
        note = registry.find(metric).note
        return _over_items(run, name, metric, items, corpus, (note,) if note else ())
    assert corpus is not None
    by_seed = np.asarray(corpus.to_numpy(), dtype=np.float64)
    if len(by_seed) == 1:
        return Estimate(by_seed[0], n="1 seed", remarks=("a corpus metric of one seed: no interval",))
    low, high = statistics.bootstrap_interval(by_seed)
    note = "a corpus metric: the interval is over seeds"
    return Estimate(float(by_seed.mean()), low, high, f"{len(by_seed)} seeds", (note,))


def gain(run: Run, name: str, base: str, decoder: str, metric: str) -> Estimate:
    """How much higher a run's best captions score than those of `base`, with the 95% interval, on common seeds.

    The paired bootstrap over items of the difference of their scores gives the interval; of a corpus metric that has
    single scores, too (METEOR, translation's BLEU), these give its width on either side of the corpus difference.

    Raises:
        InputError: the two were scored on different items.
    """
    absent = next((absent_run(one) for one in (name, base) if one not in run.by_name), None)
    if absent is not None:
        return absent
    found = {one: run.scores.per_item(one, decoder, metric, "best") for one in (name, base)}
    for one, items in found.items():
        if items is None:
            return missing(run, one, decoder, metric)
    mine, others = (items for items in found.values() if items is not None)
    if not mine.index.equals(others.index):
        raise InputError(run.scores.source, f"{name} and {base} were scored on different items", "run `dvc repro`")
    seeds = sorted(set(mine.columns) & set(others.columns))
    if not seeds:
        return Estimate(None, remarks=(f"{name} and {base} have no seed in common",))
    corpora = [run.scores.corpus(one, decoder, metric) for one in found]
    corpus = None if corpora[0] is None or corpora[1] is None else (corpora[0] - corpora[1])[seeds]
    return _over_items(run, name, metric, mine[seeds] - others[seeds], corpus)


def _over_items(
    run: Run,
    name: str,
    metric: str,
    items: pd.DataFrame,
    corpus: pd.Series[float] | None,
    remarks: tuple[str, ...] = (),
) -> Estimate:
    """The mean of scores [items x seeds] with its interval, both moved to the corpus value where there is one."""
    kind = run.kind(run.by_name[name].task if name in run.by_name else run.config.pictures)
    means = items.mean(axis=1).dropna().to_numpy()
    if len(means) == 0:
        return Estimate(None, remarks=(f"{metric} is undefined for every test {kind.unit}",))
    low, high = statistics.bootstrap_interval(means)
    value = float(means.mean())
    shift = 0.0 if corpus is None else float(corpus.mean()) - value
    seeds = "" if name == HUMAN else f" x {items.shape[1]} seed{'s' if items.shape[1] > 1 else ''}"
    return Estimate(value + shift, low + shift, high + shift, f"{len(means)} {kind.units}{seeds}", remarks)


def missing(run: Run, name: str, decoder: str, metric: str) -> Estimate:
    """No number, and why."""
    return Estimate(None, remarks=(run.scores.why_missing(name, decoder, metric),))


def absent_run(name: str) -> Estimate:
    """No number, for want of the run."""
    return Estimate(None, remarks=(f"variant {name} is not part of this run",))


def over_seeds(by_seed: pd.Series[float] | None, otherwise: Estimate) -> Estimate:
    """The mean over seeds with the lowest and the highest; `otherwise` where there is none."""
    if by_seed is None:
        return otherwise
    if len(by_seed) == 1:
        return Estimate(float(by_seed.iloc[0]), n="1 seed")
    return Estimate(float(by_seed.mean()), float(by_seed.min()), float(by_seed.max()), f"{len(by_seed)} seeds")


# --- Tables that papers share


@dataclass(frozen=True)
class Measure:
    """A column of ours: a metric of a decoder's captions."""

    decoder: str
    metric: str
    captions: Captions = "best"

    def of(self, run: Run, name: str) -> Estimate:
        """A run's value, in the metric's own scale."""
        return estimate(run, name, self.decoder, self.metric, self.captions)


def published_cells(run: Run, table: str, rows: Rows, columns: Columns, data: str = "") -> list[Cell]:
    """Every cell of a published table, once and in its order, with our number beside it.

    Args:
        run: ours.
        table: as `published.published_table` names it.
        rows: the table's.
        columns: the table's.
        data: what stands for the paper's; "": what stands for the first of the paper's tasks.
    """
    found: Mapping[Any, tuple[str, str]] = rows
    data = data or run.stand_in(next(iter(run.paper.published_on)))
    cells = []
    for printed in published.published_table(run.paper.name, table).to_dict("records"):
        block, row, column = (str(printed[key]) for key in ("block", "row", "column"))
        metric, captions = columns[column]
        source = next((found[label] for label in (row, (block, row), (column, row)) if label in found), None)
        if source is None:
            ours = Estimate(None, remarks=("another system's published number; not re-run",))
        elif source[0] not in run.by_name:
            ours = absent_run(source[0])
        else:
            ours = estimate(run, *source, metric, captions)
        scale = published.SCALES[str(printed["scale"])]
        decimals = registry.find(metric).digits(scale)
        number = str(printed["printed"])
        cell = Cell(block, row, column, str(printed["direction"]), number, ours, scale, decimals, data)
        cells.append(cell if number else cell.remarked("the paper reports no number"))
    return cells


def measured_cells(run: Run, block: str, entry: ReportedRun | None, columns: Mapping[str, Measure]) -> list[Cell]:
    """One row of our own: the mean of each measure, with its interval, of a run; None: of what people wrote."""
    name, label = (entry.name, entry.label) if entry else (HUMAN, HUMAN_LABEL)
    data = run.stand_in(entry.task if entry else run.config.pictures)
    return [
        Cell.of(measure.metric, block, label, column, measure.of(run, name), data)
        for column, measure in columns.items()
    ]


def no_truth(run: Run, title: str) -> Table:
    """What stands for a table of true statements where nobody knows which are."""
    dataset = run.dataset(run.config.pictures)
    reading = f"Not measured on {dataset}: only generated scenes come with every fact that is true of them."
    return Table(title, reading, [])


def quality_table(run: Run, reading: str) -> Table:
    """Every quality metric of the greedy and of the best beam caption; low and high are over seeds.

    Tasks whose quality is told by another metric, as translation's is, have no rows.
    """
    cells = []
    for decoder in ("greedy", "beam"):
        for entry in run.trained:
            if run.kind(entry.task).quality not in registry.QUALITY_TABLE:
                continue
            block, data = f"{entry.captioner}, {decoder}", run.stand_in(entry.task)
            for metric in registry.QUALITY_TABLE:
                by_seed = run.scores.best_by_seed(entry.name, decoder, metric)
                ours = over_seeds(by_seed, missing(run, entry.name, decoder, metric))
                note = registry.find(metric).note
                if note and by_seed is not None:
                    ours = replace(ours, remarks=(note,))
                cells.append(Cell.of(metric, block, entry.label, metric, ours, data))
    return Table(f"{run.paper.label}: all quality metrics of every variant", reading, cells, SEEDS)
