"""Loss smoothing's Tables 1 to 3, and what the paper does not print: Table 1 after the authors' first phase, gains with
how much is smoothed, the captions that the authors released, and all quality metrics."""

from dataclasses import dataclass, replace

from seqcap.papers.smoothing.rows import FILE, MEMBERS, ON_SERVER, PHASE_1, SERVER, STRENGTH, parts, rows
from seqcap.report.inputs import Results
from seqcap.report.markdown import markdown_table
from seqcap.report.tables import Cell, Content, Estimate, Table, published_cells, quality_cells

RELEASED = "released"  # file of published/
MOVED = "weight moved"
_INTERVAL = "CIDEr interval, phase 2"  # the column of half a 95% interval, which is the authors' alone
_NO_CAPTIONS = "Not measured: no captioner is part of this run."
_WEAKER = " *Not in print*: losses that smooth less, of three seeds, beside MLE's same three."


def table1(results: Results) -> list[Cell]:
    return published_cells(results, "table1", rows(results))


@dataclass(frozen=True)
class Phase1(Table):
    """A table with a column that is the authors' alone."""

    theirs_alone = (_INTERVAL,)


def phase1(results: Results) -> Content:
    """Our numbers beside those after the authors' first phase, which leave out a few rows; and half of the 95% interval
    that they released."""
    if not _has_captions(results):
        return Content([], _NO_CAPTIONS)
    ours = {(cell.block, cell.row, cell.column): cell for cell in table1(results)}
    cells = []
    for printed in results.paper.published.records(PHASE_1):
        key = (printed["block"], printed["row"], printed["column"])
        cell = ours.get(key) or Cell.beside(printed, "CIDEr", Estimate(None), results.stand_in("image"))
        cells.append(replace(cell, printed=printed["printed"]))
    return Content(cells, layout=Phase1)


def _has_captions(results: Results) -> bool:
    return any(part.runs for part in parts(results, "table1").values())


def table2(results: Results) -> list[Cell]:
    there = SERVER in results.config.evaluations
    data = results.stand_in("image", SERVER, ON_SERVER) if there else f"{ON_SERVER}: not part of this run"
    return [
        cell.remarked(*_members(results, cell)) for cell in published_cells(results, "table2", rows(results), data=data)
    ]


def _members(results: Results, cell: Cell) -> list[str]:
    """What an entry of ours is made of; nothing of other cells."""
    run = next((results.by_name.get(name) for name, row in FILE.entries.items() if row == cell.row), None)
    if run is None or cell.ours.value is None:
        return []
    captioners = {part.facts.runs: part.facts.name for part in parts(results, "table1").values()}
    kind, number = captioners.get(run.captioner, f"captioner {run.captioner}"), len(run.seeds)
    if run.members == 1:
        return [f"seed{'s' if number > 1 else ''} {', '.join(map(str, run.seeds))}, {kind}"]
    who = "an ensemble" if number == 1 else f"{number} ensembles, each"
    return [f"{who} of {run.members} seeds, {kind}; the paper's is of {MEMBERS}"]


def table3(results: Results) -> Content:
    by_column = {part.facts.column: part for part in parts(results, "table3").values()}
    there = [part for part in by_column.values() if part.evaluation in results.config.evaluations]
    beams = ", ".join(f"{results.beam(part.evaluation)} on {part.label}" for part in there)
    data = {column: results.stand_in(part.facts.task) for column, part in by_column.items()}
    cells = [replace(cell, data=data[cell.column]) for cell in published_cells(results, "table3", rows(results))]
    return Content(cells, words={"beams": f" ({beams})" if beams else ""})


def gains(results: Results) -> Content:
    cells, weaker = [], ""
    for part in parts(results).values():
        named = [(part.name_of(loss), cell) for loss, cell in part.gains().items()]
        others = part.other_gains()
        weaker = _WEAKER if others else weaker
        for name, cell in [*named, *others]:
            moved = results.recorded(name, STRENGTH)
            cells.append(cell)
            cells.append(
                replace(cell, column=MOVED, direction="", printed="", ours=Estimate(moved), scale=1, decimals=3)
            )
    return Content(cells, words={"weaker": weaker})


@dataclass(frozen=True)
class Released(Table):
    """What was measured of captions that others made: nothing of it is ours."""

    def markdown(self) -> str:
        rows: dict[str, dict[str, str]] = {}
        for cell in self.cells:
            rows.setdefault(cell.row, {})[cell.column] = cell.printed
        columns = list(dict.fromkeys(cell.column for cell in self.cells))
        matrix = [["row", *columns], *([row, *(of.get(name, "–") for name in columns)] for row, of in rows.items())]
        return "\n".join([f"## {self.title}", "", self.reading, "", *markdown_table(matrix), ""])


def released(results: Results) -> Content:
    if not _has_captions(results):
        return Content([], _NO_CAPTIONS)
    cells = [
        Cell("", of["row"], of["column"], of["direction"], of["printed"], Estimate(None), 1, 2, "")
        for of in results.paper.published.records(RELEASED)
    ]
    return Content(cells, layout=Released)


def quality(results: Results) -> Content:
    again = {name for loss in FILE.beams.losses for name in FILE.beams.again(loss).values()}
    labels = {run.label for run in results.trained if run.name in again}
    # Another width of the beam leaves greedy captions as they are.
    cells = [cell for cell in quality_cells(results) if not (cell.block.endswith("greedy") and cell.row in labels)]
    return Content(cells, "" if cells else _NO_CAPTIONS)


TABLES = {
    "smoothing_table1": table1,
    "smoothing_phase1": phase1,
    "smoothing_table2": table2,
    "smoothing_table3": table3,
    "smoothing_gains": gains,
    "smoothing_released": released,
    "smoothing_quality": quality,
}
