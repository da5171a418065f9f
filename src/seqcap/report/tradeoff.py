"""Curves: a method that is trained with several weights trades one aim for another. Methods are compared where one aim
has a given value.

Between runs of neighbouring weights a curve is linear; beyond the outermost ones an operating point is "not reached".
If a curve passes it several times, it is read where it does so last, with the larger weight, by whatever measure;
a remark says so.

Every training seed has its own curve, and so has every resample of the test items; each is read at the same place,
which gives the interval. A place that is a run's own value is that run's on resampled items, too: what makes items easy
for all of them moves it with the curves. Where a seed's curve does not get there, the number is that of the others and
bears no test. Two curves may be compared all the same: with such a seed at the nearest place that both cover
(`meeting`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

import numpy as np

from seqcap.metrics import registry
from seqcap.report import statistics
from seqcap.report.inputs import Results
from seqcap.report.statistics import Floats, Missing, Number, Sample
from seqcap.report.tables import Measure

_SOME = 0.05  # a share of resamples without a value that a reader must know of
# Of a curve's range, this share at either end is no place to compare: another sample might not get there.
_MARGIN = 0.1
_DECIMALS = 9  # positions on a curve, counted in runs, that are the same but for rounding


@dataclass(frozen=True)
class Curve:
    """A method's runs, in the order of the weights that trade its aims; none if the results do not have it."""

    label: str
    runs: tuple[str, ...] = ()
    weights: tuple[float | None, ...] = ()  # None: a method without a weight, with a single run


@dataclass(frozen=True)
class OperatingPoint:
    """Where methods are compared: where a measure has a value."""

    measure: Measure
    value: float  # in the metric's own scale
    printed: float  # the paper's value
    scale: float  # what one unit of our metric is worth in print
    refused: str = ""  # why nothing is compared there
    of_run: str = ""  # the run whose value it is, if it is one's

    @property
    def is_printed(self) -> bool:
        return math.isclose(self.value * self.scale, self.printed)

    def at(self, value: float | None) -> OperatingPoint:
        """The point with another value; itself without one."""
        return self if value is None else replace(self, value=value)

    def moves(self, results: Results) -> Floats | float:
        """How much higher its value is on resampled items [resamples]; 0 if it is no run's."""
        if not self.of_run:
            return 0.0
        samples = _samples(results, [self.of_run], self.measure)
        if isinstance(samples, Missing):
            return 0.0
        higher: Floats = samples[0].resampled.mean(axis=1) - samples[0].by_seed.mean()
        return higher

    def words(self, value: float | None = None) -> str:
        """ "CIDEr 1.031": the point's value of its metric, or another one."""
        return f"{registry.find(self.measure.metric).label} {self.number(self.value if value is None else value)}"

    def number(self, value: float) -> str:
        return f"{value * self.scale:.{1 if self.scale > 1 else 3}f}"


@dataclass(frozen=True)
class Reading:
    """A method's measure at an operating point. A method with a single run is always read at that run."""

    curve: Curve
    measure: Measure
    point: OperatingPoint | None  # None where no method has two runs
    system: str = "{run}"  # whose scores are read: the run's, unless given
    moved: Mapping[int, float] = field(default_factory=dict)  # seed -> the point's value with it, of `meeting`

    @property
    def runs(self) -> tuple[str, ...]:
        return self.curve.runs

    def read_from(self, results: Results) -> tuple[str, ...]:
        """The runs beside the point with any seed; all of the curve where none gets there."""
        if self.point is None:
            return self.runs
        seeds = {seed for name in self.runs for seed in results.by_name[name].seeds}
        points = {None: self.point} | {seed: self.point.at(self.moved.get(seed)) for seed in sorted(seeds)}
        beside = {name for seed, point in points.items() for name in mixture(results, self.curve, point, seed)}
        return tuple(name for name in self.runs if name in beside) or self.runs

    def number(self, results: Results) -> Number | Missing:
        label = self.curve.label
        if not self.runs:
            return Missing.method(label)
        y = _samples(results, [self.system.format(run=name) for name in self.runs], self.measure)
        if isinstance(y, Missing):
            return y
        if self.point is None:
            return Number.of(y[0]) if len(y) == 1 else Missing("no operating point: no value is reached")
        if self.point.refused and len(y) > 1:
            return Missing(self.point.refused)
        x = _samples(results, self.runs, self.point.measure)
        if isinstance(x, Missing):
            return x
        if len(y) == 1:
            own = self.point.words(float(x[0].by_seed.mean()))
            return replace(Number.of(y[0]), remarks=(f"{label} is a single run, at its own {own}",))
        return self._read(x, y, self.point, self.point.moves(results))

    def _read(
        self, x: Sequence[Sample], y: Sequence[Sample], point: OperatingPoint, moves: Floats | float
    ) -> Number | Missing:
        value, places = interpolate(_means(x), _means(y), point.value)
        label = self.curve.label
        if not len(places) and not self.moved:
            low, high = point.number(float(_means(x).min())), point.number(float(_means(x).max()))
            return Missing(f"{label} does not reach {point.words()}: it goes from {low} to {high}")
        remarks = []
        if len(places) > 1:
            remarks.append(f"{label} passes {point.words()} {len(places)} times: it is read at the last")
        # Only seeds of the two runs beside the point matter: runs farther away do not change the value.
        beside = {int(end) for place in places[-1:] for end in (np.floor(place), np.ceil(place))}
        seeds = sorted(set.intersection(*(set(x[run].seeds.tolist()) for run in beside or range(len(x)))))
        if not seeds:
            return Missing(f"the runs of {label} beside {point.words()} have no training seed in common")
        if moved := [f"{point.number(self.moved[seed])} (seed {seed})" for seed in seeds if seed in self.moved]:
            remarks.append(
                f"read at {', '.join(moved)}, elsewhere at {point.words()}, which not both curves cover there"
            )
        by_seed, resampled = dict[int, float](), dict[int, Floats]()
        for seed in seeds:
            where = self.moved.get(seed, point.value)
            by_seed[seed], _ = interpolate(_values(x, seed), _values(y, seed), where)
            resampled[seed] = read_all(_resampled(x, seed), _resampled(y, seed), where + moves)
        reached = [seed for seed in seeds if not math.isnan(by_seed[seed])]
        missed = [str(seed) for seed in seeds if seed not in reached]
        unreached = float(np.isnan(list(resampled.values())).any(axis=0).mean())
        untestable = ""
        if missed:
            untestable = f"{label} does not reach {point.words()} with seed {' and '.join(missed)}"
        elif unreached > statistics.TOO_MANY:
            untestable = f"{label} does not reach {point.words()} in most of the resamples of test items"
        elif unreached > _SOME:
            remarks.append(f"{label} does not reach {point.words()} in {unreached:.0%} of the resamples of test items")
        if reached:
            # Seeds that get there speak for themselves; the mean curve would mix them with those that do not.
            by_seed = {seed: by_seed[seed] for seed in reached}
            resampled = {seed: resampled[seed] for seed in reached}
            value = float(np.mean(list(by_seed.values())))
        elif self.moved:
            return Missing(f"{label} does not reach {point.words()} with any seed")
        drawn = np.stack(list(resampled.values()), axis=1)
        items = min(int(sample.counted.any(axis=1).sum()) for sample in y)
        return Number(value, by_seed, drawn, items, tuple(remarks), untestable)


@dataclass(frozen=True)
class FixedNumber:
    """A number beside curves that does not depend on the operating point.

    Attributes:
        name: a run, or people (`seqcap.report.inputs.HUMAN`).
        measure: of its captions.
        runs: what the number is made from, as of a `Source`.
    """

    name: str
    measure: Measure
    runs: tuple[str, ...] = ()

    def read_from(self, results: Results) -> tuple[str, ...]:
        return self.runs

    def number(self, results: Results) -> Number | Missing:
        return self.measure.number(results, self.name)


def mixture(results: Results, curve: Curve, point: OperatingPoint, seed: int | None = None) -> dict[str, float]:
    """Run -> its share in a mixture of two neighbouring runs that has the point's value, the last such two along the
    curve. The values are those with a training seed (a run without it has its mean) or, without `seed`, the means. A
    single run is all of the mixture; where the curve does not get there, it is empty."""
    samples = _samples(results, curve.runs, point.measure)
    if isinstance(samples, Missing):
        return {}
    if len(samples) == 1:
        return {curve.runs[0]: 1.0}
    values = _means(samples) if seed is None else _values(samples, seed)
    shares = _shares(values, point.value)
    reached = np.flatnonzero(~np.isnan(shares))
    if not len(reached):
        return {}
    last = int(reached[-1])
    share = float(shares[last])
    parts = {curve.runs[last]: 1.0 - share, curve.runs[last + 1]: share}
    return {name: part for name, part in parts.items() if part > 0}


def meeting(results: Results, one: Curve, other: Curve, point: OperatingPoint | None) -> dict[int, float]:
    """Seed -> where two curves are compared with it, if one of them does not cover the point: the value nearest to the
    point that both cover. A curve covers its range but for a tenth at either end, of its runs that have the seed: one
    that barely gets there does not with other test items. Only seeds that both curves have, and without those with
    which they cover no value in common."""
    if point is None:
        return {}
    ranges = [_range_of_seeds(results, curve, point.measure) for curve in (one, other) if len(curve.runs) > 1]
    if not ranges:
        return {}
    found = {}
    for seed in sorted(set.intersection(*(set(of_curve) for of_curve in ranges))):
        covered = [_inside(*of_curve[seed]) for of_curve in ranges]
        low, high = max(low for low, _ in covered), min(high for _, high in covered)
        if low <= high and not low <= point.value <= high:
            found[seed] = min(max(point.value, low), high)
    return found


def _range_of_seeds(results: Results, curve: Curve, measure: Measure) -> dict[int, tuple[float, float]]:
    """Seed -> the lowest and the highest value of a curve's runs that have it, if two have."""
    samples = _samples(results, curve.runs, measure)
    return {} if isinstance(samples, Missing) else _ranges(samples)


def _ranges(samples: Collection[Sample]) -> dict[int, tuple[float, float]]:
    """Seed -> the lowest and the highest value of the runs that have it, if two have."""
    found = {}
    for seed in sorted({int(seed) for sample in samples for seed in sample.seeds}):
        values = [float(sample.by_seed[sample.seeds == seed][0]) for sample in samples if seed in sample.seeds]
        if len(values) > 1:
            found[seed] = (min(values), max(values))
    return found


def _inside(low: float, high: float) -> tuple[float, float]:
    """A range without a tenth at either end."""
    margin = _MARGIN * (high - low)
    return low + margin, high - margin


def interpolate(x: Floats, y: Floats, where: float) -> tuple[float, Floats]:
    """y where a curve through points (x, y) [points] last has x = `where`, NaN without such a place, and all of these
    places [n]: 1.5 is halfway between the second and third point."""
    shares = _shares(x, where)
    reached = np.flatnonzero(~np.isnan(shares))
    places = np.unique(np.round(reached + shares[reached], _DECIMALS))
    return float(read_all(x[None], y[None], where)[0]), places


def read_all(x: Floats, y: Floats, where: Floats | float) -> Floats:
    """y [n] where each of n curves, x and y [n, points], last has x = `where`, one for all or [n]."""
    values = y[:, :-1] + _shares(x, where) * np.diff(y, axis=1)
    last = values.shape[1] - 1 - (~np.isnan(values[:, ::-1])).argmax(axis=1)
    # A curve that is nowhere there has no value in its last column either.
    found: Floats = values[np.arange(len(values)), last]
    return found


def _shares(x: Floats, where: Floats | float) -> Floats:
    """The share of each way [..., points - 1] between points after which x is `where` [...]; NaN: nowhere."""
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = (np.asarray(where)[..., None] - x[..., :-1]) / np.diff(x)
    return np.where((shares >= 0) & (shares <= 1), shares, np.nan)


def choose(
    results: Results,
    main: Curve,
    others: Sequence[Curve],
    measure: Measure,
    printed: float,
    scale: float,
    of_run: str = "",
) -> OperatingPoint | None:
    """The operating point of curves, chosen by `measure` alone, not by the compared numbers.

    The stretches are those that the main curve covers (all, if it is not part of this run), and among them those that
    most others cover, too. The point is the paper's value, `printed` in `scale`, if it is in one of them; else that of
    `of_run`, a run, if that is; else the middle of the longest, but not below the run's. A curve covers what it covers
    with each of its seeds, whose curve covers its range but for a tenth at either end; where fewer than half of the
    curves then cover something together, what it covers on average. If some of its neighbouring runs have several
    training seeds both, only the ways between such runs count: elsewhere a comparison is no test. A point that fewer
    than half of the curves reach is refused.
    """
    levels = [of_curve for curve in (main, *others) if len(of_curve := _levels(results, curve, measure)) > 1]
    for with_each_seed in (True, False):
        other_ways = [found for curve in others if (found := _ways(results, curve, measure, with_each_seed))]
        main_ways = _ways(results, main, measure, with_each_seed)
        stretches = _Stretches([main_ways, *other_ways] if main_ways else other_ways, bool(main_ways))
        if 2 * stretches.most >= len(levels):
            break
    if not stretches.ways:
        return None
    value, run = _chosen(stretches, printed / scale, of_run, level(results, of_run, measure) if of_run else None)
    point = OperatingPoint(measure, value, printed, scale, of_run=run)
    reach = sum(min(of_curve) <= value <= max(of_curve) for of_curve in levels)
    if 2 * reach < len(levels):
        return replace(point, refused=f"{point.words()} is refused: {reach} of {len(levels)} methods reach it")
    return point


def _chosen(stretches: _Stretches, printed: float, of_run: str, ours: float | None) -> tuple[float, str]:
    """Where curves are compared, and the run whose value `ours` that is; "" if it is none's."""
    if stretches.covering(printed, printed) == stretches.most:
        return printed, ""
    middle = stretches.middle()
    if ours is not None and (middle < ours or stretches.covering(ours, ours) == stretches.most):
        return ours, of_run
    return middle, ""


@dataclass(frozen=True)
class _Stretches:
    """What several curves cover, each by its ways, the main one's first if it has any."""

    ways: Sequence[Sequence[tuple[float, float]]]
    has_main: bool

    def covering(self, low: float, high: float) -> int:
        """How many curves cover a stretch; none counts where the main one does not."""
        covers = [any(start <= low and high <= end for start, end in of_curve) for of_curve in self.ways]
        return sum(covers) if covers and (covers[0] or not self.has_main) else 0

    @property
    def most(self) -> int:
        """How many curves cover a stretch together, at most."""
        return max((self.covering(*stretch) for stretch in self._between()), default=0)

    def middle(self) -> float:
        """The middle of the longest stretch that most cover."""
        between = self._between()
        return _middle(between, [self.covering(*stretch) == self.most for stretch in between])

    def _between(self) -> list[tuple[float, float]]:
        """The stretches between neighbouring ends of ways."""
        ends = sorted({end for of_curve in self.ways for way in of_curve for end in way})
        return list(pairwise(ends)) or [(end, end) for end in ends]


def _middle(stretches: Sequence[tuple[float, float]], good: Sequence[bool]) -> float:
    """The middle of the longest of the good stretches; neighbouring ones are one."""
    joined = [
        [stretch for stretch, _ in of_kind]
        for is_good, of_kind in groupby(zip(stretches, good, strict=True), lambda pair: pair[1])
        if is_good
    ]
    ends = [(stretch[0][0], stretch[-1][1]) for stretch in joined]
    low, high = max(ends, key=lambda pair: pair[1] - pair[0])
    return (low + high) / 2


def _levels(results: Results, curve: Curve, measure: Measure) -> list[float]:
    """The values of a curve's runs; none where one has no scores."""
    samples = _samples(results, curve.runs, measure)
    return [] if isinstance(samples, Missing) else _means(samples).tolist()


def _ways(results: Results, curve: Curve, measure: Measure, with_each_seed: bool) -> list[tuple[float, float]]:
    """The stretches of a curve between neighbouring runs, without its two ends, of its means or as far as each seed's
    curve covers them. If some lie between runs of several seeds, only these."""
    samples = _samples(results, curve.runs, measure)
    if isinstance(samples, Missing):
        return []
    pairs = list(pairwise(samples))
    sure = [(before, after) for before, after in pairs if min(len(before.seeds), len(after.seeds)) > 1]
    counted = sure or pairs
    if not counted:
        return []
    ends = [sorted(float(sample.by_seed.mean()) for sample in pair) for pair in counted]
    whole = min(start for start, _ in ends), max(end for _, end in ends)
    if with_each_seed:
        ranges = list(_ranges({id(sample): sample for pair in counted for sample in pair}.values()).values())
    else:
        ranges = [whole]
    insides = [_inside(low, high) for low, high in ranges]
    low, high = max(low for low, _ in insides), min(high for _, high in insides)
    cut = [(max(start, low), min(end, high)) for start, end in ends]
    return [(start, end) for start, end in cut if start <= end]


def nearest(results: Results, curve: Curve, point: OperatingPoint | None) -> str | None:
    """The run of a curve that is nearest to an operating point; None without scored runs."""
    if point is None:
        return None
    levels = {name: level(results, name, point.measure) for name in curve.runs}
    distances = {name: abs(value - point.value) for name, value in levels.items() if value is not None}
    return min(distances, key=distances.__getitem__, default=None)


def level(results: Results, name: str, measure: Measure) -> float | None:
    by_seed = results.scores.by_seed(name, measure.decoder, measure.metric, measure.captions)
    return None if by_seed is None else float(by_seed.mean())


def _samples(results: Results, names: Sequence[str], measure: Measure) -> list[Sample] | Missing:
    return results.scores.samples(names, measure.decoder, measure.metric, measure.captions)


def _means(samples: Sequence[Sample]) -> Floats:
    """The mean over seeds of each sample."""
    return np.array([sample.by_seed.mean() for sample in samples])


def _values(samples: Sequence[Sample], seed: int) -> Floats:
    """The value of each sample with a seed."""
    return np.array([_of_seed(sample, sample.by_seed, seed) for sample in samples])


def _resampled(samples: Sequence[Sample], seed: int) -> Floats:
    """The same on resampled items [resamples, samples]."""
    return np.stack([_of_seed(sample, sample.resampled, seed) for sample in samples], axis=1)


def _of_seed(sample: Sample, values: Floats, seed: int) -> Floats:
    """What one seed has of values [..., seeds]; of a run without it, their mean."""
    mean: Floats = (values[..., sample.seeds == seed] if seed in sample.seeds else values).mean(axis=-1)
    return mean
