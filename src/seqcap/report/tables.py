"""Tables with our numbers beside the published ones, as CSV for machines and markdown for readers.

A paper's paper.yaml says which run and decoder make a row, and which metric and captions a column; `Measure` computes
the value and its interval.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from seqcap.files import json_file, writing
from seqcap.metrics import registry
from seqcap.report import REPORTS, published, statistics
from seqcap.report.inputs import HUMAN, Results
from seqcap.report.markdown import markdown_table
from seqcap.report.paper import Captions, Columns, Ours, Rows, TableText
from seqcap.report.reported import ReportedRun
from seqcap.report.statistics import Contrast, Missing, Number, difference
from seqcap.report.verdicts import LEAST_SEEDS
from seqcap.tasks import Kind

COLUMNS = ["block", "row", "column", "direction", "paper", "ours", "ours_low", "ours_high", "n", "note"]

# Which way a column is better, as an arrow; none where neither is.
_ARROWS = {"higher": "↑", "lower": "↓", "": ""}
SEEDS = "the range over seeds (lowest and highest), no interval"
ONE_SEED = "one training seed: the interval is over test"
_NOT_RUN = "No row of it is part of this run. The published numbers are in its CSV file."
_NO_NUMBER = "the paper reports no number"
_FEW = "°: fewer than three training seeds, an estimate; with one, [ ] is over test items alone."
# Metrics of data whose every fact is known.
_EXACT = ("literal_R@10", "true_of_own", "precision_true", "alone", "bits", "unparsed")
PEOPLE, GRAMMAR = "human captions", "reference grammar"


@dataclass(frozen=True)
class Estimate:
    """A value with its 95% interval, in the metric's own scale; `absent`: the results have no such run."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: str = ""
    remarks: tuple[str, ...] = ()
    absent: bool = False
    seeds: int = 0  # training seeds; 0: it depends on none, or on ensembles

    def text(self, scale: float, decimals: int, sign: str = "") -> str:
        """The value with its interval, if it has one; nothing without a value. .8865 is 88.7 x100, not 88.6, as a
        product of floats would be; and there is no -0.0."""
        bounds = (self.value, self.low, self.high)
        numbers = [f"{round(scale * bound, 9):{sign}z.{decimals}f}" for bound in bounds if bound is not None]
        return f"{numbers[0]} [{numbers[1]}, {numbers[2]}]" if len(numbers) == len(bounds) else "".join(numbers[:1])

    def signed(self, scale: float, decimals: int) -> str:
        return self.text(scale, decimals, "+")


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
    def of(
        cls,
        results: Results,
        metric: str,
        block: str,
        row: str,
        column: str,
        ours: Estimate,
        data: str,
        printed: str = "",
    ) -> Cell:
        """A cell of a table that is ours, in the paper's scale."""
        known, scale = registry.find(metric), results.paper.published.scale(metric)
        return cls(block, row, column, known.direction, printed, ours, scale, known.digits(scale), data)

    @classmethod
    def beside(cls, printed: Mapping[str, Any], metric: str, ours: Estimate, data: str) -> Cell:
        """Ours beside a published cell, a record of `Published.table`, in its scale."""
        named = {key: str(printed[key]) for key in ("block", "row", "column", "direction", "printed")}
        scale = published.SCALES[printed["scale"]]
        cell = cls(**named, ours=ours, scale=scale, decimals=registry.find(metric).digits(scale), data=data)
        return cell if cell.printed else cell.remarked(_NO_NUMBER)

    @property
    def note(self) -> str:
        common = (self.data,) if self.ours.value is not None else ()
        return "; ".join((*common, *self.ours.remarks))

    def remarked(self, *remarks: str) -> Cell:
        return replace(self, ours=replace(self.ours, remarks=(*self.ours.remarks, *remarks)))

    def number(self, value: float | None) -> str:
        return "" if value is None else f"{round(value * self.scale, 9):z.{self.decimals}f}"

    def record(self) -> list[str]:
        ours = self.ours
        numbers = [self.number(ours.value), self.number(ours.low), self.number(ours.high)]
        return [self.block, self.row, self.column, self.direction, self.printed, *numbers, ours.n, self.note]

    def short(self) -> str:
        return self.ours.text(self.scale, max(0, self.decimals - 1)) or "–"


@dataclass(frozen=True)
class Table:
    """A table of a paper's, ours beside the printed numbers: <name>.csv and <name>.md."""

    title: str
    reading: str
    cells: Sequence[Cell]
    brackets: str = ""
    columns: ClassVar[Sequence[str]] = COLUMNS  # of its CSV file
    theirs_alone: ClassVar[Collection[str]] = ()  # printed columns that no run of ours can have a number in

    def write(self, name: str, folder: Path) -> None:
        records = [cell.record() for cell in self.cells] or [[""] * (len(self.columns) - 1) + [self.reading]]
        with writing.atomic(folder / f"{name}.csv") as path:
            pd.DataFrame(records, columns=list(self.columns)).to_csv(path, index=False, lineterminator="\n")
        with writing.atomic(folder / f"{name}.md") as path:
            path.write_text(self.markdown(), encoding="utf-8")

    def markdown(self) -> str:
        """Rows by columns, and below them what is said of all, of some rows, columns or cells."""
        lines = [f"## {self.title}", "", self.reading, ""]
        if not self.cells:
            return "\n".join(lines)
        rows: dict[tuple[str, str], dict[str, Cell]] = {}
        for cell in self.cells:
            rows.setdefault((cell.block, cell.row), {})[cell.column] = cell
        present = {key: row for key, row in rows.items() if not _is_absent(row)}
        if len(present) < len(rows) and all(cell.ours.value is None for cell in self.cells):
            return "\n".join([*lines, _NOT_RUN, ""])
        shown = [cell for row in present.values() for cell in row.values()]
        counts = {key: words for key, row in present.items() if (words := _counts(row))}
        of_all = next(iter(counts.values())) if len(set(counts.values())) == 1 else ""
        few = {(cell.block, cell.row) for cell in shown if 0 < cell.ours.seeds < LEAST_SEEDS}
        if few == present.keys():
            # Said of all rows.
            few = set()
        if present:
            lines += [*markdown_table(self._matrix(present, {} if of_all else counts, few)), ""]
        if absent := len(rows) - len(present):
            lines += [f"{absent} row{' is' if absent == 1 else 's are'} not part of this run.", ""]
        data = "; ".join(dict.fromkeys(cell.data for cell in self.cells))
        bounded = any(cell.ours.low is not None for cell in self.cells)
        said = [f"Ours: {of_all}." if of_all else "", f"[ ]: {self.brackets}." if bounded else "", "–: no number."]
        said += [f"Data: {data}.", _FEW if few else ""]
        lines += [" ".join(filter(None, said)), "", *_notes(shown, without=few)]
        return "\n".join(lines).rstrip("\n") + "\n"

    def _matrix(
        self, rows: Grid, counts: Mapping[tuple[str, str], str], few: Collection[tuple[str, str]]
    ) -> list[list[str]]:
        """The header and a line per row; `counts` of items and seeds have a column unless they are empty."""
        in_print = {cell.column for cell in self.cells if cell.printed}
        with_block = len({cell.block for cell in self.cells}) > 1
        directions = {cell.column: cell.direction for cell in self.cells}
        header = ["block", "row"] if with_block else ["row"]
        for column, direction in directions.items():
            name = f"{column} {_ARROWS[direction]}".rstrip()
            ours = [] if column in self.theirs_alone else [f"{name} ours"]
            header += [f"{name} paper", *ours] if column in in_print else [name]
        matrix = [[*header, "n"] if counts else header]
        for key, cells in rows.items():
            block, row = key
            line = [block] if with_block else []
            line.append(f"{row} °" if key in few else row)
            for column in directions:
                cell = cells[column]
                line += [cell.printed or "–"] if column in in_print else []
                line += [] if column in self.theirs_alone else [cell.short()]
            matrix.append([*line, counts.get(key, "–")] if counts else line)
        return matrix


def _is_absent(row: Mapping[str, Cell]) -> bool:
    """Whether a row has no number of ours because the results have no such run."""
    cells = row.values()
    return any(cell.ours.absent for cell in cells) and all(cell.ours.value is None for cell in cells)


def _counts(row: Mapping[str, Cell]) -> str:
    """How many items and seeds the numbers of a row are of: the longest of what its cells say."""
    return max((cell.ours.n for cell in row.values()), key=len)


def _notes(cells: Sequence[Cell], without: Collection[tuple[str, str]]) -> list[str]:
    """A line per remark: by itself if it is of every number, else after the rows, columns or cells that it is of. What
    the mark of rows `without` enough seeds says is left out, and what a dash in the paper's column says."""
    reasons: dict[str, list[Cell]] = {}
    for cell in cells:
        for remark in cell.ours.remarks:
            if remark != _NO_NUMBER and not (remark.startswith(ONE_SEED) and (cell.block, cell.row) in without):
                reasons.setdefault(remark, []).append(cell)
    lines = []
    for remark, those in reasons.items():
        names = _names(those, cells).replace("*", "\\*")
        apart = names and not remark.startswith(names)
        lines.append(f"- {names}: {remark}." if apart else f"- {remark[0].upper()}{remark[1:]}.")
    return lines


def _names(those: Sequence[Cell], cells: Sequence[Cell]) -> str:
    """What some cells are called: nothing if they are all with a number, else whole rows, whole columns, or cells."""
    chosen = set(map(id, those))
    full = all(cell.ours.value is not None for cell in those)
    alike = [cell for cell in cells if (cell.ours.value is not None) == full]
    if full and len(chosen) == len(alike):
        return ""
    blocks: dict[str, set[str]] = {}
    for cell in cells:
        blocks.setdefault(cell.row, set()).add(cell.block)
    rows = {id(cell): cell.row if len(blocks[cell.row]) == 1 else f"{cell.block}: {cell.row}" for cell in alike}
    columns = {id(cell): cell.column for cell in alike}
    for names in (rows, columns):
        called = dict.fromkeys(names[key] for key in names if key in chosen)
        if called.keys().isdisjoint(names[key] for key in names if key not in chosen):
            return "; ".join(called)
    return "; ".join(f"{rows[key]}, {columns[key]}" for key in rows if key in chosen)


@dataclass(frozen=True)
class Content:
    """What a table's function gives beyond cells: `reading` replaces the table's own, `words` fill its placeholders,
    `layout` is how it is written."""

    cells: Sequence[Cell]
    reading: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    layout: type[Table] = Table


Grid = Mapping[tuple[str, str], Mapping[str, Cell]]  # block and row -> column -> cell


def write_tables(results: Results) -> None:
    folder = REPORTS / results.paper.name / "tables"
    for name in results.paper.tables:
        make_table(results, name).write(name, folder)
    json_file.write_json(folder / "tables.json", {"order": list(results.paper.tables)})


def make_table(results: Results, name: str) -> Table:
    text, functions = results.paper.tables[name], results.paper.functions("tables")
    make = functions.get(name, partial(published_table if text.published else measured_table, text=text))
    made = _no_facts(results) if text.exact and not results.knows_facts else make(results)
    made = made if isinstance(made, Content) else Content(made)
    words = {"exact": f"{text.exact_reading} " if results.knows_facts else "", **made.words}
    reading = made.reading or results.fill(text.reading, text.evaluation, **words).strip()
    return made.layout(results.fill(text.title), reading, made.cells, text.brackets)


def _no_facts(results: Results) -> Content:
    """In the place of a table that is only of data whose every fact is known."""
    dataset = results.dataset(results.config.pictures)
    return Content([], f"Not measured on {dataset}: only generated scenes come with every fact that is true of them.")


def published_table(results: Results, text: TableText) -> list[Cell] | Content:
    if text.task and not any(run.task == text.task for run in results.runs):
        return Content([], f"{results.stand_in(text.task)}.")
    data = results.stand_in(text.task) if text.task else ""
    cells = published_cells(results, text.published, data=data, beside=text.beside)
    return [cell.remarked(text.notes[cell.row]) if cell.row in text.notes else cell for cell in cells]


def shown(number: Number | Contrast | Missing, units: str, note: str = "", repeat: str = "seed") -> Estimate:
    """A number or a difference as tables show it; `units` names its items, `note` is said of every value of the
    metric."""
    if isinstance(number, Missing):
        return Estimate(None, remarks=(number.reason,), absent=number.absent)
    contrast = number if isinstance(number, Contrast) else Contrast((number,), (1.0,))
    remarks = tuple(filter(None, (note, *contrast.remarks, contrast.untestable)))
    n = sizes(contrast.items, units, contrast.seeds, repeat)
    seeds = min(contrast.seeds, default=0) if repeat == "seed" else 0
    if seeds and max(contrast.seeds) == 1:
        remarks = (*remarks, f"{ONE_SEED} {units} alone")
    low, high = contrast.interval()
    return Estimate(contrast.value, low, high, n, remarks, seeds=seeds)


def sizes(items: int, units: str, seeds: Sequence[int], repeat: str = "seed") -> str:
    """ "2000 images x 3 seeds", "2000 images x 5 and 3 seeds": what a number, or a difference, is of."""
    numbers = " and ".join(map(str, seeds if len(set(seeds)) > 1 else seeds[:1]))
    return f"{items} {units} x {numbers} {repeat}{'s' if max(seeds) > 1 else ''}" if seeds else f"{items} {units}"


def over_seeds(results: Results, name: str, decoder: str, metric: str) -> Estimate:
    """A run's mean over seeds with their range, if there are several; else the reason why there is no number."""
    by_seed = results.scores.by_seed(name, decoder, metric)
    if by_seed is None:
        return Estimate(None, remarks=(results.scores.why_missing(name, decoder, metric),))
    seeds, units, note = len(by_seed), _kind(results, name).units, registry.find(metric).note
    low, high = (float(by_seed.min()), float(by_seed.max())) if seeds > 1 else (None, None)
    n = sizes(results.scores.items(name), units, (seeds,))
    return Estimate(float(by_seed.mean()), low, high, n, (note,) if note else (), seeds=seeds)


@dataclass(frozen=True)
class Measure:
    """A metric of the captions of one decoder, in the metric's own scale (`seqcap.metrics.registry`)."""

    decoder: str
    metric: str
    captions: Captions = "best"

    def of(self, results: Results, name: str) -> Estimate:
        """A run's score, its mean over seeds, with the 95% interval over seeds and items. A few corpus metrics
        (vocabulary, Self-BLEU-4) say nothing of single items: theirs is the range over seeds."""
        number = self.number(results, name)
        of_corpus = self.captions != "every" and results.scores.corpus(name, self.decoder, self.metric) is not None
        if isinstance(number, Number) or not of_corpus:
            return self._shown(results, name, number, registry.find(self.metric).note)
        estimate = over_seeds(results, name, self.decoder, self.metric)
        words = "one seed: no range" if estimate.seeds == 1 else f"[ ]: {SEEDS}"
        return replace(estimate, remarks=(*estimate.remarks, words))

    def gain(self, results: Results, name: str, base: str) -> Estimate:
        """How much higher a run scores than `base`, with its 95% interval."""
        return self._shown(results, name, self.difference(results, name, base))

    def difference(self, results: Results, name: str, base: str) -> Contrast | Missing:
        """A run's score minus that of `base`, on the items that both have."""
        samples = results.matched((name, base), self.decoder, self.metric, self.captions)
        if isinstance(samples, Missing):
            return samples
        left, right = map(Number.of, samples)
        return difference(left, right, results.share_start(((name,), (base,))))

    def number(self, results: Results, name: str) -> Number | Missing:
        sample = results.scores.sample(name, self.decoder, self.metric, self.captions)
        if sample is None:
            return Missing(results.scores.why_missing(name, self.decoder, self.metric))
        same = statistics.matched([sample])
        if same is None:
            return Missing(f"{self.metric} is undefined for every test {_kind(results, name).unit}")
        number = Number.of(same[0])
        return number.seedless if name == HUMAN else number

    @staticmethod
    def _shown(results: Results, name: str, number: Number | Contrast | Missing, note: str = "") -> Estimate:
        several = name in results.by_name and results.by_name[name].members > 1
        return shown(number, _kind(results, name).units, note, "ensemble" if several else "seed")


def _kind(results: Results, name: str) -> Kind:
    return results.kind(results.by_name[name].task if name in results.by_name else results.config.pictures)


def published_cells(
    results: Results, table: str, rows: Mapping[str, Rows] | None = None, data: str = "", beside: Columns | None = None
) -> list[Cell]:
    """Every cell of a published table, in its order, with our number beside it; then what only we have. `rows` (of all
    tables) default to paper.yaml's; `data` stands for the first of the paper's tasks; `beside` are columns of ours."""
    facts = results.paper.facts
    rows = facts.rows if rows is None else rows
    sources: Mapping[Any, tuple[str, str]] = rows[table]
    columns = {**facts.columns[table], **(beside or {})}
    data = data or results.stand_in(next(iter(facts.published_on)))
    placed: list[tuple[Cell, str, str]] = []  # with its run, "" for another system's, and decoder
    for printed in records_beside(results, table, beside or {}):
        block, row, column = (printed[key] for key in ("block", "row", "column"))
        metric, captions = columns[column]
        labels = [label for label in (row, (block, row), (column, row)) if label in sources]
        name, decoder = sources[labels[0]] if labels else ("", "")
        if not name:
            ours = Estimate(None, remarks=("another system's published number; not re-run",))
        elif name not in results.by_name:
            ours = shown(Missing.run(name), "")
        else:
            ours = Measure(decoder, metric, captions).of(results, name)
        placed.append((Cell.beside(printed, metric, ours, data), name, decoder))
    in_print = {name for others in rows.values() for name, _ in others.values()}
    ours_alone = [run for run in results.trained if run.row and run.name not in in_print]
    cells = [cell for cell, *_ in placed]
    cells += [cell for run in ours_alone for cell in _row_of_ours(results, run, placed, columns)]
    made = _with_unpublished(results, cells, sources, columns, facts.ours.get(table, {}))
    measured = {cell.column for cell in made if cell.printed or cell.ours.value is not None}
    return [cell for cell in made if cell.column in measured or cell.column in facts.columns[table]]


def records_beside(results: Results, table: str, beside: Columns) -> list[dict[str, Any]]:
    """The records of a published table; after each row's, records of columns that the paper does not print, in per
    cent."""
    records: list[dict[str, Any]] = []
    more = {"printed": "", "value": math.nan, "scale": "percent"}
    names = {name: registry.find(metric).direction for name, (metric, _) in beside.items()}
    for _, row in groupby(results.paper.published.records(table), key=itemgetter("block", "row")):
        printed = list(row)
        records += [*printed, *(printed[-1] | more | {"column": name, "direction": way} for name, way in names.items())]
    return records


def _row_of_ours(
    results: Results, run: ReportedRun, placed: Sequence[tuple[Cell, str, str]], columns: Columns
) -> list[Cell]:
    """A run that the paper lacks: a row per decoder of the runs of its task or captioner, in their block."""
    of_task = [
        (cell, decoder, other.captioner)
        for cell, name, decoder in placed
        if (other := results.by_name.get(name)) is not None and other.task == run.task
    ]
    alike = [row for row in of_task if row[-1] == run.captioner] or of_task
    decoders = list(dict.fromkeys(decoder for _, decoder, _ in alike))
    label = f"{run.label}, {run.name}" if run.label in {cell.row for cell, *_ in placed} else run.label
    made = []
    for decoder in decoders:
        row = f"{label}, {decoder}" if len(decoders) > 1 else label
        near = {cell.column: cell.block for cell, other, _ in alike if other == decoder}
        block = next(iter(near.values()))
        for cell in {cell.column: cell for cell, *_ in placed}.values():
            measured = cell.column in near
            ours = Measure(decoder, *columns[cell.column]).of(results, run.name) if measured else Estimate(None)
            made.append(replace(cell, block=block, row=row, printed="", ours=ours).remarked("not in the paper"))
    return made


def _with_unpublished(
    results: Results, cells: list[Cell], rows: Mapping[Any, tuple[str, str]], columns: Columns, ours: Mapping[str, Ours]
) -> list[Cell]:
    """Adds the rows of paper.yaml that the paper does not print, each after the printed one that it is like."""
    for row, text in ours.items():
        name, decoder = rows[row]
        alike = [index for index, cell in enumerate(cells) if cell.row == text.like]
        if name in results.by_name and alike:
            more = []
            for cell in (cells[index] for index in alike):
                value = Measure(decoder, *columns[cell.column]).of(results, name)
                more.append(replace(cell, row=row, printed="", ours=value).remarked(text.note))
            cells[alike[-1] + 1 : alike[-1] + 1] = more
    return cells


def measured_table(results: Results, text: TableText) -> list[Cell] | Content:
    """Our runs' numbers, then those of people's captions. People used no decoder: they have numbers in the columns of
    samples."""
    cells = []
    for block, sources in text.measured.items():
        columns = {results.fill(column): Measure(*source) for column, source in sources.items()}
        for run in results.trained:
            if not text.exact or results.knows_facts_of(run.task):
                cells += measured_cells(results, block.format(captioner=run.captioner), run, columns)
    no_decoder = Estimate(None, remarks=(f"human captions come from no decoder: see {results.samples()} samples",))
    for block, sources in text.people.items():
        columns = {results.fill(column): Measure(*source) for column, source in sources.items()}
        for cell in measured_cells(results, block, None, columns):
            cells.append(cell if columns[cell.column].decoder == "sample" else replace(cell, ours=no_decoder))
    return cells


def columns_beside(results: Results, table: str, decoder: str) -> dict[str, Measure]:
    """The columns `beside` of a table, without those that only generated scenes have, where there are none."""
    columns = {column: Measure(decoder, *source) for column, source in results.paper.tables[table].beside.items()}
    return {
        column: measure for column, measure in columns.items() if results.knows_facts or measure.metric not in _EXACT
    }


def measured_cells(results: Results, block: str, run: ReportedRun | None, columns: Mapping[str, Measure]) -> list[Cell]:
    name, label = (run.name, run.label) if run else (HUMAN, people_label(results))
    data = results.stand_in(run.task if run else results.config.pictures)
    return [
        Cell.of(results, measure.metric, block, label, column, measure.of(results, name), data)
        for column, measure in columns.items()
    ]


def people_label(results: Results) -> str:
    """What the row of people's captions is called: of generated images a grammar writes them."""
    return GRAMMAR if results.knows_facts else PEOPLE


def quality_cells(results: Results) -> list[Cell]:
    """Every quality metric of greedy and best beam captions."""
    blocks = {f"{{captioner}}, {decoder}": decoder for decoder in ("greedy", "beam")}
    return ranges(results, blocks, registry.QUALITY_TABLE)


def ranges(results: Results, blocks: Mapping[str, str], metrics: Sequence[str]) -> list[Cell]:
    """Metrics of every captioner with the range over seeds; `blocks` have a decoder each."""
    cells = []
    for block, decoder in blocks.items():
        for run in results.trained:
            if results.kind(run.task).quality in registry.QUALITY_TABLE:
                for metric in metrics:
                    ours, name = over_seeds(results, run.name, decoder, metric), block.format(captioner=run.captioner)
                    cells.append(Cell.of(results, metric, name, run.label, metric, ours, results.stand_in(run.task)))
    return cells
