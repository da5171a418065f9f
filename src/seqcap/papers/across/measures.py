"""What objectives are compared in, and which paper each is of."""

from collections.abc import Mapping, Sequence

import numpy as np

from seqcap.config.report import ReportedRun
from seqcap.report.inputs import Run
from seqcap.report.paper import read_yaml
from seqcap.report.statistics import Floats
from seqcap.report.tables import Measure
from seqcap.report.tradeoff import level

OTHERS = "others"
CIDER = "CIDEr, beam"
# What quality is set against. The beam's captions are its best ones, `samples` are random.
DIVERSITY, DISTINCT, TRUTH = "Div-2, samples", "R@10 by the judge", "true captions"
AGAINST = (DIVERSITY, DISTINCT, TRUTH)
RECALL, WORDS = "true recall, samples", "words"
COLUMNS = {
    CIDER: Measure("beam", "CIDEr"),
    DISTINCT: Measure("beam", "fixed_R@10"),
    TRUTH: Measure("beam", "all_true"),
    WORDS: Measure("beam", "words"),
    "CIDEr, samples": Measure("sample", "CIDEr", "every"),
    DIVERSITY: Measure("sample", "Div2", "set"),
    RECALL: Measure("sample", "recall_true", "set"),
}
# What tells whether captions are true and told apart.
TRUTHS = (TRUTH, RECALL, DISTINCT)
YARDSTICKS = {
    CIDER: COLUMNS[CIDER],
    "CIDEr, samples": COLUMNS["CIDEr, samples"],
    "Div-1, samples": Measure("sample", "Div1", "set"),
    DIVERSITY: COLUMNS[DIVERSITY],
    "mBLEU-4, samples": Measure("sample", "mBleu4", "set"),
    "Self-BLEU, beam": Measure("beam", "Self-BLEU"),
    "R@10 by the own listener": Measure("beam", "own_R@10"),
}


def papers(run: Run) -> dict[str, list[ReportedRun]]:
    """Paper -> its runs; at the end those of no paper's objectives."""
    known = read_yaml(run.paper.folder / "methods.yaml", Mapping[str, tuple[str, ...]])
    found = {paper: [entry for entry in run.trained if entry.objective in of] for paper, of in known.items()}
    of_papers = [entry.name for entries in found.values() for entry in entries]
    found[OTHERS] = [entry for entry in run.trained if entry.name not in of_papers]
    return {paper: entries for paper, entries in found.items() if entries}


def means(run: Run, entries: Sequence[ReportedRun], of: Measure) -> Floats:
    """A measure's mean over seeds of each run [n]; NaN where it was not measured."""
    return np.array([level(run, entry.name, of) for entry in entries], dtype=float)
