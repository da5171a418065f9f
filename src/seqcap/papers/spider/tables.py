"""Tables that PG-SPIDEr's paper does not print: every reward of every run, truth, style, all metrics."""

from seqcap.report.inputs import Run
from seqcap.report.paper import Captions
from seqcap.report.tables import Cell, Made, Measure, measured_cells, no_truth, quality_cells


def rewards(run: Run) -> list[Cell]:
    names = list(dict.fromkeys(entry.reward for entry in run.trained if entry.reward))
    cells = []
    for decoder in ("greedy", "beam"):
        columns = {name: Measure(decoder, f"reward_{name}") for name in names}
        for entry in run.trained:
            for cell in measured_cells(run, decoder, entry, columns):
                own = cell.column == entry.reward
                cells.append(cell.remarked("the reward it was trained on") if own else cell)
    return cells


def truth(run: Run) -> list[Cell] | Made:
    """How often captions say only what is true, beside human captions: only scenes know their own facts."""
    if not run.knows_facts:
        return no_truth(run)
    cells = []
    for decoder in ("greedy", "beam"):
        for entry in run.trained:
            cells += measured_cells(run, decoder, entry, _truth(decoder, "best"))
    return [*cells, *measured_cells(run, "human", None, _truth("sample", "every"))]


def _truth(decoder: str, captions: Captions) -> dict[str, Measure]:
    return {
        "only true, %": Measure(decoder, "all_true", captions),
        "precision": Measure(decoder, "precision_true", captions),
        "recall, one caption": Measure(decoder, "recall_true", captions),
    }


def style(run: Run) -> list[Cell]:
    columns = {
        "words, greedy": Measure("greedy", "words"),
        "words, beam": Measure("beam", "words"),
        "seq-rep-2, greedy": Measure("greedy", "seq-rep-2"),
        "seq-rep-2, beam": Measure("beam", "seq-rep-2"),
        f"bad endings, beam of {run.beam()}": Measure("beam", "bad_endings", "set"),
        f"bad endings, {run.samples()} samples": Measure("sample", "bad_endings", "set"),
        f"vocabulary, beam of {run.beam()}": Measure("beam", "vocabulary", "set"),
    }
    return [cell for entry in run.trained for cell in measured_cells(run, "", entry, columns)]


TABLES = {"spider_rewards": rewards, "spider_truth": truth, "spider_quality": quality_cells, "spider_style": style}
