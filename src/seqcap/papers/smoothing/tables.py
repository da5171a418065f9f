"""Loss smoothing's Tables 1 to 3, and two that the paper does not print: gains, and all quality metrics."""

from dataclasses import replace

from seqcap.papers.smoothing.rows import FILE, MEMBERS, ON_SERVER, SERVER, parts, rows
from seqcap.report.inputs import Run
from seqcap.report.tables import Cell, Made, published_cells, quality_cells


def table1(run: Run) -> list[Cell]:
    return published_cells(run, "table1", rows(run))


def table2(run: Run) -> list[Cell]:
    there = SERVER in run.config.evaluations
    data = run.stand_in("image", SERVER, ON_SERVER) if there else f"{ON_SERVER}: not part of this run"
    return [cell.remarked(*_members(run, cell)) for cell in published_cells(run, "table2", rows(run), data=data)]


def _members(run: Run, cell: Cell) -> list[str]:
    """What an entry of ours is made of; nothing of other cells."""
    entry = next((run.by_name.get(name) for name, row in FILE.entries.items() if row == cell.row), None)
    if entry is None or cell.ours.value is None:
        return []
    captioners = {part.facts.runs: part.facts.name for part in parts(run, "table1").values()}
    kind, number = captioners.get(entry.captioner, f"captioner {entry.captioner}"), len(entry.seeds)
    if entry.members == 1:
        return [f"seed{'s' if number > 1 else ''} {', '.join(map(str, entry.seeds))}, {kind}"]
    who = "an ensemble" if number == 1 else f"{number} ensembles, each"
    return [f"{who} of {entry.members} seeds, {kind}; the paper's is of {MEMBERS}"]


def table3(run: Run) -> Made:
    by_column = {part.facts.column: part for part in parts(run, "table3").values()}
    there = [part for part in by_column.values() if part.evaluation in run.config.evaluations]
    beams = ", ".join(f"{run.beam(part.evaluation)} on {part.facts.name}" for part in there)
    data = {column: run.stand_in(part.facts.task) for column, part in by_column.items()}
    cells = [replace(cell, data=data[cell.column]) for cell in published_cells(run, "table3", rows(run))]
    return Made(cells, words={"beams": f" ({beams})" if beams else ""})


def gains(run: Run) -> list[Cell]:
    return [cell for part in parts(run).values() for cell in part.gains().values()]


def quality(run: Run) -> Made:
    cells = quality_cells(run)
    return Made(cells, "" if cells else "Not measured: no captioner is part of this run.")


TABLES = {
    "smoothing_table1": table1,
    "smoothing_table2": table2,
    "smoothing_table3": table3,
    "smoothing_gains": gains,
    "smoothing_quality": quality,
}
