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


def table4(run: Run) -> list[Cell]:
    return [cell.remarked(*_single_caption(run, cell)) for cell in published_cells(run, "table4")]


def _single_caption(run: Run, cell: Cell) -> tuple[str, ...]:
    """Table 4 prints, as the CIDEr of a beam's five captions, what Table 2 prints for its best caption."""
    facts, published = run.paper.facts, run.paper.published
    name, decoder = facts.rows["table4"].get(cell.row, ("", ""))
    if (decoder, cell.column) != ("beam", "CIDEr") or cell.ours.value is None or cell.row in facts.ours["table4"]:
        return ()
    table2 = published.table("table2")
    label = cell.row.removesuffix(" (bs)")
    best = table2.loc[(table2["row"] == label) & (table2["column"] == "CIDEr"), "value"].tolist()
    ours = run.scores.by_seed(name, "beam", "CIDEr")
    if best != [published.value("table4", cell.row, "CIDEr")] or ours is None:
        return ()
    return (
        f"the paper prints Table 2's value, that of the best caption alone; ours for that is {ours.mean() * 100:.1f}",
    )


def truth_columns(run: Run) -> dict[str, Measure]:
    return {
        "precision, greedy": Measure("greedy", "precision_true"),
        "precision, beam": Measure("beam", "precision_true"),
        f"precision, {run.samples()} samples": Measure("sample", "precision_true", "every"),
        "recall, one sample": Measure("sample", "recall_true", "every"),
        f"recall, {run.samples()} samples together": Measure("sample", "recall_true", "set"),
        f"recall, beam of {run.beam()} together": Measure("beam", "recall_true", "set"),
    }


def truth(run: Run) -> list[Cell] | Made:
    """True precision and recall of every run's captions, and of human ones: only scenes know their own facts."""
    if not run.knows_facts:
        return no_truth(run)
    columns = truth_columns(run)
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
