"""Loss smoothing's Tables 1 to 3, and what the paper does not print: gains with intervals, and all quality metrics."""

from __future__ import annotations

from dataclasses import replace

from seqcap.metrics import registry
from seqcap.papers import Columns
from seqcap.papers.smoothing.rows import MEMBERS, ON_SERVER, PARTS, SERVER, entries, rows
from seqcap.report.inputs import Run
from seqcap.report.tables import Cell, Table, published_cells, quality_table


def _columns(*metrics: str) -> Columns:
    """A column of the best captions' scores for each metric, with its label."""
    return {registry.find(metric).label: (metric, "best") for metric in metrics}


def table1(run: Run) -> Table:
    """Every loss on captions, without attention and with."""
    reading = (
        f"The first caption of {run.a_beam(PARTS[0].evaluation)}. V, Vbatch, Vrefs: substitutes from the vocabulary, "
        "from the batch, from the image's references. lazy: samples are scored under the ground truth's hidden states."
    )
    cells = published_cells(run, "table1", rows(run), _columns("BLEU1", "BLEU4", "CIDEr"))
    return Table("Loss smoothing, Table 1: captions", reading, cells)


def table2(run: Run) -> Table:
    """Our entries on the server's metrics, beside other systems'."""
    reading = (
        f"The first caption of {run.a_beam(SERVER)}, against 5 (c5) and 40 (c40) references per image. The published "
        f"numbers are of {ON_SERVER}. +: an ensemble."
    )
    columns = _columns(*(f"{metric} {references}" for metric in registry.SERVER for references in ("c5", "c40")))
    there = SERVER in run.config.evaluations
    data = run.stand_in("image", SERVER, ON_SERVER) if there else f"{ON_SERVER}: not part of this run"
    cells = published_cells(run, "table2", rows(run), columns, data)
    cells = [cell.remarked(*_members(run, cell)) for cell in cells]
    return Table("Loss smoothing, Table 2: captions on COCO's server", reading, cells)


def _members(run: Run, cell: Cell) -> tuple[str, ...]:
    """Which models an entry's number is of."""
    entry = entries(run).get(cell.row)
    if entry is None or cell.ours.value is None:
        return ()
    kind = next((part.name for part in PARTS if part.captioner == entry.captioner), f"captioner {entry.captioner}")
    number = len(entry.seeds)
    if entry.members == 1:
        seeds = ", ".join(map(str, entry.seeds))
        return (f"seed{'s' if number > 1 else ''} {seeds}, {kind}",)
    who = "an ensemble" if number == 1 else f"{number} ensembles, each"
    return (f"{who} of {entry.members} seeds, {kind}; the paper's is of {MEMBERS}",)


def table3(run: Run) -> Table:
    """Every loss on both translation tasks."""
    parts = {part.column: part for part in PARTS if part.table == "table3"}
    there = [part for part in parts.values() if part.evaluation in run.config.evaluations]
    beams = ", ".join(f"{run.beam(part.evaluation)} on {part.name}" for part in there)
    reading = (
        f"Corpus BLEU-4 of the first translation of a beam{f' ({beams})' if beams else ''}. V, Vbatch: substitutes "
        "from the vocabulary, from the batch."
    )
    columns: Columns = {column: (part.metric, "best") for column, part in parts.items()}
    cells = [
        replace(cell, data=run.stand_in(parts[cell.column].task))
        for cell in published_cells(run, "table3", rows(run), columns)
    ]
    brackets = "95% bootstrap interval over training seeds and test sentences"
    return Table("Loss smoothing, Table 3: translation", reading, cells, brackets)


def gains(run: Run) -> Table:
    """Each loss minus MLE."""
    reading = (
        "Each loss minus MLE of the same captioner or task: CIDEr of captions, BLEU of translations, x100, first of "
        "the beam. The interval resamples seeds, and images or sentences, together for both. The published gain is the "
        "difference of the printed numbers."
    )
    cells = [cell for part in PARTS for cell in part.gain_cells(run)]
    brackets = "95% paired bootstrap interval over training seeds, and test images or sentences"
    return Table("Loss smoothing: gains over MLE", reading, cells, brackets)


def quality(run: Run) -> Table:
    """Every quality metric of every loss on captions."""
    words = f"greedy; first of {run.a_beam(PARTS[0].evaluation)}"
    table = quality_table(run, f"Corpus scores of one caption per image ({words}), x100, averaged over seeds.")
    return table if table.cells else replace(table, reading="Not measured: no captioner is part of this run.")


TABLES = {
    "smoothing_table1": table1,
    "smoothing_table2": table2,
    "smoothing_table3": table3,
    "smoothing_gains": gains,
    "smoothing_quality": quality,
}
