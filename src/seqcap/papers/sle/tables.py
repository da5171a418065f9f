"""SLE's Table 4, and tables that it does not print: true precision and recall, every metric, the diversity suite."""

from dataclasses import replace

from seqcap.metrics import registry
from seqcap.report.inputs import Run
from seqcap.report.tables import (
    Cell,
    Estimate,
    Made,
    Measure,
    measured_cells,
    no_truth,
    over_seeds,
    published_cells,
    quality_cells,
)
from seqcap.report.tradeoff import level


def table4(run: Run) -> list[Cell]:
    """Table 4 prints, as the CIDEr of a beam's five captions, what Table 2 prints for its best caption."""
    best = {f"{cell['row']} (bs)": cell for cell in run.paper.published.records("table2") if cell["column"] == "CIDEr"}
    cells, rows = [], run.paper.facts.rows["table4"]
    for cell in published_cells(run, "table4"):
        named = cell.column == "CIDEr" and cell.row in best and cell.row in rows
        if named and cell.printed == best[cell.row]["printed"]:
            ours = level(run, rows[cell.row][0], Measure("beam", "CIDEr"))
            if ours is not None:
                words = "the paper prints Table 2's value, that of the best caption alone; ours for that is"
                cell = cell.remarked(f"{words} {ours * 100:.1f}")
        cells.append(cell)
    return cells


def truth(run: Run) -> list[Cell] | Made:
    """True precision and recall of every run's captions, and of human ones: only scenes know their own facts."""
    if not run.knows_facts:
        return no_truth(run)
    columns = {
        "precision, greedy": Measure("greedy", "precision_true"),
        "precision, beam": Measure("beam", "precision_true"),
        f"precision, {run.samples()} samples": Measure("sample", "precision_true", "every"),
        "recall, one sample": Measure("sample", "recall_true", "every"),
        f"recall, {run.samples()} samples together": Measure("sample", "recall_true", "set"),
        f"recall, beam of {run.beam()} together": Measure("beam", "recall_true", "set"),
    }
    known = [entry for entry in run.trained if run.knows_facts_of(entry.task)]
    cells = [cell for entry in known for cell in measured_cells(run, entry.captioner, entry, columns)]
    no_decoder = Estimate(None, remarks=(f"human captions come from no decoder: see {run.samples()} samples",))
    for cell in measured_cells(run, "", None, columns):
        cells.append(cell if columns[cell.column].decoder == "sample" else replace(cell, ours=no_decoder))
    return cells


def diversity(run: Run) -> list[Cell]:
    cells = []
    for decoder, block in (("sample", f"{run.samples()} samples"), ("beam", f"beam of {run.beam()}")):
        for entry in run.trained:
            for metric in registry.DIVERSITY:
                by_seed = run.scores.corpus(entry.name, decoder, metric)
                ours = over_seeds(run, entry.name, decoder, metric, by_seed)
                cells.append(Cell.of(run, metric, block, entry.label, metric, ours, run.stand_in(entry.task)))
    return cells


TABLES = {"sle_table4": table4, "sle_truth": truth, "sle_quality": quality_cells, "sle_diversity": diversity}
