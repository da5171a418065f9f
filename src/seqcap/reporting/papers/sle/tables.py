"""SLE's tables 1, 2 and 4, and what it does not print: true precision and recall, every metric, the diversity suite."""

from __future__ import annotations

from dataclasses import replace

from seqcap.reporting import published
from seqcap.reporting.inputs import Captions, Run
from seqcap.reporting.tables import (
    HUMAN,
    SEEDS,
    Cell,
    Estimate,
    Measure,
    Table,
    best_caption_by_seed,
    measured_cells,
    no_truth,
    over_seeds,
    published_cells,
    quality_table,
)

# "sample" is 5 random samples per image; "beam" is a beam of 5.
ROWS: dict[str, dict[str, tuple[str, str]]] = {
    "table1": {
        "XE": ("xe", "sample"),
        "SLL": ("sll", "sample"),
    },
    "table2": {
        "SLL": ("sll", "beam"),
        "SLL-ME": ("sll_me", "beam"),
        "SLL-SLE": ("sll_sle", "beam"),
        "SLL*": ("sll_att", "beam"),
        "SLL-ME*": ("sll_me_att", "beam"),
        "SLL-SLE*": ("sll_sle_att", "beam"),
    },
    "table4": {
        "XE (rs)": ("xe", "sample"),
        "SLL (rs)": ("sll", "sample"),
        "SLL-ME (rs)": ("sll_me", "sample"),
        "SLL-SLE (rs)": ("sll_sle", "sample"),
        "XE (bs)": ("xe", "beam"),
        "SLL (bs)": ("sll", "beam"),
        "SLL-ME (bs)": ("sll_me", "beam"),
        "SLL-SLE (bs)": ("sll_sle", "beam"),
    },
}

# Column -> (metric in scores.parquet, over which captions of an image).
SET_OF_FIVE: dict[str, tuple[str, Captions]] = {
    "CIDEr": ("CIDEr", "every"),
    "Div1": ("Div1", "set"),
    "Div2": ("Div2", "set"),
    "mBleu4": ("mBleu4", "set"),
}
BEST_CAPTION: dict[str, tuple[str, Captions]] = {
    "METEOR": ("METEOR", "best"),
    "CIDEr": ("CIDEr", "best"),
    "SPICE": ("SPICE", "best"),
}

# What only a generated scene, whose facts are known, lets us measure.
TRUTH = {
    "precision, greedy": Measure("greedy", "precision_true"),
    "precision, beam": Measure("beam", "precision_true"),
    "precision, 5 samples": Measure("sample", "precision_true", "every"),
    "recall, one sample": Measure("sample", "recall_true", "every"),
    "recall, 5 samples together": Measure("sample", "recall_true", "set"),
    "recall, beam of 5 together": Measure("beam", "recall_true", "set"),
}

# Metric of a decoder's five captions -> (which way is more diverse, or better; scale).
DIVERSITY = {
    "Div1": ("higher", 1.0),
    "Div2": ("higher", 1.0),
    "mBleu1": ("lower", 1.0),
    "mBleu2": ("lower", 1.0),
    "mBleu3": ("lower", 1.0),
    "mBleu4": ("lower", 1.0),
    "self-CIDEr": ("higher", 1.0),
    "Self-BLEU4": ("lower", 1.0),
    "oracle": ("higher", 100.0),
    "vocabulary": ("higher", 1.0),
    "novel": ("higher", 1.0),
    "unique": ("higher", 1.0),
    "length": ("higher", 1.0),
    "bad_endings": ("lower", 1.0),
}


def table1(run: Run) -> Table:
    """Random samples of XE and of SLL."""
    reading = (
        "Sets of 5 random samples per image. CIDEr is the mean over the five captions (precision's stand-in), Div-1, "
        "Div-2 and mBLEU-4 say how much the five differ (recall's stand-in; a low mBLEU-4 is diverse)."
    )
    cells = published_cells(run, "table1", SET_OF_FIVE)
    return Table("SLE, Table 1: random samples of XE and SLL", reading, cells)


def table2(run: Run) -> Table:
    """Quality of the best beam caption."""
    reading = "The first caption of a beam of 5. Rows marked * are captioners with attention."
    cells = published_cells(run, "table2", BEST_CAPTION)
    return Table("SLE, Table 2: quality of the best beam caption", reading, cells)


def table4(run: Run) -> Table:
    """Quality and diversity of sets of five."""
    reading = (
        "(rs): 5 random samples per image; (bs): the five captions of a beam of 5. CIDEr is the mean over the five."
    )
    cells = [cell.remarked(*_single_caption(run, cell)) for cell in published_cells(run, "table4", SET_OF_FIVE)]
    return Table("SLE, Table 4: quality and diversity of random samples and of beams", reading, cells)


def _single_caption(run: Run, cell: Cell) -> tuple[str, ...]:
    """Table 4 prints, as the CIDEr of a beam's five captions, what Table 2 prints for its best caption."""
    variant, decoder = ROWS["table4"].get(cell.row, ("", ""))
    if (decoder, cell.column) != ("beam", "CIDEr") or cell.ours.value is None:
        return ()
    table2 = published.published_table("sle", "table2")
    label = cell.row.removesuffix(" (bs)")
    best = table2.loc[(table2["row"] == label) & (table2["column"] == "CIDEr"), "value"].tolist()
    if best != [published.published_value("sle", "table4", cell.row, "CIDEr")]:
        return ()
    ours = best_caption_by_seed(run.scores, variant, "beam", "CIDEr")
    if ours is None:
        return ()
    return (
        f"the paper prints Table 2's value, that of the best caption alone; ours for that is {ours.mean() * 100:.1f}",
    )


def truth(run: Run) -> Table:
    """True precision and recall of every variant's captions, and of human ones: only scenes know their own facts."""
    title = "SLE: true precision and recall, which the paper says cannot be measured"
    if run.config.dataset != "scenes":
        return no_truth(run, title)
    cells = [cell for variant in run.variants for cell in measured_cells(run, variant.captioner, variant, TRUTH)]
    no_decoder = Estimate(None, remarks=("human captions come from no decoder: see 5 samples",))
    for cell in measured_cells(run, "", HUMAN, TRUTH):
        cells.append(cell if TRUTH[cell.column].decoder == "sample" else replace(cell, ours=no_decoder))
    reading = (
        "A checker decides exactly which statements of a caption are true of its scene. Precision: the share of a "
        "caption's statements that are true. Recall: the share of the scene's facts that one caption, or five "
        "together, state. Greedy and beam: the first caption. No paper reports these."
    )
    return Table(title, reading, cells)


def quality(run: Run) -> Table:
    """Every quality metric of every variant."""
    reading = (
        "Corpus scores of one caption per image, x100, averaged over seeds. SPIDEr is the sum CIDEr + SPICE. No paper "
        "reports these."
    )
    return quality_table(run, reading)


def diversity(run: Run) -> Table:
    """The diversity suite over the five random samples and the five of the beam; low and high are over seeds."""
    cells = []
    for decoder, block in (("sample", "5 samples"), ("beam", "beam of 5")):
        for variant in run.variants:
            for metric, (direction, scale) in DIVERSITY.items():
                by_seed = run.scores.corpus(variant.variant, decoder, metric)
                ours = over_seeds(by_seed, run.scores.why_missing(variant.variant, decoder, metric))
                cells.append(Cell(block, variant.label, metric, direction, "", ours, scale, run.stand_in()))
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
    "sle_table4": table4,
    "sle_truth": truth,
    "sle_quality": quality,
    "sle_diversity": diversity,
}
