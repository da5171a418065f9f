"""Tables with our numbers beside the published ones, as CSV for machines and markdown for readers.

A paper's paper.yaml says which run and decoder make a row, and which metric and captions a column; `estimate` computes
the value and its interval.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from seqcap.config.report import ReportedRun
from seqcap.files import json_file, writing
from seqcap.metrics import registry
from seqcap.report import REPORTS, published, statistics
from seqcap.report.inputs import HUMAN, Run
from seqcap.report.markdown import letters, markdown_table
from seqcap.report.paper import Captions, Columns, Ours, Rows, TableText
from seqcap.report.statistics import Missing, Sample

COLUMNS = ["block", "row", "column", "direction", "paper", "ours", "ours_low", "ours_high", "n", "note"]

# Which way a column is better, as an arrow; none where neither is.
_ARROWS = {"higher": "↑", "lower": "↓", "": ""}
SEEDS = "the range over seeds (lowest and highest), no interval"
HUMAN_LABEL = "human captions"


@dataclass(frozen=True)
class Estimate:
    """A value with its 95% interval, in the metric's own scale; `absent`: its run is not part of this run."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: str = ""
    remarks: tuple[str, ...] = ()
    absent: bool = False

    def signed(self, scale: float, decimals: int) -> str:
        """A difference with its interval, if it has one; nothing without a value."""
        bounds = (self.value, self.low, self.high)
        numbers = [f"{scale * bound:+.{decimals}f}" for bound in bounds if bound is not None]
        return f"{numbers[0]} [{numbers[1]}, {numbers[2]}]" if len(numbers) == len(bounds) else "".join(numbers[:1])


@dataclass(frozen=True)
class Cell:
    """One cell: `printed` is the paper's number or "", `scale` leads from ours to it, `data` is what was captioned."""

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

    @classmethod
    def beside(cls, printed: Mapping[str, Any], metric: str, ours: Estimate, data: str) -> Cell:
        """Ours beside a published cell, a record of `Published.table`, in its scale."""
        block, row, column, direction, number = (
            str(printed[key]) for key in ("block", "row", "column", "direction", "printed")
        )
        scale = published.SCALES[str(printed["scale"])]
        cell = cls(block, row, column, direction, number, ours, scale, registry.find(metric).digits(scale), data)
        return cell if number else cell.remarked("the paper reports no number")

    @property
    def note(self) -> str:
        common = (self.data,) if self.ours.value is not None else ()
        return "; ".join((*common, *self.ours.remarks))

    def remarked(self, *remarks: str) -> Cell:
        return replace(self, ours=replace(self.ours, remarks=(*self.ours.remarks, *remarks)))

    def number(self, value: float | None) -> str:
        return "" if value is None else f"{value * self.scale:.{self.decimals}f}"

    def record(self) -> list[str]:
        ours = self.ours
        numbers = [self.number(ours.value), self.number(ours.low), self.number(ours.high)]
        return [self.block, self.row, self.column, self.direction, self.printed, *numbers, ours.n, self.note]

    def short(self) -> str:
        ours, decimals = self.ours, max(0, self.decimals - 1)
        if ours.value is None:
            return "–"
        if ours.low is None or ours.high is None:
            return f"{ours.value * self.scale:.{decimals}f}"
        value, low, high = (number * self.scale for number in (ours.value, ours.low, ours.high))
        return f"{value:.{decimals}f} [{low:.{decimals}f}, {high:.{decimals}f}]"


@dataclass(frozen=True)
class Table:
    title: str
    reading: str
    cells: Sequence[Cell]
    brackets: str = ""
    columns: ClassVar[Sequence[str]] = COLUMNS  # of its CSV file

    def write(self, name: str, folder: Path) -> None:
        with (
            writing.atomic(folder / f"{name}.csv") as path,
            path.open("w", newline="", encoding="utf-8") as file,
        ):
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self.columns)
            writer.writerows(cell.record() for cell in self.cells)
            if not self.cells:
                writer.writerow([""] * (len(self.columns) - 1) + [self.reading])
        with writing.atomic(folder / f"{name}.md") as path:
            path.write_text(self.markdown(), encoding="utf-8")

    def markdown(self) -> str:
        """Rows by columns; remarks become lettered notes below the matrix. Rows that were not run are one line."""
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
        absent = [key for key, cells in rows.items() if all(cell.ours.absent for cell in cells.values())]
        for (block, row), cells in rows.items():
            if (block, row) in absent:
                continue
            line = [block, row] if with_block else [row]
            for column in columns:
                cell = cells[column]
                marks = [notes.setdefault(remark, letters(len(notes))) for remark in cell.ours.remarks]
                mark = f" ({','.join(marks)})" if marks else ""
                line += ([cell.printed or "–"] if with_paper else []) + [cell.short() + mark]
            # Metrics that have no items have fewer (seeds only): their remark says so.
            matrix.append([*line, max((cell.ours.n for cell in cells.values()), key=len) or "–"])
        lines += markdown_table(matrix) if len(matrix) > 1 else []
        if absent:
            lines += ["", f"{_counted(len(absent), 'row')} not part of this run."]
        data = "; ".join(dict.fromkeys(cell.data for cell in self.cells))
        brackets = f"[ ]: {self.brackets}. " if any(cell.ours.low is not None for cell in self.cells) else ""
        lines += ["", f"{brackets}–: no number. Data: {data}.", ""]
        lines += [f"- ({mark}) {remark}" for remark, mark in notes.items()]
        return "\n".join(lines) + "\n"


def _counted(number: int, what: str) -> str:
    return f"{number} {what} is" if number == 1 else f"{number} {what}s are"


@dataclass(frozen=True)
class Made:
    """What a table's function gives beyond cells: `reading` replaces the table's own, `words` fill its placeholders,
    `layout` is how it is written."""

    cells: Sequence[Cell]
    reading: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    layout: type[Table] = Table


Make = Callable[[Run], list[Cell] | Made]  # how a table is made


def write_tables(run: Run) -> None:
    folder = REPORTS / run.paper.name / "tables"
    for name in run.paper.tables:
        make_table(run, name).write(name, folder)
    json_file.write_json(folder / "tables.json", {"order": list(run.paper.tables)})


def make_table(run: Run, name: str) -> Table:
    text, functions = run.paper.tables[name], run.paper.functions("tables")
    made = functions[name](run) if name in functions else published_table(run, text)
    made = made if isinstance(made, Made) else Made(made)
    reading = made.reading or run.fill(text.reading, text.evaluation, **made.words)
    return made.layout(run.fill(text.title), reading, made.cells, text.brackets)


def published_table(run: Run, text: TableText) -> list[Cell]:
    data = run.stand_in(text.task) if text.task else ""
    cells = published_cells(run, text.published, data=data)
    return [cell.remarked(text.notes[cell.row]) if cell.row in text.notes else cell for cell in cells]


def estimate(run: Run, name: str, decoder: str, metric: str, captions: Captions) -> Estimate:
    """A run's score, its mean over seeds, with the 95% interval of the bootstrap over seeds and items. A few corpus
    metrics (vocabulary, Self-BLEU-4) say nothing of single items: theirs is the range over seeds."""
    sample = run.scores.sample(name, decoder, metric, captions)
    note = registry.find(metric).note
    remarks = (note,) if note else ()
    if sample is not None:
        return _over_both(run, name, metric, [sample], remarks)
    by_seed = None if captions == "every" else run.scores.corpus(name, decoder, metric)
    found = over_seeds(by_seed, missing(run, name, decoder, metric))
    if by_seed is None:
        return found
    words = "one seed: no range" if len(by_seed) == 1 else f"[ ]: {SEEDS}"
    return replace(found, remarks=(*remarks, words))


def gain(run: Run, name: str, base: str, decoder: str, metric: str, captions: Captions = "best") -> Estimate:
    """How much higher a run scores than `base`, with the 95% interval of the paired bootstrap, on common seeds."""
    samples = run.paired((name, base), decoder, metric, captions)
    if isinstance(samples, Missing):
        return Estimate(None, remarks=(samples.reason,), absent=samples.absent)
    return _over_both(run, name, metric, samples)


def _over_both(run: Run, name: str, metric: str, samples: Sequence[Sample], remarks: tuple[str, ...] = ()) -> Estimate:
    kind = run.kind(run.by_name[name].task if name in run.by_name else run.config.pictures)
    same = statistics.paired(samples)
    if same is None:
        return Estimate(None, remarks=(f"{metric} is undefined for every test {kind.unit}",))
    first, *others = same
    value, resampled = first.by_seed.mean(), first.resampled
    for other in others:
        value, resampled = value - other.by_seed.mean(), resampled - other.resampled
    low, high = statistics.interval(resampled)
    n, seeds = f"{int(first.counted.any(axis=1).sum())} {kind.units}", len(first.seeds)
    if name == HUMAN:
        return Estimate(float(value), low, high, n, remarks)
    if seeds == 1:
        remarks = (*remarks, f"one training seed: the interval is over test {kind.units} alone")
    return Estimate(float(value), low, high, f"{n} x {seeds} seed{'s' if seeds > 1 else ''}", remarks)


def missing(run: Run, name: str, decoder: str, metric: str) -> Estimate:
    return Estimate(None, remarks=(run.scores.why_missing(name, decoder, metric),))


def absent_run(name: str) -> Estimate:
    return Estimate(None, remarks=(f"variant {name} is not part of this run",), absent=True)


def over_seeds(by_seed: pd.Series[float] | None, otherwise: Estimate) -> Estimate:
    if by_seed is None:
        return otherwise
    if len(by_seed) == 1:
        return Estimate(float(by_seed.iloc[0]), n="1 seed")
    return Estimate(float(by_seed.mean()), float(by_seed.min()), float(by_seed.max()), f"{len(by_seed)} seeds")


@dataclass(frozen=True)
class Measure:
    decoder: str
    metric: str
    captions: Captions = "best"

    def of(self, run: Run, name: str) -> Estimate:
        return estimate(run, name, self.decoder, self.metric, self.captions)


def published_cells(
    run: Run, table: str, rows: Mapping[str, Rows] | None = None, columns: Columns | None = None, data: str = ""
) -> list[Cell]:
    """Every cell of a published table, in its order, with our number beside it; then what only we have. `rows` (of all
    tables) and `columns` default to paper.yaml's; `data` stands for the first of the paper's tasks."""
    facts = run.paper.facts
    rows = facts.rows if rows is None else rows
    found: Mapping[Any, tuple[str, str]] = rows[table]
    columns = facts.columns[table] if columns is None else columns
    data = data or run.stand_in(next(iter(facts.published_on)))
    cells: list[Cell] = []
    sources: list[tuple[str, str] | None] = []
    for printed in run.paper.published.records(table):
        block, row, column = (str(printed[key]) for key in ("block", "row", "column"))
        metric, captions = columns[column]
        source = next((found[label] for label in (row, (block, row), (column, row)) if label in found), None)
        if source is None:
            ours = Estimate(None, remarks=("another system's published number; not re-run",))
        elif source[0] not in run.by_name:
            ours = absent_run(source[0])
        else:
            ours = estimate(run, *source, metric, captions)
        cells.append(Cell.beside(printed, metric, ours, data))
        sources.append(source)
    in_print = {name for others in rows.values() for name, _ in others.values()}
    ours_alone = [entry for entry in run.trained if entry.row and entry.name not in in_print]
    cells += [cell for entry in ours_alone for cell in _row_of_ours(run, entry, cells, sources, columns)]
    return _with_unpublished(run, cells, found, columns, facts.ours.get(table, {}))


def _row_of_ours(
    run: Run,
    entry: ReportedRun,
    cells: Sequence[Cell],
    sources: Sequence[tuple[str, str] | None],
    columns: Columns,
) -> list[Cell]:
    """A run that the paper lacks: a row per decoder of the runs of its task or captioner, in their block."""
    task_cells = [
        (cell, other, source[1])
        for cell, source in zip(cells, sources, strict=True)
        if source is not None and (other := run.by_name.get(source[0])) is not None and other.task == entry.task
    ]
    alike = [place for place in task_cells if place[1].captioner == entry.captioner] or task_cells
    decoders = list(dict.fromkeys(decoder for _, _, decoder in alike))
    label = f"{entry.label}, {entry.name}" if entry.label in {cell.row for cell in cells} else entry.label
    made = []
    for decoder in decoders:
        row = f"{label}, {decoder}" if len(decoders) > 1 else label
        near = {cell.column: cell for cell, _, other in alike if other == decoder}
        for cell in {cell.column: cell for cell in cells}.values():
            ours = Estimate(None)
            if cell.column in near:
                ours = Measure(decoder, *columns[cell.column]).of(run, entry.name)
            block = next(iter(near.values())).block
            made.append(replace(cell, block=block, row=row, printed="", ours=ours).remarked("not in the paper"))
    return made


def _with_unpublished(
    run: Run, cells: list[Cell], rows: Mapping[Any, tuple[str, str]], columns: Columns, ours: Mapping[str, Ours]
) -> list[Cell]:
    """Adds the rows of paper.yaml that the paper does not print, each after the printed one that it is like."""
    for row, of in ours.items():
        name, decoder = rows[row]
        places = [place for place, cell in enumerate(cells) if cell.row == of.like]
        if name in run.by_name and places:
            more = []
            for cell in (cells[place] for place in places):
                value = Measure(decoder, *columns[cell.column]).of(run, name)
                more.append(replace(cell, row=row, printed="", ours=value).remarked(of.note))
            cells[places[-1] + 1 : places[-1] + 1] = more
    return cells


def measured_cells(run: Run, block: str, entry: ReportedRun | None, columns: Mapping[str, Measure]) -> list[Cell]:
    name, label = (entry.name, entry.label) if entry else (HUMAN, HUMAN_LABEL)
    data = run.stand_in(entry.task if entry else run.config.pictures)
    return [
        Cell.of(measure.metric, block, label, column, measure.of(run, name), data)
        for column, measure in columns.items()
    ]


def no_truth(run: Run) -> Made:
    dataset = run.dataset(run.config.pictures)
    return Made([], f"Not measured on {dataset}: only generated scenes come with every fact that is true of them.")


def quality_cells(run: Run) -> list[Cell]:
    """Every quality metric of greedy and best beam captions, with the range over seeds."""
    cells = []
    for decoder in ("greedy", "beam"):
        for entry in run.trained:
            if run.kind(entry.task).quality not in registry.QUALITY_TABLE:
                continue
            block, data = f"{entry.captioner}, {decoder}", run.stand_in(entry.task)
            for metric in registry.QUALITY_TABLE:
                by_seed = run.scores.by_seed(entry.name, decoder, metric)
                ours = over_seeds(by_seed, missing(run, entry.name, decoder, metric))
                note = registry.find(metric).note
                if note and by_seed is not None:
                    ours = replace(ours, remarks=(note,))
                cells.append(Cell.of(metric, block, entry.label, metric, ours, data))
    return cells
