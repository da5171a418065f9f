"""Intervals and p against the truth of simulated runs, and what items do to a number against a bootstrap."""

import numpy as np
import pytest
from scipy.stats import false_discovery_control
from scipy.stats import t as student

from seqcap.report import statistics
from seqcap.report.statistics import Contrast, Floats, Number, Sample, Spread, difference, spread
from seqcap.rewards.corpus import corpus_values

REPETITIONS = 4000


def scores(values: Floats, seeds: tuple[int, ...] = ()) -> Sample:
    """A metric with a value of each item and seed, [items, seeds]; NaN: undefined."""
    items, number = values.shape
    statistic = np.nan_to_num(values)[:, :, None]
    return Sample(np.arange(items), np.array(seeds or range(1, number + 1)), statistic, ~np.isnan(values))


def parts(*values: float) -> Spread:
    """A, its degrees of freedom, B, and the share of A that items have."""
    return Spread(*map(np.asarray, map(float, values)))


# --- Coverage


def simulated(shape: tuple[int, ...], seeds: int, seed_sd: float, single: float) -> Floats:
    """p of the true value, 0, in runs with items whose mean has a standard error of 1, which is known from 100 items.
    Seeds vary by `seed_sd`, a seed's mean over its single scores by `single`."""
    rng, items = np.random.default_rng([seeds, round(2 * seed_sd)]), 100
    means = rng.normal(0, 1, (*shape, 1)) + rng.normal(0, np.hypot(seed_sd, single), (*shape, seeds))
    known = rng.chisquare(items - 1, (*shape, 1, 1)) / (items - 1)
    found = spread(means, known * (1 + single**2 * np.eye(seeds)), [range(seeds)], [1.0], items)
    return found.p_value(means.mean(axis=-1))


@pytest.mark.parametrize("seeds", [3, 5])
@pytest.mark.parametrize("seed_sd", [0.5, 1, 2, 3])
@pytest.mark.parametrize("single", [0, 0.5])
def test_an_interval_holds_the_truth_as_often_as_it_says(seeds, seed_sd, single):
    """Of other seeds and other items, for seed SDs from half to three times the items' standard error."""
    p = simulated((REPETITIONS,), seeds, seed_sd, single)
    assert 0.92 <= (p >= statistics.SIGNIFICANCE).mean() <= 0.98


@pytest.mark.parametrize("seeds", [3, 5])
@pytest.mark.parametrize("seed_sd", [0.5, 3])
def test_families_of_nothing_find_nothing(seeds, seed_sd):
    """Of ten claims about nothing, one is called in at most one paper of twenty."""
    p = simulated((REPETITIONS, 10), seeds, seed_sd, 0)
    called = (false_discovery_control(p, axis=1) < statistics.SIGNIFICANCE).any(axis=1)
    assert called.mean() <= 0.05


def test_seeds_of_two_sides_are_paired_or_not():
    """A difference of sides with five and three seeds. The three share a start, which scatters much: it falls out."""
    rng = np.random.default_rng(0)
    start = 3 * rng.normal(size=(REPETITIONS, 5))
    left, right = start + rng.normal(size=(REPETITIONS, 5)), start[:, :3] + rng.normal(size=(REPETITIONS, 3))
    common = statistics.common_seeds([range(5), range(3)])
    values, nothing = np.concatenate([left[:, common], right], axis=1), np.zeros((REPETITIONS, 6, 6))
    distance = left[:, common].mean(axis=1) - right.mean(axis=1)
    paired, unpaired = (spread(values, nothing, [common, common], [1.0, -1.0], 100, of) for of in (True, False))
    assert distance.var() == pytest.approx(2 / 3, rel=0.1)
    assert paired.seeds.mean() == pytest.approx(2 / 3, rel=0.1)
    assert unpaired.seeds.mean() == pytest.approx(20 / 3, rel=0.1)
    assert 0.92 <= (paired.p_value(distance) >= 0.05).mean() <= 0.98
    # Seeds that are others scatter on their own.
    other = 3 * rng.normal(size=(REPETITIONS, 3)) + rng.normal(size=(REPETITIONS, 3))
    values, nothing = np.concatenate([left, other], axis=1), np.zeros((REPETITIONS, 8, 8))
    welch = spread(values, nothing, [range(5), range(5, 8)], [1.0, -1.0], 100)
    assert 0.92 <= (welch.p_value(left.mean(axis=1) - other.mean(axis=1)) >= 0.05).mean() <= 0.98


def test_a_difference_is_of_the_seeds_that_both_sides_have():
    """Where they share a start; the seeds of one alone say nothing of it."""
    rng = np.random.default_rng(0)
    five = rng.normal(0, 1, (50, 5))
    five[:, 3:] += 100
    left, right = Number.of(scores(five + 0.01)), Number.of(scores(five[:, :3]))
    found = difference(left, right)
    assert not isinstance(found, statistics.Missing)
    assert (found.value, found.seeds) == (pytest.approx(0.01), (3, 3))
    assert found.interval() == pytest.approx((0.01, 0.01), abs=1e-5)
    apart = difference(left, right, paired=False)
    assert not isinstance(apart, statistics.Missing)
    assert (apart.value, apart.seeds) == (pytest.approx(40, abs=1), (5, 3))
    # A single seed has no scatter of its own: all of the other side's count.
    single = difference(left, Number.of(scores(five[:, :1])))
    assert not isinstance(single, statistics.Missing)
    assert single.seeds == (5, 1)
    people = difference(left, right.seedless)
    assert not isinstance(people, statistics.Missing)
    assert people.seeds == (5,)


def test_a_single_seed_counts_as_if_it_scattered_like_the_others():
    values = np.array([5.0, 1.0, 2.0, 3.0])
    found = spread(values, np.zeros((4, 4)), [(1,), (1, 2, 3)], [1.0, -1.0], 100)
    assert (found.seeds, found.freedom) == (pytest.approx(1 + 1 / 3), 2)


# --- The distribution


@pytest.mark.parametrize("freedom", [1, 2, 4, 7.3])
def test_seeds_alone_are_students_t(freedom):
    of = parts(4, freedom, 0, 0)
    for distance in (0.5, 6.0, 40.0):
        assert of.p_value(distance) == pytest.approx(2 * student.sf(distance / 2, freedom), rel=1e-3)
    assert of.reach() == pytest.approx(2 * student.ppf(0.975, freedom), rel=1e-6)


def test_items_alone_are_normal():
    assert parts(0, 2, 4, 0).reach() == pytest.approx(2 * 1.959964, rel=1e-5)
    # The share of the items' noise that seeds hold is there whether seeds scatter or not.
    assert parts(0, 2, 3, 1).reach() == pytest.approx(2 * 1.959964, rel=1e-5)


def test_both_together_are_their_sum():
    rng = np.random.default_rng(1)
    drawn = np.abs(rng.standard_t(2, 400_000) + 2 * rng.normal(size=400_000))
    of = parts(1, 2, 4, 0)
    for distance in (1.0, 5.0, 15.0):
        assert of.p_value(distance) == pytest.approx((drawn > distance).mean(), rel=0.05)
    assert of.p_value(of.reach()) == pytest.approx(0.05)


def test_nothing_that_varies_is_sure():
    of = parts(0, 2, 0, 0)
    assert (of.reach(), of.p_value(0.1), of.p_value(0.0)) == (0, 0, 1)


def test_the_detectable_difference_is_found_four_times_in_five():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(REPETITIONS, 5))
    found = spread(values, np.zeros((REPETITIONS, 5, 5)), [range(5)], [1.0], 100)
    smallest = float(parts(1 / 5, 4, 0, 0).detectable)
    power = (found.p_value(values.mean(axis=1) + smallest) < 0.05).mean()
    assert power == pytest.approx(0.8, abs=0.05)


def test_seeds_that_a_difference_needs():
    """A falls with them, B stays."""
    of = parts(1, 2, 0.04, 0)
    needed = statistics.seeds_needed(of, seeds=3, wanted=1.5)
    assert needed is not None
    assert parts(3 / needed, needed - 1, 0.04, 0).detectable <= 1.5
    assert parts(3 / (needed - 1), needed - 2, 0.04, 0).detectable > 1.5
    assert statistics.seeds_needed(parts(1, 2, 4, 0), seeds=3, wanted=1.5) is None


# --- What items do to a number


def test_items_give_the_variance_of_a_mean():
    values = np.random.default_rng(0).normal(3, 1, (40, 3))
    covariance = statistics.item_covariance([Number.of(scores(values))])
    np.testing.assert_allclose(covariance, np.cov(values.T, ddof=0) / 40, atol=0.001)


def test_an_undefined_score_is_in_no_resample():
    values = np.random.default_rng(0).normal(3, 1, (7, 3))
    values[2, 0] = values[4, 1] = np.nan
    sample = scores(values)
    assert sample.by_seed == pytest.approx(np.nanmean(values, axis=0))
    for counts, found in zip(statistics.item_weights(7)[:200].astype(int), sample.resampled, strict=False):
        assert found == pytest.approx(np.nanmean(np.repeat(values, counts, axis=0), axis=0), abs=1e-6)


def test_a_corpus_metric_is_computed_from_each_resample():
    rng = np.random.default_rng(3)
    matches = rng.integers(0, 5, (6, 2, 4)).astype(float)
    counts = np.concatenate([matches, matches + 3, rng.integers(8, 12, (6, 2, 2))], axis=2)
    sample = Sample(np.arange(6), np.arange(2), counts, np.ones((6, 2), bool), lambda of: corpus_values("BLEU4", of))
    for times, found in zip(statistics.item_weights(6)[:100].astype(int), sample.resampled, strict=False):
        assert found == pytest.approx(corpus_values("BLEU4", np.repeat(counts, times, axis=0).sum(axis=0)), abs=1e-12)


def test_single_precision_changes_no_printed_digit():
    """The smallest differences that are printed are .0001, of scores around 1 of thousands of items."""
    values = np.random.default_rng(0).normal(1, 0.6, (3000, 2))
    exact = statistics.item_weights(3000).astype(np.float64) @ values / 3000
    np.testing.assert_allclose(scores(values).resampled, exact, rtol=0, atol=1e-6)


def test_a_corpus_value_of_its_own_shifts_all_resamples():
    """METEOR: its items' mean is not the corpus's value; how sure it is comes from the items."""
    values = np.random.default_rng(0).random((30, 2, 1))
    plain = Sample(np.arange(30), np.array([1, 2]), values, np.ones((30, 2), dtype=bool))
    shift = np.array([0.25, -0.5])
    shifted = Sample(plain.items, plain.seeds, values, plain.counted, shift=shift)
    np.testing.assert_allclose(shifted.by_seed, values[:, :, 0].mean(0) + shift)
    np.testing.assert_allclose(shifted.resampled, plain.resampled + shift)
    np.testing.assert_allclose(shifted.only([2]).by_seed, values[:, 1:, 0].mean(0) - 0.5)


def test_items_that_sides_share_fall_out_of_their_difference():
    values = np.random.default_rng(0).normal(0, 10, (200, 3))
    left, right = Number.of(scores(values + 0.01)), Number.of(scores(values))
    assert difference(left, right).interval() == pytest.approx((0.01, 0.01), abs=1e-5)


def test_resamples_without_a_side_do_not_count():
    values = np.random.default_rng(0).normal(0, 1, (200, 3))
    number = Number.of(scores(values))
    holes = number.resampled.copy()
    holes[::3, 1] = np.nan
    some = Number(number.value, number.by_seed, holes, number.items)
    whole = statistics.item_covariance([number])
    np.testing.assert_allclose(statistics.item_covariance([some]), whole, atol=0.1 * whole.max())


def left_alone(number: Number) -> Spread:
    return Contrast((number,), (1.0,)).spread


def test_noise_of_single_scores_does_not_count_twice():
    """With it alone, the variance is that of all scores together, from seeds and items both."""
    values = np.random.default_rng(5).normal(0, 1, (500, 50))
    found = left_alone(Number.of(scores(values)))
    assert float(np.maximum(found.seeds, found.shared) + found.items) == pytest.approx(1 / 25_000, rel=0.25)


def test_without_seeds_only_items_count():
    values = np.random.default_rng(0).normal(0, 1, (100, 1))
    found = left_alone(Number.of(scores(values)).seedless)
    assert found.reach() == pytest.approx(student.ppf(0.975, 99) * values.std() / 10, rel=0.04)


def test_systems_lose_what_another_one_has_not():
    """Seed by seed; seeds of one alone are kept."""
    values = np.ones((4, 3))
    holes = values.copy()
    holes[0, 1] = holes[:, 2] = np.nan
    left, right = scores(values), scores(holes)
    made = statistics.matched([left, right])
    assert made is not None
    assert [sample.seeds.tolist() for sample in made] == [[1, 2], [1, 2]]
    assert [sample.counted[0].tolist() for sample in made] == [[True, False]] * 2
    more = statistics.matched([scores(values, (1, 2, 7)), right])
    assert more is not None
    assert [sample.seeds.tolist() for sample in more] == [[1, 2, 7], [1, 2]]
    assert statistics.matched([left, scores(np.full((4, 3), np.nan))]) is None


# --- One level


def test_a_bootstrap_of_one_level():
    values = np.random.default_rng(0).normal(3, 1, 100)
    low, high = statistics.bootstrap_interval(values)
    assert (low, high) == pytest.approx((values.mean() - 0.196, values.mean() + 0.196), abs=0.04)
    assert (statistics.resampled_means(values, 1) != statistics.resampled_means(values, 2)).any()
    assert len(statistics.resampled_means(np.arange(3.0))) == statistics.RESAMPLES


def test_q_values_are_scipys():
    p = np.random.default_rng(0).beta(0.5, 2, 40)
    assert statistics.q_values(p.tolist()) == pytest.approx(false_discovery_control(p).tolist())
    assert statistics.q_values([]) == []
