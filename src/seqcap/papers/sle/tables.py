"""SLE's Table 4, and tables that it does not print: every metric, the diversity suite."""

from seqcap.metrics import registry
from seqcap.report.inputs import Run
from seqcap.report.tables import Cell, Measure, published_cells, quality_cells, ranges
from seqcap.report.tradeoff import level


def table4(run: Run) -> list[Cell]:
    """Table 4 prints, as the CIDEr of a beam's five captions, what Table 2 prints for its best caption."""
    in_table2 = [cell for cell in run.paper.published.records("table2") if cell["column"] == "CIDEr"]
    best = {f"{cell['row']} (bs)": cell["printed"] for cell in in_table2}
    cells, rows = [], run.paper.facts.rows["table4"]
    for cell in published_cells(run, "table4"):
        if cell.column == "CIDEr" and cell.row in rows and cell.printed == best.get(cell.row):
            ours = level(run, rows[cell.row][0], Measure("beam", "CIDEr"))
            if ours is not None:
                words = "the paper prints Table 2's value, that of the best caption alone; ours for that is"
                cell = cell.remarked(f"{words} {ours * 100:.1f}")
        cells.append(cell)
    return cells


def diversity(run: Run) -> list[Cell]:
    return ranges(run, {f"{run.samples()} samples": "sample", f"beam of {run.beam()}": "beam"}, registry.DIVERSITY)


TABLES = {"sle_table4": table4, "sle_quality": quality_cells, "sle_diversity": diversity}
