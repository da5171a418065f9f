"""PG-SPIDEr's Table 1, and what it does not print: every reward of every variant, truth, style, all metrics."""

from __future__ import annotations

from seqcap.reporting.inputs import Captions, Run
from seqcap.reporting.tables import (
    HUMAN,
    Measure,
    Table,
    measured_cells,
    no_truth,
    published_cells,
    quality_table,
)

# What the paper leaves open, and what is done here.
MIXER_A = (
    "the paper does not say what -A is; here: MIXER whose weight of cross-entropy falls to 0 with the prefix, instead "
    "of staying at .5"
)

# Figure 3's bars are not here: people judged those captions.
ROWS: dict[str, dict[str, tuple[str, str]]] = {
    "table1": {
        "MLE": ("mle", "beam"),
        "PG-BLEU-4": ("pg_bleu4", "beam"),
        "PG-CIDEr": ("pg_cider", "beam"),
        "MIXER-BCMR": ("mixer_bcmr", "beam"),
        "MIXER-BCMR-A": ("mixer_bcmr_a", "beam"),
        "PG-BCMR": ("pg_bcmr", "beam"),
        "PG-SPIDEr": ("pg_spider", "beam"),
    },
}

# Column of Table 1 -> (metric in scores.parquet, over which captions of an image).
COLUMNS: dict[str, tuple[str, Captions]] = {
    "CIDEr-D": ("CIDEr", "best"),
    "METEOR": ("METEOR", "best"),
    "ROUGE-L": ("ROUGE_L", "best"),
    "BLEU-1": ("BLEU1", "best"),
    "BLEU-2": ("BLEU2", "best"),
    "BLEU-3": ("BLEU3", "best"),
    "BLEU-4": ("BLEU4", "best"),
}

STYLE = {
    "words, greedy": Measure("greedy", "words", direction=""),
    "words, beam": Measure("beam", "words", direction=""),
    "seq-rep-2, greedy": Measure("greedy", "seq-rep-2", direction="lower"),
    "seq-rep-2, beam": Measure("beam", "seq-rep-2", direction="lower"),
    "bad endings, beam of 5": Measure("beam", "bad_endings", "set", direction="lower"),
    "bad endings, 5 samples": Measure("sample", "bad_endings", "set", direction="lower"),
    "vocabulary, beam of 5": Measure("beam", "vocabulary", "set"),
}


def table1(run: Run) -> Table:
    """Every published cell, ours from the best caption of a beam of 5."""
    reading = (
        "The first caption of a beam of 5. CIDEr-D is printed for the CIDEr of COCO's evaluation code, which ours is, "
        "too. The published numbers are of COCO's official C-5 test split (server, November 2016), read off an image "
        "of the table. Rows under *submissions* are other systems' entries there."
    )
    cells = [
        cell.remarked(MIXER_A) if cell.row == "MIXER-BCMR-A" else cell
        for cell in published_cells(run, "table1", COLUMNS)
    ]
    return Table("SPIDEr, Table 1: quality of the best beam caption", reading, cells)


def rewards(run: Run) -> Table:
    """Every variant under the rewards of all: what training on one does to the others."""
    names = list(dict.fromkeys(variant.reward for variant in run.variants if variant.reward))
    cells = []
    for decoder in ("greedy", "beam"):
        columns = {name: Measure(decoder, f"reward_{name}") for name in names}
        for variant in run.variants:
            for cell in measured_cells(run, decoder, variant, columns):
                own = cell.column == variant.reward
                cells.append(cell.remarked("the reward it was trained on") if own else cell)
    reading = (
        "Mean reward of one caption per image (greedy; first of the beam) against the test references, in the scale "
        "that training pays: weighted sums of metrics x1, as params.yaml defines them. No paper reports these."
    )
    return Table("SPIDEr: every variant under every reward", reading, cells)


def truth(run: Run) -> Table:
    """How often captions say only what is true, beside human captions: only scenes know their own facts."""
    title = "SPIDEr: how true the captions are, a stand-in for people's judgement"
    if run.config.dataset != "scenes":
        return no_truth(run, title)
    cells = []
    for decoder in ("greedy", "beam"):
        for variant in run.variants:
            cells += measured_cells(run, decoder, variant, _truth(decoder, "best"))
    cells += measured_cells(run, "human", HUMAN, _truth("sample", "every"))
    reading = (
        "A checker decides exactly which statements of a caption are true of its scene. Only true: percent of captions "
        "that say something, all of it true. Precision: the share of a caption's statements that are true. Recall: the "
        "share of the scene's facts that it states. One caption per image (greedy; first of the beam); of people, "
        "every reference. No paper reports these."
    )
    return Table(title, reading, cells)


def _truth(decoder: str, captions: Captions) -> dict[str, Measure]:
    return {
        "only true, %": Measure(decoder, "all_true", captions, scale=100.0),
        "precision": Measure(decoder, "precision_true", captions),
        "recall, one caption": Measure(decoder, "recall_true", captions),
    }


def quality(run: Run) -> Table:
    """Every quality metric of every variant."""
    reading = "Corpus scores of one caption per image, x100, averaged over seeds. SPIDEr is the sum CIDEr + SPICE."
    return quality_table(run, reading)


def style(run: Run) -> Table:
    """What shows that a policy rambles."""
    cells = [cell for variant in run.variants for cell in measured_cells(run, "", variant, STYLE)]
    reading = (
        "Words per caption; seq-rep-2: the share of a caption's bigrams that occurred earlier in it (Welleck et al. "
        "2020); both of one caption per image (greedy; first of the beam). Bad endings: percent of captions cut off "
        "after an article or preposition; vocabulary: distinct words; both over five captions per image. No paper "
        "reports these."
    )
    return Table("SPIDEr: which captions ramble", reading, cells)


TABLES = {
    "spider_table1": table1,
    "spider_rewards": rewards,
    "spider_truth": truth,
    "spider_quality": quality,
    "spider_style": style,
}
