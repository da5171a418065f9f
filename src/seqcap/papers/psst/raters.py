"""Automatic raters, which stand for the people of PSST's Table 5.

Accuracy: a caption and two images, its own and the one that the judge, a retriever which no run has seen, holds for
the most similar. Right if the judge's score is higher for the own one (`fixed_choice` in the scores).

Better English: of two captions of an image, that with fewer statements that the scenes' checker cannot read; if both
have as many, or nobody knows (photographs), that whose words are more probable under the captioner of cross-entropy.
Equal captions: neither.
"""

from dataclasses import dataclass

import numpy as np

from seqcap.papers.psst.methods import PLACES, ST, curve
from seqcap.papers.psst.rows import PEOPLE, method_of
from seqcap.report.inputs import HUMAN, Run
from seqcap.report.statistics import Drawn, Missing, Sample, paired
from seqcap.report.tables import Measure
from seqcap.report.tradeoff import Reading, Score, nearest

CHOICE = Measure("greedy", "fixed_choice")
ENGLISH = "better_english"
_LOG_PROB, _UNPARSED = "xe_log_prob", "unparsed"
REFERENCE = ST  # the method whose English the others are compared with


@dataclass(frozen=True)
class Preferred:
    """The share of images where raters find the caption of run `name` better English than `other`'s; "": no run."""

    name: str
    other: str

    @property
    def runs(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.name, self.other)))

    def drawn(self, run: Run) -> Drawn | Missing:
        if len(self.runs) < 2:
            return Missing("a method that is judged is not part of this run", absent=True)
        found = []
        for metric in (_LOG_PROB, _UNPARSED) if run.knows_facts else (_LOG_PROB,):
            samples = [run.scores.sample(name, "greedy", metric, "best") for name in self.runs]
            known = [sample for sample in samples if sample is not None]
            if len(known) < 2:
                return Missing(run.scores.why_missing(self.name, "greedy", metric))
            if not set(known[0].seeds.tolist()) & set(known[1].seeds.tolist()):
                return Missing(f"{self.name} and {self.other} have no training seed in common")
            same = paired(known)
            if same is None:
                return Missing(f"{metric} is undefined for every caption")
            found.append([sample.statistics[:, :, 0] for sample in same])
            items, seeds = same[0].items, same[0].seeds
        (mine, others), *unparsed = found
        better = mine > others
        for left, right in unparsed:
            better = (left < right) | ((left == right) & better)
        shares = better.astype(np.float64)[:, :, None]
        return Drawn.of(Sample(items, seeds, shares, np.ones(better.shape, bool)))


def at_one_recall(run: Run, method: str) -> str:
    return nearest(run, curve(run, method), PLACES["naturalness"].point(run)) or ""


def better_english(run: Run, row: str) -> tuple[Preferred, Preferred]:
    """How often a row's captions are preferred to the reference's, and how often the reference's are."""
    name, reference = at_one_recall(run, method_of(run.paper, row)), at_one_recall(run, REFERENCE)
    return Preferred(name, reference), Preferred(reference, name)


def accuracy(run: Run, row: str) -> Reading | Score:
    if row == PEOPLE:
        return Score(HUMAN, Measure("sample", CHOICE.metric, "every"))
    return Reading(curve(run, method_of(run.paper, row)), CHOICE, PLACES["accuracy"].point(run))
