"""Automatic raters, which stand for the people of PSST's Table 5.

Accuracy: a caption and two images, its own and the one that the judge, a retriever which no run has seen, holds for
the most similar. Right if the judge's score is higher for the own one (`fixed_choice` in the scores).

Better English: of two captions of an image, that with fewer faults: words said twice in a row (the paper asked its
raters to mark repetitions) and, of scenes, statements that the checker cannot read. If both have as many, that whose
words are more probable under the captioner of cross-entropy. Equal captions: neither. Methods are compared at one
recall: where that lies between runs of neighbouring w, a caption is of either run, with the shares that interpolation
gives them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from seqcap.papers.psst.methods import PLACES, ST, curve
from seqcap.papers.psst.rows import method_of
from seqcap.report.inputs import Results
from seqcap.report.statistics import Floats, Ids, Missing, Number, Sample
from seqcap.report.tradeoff import Curve, OperatingPoint, meeting, mixture

_LOG_PROB, _UNPARSED = "xe_log_prob", "unparsed"


@dataclass(frozen=True)
class Preferred:
    """The share of images where raters find a method's caption better English than another's, at an operating point."""

    method: Curve
    other: Curve
    point: OperatingPoint | None
    moved: Mapping[int, float] = field(default_factory=dict)  # seed -> the point's value with it, of `meeting`

    @property
    def runs(self) -> tuple[str, ...]:
        return self.method.runs + self.other.runs

    def read_from(self, results: Results) -> tuple[str, ...]:
        beside = [mixture(results, side, self.point) if self.point else {} for side in (self.method, self.other)]
        return tuple(name for shares in beside for name in shares) or self.runs

    def number(self, results: Results) -> Number | Missing:
        point, sides = self.point, (self.method, self.other)
        for side in sides:
            if not side.runs:
                return Missing.method(side.label)
        if point is None or point.refused:
            return Missing(point.refused if point else "no operating point: no value is reached")
        judged = _read(results, self.runs)
        if isinstance(judged, Missing):
            return judged
        mean = [mixture(results, side, point) for side in sides]
        for side, shares in zip(sides, mean, strict=True):
            if not shares and not self.moved:
                return Missing(f"{side.label} does not reach {point.words()}")
        beside = [shares or side.runs for side, shares in zip(sides, mean, strict=True)]
        seeds = sorted(set.intersection(*(judged.seeds_of(name) for names in beside for name in names)))
        if not seeds:
            return Missing(f"the runs of {self.method.label} and {self.other.label} have no seed in common")
        found, short = dict[int, Floats](), list[str]()
        for seed in seeds:
            left, right = (mixture(results, side, point.at(self.moved.get(seed)), seed) for side in sides)
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
    faults: Mapping[str, Sample]

    def seeds_of(self, name: str) -> set[int]:
        return set(self.log_prob[name].seeds.tolist())

    def preferred(self, left: Mapping[str, float], right: Mapping[str, float], seed: int) -> Floats:
        """For each item [items] how probable it is that the left caption, of one of several runs by their shares, is
        better English than the right one."""
        found = np.zeros(len(self.items))
        for one, share in left.items():
            for other, its in right.items():
                likelier = _column(self.log_prob[one], seed) > _column(self.log_prob[other], seed)
                mine, others = (_column(self.faults[name], seed) for name in (one, other))
                found += share * its * ((mine < others) | ((mine == others) & likelier))
        return found


def _column(sample: Sample, seed: int) -> Floats:
    values: Floats = sample.statistics[:, int(np.searchsorted(sample.seeds, seed)) if seed in sample.seeds else 0, 0]
    return values


def _read(results: Results, names: tuple[str, ...]) -> _Judged | Missing:
    log_probs = results.matched(names, "greedy", _LOG_PROB, "best")
    if isinstance(log_probs, Missing):
        return log_probs
    faults = [_repeats(results, name, sample) for name, sample in zip(names, log_probs, strict=True)]
    if results.knows_facts:
        unparsed = results.matched(names, "greedy", _UNPARSED, "best")
        if isinstance(unparsed, Missing):
            return unparsed
        faults = [
            replace(repeats, statistics=repeats.statistics + unread.statistics)
            for repeats, unread in zip(faults, unparsed, strict=True)
        ]
    return _Judged(log_probs[0].items, dict(zip(names, log_probs, strict=True)), dict(zip(names, faults, strict=True)))


def _repeats(results: Results, name: str, like: Sample) -> Sample:
    """How often a run's greedy captions say the same word twice in a row, of the items and seeds of `like`."""
    decoded = results.decoded(name)
    greedy = decoded[decoded["decoder"] == "greedy"]
    found = {
        (item, seed): repeated_words(text.split())
        for item, seed, text in zip(greedy["item"], greedy["seed"], greedy["text"], strict=True)
    }
    counts = [[found[item, seed] for seed in like.seeds.tolist()] for item in like.items.tolist()]
    return replace(like, statistics=np.array(counts, dtype=np.float64)[:, :, None])


def said_twice(results: Results, curve: Curve, point: OperatingPoint) -> float | None:
    """The share of a method's greedy captions at a point that say a word twice in a row; None if it does not get there.
    Where the point lies between runs, by the shares of an interpolation between their means."""
    shares = mixture(results, curve, point) if curve.runs else {}
    if not shares:
        return None
    found = 0.0
    for name, share in shares.items():
        decoded = results.decoded(name)
        texts = decoded.loc[decoded["decoder"] == "greedy", "text"]
        found += share * float(np.mean([repeated_words(text.split()) > 0 for text in texts]))
    return found


def repeated_words(words: Sequence[str]) -> int:
    """How many words are the same as the one before."""
    return sum(one == other for one, other in pairwise(words))


def better_english(results: Results, row: str) -> tuple[Preferred, Preferred]:
    """How often a row's captions are preferred to ST Multinomial's, and how often those are."""
    point = PLACES["naturalness"].point(results)
    method, reference = (curve(results, name) for name in (method_of(row), ST))
    moved = meeting(results, method, reference, point)
    return Preferred(method, reference, point, moved), Preferred(reference, method, point, moved)
