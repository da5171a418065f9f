"""Automatic raters, which stand for the people of PSST's Table 5.

Accuracy: a caption and two images, its own and the one that the judge, a retriever which no run has seen, holds for
the most similar. Right if the judge's score is higher for the own one (`fixed_choice` in the scores).

Better English: of two captions of an image, that with fewer statements that the scenes' checker cannot read; if both
have as many, or nobody knows (photographs), that whose words are more probable under the captioner of cross-entropy.
Equal captions: neither.
"""

from dataclasses import dataclass

import numpy as np

from seqcap.papers.psst.methods import PLACES, ST
from seqcap.papers.psst.rows import method_of
from seqcap.report.inputs import Results
from seqcap.report.statistics import Missing, Number, Sample

_LOG_PROB, _UNPARSED = "xe_log_prob", "unparsed"


@dataclass(frozen=True)
class Preferred:
    """The share of images where raters find the caption of run `name` better English than `other`'s; "": no run."""

    name: str
    other: str

    @property
    def runs(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.name, self.other)))

    def number(self, results: Results) -> Number | Missing:
        if len(self.runs) < 2:
            return Missing("a method that is judged is not part of this run", absent=True)
        found = []
        for metric in (_LOG_PROB, _UNPARSED) if results.knows_facts else (_LOG_PROB,):
            matched = results.matched(self.runs, "greedy", metric, "best")
            if isinstance(matched, Missing):
                return matched
            common = sorted(set.intersection(*(set(sample.seeds.tolist()) for sample in matched)))
            if not common:
                return Missing(f"{' and '.join(self.runs)} have no seed in common")
            same = [sample.only(common) for sample in matched]
            found.append([sample.statistics[:, :, 0] for sample in same])
            items, seeds = same[0].items, same[0].seeds
        (mine, others), *unparsed = found
        better = mine > others
        for left, right in unparsed:
            better = (left < right) | ((left == right) & better)
        shares = better.astype(np.float64)[:, :, None]
        return Number.of(Sample(items, seeds, shares, np.ones(better.shape, bool)))


def better_english(results: Results, row: str) -> tuple[Preferred, Preferred]:
    """How often a row's captions are preferred to ST Multinomial's, and how often those are."""
    name, reference = (PLACES["naturalness"].at(results, method) for method in (method_of(row), ST))
    return Preferred(name, reference), Preferred(reference, name)
