"""Loss smoothing's Tables 1 to 3, and two that the paper does not print: gains, and all quality metrics."""

from dataclasses import replace

from seqcap.papers.smoothing.rows import FILE, MEMBERS, ON_SERVER, SERVER, parts, rows
from seqcap.report.inputs import Results
from seqcap.report.tables import Cell, Content, published_cells, quality_cells


def table1(results: Results) -> list[Cell]:
    return published_cells(results, "table1", rows(results))


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


def gains(results: Results) -> list[Cell]:
    return [cell for part in parts(results).values() for cell in part.gains().values()]


def quality(results: Results) -> Content:
    cells = quality_cells(results)
    return Content(cells, "" if cells else "Not measured: no captioner is part of this run.")


TABLES = {
    "smoothing_table1": table1,
    "smoothing_table2": table2,
    "smoothing_table3": table3,
    "smoothing_gains": gains,
    "smoothing_quality": quality,
}
