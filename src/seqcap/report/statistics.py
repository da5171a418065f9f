"""How sure a number is: intervals and p over training seeds and test items. docs/claims.md has the formulas.

A number should speak of other training runs and of other test items. Every seed is tested on the same items, so there
are two parts. A is the variance of the mean over seeds: the scatter of the n seeds' values, over n, with n - 1 degrees
of freedom. B is what all seeds have in common, the choice of test items. The scatter of the values holds a share of the
items' noise already, that of single seeds on single items: it is taken off B, so that nothing counts twice. Of the
number d of a true one D,

    d - D  ~  sqrt(A) t + sqrt(B) z

with t of n - 1 degrees of freedom and z normal (Behrens 1929; Fisher 1935). With A alone it is Student's t, with B
alone the normal distribution. Satterthwaite's degrees of freedom give intervals as good, and p that are too small: of
three seeds with three times the items' standard error, p is below .0025 five times as often as it should be.

What test items do to a number is found by drawing them with replacement, with the seeds as they are. All systems get
the same draws: what they have in common falls out of their difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtr, stdtrit

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

SIGNIFICANCE, POWER = 0.05, 0.8
# Of bootstraps over one level: replicates of an estimator, raters' captions.
RESAMPLES = 10_000
DRAWS = 2_000  # of test items: a standard error is known to 1.6%
TOO_MANY = 0.5  # a number that more than this share of the resamples does not have is no number
# Why there is no number.
_NO_RUN, _NO_METHOD = "run {} is not part of these results", "{} is not part of this run"
_CHUNK = 2_000_000  # items that are drawn at once
# Of t as a mixture of normal distributions: how many scales, and how far they reach, in logarithms.
_SCALES, _DOWN, _UP = 129, 26.0, 3.5
_HALVINGS = 30


@dataclass(frozen=True)
class Sample:
    """The numbers that a metric of one system is computed from. Without `aggregate`, the value is the mean of the only
    statistic. `shift` is for a metric with a corpus value of its own (METEOR): item scores say how sure it is."""

    items: Ids  # [items], ascending
    seeds: Ids  # [seeds], ascending
    statistics: Floats  # [items, seeds, k]; they add up over items
    counted: NDArray[np.bool_]  # [items, seeds]; False where the metric is undefined
    aggregate: Callable[[Floats], Floats] | None = None  # sums [..., k] -> values [...]
    shift: Floats | None = None  # [seeds], added to the values

    @cached_property
    def by_seed(self) -> Floats:
        """The metric's value with each seed [seeds]; NaN where it is undefined for every item."""
        totals = np.where(self.counted[:, :, None], self.statistics, 0.0).sum(axis=0)
        values: Floats = self._values(totals[None], self.counted.sum(axis=0)[None])[0]
        return values

    @cached_property
    def resampled(self) -> Floats:
        """The metric's value with each seed on resampled items [DRAWS, seeds]."""
        items, seeds, k = self.statistics.shape
        kept = np.where(self.counted[:, :, None], self.statistics, 0.0)
        # Single precision is exact for counts below 2^24. Scores are centred, which leaves them seven digits.
        centre = 0.0 if self.aggregate else kept.sum(axis=0) / np.maximum(self.counted.sum(axis=0), 1)[:, None]
        kept = np.where(self.counted[:, :, None], kept - centre, 0.0).astype(np.float32).reshape(items, seeds * k)
        weights = item_weights(items)
        totals = (weights @ kept).astype(np.float64).reshape(-1, seeds, k)
        return self._values(totals, weights @ self.counted.astype(np.float32), centre)

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

    def _values(self, totals: Floats, number: NDArray[Any], centre: Floats | float = 0.0) -> Floats:
        """Values [n, seeds] of totals [n, seeds, k] over so many items [n, seeds]."""
        with np.errstate(divide="ignore", invalid="ignore"):
            of_totals = self.aggregate(totals) if self.aggregate else (totals / number[..., None] + centre)[..., 0]
        values: Floats = np.where(number > 0, of_totals, np.nan)
        return values if self.shift is None else values + self.shift


@dataclass(frozen=True, eq=False)
class Number:
    """A number with each training seed, and the same on resampled test items."""

    value: float
    by_seed: Mapping[int, float]  # in the order of the seeds; empty where it depends on no seed
    # [DRAWS, seeds], one column where it depends on no seed; NaN where a resample does not have the number.
    resampled: Floats
    items: int
    remarks: tuple[str, ...] = ()
    untestable: str = ""  # why it bears no test

    @classmethod
    def of(cls, sample: Sample) -> Number:
        values = sample.by_seed
        by_seed = dict(zip(sample.seeds.tolist(), values.tolist(), strict=True))
        return cls(float(values.mean()), by_seed, sample.resampled, int(sample.counted.any(axis=1).sum()))

    @property
    def seedless(self) -> Number:
        """The same where seeds are none: what people wrote."""
        return replace(self, by_seed={}, resampled=self.resampled.mean(axis=1, keepdims=True))

    def only(self, seeds: Sequence[int]) -> Number:
        """The same of some of its seeds; itself where it depends on none."""
        if not self.by_seed:
            return self
        places = [list(self.by_seed).index(seed) for seed in seeds]
        by_seed = {seed: self.by_seed[seed] for seed in seeds}
        value = float(np.mean(list(by_seed.values())))
        return replace(self, value=value, by_seed=by_seed, resampled=self.resampled[:, places])


@dataclass(frozen=True)
class Missing:
    """In the place of a number that there is not."""

    reason: str  # why there is no number, in words
    absent: bool = False  # whether a run is no part of this run, rather than without scores

    @classmethod
    def run(cls, name: str) -> Missing:
        """In the place of a number of a run that the results do not have."""
        return cls(_NO_RUN.format(name), absent=True)

    @classmethod
    def method(cls, label: str) -> Missing:
        """In the place of a number of a method, a curve of several runs, that the results do not have."""
        return cls(_NO_METHOD.format(label), absent=True)


def absent_run(reason: str) -> str:
    """The run, or the method, that is no part of the results, if that is why there is no number; else ""."""
    for words in (_NO_RUN, _NO_METHOD):
        before, after = words.split("{}")
        if reason.startswith(before) and reason.endswith(after):
            return reason.removeprefix(before).removesuffix(after)
    return ""


@dataclass(frozen=True, eq=False)
class Contrast:
    """A weighed sum of numbers: one alone, or left - right. Seeds are paired where runs start from the same weights."""

    numbers: tuple[Number, ...]
    weights: tuple[float, ...]
    paired: bool = True

    @property
    def value(self) -> float:
        return sum(weight * number.value for weight, number in zip(self.weights, self.numbers, strict=True))

    @property
    def items(self) -> int:
        return min(number.items for number in self.numbers)

    @property
    def seeds(self) -> tuple[int, ...]:
        """Of how many training seeds each number is that depends on them."""
        return tuple(len(number.by_seed) for number in self.numbers if number.by_seed)

    @property
    def remarks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(remark for number in self.numbers for remark in number.remarks))

    @property
    def untestable(self) -> str:
        return next((number.untestable for number in self.numbers if number.untestable), "")

    @property
    def spread(self) -> Spread:
        values = [list(number.by_seed.values()) or [number.value] for number in self.numbers]
        seeds = [tuple(number.by_seed) for number in self.numbers]
        covariance = item_covariance(self.numbers)
        return spread(np.concatenate(values), covariance, seeds, self.weights, self.items, self.paired)

    def interval(self) -> tuple[float, float] | tuple[None, None]:
        """The 95% interval; none of what bears no test."""
        if self.untestable or self.items < 2:
            return None, None
        reach = float(self.spread.reach())
        return self.value - reach, self.value + reach


def difference(left: Number | Missing, right: Number | Missing, paired: bool = True) -> Contrast | Missing:
    """left - right, of the seeds that they are compared on; or what is missing."""
    if isinstance(left, Missing):
        return left
    if isinstance(right, Missing):
        return right
    common = common_seeds([tuple(left.by_seed), tuple(right.by_seed)]) if paired else []
    if common:
        left, right = left.only(common), right.only(common)
    return Contrast((left, right), (1.0, -1.0), paired)


def common_seeds(seeds: Sequence[Sequence[int]]) -> list[int]:
    """The seeds that sides with a common start are compared on: those that all sides with seeds have. [] where there
    are fewer than two, which show no scatter of pairs."""
    of_sides = [set(of_side) for of_side in seeds if of_side]
    common = sorted(set.intersection(*of_sides)) if of_sides else []
    return common if len(common) > 1 else []


def matched(samples: Sequence[Sample]) -> list[Sample] | None:
    """Systems without what is undefined for another one with the same seed; None where one is left without a value."""
    kept = []
    for sample in samples:
        counted = sample.counted.copy()
        for other in samples:
            _, here, there = np.intersect1d(sample.seeds, other.seeds, return_indices=True)
            counted[:, here] &= other.counted[:, there]
        defined = counted.any(axis=0)
        if not defined.any():
            return None
        kept.append(sample.only(sample.seeds[defined].tolist(), counted[:, defined]))
    return kept


def item_covariance(numbers: Sequence[Number]) -> Floats:
    """What the choice of test items does to all values together [rows, rows]; a row for each number and each of its
    seeds, one for a number without. Resamples that lack one of them do not count."""
    values = np.concatenate([number.resampled for number in numbers], axis=1)
    covariance: Floats = np.cov(values[~np.isnan(values).any(axis=1)], rowvar=False)
    return covariance.reshape(values.shape[1], values.shape[1])


@dataclass(frozen=True)
class Spread:
    """How far a number may be from the true one: sqrt(A) t + sqrt(B) z, all arrays of one shape."""

    seeds: Floats  # A
    freedom: Floats  # degrees of freedom of A
    items: Floats  # B
    shared: Floats  # the least that A can be: the share of the items' noise that it holds

    @cached_property
    def _normals(self) -> tuple[Floats, Floats]:
        """The mixture of normal distributions that it is: their weights and standard deviations [..., scales]."""
        shape = self.freedom[..., None] / 2
        # t is normal with the scale 1 / sqrt(g), g a mean of squares: here by a sum over the logarithms of g.
        scales = np.linspace(0.0, 1.0, _SCALES) * (_DOWN / shape + _UP) - _DOWN / shape
        weights = np.exp(shape * (scales + np.log(shape)) - shape * np.exp(scales) - gammaln(shape))
        variance = self.items[..., None] + np.maximum(self.seeds[..., None] * np.exp(-scales), self.shared[..., None])
        return weights, np.sqrt(variance)

    def p_value(self, distance: Floats | float) -> Floats:
        """How often a number is farther than `distance` from the true one, to either side."""
        weights, deviations = self._normals
        far = np.abs(np.asarray(distance, dtype=np.float64))[..., None]
        with np.errstate(divide="ignore", invalid="ignore"):
            # Of a number that does not vary, no distance is as likely as any.
            tails = np.where(far > 0, ndtr(-far / deviations), 0.5)
        p: Floats = np.minimum(2 * (weights * tails).sum(axis=-1) / weights.sum(axis=-1), 1.0)
        return p

    def reach(self, p: float = SIGNIFICANCE) -> Floats:
        """The distance that has this p: half of an interval's width."""
        low: Floats = np.zeros_like(self.seeds)
        # No farther than the two parts together.
        of_seeds = np.sqrt(np.maximum(self.seeds, self.shared)) * -stdtrit(self.freedom, p / 2)
        of_items = np.sqrt(self.items + self.shared) * -stdtrit(np.inf, p / 2)
        high: Floats = of_seeds + of_items
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            beyond = self.p_value(middle) > p
            low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
        return high

    @property
    def detectable(self) -> Floats:
        """The smallest true difference that four of five such comparisons find."""
        smallest: Floats = self.reach(SIGNIFICANCE) + self.reach(2 * (1 - POWER))
        return smallest


def spread(
    values: Floats,
    covariance: Floats,
    seeds: Sequence[Sequence[int]],
    weights: Sequence[float],
    items: int,
    paired: bool = True,
) -> Spread:
    """The spread of a weighed sum of sides, each the mean over its seeds.

    `values` [..., rows] and `covariance` [..., rows, rows] over test items have a row for each side and each of its
    seeds, one for a side without. Seeds are paired if all sides have the same (`paired`): each counts with its own sum.
    Else each side scatters by itself, as in Welch's test, a single seed as the side with most seeds does. Where no side
    has two seeds, only items are left.
    """
    sizes = [max(len(of_side), 1) for of_side in seeds]
    starts = np.cumsum([0, *sizes])
    row = np.repeat(np.divide(weights, sizes), sizes)
    # A factor, and a sum of rows for each seed that scatters: [seeds, rows].
    alike = paired and len({tuple(of_side) for of_side in seeds if of_side}) == 1
    groups = [_pairs(seeds, starts, row)] if alike else _each_side(seeds, starts, weights)
    groups = [(factor, sums) for factor, sums in groups if len(sums) > 1]
    of_items = np.einsum("...ij,i,j->...", covariance, row, row)
    if not groups:
        return Spread(of_items, np.full_like(of_items, max(items - 1, 1)), np.zeros_like(of_items), 0 * of_items)
    parts, shared, freedom = [], [], []
    for factor, sums in groups:
        apart = sums - sums.mean(axis=0)
        freedom.append(len(sums) - 1)
        parts.append(factor * ((values @ apart.T) ** 2).sum(axis=-1) / freedom[-1])
        shared.append(factor * np.einsum("si,...ij,sj->...", apart, covariance, apart) / freedom[-1])
    total, held = sum(parts), sum(shared)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Satterthwaite's, where seeds are not all paired.
        degrees = total**2 / sum(part**2 / number for part, number in zip(parts, freedom, strict=True))
    degrees = np.where(total > 0, degrees, float(min(freedom)))
    return Spread(np.asarray(total), degrees, np.maximum(of_items - held, 0.0), np.maximum(held, 0.0))


def _pairs(seeds: Sequence[Sequence[int]], starts: Ids, row: Floats) -> tuple[float, Floats]:
    """Sides with equal seeds: of each seed the weighed sum over sides."""
    number = max(len(of_side) for of_side in seeds)
    sums = np.zeros((number, len(row)))
    for side, of_side in enumerate(seeds):
        for index in range(len(of_side)):
            sums[index, starts[side] + index] = row[starts[side] + index]
    return float(number), sums


def _each_side(seeds: Sequence[Sequence[int]], starts: Ids, weights: Sequence[float]) -> list[tuple[float, Floats]]:
    """Each side's own scatter; a single seed has that of the side with most."""
    factors = [0.0] * len(seeds)
    most = max(range(len(seeds)), key=lambda side: len(seeds[side]))
    for side, of_side in enumerate(seeds):
        if of_side:
            factors[side if len(of_side) > 1 else most] += weights[side] ** 2 / len(of_side)
    rows = np.eye(starts[-1])
    return [(factors[side], rows[starts[side] : starts[side + 1]]) for side, of_side in enumerate(seeds) if of_side]


def seeds_needed(pilot: Spread, seeds: int, wanted: float, least: int = 3, most: int = 20) -> int | None:
    """How many seeds find a difference `wanted` four times in five, by the spread that so many seeds have; None if more
    than `most`."""
    numbers = range(least, most + 1)
    return next((number for number in numbers if detectable_with(pilot, seeds, number) <= abs(wanted)), None)


def detectable_with(pilot: Spread, seeds: int, number: int) -> float:
    """What a number of seeds find four times in five, by the spread that `seeds` seeds have."""
    less = seeds / number
    then = Spread(pilot.seeds * less, np.full_like(pilot.freedom, number - 1), pilot.items, pilot.shared * less)
    return float(then.detectable)


def q_values(p_values: Iterable[float]) -> list[float]:
    """Each p adjusted by Benjamini and Hochberg (1995): calling all below q a find makes a share q of them false."""
    # It takes a second to import, and tables and figures judge nothing.
    from scipy.stats import false_discovery_control

    p = np.array(list(p_values), dtype=np.float64)
    return [float(q) for q in false_discovery_control(p)] if len(p) else []


@lru_cache(maxsize=8)
def item_weights(items: int) -> NDArray[np.float32]:
    """How often each item is drawn in each resample: [DRAWS, items]."""
    drawn = np.random.default_rng(0).integers(items, size=(DRAWS, items))
    drawn += np.arange(DRAWS)[:, None] * items
    return np.bincount(drawn.ravel(), minlength=DRAWS * items).astype(np.float32).reshape(DRAWS, items)


def resampled_means(scores: Floats, seed: int = 0) -> Floats:
    """Means [RESAMPLES] of values [n] drawn with replacement. The same seed and n give the same draws."""
    rng = np.random.default_rng(seed)
    rows = max(1, _CHUNK // len(scores))
    means = [
        scores[rng.integers(len(scores), size=(min(rows, RESAMPLES - start), len(scores)))].mean(axis=1)
        for start in range(0, RESAMPLES, rows)
    ]
    return np.concatenate(means)


def interval(resampled: Floats) -> tuple[float, float]:
    """The central 95% of bootstrap values (percentile interval); undefined ones (NaN) are left out."""
    low, high = np.quantile(resampled[~np.isnan(resampled)], [0.025, 0.975])
    return float(low), float(high)


def bootstrap_interval(scores: Floats) -> tuple[float, float]:
    """95% percentile interval of the mean of `scores` [n]."""
    return interval(resampled_means(scores))
