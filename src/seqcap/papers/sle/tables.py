"""SLE's Table 4, and tables that it does not print: every metric, the diversity suite."""

from seqcap.metrics import registry
from seqcap.report.inputs import Results
from seqcap.report.tables import Cell, Measure, published_cells, quality_cells, ranges
from seqcap.report.tradeoff import level

_OF_XE = ("XE (bs)", "CIDEr")  # a row that Table 2 lacks


def table4(results: Results) -> list[Cell]:
    """Table 4 prints, as the CIDEr of a beam's five captions, what Table 2 prints for its best caption."""
    in_table2 = [cell for cell in results.paper.published.records("table2") if cell["column"] == "CIDEr"]
    best = {f"{cell['row']} (bs)": cell["printed"] for cell in in_table2}
    cells, rows = [], results.paper.facts.rows["table4"]
    for cell in published_cells(results, "table4"):
        ours = None
        if cell.column == "CIDEr" and cell.row in rows and cell.printed == best.get(cell.row):
            ours = level(results, rows[cell.row][0], Measure("beam", "CIDEr"))
        words = "the paper prints Table 2's value, that of the best caption alone; ours for that is"
        if (cell.row, cell.column) == _OF_XE:
            ours = level(results, "xe", Measure("beam", "CIDEr"))
            words = (
                "the paper's is, as in the other rows (bs), probably that of the best caption alone; ours for that is"
            )
        cells.append(cell if ours is None else cell.remarked(f"{words} {ours * 100:.1f}"))
    return cells


def diversity(results: Results) -> list[Cell]:
    return ranges(
        results, {f"{results.samples()} samples": "sample", f"beam of {results.beam()}": "beam"}, registry.DIVERSITY
    )


TABLES = {"sle_table4": table4, "sle_quality": quality_cells, "sle_diversity": diversity}
