"""How sure a number is: a bootstrap of two levels, training seeds and test items.

A number should speak of other training runs and of other test items, so both are drawn with replacement. Every system
of a comparison has the same seeds and items, so all get the same draws (pairing): what they have in common falls out of
their difference. Seeds and items are crossed, and the scatter of single scores counts at both levels: the intervals are
on the safe side (Owen, "The pigeonhole bootstrap", Annals of Applied Statistics 2007). With one seed only items are
drawn. For corpus metrics (BLEU, mBLEU) a resample's counts are summed over its items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RESAMPLES = 10_000
# 2.8 standard deviations: of a true difference of that size four runs in five find p < .05 (1.96 + .84).
DETECTABLE = 2.8
TOO_MANY = 0.5  # a number that more than this share of the resamples does not have is no number
# How often items are drawn is kept as bytes, at most so many chunks of so many: 512 MB.
_CHUNK, _CHUNKS = 2_000_000, 256


@dataclass(frozen=True)
class Sample:
    """The numbers that a metric of one system is computed from. Without `aggregate`, the value is the mean of the only
    statistic. `shift` is for a metric with a corpus value of its own (METEOR): item scores say how sure it is."""

    items: NDArray[np.int64]  # [items], ascending
    seeds: NDArray[np.int64]  # [seeds], ascending
    statistics: Floats  # [items, seeds, k]; they add up over items
    counted: NDArray[np.bool_]  # [items, seeds]; False where the metric is undefined
    aggregate: Callable[[Floats], Floats] | None = None  # sums [..., k] -> values [...]
    shift: Floats | None = None  # [seeds], added to the values

    @cached_property
    def by_seed(self) -> Floats:
        """The metric's value with each seed [seeds]; NaN where it is undefined for every item."""
        totals = np.where(self.counted[:, :, None], self.statistics, 0.0).sum(axis=0)
        values: Floats = self._values(totals[None], np.ones((1, len(self.items))))[0]
        return values

    @cached_property
    def resampled_by_seed(self) -> Floats:
        """The metric's value with each seed on resampled items [resamples, seeds]."""
        items, seeds, k = self.statistics.shape
        kept = np.where(self.counted[:, :, None], self.statistics, 0.0)
        # Single precision is exact for counts below 2^24. Scores are centred, which leaves them seven digits.
        centre = 0.0 if self.aggregate else kept.sum(axis=0) / np.maximum(self.counted.sum(axis=0), 1)[:, None]
        kept = np.where(self.counted[:, :, None], kept - centre, 0.0).astype(np.float32).reshape(items, seeds * k)
        values = []
        for weights in _drawn(items):
            totals = (weights @ kept).astype(np.float64).reshape(-1, seeds, k)
            values.append(self._values(totals, weights, centre))
        return np.concatenate(values)

    @cached_property
    def resampled(self) -> Floats:
        """The mean over seeds on resampled seeds and items [resamples]; NaN where it is undefined for a drawn seed."""
        drawn = _seed_counts(len(self.seeds))
        means: Floats = np.where(drawn > 0, self.resampled_by_seed * drawn, 0.0).sum(axis=1) / len(self.seeds)
        return means

    def only(self, seeds: Sequence[int], counted: NDArray[np.bool_] | None = None) -> Sample:
        """Some of its seeds, and the items counted for them [items, those seeds]."""
        places = np.searchsorted(self.seeds, seeds)
        if len(places) == len(self.seeds) and (counted is None or np.array_equal(counted, self.counted)):
            return self
        return replace(
            self,
            seeds=self.seeds[places],
            statistics=self.statistics[:, places],
            counted=self.counted[:, places] if counted is None else counted,
            shift=None if self.shift is None else self.shift[places],
        )

    def _values(self, totals: Floats, weights: NDArray[np.floating], centre: Floats | float = 0.0) -> Floats:
        """Values [n, seeds] of totals [n, seeds, k] over items drawn `weights` times [n, items]."""
        if self.aggregate:
            values = self.aggregate(totals)
        else:
            every = self.counted.all()
            drawn = len(self.items) if every else weights @ self.counted.astype(weights.dtype)
            with np.errstate(divide="ignore", invalid="ignore"):
                values = (totals / np.asarray(drawn)[..., None] + centre)[..., 0]
        return values if self.shift is None else values + self.shift


@dataclass(frozen=True, eq=False)
class Drawn:
    """A number with its bootstrap resamples."""

    value: float
    resampled: Floats  # [resamples]; NaN where a resample does not have the number
    by_seed: Mapping[int, float]  # the number with each training seed alone; empty where it depends on no seed
    items: int
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(cls, sample: Sample) -> Drawn:
        values = sample.by_seed
        by_seed = dict(zip(sample.seeds.tolist(), values.tolist(), strict=True))
        return cls(float(values.mean()), sample.resampled, by_seed, int(sample.counted.any(axis=1).sum()))


@dataclass(frozen=True)
class Missing:
    reason: str  # why there is no number, in words
    absent: bool = False  # whether a run is no part of this run, rather than without scores


def difference(left: Drawn | Missing, right: Drawn | Missing) -> Drawn | Missing:
    """left - right, each resample with the same draw, on the training seeds of both; or what is missing."""
    if isinstance(left, Missing) or isinstance(right, Missing):
        return left if isinstance(left, Missing) else right
    seeds = {seed: value - right.by_seed[seed] for seed, value in left.by_seed.items() if seed in right.by_seed}
    remarks = tuple(dict.fromkeys((*left.remarks, *right.remarks)))
    items = min(left.items, right.items)
    return Drawn(left.value - right.value, left.resampled - right.resampled, seeds, items, remarks)


def paired(samples: Sequence[Sample]) -> list[Sample] | None:
    """Systems on their common seeds, without what is undefined for one of them; None where no seed is left."""
    common = np.array(sorted(set.intersection(*(set(sample.seeds.tolist()) for sample in samples))), dtype=np.int64)
    same = [sample.only(common.tolist()) for sample in samples]
    counted = np.logical_and.reduce([sample.counted for sample in same])
    defined = counted.any(axis=0)
    if not defined.any():
        return None
    return [sample.only(common[defined].tolist(), counted[:, defined]) for sample in same]


def resampled_means(scores: Floats, seed: int = 0) -> Floats:
    """Means [RESAMPLES] of values [n] drawn with replacement: one level. The same seed and n give the same draws."""
    return np.concatenate([weights.astype(np.float64) @ scores for weights in _drawn(len(scores), seed)]) / len(scores)


def interval(resampled: Floats) -> tuple[float, float]:
    """The central 95% of bootstrap values (percentile interval); undefined ones (NaN) are left out."""
    low, high = np.quantile(resampled[~np.isnan(resampled)], [0.025, 0.975])
    return float(low), float(high)


def bootstrap_interval(scores: Floats) -> tuple[float, float]:
    """95% percentile interval of the mean of `scores` [n]."""
    return interval(resampled_means(scores))


def p_value(resampled: Floats) -> float:
    """Two-sided p-value of "the difference is zero" from resampled differences [resamples]: twice the smaller tail on
    the other side of zero, with one added to counts so that it is never 0."""
    defined = resampled[~np.isnan(resampled)]
    below = (np.count_nonzero(defined <= 0) + 1) / (len(defined) + 1)
    above = (np.count_nonzero(defined >= 0) + 1) / (len(defined) + 1)
    return float(min(1.0, 2 * min(below, above)))


def detectable(resampled: Floats) -> float:
    """The smallest true difference that such a comparison finds in four of five runs, from resampled differences."""
    return DETECTABLE * float(np.nanstd(resampled))


def q_values(p_values: Sequence[float]) -> list[float]:
    """Each p-value adjusted by Benjamini and Hochberg (1995): calling all below q a find makes a share q of them false.
    q of the i-th smallest of m is the smallest of m p / j over j from i on."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p)[::-1]
    ranks = np.arange(len(p), 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum.accumulate(p[order] * len(p) / ranks)
    return [float(q) for q in adjusted]


def _drawn(items: int, seed: int = 0) -> Iterator[NDArray[np.float32]]:
    """How often each item is drawn in each resample, some resamples at a time: [n, items]."""
    rows = max(1, _CHUNK // items)
    for start in range(0, RESAMPLES, rows):
        yield _chunk(items, seed, start, min(rows, RESAMPLES - start)).astype(np.float32)


@lru_cache(maxsize=_CHUNKS)
def _chunk(items: int, seed: int, start: int, rows: int) -> NDArray[np.uint8]:
    """[rows, items] of `_drawn`, from resample `start` on. No item is drawn as often as 256 times."""
    drawn = np.random.default_rng([seed, start]).integers(items, size=(rows, items))
    drawn += np.arange(rows)[:, None] * items
    return np.bincount(drawn.ravel(), minlength=rows * items).astype(np.uint8).reshape(rows, items)


@lru_cache(maxsize=16)
def _seed_counts(seeds: int) -> Floats:
    """How often each seed is drawn in each resample: [RESAMPLES, seeds]."""
    drawn = np.random.default_rng([seeds, 1]).integers(seeds, size=(RESAMPLES, seeds))
    counts: Floats = (drawn[:, :, None] == np.arange(seeds)).sum(axis=1).astype(np.float64)
    return counts
