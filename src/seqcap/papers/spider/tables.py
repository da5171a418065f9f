"""PG-SPIDEr's Table 1, and what it does not print: every reward of every run, truth, style, all metrics."""

from __future__ import annotations

from seqcap.papers import Captions
from seqcap.papers.spider import MIXER_A
from seqcap.papers.spider.rows import COLUMNS, ROWS
from seqcap.report.inputs import Run
from seqcap.report.tables import Measure, Table, measured_cells, no_truth, published_cells, quality_table


def table1(run: Run) -> Table:
    """Every published cell, ours from the best beam caption."""
    reading = (
        f"The first caption of {run.a_beam()}. CIDEr-D is printed for the CIDEr of COCO's evaluation code, which ours "
        "is, too. The published numbers are of COCO's official C-5 test split (server, November 2016), read off an "
        "image of the table. Rows under *submissions* are other systems' entries there."
    )
    cells = [
        cell.remarked(MIXER_A) if cell.row == "MIXER-BCMR-A" else cell
        for cell in published_cells(run, "table1", ROWS, COLUMNS)
    ]
    return Table("SPIDEr, Table 1: quality of the best beam caption", reading, cells)


def rewards(run: Run) -> Table:
    """Every run under the rewards of all: what training on one does to the others."""
    names = list(dict.fromkeys(entry.reward for entry in run.trained if entry.reward))
    cells = []
    for decoder in ("greedy", "beam"):
        columns = {name: Measure(decoder, f"reward_{name}") for name in names}
        for entry in run.trained:
            for cell in measured_cells(run, decoder, entry, columns):
                own = cell.column == entry.reward
                cells.append(cell.remarked("the reward it was trained on") if own else cell)
    reading = (
        "Mean reward of one caption per image (greedy; first of the beam) against the test references, in the scale "
        "that training pays: weighted sums of metrics x1, as params.yaml defines them. No paper reports these."
    )
    return Table("SPIDEr: every variant under every reward", reading, cells)


def truth(run: Run) -> Table:
    """How often captions say only what is true, beside human captions: only scenes know their own facts."""
    title = "SPIDEr: how true the captions are, a stand-in for people's judgement"
    if not run.knows_facts:
        return no_truth(run, title)
    cells = []
    for decoder in ("greedy", "beam"):
        for entry in run.trained:
            cells += measured_cells(run, decoder, entry, _truth(decoder, "best"))
    cells += measured_cells(run, "human", None, _truth("sample", "every"))
    reading = (
        "A checker decides exactly which statements of a caption are true of its scene. Only true: percent of captions "
        "that say something, all of it true. Precision: the share of a caption's statements that are true. Recall: the "
        "share of the scene's facts that it states. One caption per image (greedy; first of the beam); of people, "
        "every reference. No paper reports these."
    )
    return Table(title, reading, cells)


def _truth(decoder: str, captions: Captions) -> dict[str, Measure]:
    return {
        "only true, %": Measure(decoder, "all_true", captions),
        "precision": Measure(decoder, "precision_true", captions),
        "recall, one caption": Measure(decoder, "recall_true", captions),
    }


def quality(run: Run) -> Table:
    """Every quality metric of every run."""
    reading = "Corpus scores of one caption per image, x100, averaged over seeds. SPIDEr is the sum CIDEr + SPICE."
    return quality_table(run, reading)


def style(run: Run) -> Table:
    """What shows that a policy rambles."""
    columns = {
        "words, greedy": Measure("greedy", "words"),
        "words, beam": Measure("beam", "words"),
        "seq-rep-2, greedy": Measure("greedy", "seq-rep-2"),
        "seq-rep-2, beam": Measure("beam", "seq-rep-2"),
        f"bad endings, beam of {run.beam()}": Measure("beam", "bad_endings", "set"),
        f"bad endings, {run.samples()} samples": Measure("sample", "bad_endings", "set"),
        f"vocabulary, beam of {run.beam()}": Measure("beam", "vocabulary", "set"),
    }
    cells = [cell for entry in run.trained for cell in measured_cells(run, "", entry, columns)]
    reading = (
        "Words per caption; seq-rep-2: the share of a caption's bigrams that occurred earlier in it (Welleck et al. "
        "2020); both of one caption per image (greedy; first of the beam). Bad endings: percent of captions cut off "
        f"after an article or preposition; vocabulary: distinct words; both over {run.several()} captions per image. "
        "No paper reports these."
    )
    return Table("SPIDEr: which captions ramble", reading, cells)


TABLES = {
    "spider_table1": table1,
    "spider_rewards": rewards,
    "spider_truth": truth,
    "spider_quality": quality,
    "spider_style": style,
}
