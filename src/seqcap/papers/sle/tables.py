"""SLE's tables, and what it does not print: true precision and recall, every metric, the diversity suite."""

from __future__ import annotations

from dataclasses import replace

from seqcap.metrics import registry
from seqcap.papers import Columns
from seqcap.papers.sle.rows import BEST_CAPTION, MULTI_MEANS, OURS, ROWS, SET, START, START_MEANS
from seqcap.report import published
from seqcap.report.inputs import Run
from seqcap.report.tables import (
    SEEDS,
    Cell,
    Estimate,
    Measure,
    Table,
    measured_cells,
    missing,
    no_truth,
    over_seeds,
    published_cells,
    quality_table,
    with_unpublished,
)


def _with_ours(run: Run, table: str, columns: Columns) -> list[Cell]:
    """The published cells with ours beside them; the rows that the paper does not print follow those like them."""
    return with_unpublished(run, table, ROWS, columns, OURS, MULTI_MEANS)


def table1(run: Run) -> Table:
    """Random samples of XE and of SLL."""
    samples = run.samples()
    reading = (
        f"Sets of {samples} random samples per image. CIDEr is the mean over the {samples.word} captions (precision's "
        f"stand-in), Div-1, Div-2 and mBLEU-4 say how much the {samples.word} differ (recall's stand-in; a low mBLEU-4 "
        "is diverse)."
    )
    cells = published_cells(run, "table1", ROWS, SET)
    return Table("SLE, Table 1: random samples of XE and SLL", reading, cells)


def table2(run: Run) -> Table:
    """Quality of the best beam caption."""
    reading = f"The first caption of {run.a_beam()}. Rows marked * are captioners with attention."
    cells = _with_ours(run, "table2", BEST_CAPTION)
    return Table("SLE, Table 2: quality of the best beam caption", reading, cells)


def table3(run: Run) -> Table:
    """Quality of the best beam caption of clips."""
    reading = (
        f"The first caption of {run.a_beam('sle_clip')}, of clips. The rows SLL and SLL-ME are probably swapped in "
        "print: see the errors noticed in the paper. How much of ours is true is in the table of true precision and "
        "recall."
    )
    cells = with_unpublished(run, "table3", ROWS, BEST_CAPTION, START, START_MEANS, run.stand_in("clip"))
    brackets = "95% bootstrap interval over training seeds and test clips"
    return Table("SLE, Table 3: quality of the best beam caption of clips", reading, cells, brackets)


def table4(run: Run) -> Table:
    """Quality and diversity of sets of captions."""
    reading = (
        f"(rs): {run.samples()} random samples per image; (bs): the {run.beam().word} captions of {run.a_beam()}. "
        f"CIDEr is the mean over the {run.several()}."
    )
    cells = _with_ours(run, "table4", SET)
    cells = [cell.remarked(*_single_caption(run, cell)) for cell in cells]
    return Table("SLE, Table 4: quality and diversity of random samples and of beams", reading, cells)


def _single_caption(run: Run, cell: Cell) -> tuple[str, ...]:
    """Table 4 prints, as the CIDEr of a beam's five captions, what Table 2 prints for its best caption."""
    name, decoder = ROWS["table4"].get(cell.row, ("", ""))
    if (decoder, cell.column) != ("beam", "CIDEr") or cell.ours.value is None or cell.row in OURS:
        return ()
    table2 = published.published_table("sle", "table2")
    label = cell.row.removesuffix(" (bs)")
    best = table2.loc[(table2["row"] == label) & (table2["column"] == "CIDEr"), "value"].tolist()
    if best != [published.published_value("sle", "table4", cell.row, "CIDEr")]:
        return ()
    ours = run.scores.by_seed(name, "beam", "CIDEr")
    if ours is None:
        return ()
    return (
        f"the paper prints Table 2's value, that of the best caption alone; ours for that is {ours.mean() * 100:.1f}",
    )


def truth_columns(run: Run) -> dict[str, Measure]:
    """What only a generated scene, whose facts are known, lets us measure."""
    return {
        "precision, greedy": Measure("greedy", "precision_true"),
        "precision, beam": Measure("beam", "precision_true"),
        f"precision, {run.samples()} samples": Measure("sample", "precision_true", "every"),
        "recall, one sample": Measure("sample", "recall_true", "every"),
        f"recall, {run.samples()} samples together": Measure("sample", "recall_true", "set"),
        f"recall, beam of {run.beam()} together": Measure("beam", "recall_true", "set"),
    }


def truth(run: Run) -> Table:
    """True precision and recall of every run's captions, and of human ones: only scenes know their own facts."""
    title = "SLE: true precision and recall, which the paper says cannot be measured"
    if not run.knows_facts:
        return no_truth(run, title)
    columns = truth_columns(run)
    known = [entry for entry in run.trained if run.knows_facts_of(entry.task)]
    cells = [cell for entry in known for cell in measured_cells(run, entry.captioner, entry, columns)]
    no_decoder = Estimate(None, remarks=(f"human captions come from no decoder: see {run.samples()} samples",))
    for cell in measured_cells(run, "", None, columns):
        cells.append(cell if columns[cell.column].decoder == "sample" else replace(cell, ours=no_decoder))
    reading = (
        "A checker decides exactly which statements of a caption are true of its scene, or clip. Precision: the share "
        f"of a caption's statements that are true. Recall: the share of the scene's facts that one caption, or "
        f"{run.several()} together, state. Greedy and beam: the first caption. No paper reports these."
    )
    return Table(title, reading, cells)


def quality(run: Run) -> Table:
    """Every quality metric of every run."""
    reading = (
        "Corpus scores of one caption per image, x100, averaged over seeds. SPIDEr is the sum CIDEr + SPICE. No paper "
        "reports these."
    )
    return quality_table(run, reading)


def diversity(run: Run) -> Table:
    """The diversity suite over the random samples and over the beam's captions, with the range over seeds."""
    cells = []
    for decoder, block in (("sample", f"{run.samples()} samples"), ("beam", f"beam of {run.beam()}")):
        for entry in run.trained:
            for metric in registry.DIVERSITY:
                by_seed = run.scores.corpus(entry.name, decoder, metric)
                ours = over_seeds(by_seed, missing(run, entry.name, decoder, metric))
                cells.append(Cell.of(metric, block, entry.label, metric, ours, run.stand_in(entry.task)))
    reading = (
        "Means over seeds. Self-BLEU4 compares captions of different images, the others those of one. oracle: CIDEr "
        "x100 of each image's best caption. vocabulary: distinct words; length: words per caption; novel (not a "
        "training caption), unique and bad_endings (cut off after an article or preposition): percent of captions. No "
        "paper reports these."
    )
    return Table("SLE: the diversity suite", reading, cells, SEEDS)


TABLES = {
    "sle_table1": table1,
    "sle_table2": table2,
    "sle_table3": table3,
    "sle_table4": table4,
    "sle_truth": truth,
    "sle_quality": quality,
    "sle_diversity": diversity,
}
