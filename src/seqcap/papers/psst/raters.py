"""Automatic raters, which stand for the people of PSST's Table 5.

Accuracy: a caption and two images, its own and the one that the judge, a retriever which no run has seen, holds for
the most similar. Right if the judge's score is higher for the own one (`fixed_choice` in the scores).

Better English: of two captions of an image, that with fewer statements that the scenes' checker cannot read; if both
have as many, or nobody knows (photographs), that whose words are more probable under the captioner of cross-entropy.
Equal captions: neither. Methods are compared at one recall: where that lies between runs of neighbouring w, a caption
is of either run, with the shares that interpolation gives them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from seqcap.papers.psst.methods import PLACES, ST, curve
from seqcap.papers.psst.rows import method_of
from seqcap.report.inputs import Results
from seqcap.report.statistics import Floats, Ids, Missing, Number, Sample
from seqcap.report.tradeoff import Curve, OperatingPoint, mixture

_LOG_PROB, _UNPARSED = "xe_log_prob", "unparsed"


@dataclass(frozen=True)
class Preferred:
    """The share of images where raters find a method's caption better English than another's, at an operating point."""

    method: Curve
    other: Curve
    point: OperatingPoint | None

    @property
    def runs(self) -> tuple[str, ...]:
        return self.method.runs + self.other.runs

    def number(self, results: Results) -> Number | Missing:
        point, sides = self.point, (self.method, self.other)
        if not (self.method.runs and self.other.runs):
            return Missing("a method that is judged is not part of this run", absent=True)
        if point is None or point.refused:
            return Missing(point.refused if point else "no operating point: no value is reached")
        judged = _read(results, self.runs)
        if isinstance(judged, Missing):
            return judged
        mean = [mixture(results, side, point) for side in sides]
        for side, shares in zip(sides, mean, strict=True):
            if not shares:
                return Missing(f"{side.label} does not reach {point.words()}")
        seeds = sorted(set.intersection(*(judged.seeds_of(name) for shares in mean for name in shares)))
        if not seeds:
            return Missing(f"the runs of {self.method.label} and {self.other.label} have no seed in common")
        found, short = dict[int, Floats](), list[str]()
        for seed in seeds:
            left, right = (mixture(results, side, point, seed) for side in sides)
            if left and right:
                found[seed] = judged.preferred(left, right, seed)
            else:
                short.append(str(seed))
        if not found:
            return Missing(f"{self.method.label} or {self.other.label} does not reach {point.words()} with any seed")
        statistics = np.stack(list(found.values()), axis=1)[:, :, None]
        number = Number.of(
            Sample(judged.items, np.array(list(found)), statistics, np.ones(statistics.shape[:2], dtype=bool))
        )
        missed = f"a method does not reach {point.words()} with seed {' and '.join(short)}" if short else ""
        return replace(number, untestable=missed)


@dataclass(frozen=True)
class _Judged:
    """What the raters know of the captions of some runs; a run without a seed has its first one's."""

    items: Ids
    log_prob: Mapping[str, Sample]
    unparsed: Mapping[str, Sample] | None  # None where nobody knows

    def seeds_of(self, name: str) -> set[int]:
        return set(self.log_prob[name].seeds.tolist())

    def preferred(self, left: Mapping[str, float], right: Mapping[str, float], seed: int) -> Floats:
        """For each item [items] how probable it is that the left caption, of one of several runs by their shares, is
        better English than the right one."""
        found = np.zeros(len(self.items))
        for one, share in left.items():
            for other, its in right.items():
                better = _column(self.log_prob[one], seed) > _column(self.log_prob[other], seed)
                if self.unparsed is not None:
                    mine, others = (_column(self.unparsed[name], seed) for name in (one, other))
                    better = (mine < others) | ((mine == others) & better)
                found += share * its * better
        return found


def _column(sample: Sample, seed: int) -> Floats:
    values: Floats = sample.statistics[:, int(np.searchsorted(sample.seeds, seed)) if seed in sample.seeds else 0, 0]
    return values


def _read(results: Results, names: tuple[str, ...]) -> _Judged | Missing:
    read = {}
    for metric in (_LOG_PROB, _UNPARSED) if results.knows_facts else (_LOG_PROB,):
        matched = results.matched(names, "greedy", metric, "best")
        if isinstance(matched, Missing):
            return matched
        read[metric] = dict(zip(names, matched, strict=True))
    return _Judged(read[_LOG_PROB][names[0]].items, read[_LOG_PROB], read.get(_UNPARSED))


def better_english(results: Results, row: str) -> tuple[Preferred, Preferred]:
    """How often a row's captions are preferred to ST Multinomial's, and how often those are."""
    point = PLACES["naturalness"].point(results)
    method, reference = (curve(results, name) for name in (method_of(row), ST))
    return Preferred(method, reference, point), Preferred(reference, method, point)
