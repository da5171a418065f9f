"""How sure a corpus value and a difference of two systems are, as far as the images go: 95% bootstrap intervals, and
p-values by approximate randomisation (Riezler and Maxwell, 2005; as sacreBLEU's, Post, WMT 2018).

They tell whether a value or difference would hold on other images, not with other training runs: for these, train
several seeds and read the pipeline's report.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from seqcap.metrics.captions import Floats
from seqcap.metrics.quality import Measured

RESAMPLES, TRIALS = 1_000, 10_000
TEST = f"approximate randomisation, {TRIALS:,} trials, two-sided"
_CHUNK, _NUMBERS = 50, 10_000_000  # at most so many resamples at a time, with so many numbers together: 80 MB


@dataclass(frozen=True)
class Score:
    """One metric of one system, x1 scale, with the 95% bootstrap interval over images if it has one.

    Attributes:
        value: of all captions.
        low: lower end of the 95% interval; None: it has none.
        high: its upper end.
    """

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Difference:
    """How far a system's metric is from another system's, x1 scale, with the 95% interval of the paired bootstrap over
    images.

    Attributes:
        value: the system minus the other.
        low: lower end of the 95% interval.
        high: its upper end.
        p_value: how probable a difference as large as this one is if both systems are equally good: two-sided, by
            approximate randomisation.
    """

    value: float
    low: float
    high: float
    p_value: float


def with_intervals(measured: Mapping[str, Measured], images: int) -> dict[str, Score]:
    """The corpus values of metrics, whose statistics have a row for each image."""
    drawn = _bootstrapped(measured, images)
    return {
        metric: Score(values.corpus(), *map(float, np.quantile(drawn[metric], [0.025, 0.975])))
        for metric, values in measured.items()
    }


def differences(base: Mapping[str, Measured], other: Mapping[str, Measured], images: int) -> dict[str, Difference]:
    """How far `other` is from `base`, by metric; both have a row of statistics for each of the same images."""
    metrics = [metric for metric in other if metric in base]
    left, right = ({metric: system[metric] for metric in metrics} for system in (base, other))
    # Both are drawn with the same seed, so that each resample has the same images of both.
    drawn_left, drawn_right = _bootstrapped(left, images), _bootstrapped(right, images)
    reaching = _reaching(left, right, images)
    found = {}
    for metric in metrics:
        value = right[metric].corpus() - left[metric].corpus()
        low, high = np.quantile(drawn_right[metric] - drawn_left[metric], [0.025, 0.975])
        found[metric] = Difference(value, float(low), float(high), (reaching[metric] + 1) / (TRIALS + 1))
    return found


def _bootstrapped(measured: Mapping[str, Measured], images: int) -> dict[str, Floats]:
    """Corpus values [resamples] of resampled images: a bootstrap draws whole images, with all their captions."""
    drawn: dict[str, list[Floats]] = {metric: [] for metric in measured}
    for times in _resampled(images):
        sums: dict[int, Floats] = {}
        for metric, values in measured.items():
            # Some metrics share their statistics.
            key = id(values.statistics)
            if key not in sums:
                sums[key] = times @ values.statistics
            drawn[metric].append(values.aggregate(sums[key]))
    return {metric: np.concatenate(values) for metric, values in drawn.items()}


def _resampled(images: int) -> Iterator[Floats]:
    """How often each image is drawn, [resamples, images], some resamples at a time; the same at each call."""
    random = np.random.default_rng(0)
    for rows in _chunks(RESAMPLES, images):
        drawn = random.integers(images, size=(rows, images)) + images * np.arange(rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * images).reshape(rows, images).astype(np.float64)


def _chunks(number: int, images: int) -> Iterator[int]:
    """A number of resamples, in parts."""
    rows = max(1, min(_CHUNK, _NUMBERS // images))
    while number > 0:
        yield min(rows, number)
        number -= rows


def _reaching(base: Mapping[str, Measured], other: Mapping[str, Measured], images: int) -> dict[str, int]:
    """In how many trials, where the two systems' captions of an image change places or do not, the difference is as
    large as the one observed. sacreBLEU counts larger ones: the same, but where few images differ."""
    random = np.random.default_rng(0)
    observed = {metric: abs(other[metric].corpus() - base[metric].corpus()) for metric in base}
    counts = dict.fromkeys(base, 0)
    for rows in _chunks(TRIALS, images):
        kept = random.integers(2, size=(rows, images)).astype(np.float64)
        for metric, values in base.items():
            first, second = values.statistics, other[metric].statistics
            mine = second.sum(axis=0) + kept @ (first - second)
            theirs = first.sum(axis=0) + second.sum(axis=0) - mine
            trial = abs(values.aggregate(theirs) - values.aggregate(mine))
            # But for rounding.
            counts[metric] += int((trial >= observed[metric] * (1 - 1e-9)).sum())
    return counts
