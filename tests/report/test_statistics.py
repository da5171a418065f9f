"""The two-level bootstrap against one by hand and against the truth, and what is computed from its resamples."""

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from seqcap.report import statistics
from seqcap.report.statistics import Floats, Sample
from seqcap.rewards.corpus import corpus_values


def scores(values: Floats) -> Sample:
    """A metric with a value of each item and seed, [items, seeds]; NaN: undefined."""
    items, seeds = values.shape
    statistic = np.nan_to_num(values)[:, :, None]
    return Sample(np.arange(items), np.arange(1, seeds + 1), statistic, ~np.isnan(values))


def draws(items: int, seeds: int) -> tuple[Floats, Floats]:
    """How often each item and each seed is drawn in each resample."""
    return np.concatenate(list(statistics._drawn(items))), statistics._seed_counts(seeds)


def test_items_and_seeds_are_drawn_with_replacement():
    items, seeds = draws(40, 3)
    assert items.shape == (statistics.RESAMPLES, 40)
    assert seeds.shape == (statistics.RESAMPLES, 3)
    assert set(items.sum(axis=1)) == {40}
    assert set(seeds.sum(axis=1)) == {3}
    # A count has the mean 1 and the variance 1 - 1/n, and no seed goes with an item.
    assert items.var() == pytest.approx(1 - 1 / 40, abs=0.01)
    assert seeds.var() == pytest.approx(1 - 1 / 3, abs=0.02)
    assert abs(np.corrcoef(items[:, 0], seeds[:, 0])[0, 1]) < 0.03


def test_a_resample_is_the_mean_over_its_seeds_and_items():
    values = np.random.default_rng(0).normal(3, 1, (7, 3))
    items, seeds = draws(7, 3)
    found = scores(values).resampled
    for resample in range(200):
        drawn_items = np.repeat(np.arange(7), items[resample].astype(int))
        drawn_seeds = np.repeat(np.arange(3), seeds[resample].astype(int))
        assert found[resample] == pytest.approx(values[np.ix_(drawn_items, drawn_seeds)].mean(), abs=1e-6)
    # And all of them together are as spread as those of another stream of draws.
    rng = np.random.default_rng(1)
    others = [values[np.ix_(rng.integers(7, size=7), rng.integers(3, size=3))].mean() for _ in range(20_000)]
    assert found.mean() == pytest.approx(np.mean(others), abs=0.01)
    assert found.std() == pytest.approx(np.std(others), rel=0.03)
    assert statistics.interval(found) == pytest.approx(tuple(np.quantile(others, [0.025, 0.975])), abs=0.03)


def test_an_undefined_score_is_in_no_resample():
    values = np.random.default_rng(0).normal(3, 1, (7, 3))
    values[2, 0] = values[4, 1] = np.nan
    items, seeds = draws(7, 3)
    sample = scores(values)
    assert sample.by_seed == pytest.approx(np.nanmean(values, axis=0))
    found = sample.resampled
    for resample in range(200):
        drawn = values[np.repeat(np.arange(7), items[resample].astype(int))]
        by_seed = np.nanmean(drawn, axis=0)
        assert found[resample] == pytest.approx(by_seed @ seeds[resample] / 3, abs=1e-6)


def test_a_corpus_metric_is_computed_from_each_resample():
    rng = np.random.default_rng(3)
    matches = rng.integers(0, 5, (6, 2, 4)).astype(float)
    counts = np.concatenate([matches, matches + 3, rng.integers(8, 12, (6, 2, 2))], axis=2)
    aggregate = lambda totals: corpus_values("BLEU4", totals)  # noqa: E731
    sample = Sample(np.arange(6), np.arange(2), counts, np.ones((6, 2), bool), aggregate)
    items, seeds = draws(6, 2)
    found = sample.resampled
    for resample in range(100):
        drawn = counts[np.repeat(np.arange(6), items[resample].astype(int))]
        by_seed = [corpus_values("BLEU4", drawn[:, seed].sum(axis=0)) for seed in range(2)]
        assert found[resample] == pytest.approx(np.dot(by_seed, seeds[resample]) / 2, abs=1e-12)


def test_single_precision_changes_no_printed_digit():
    """The smallest differences that are printed are .0001, of scores around 1 of thousands of items."""
    values = np.random.default_rng(0).normal(1, 0.6, (3000, 2))
    items, seeds = draws(3000, 2)
    exact = (items.astype(np.float64) @ values * seeds).sum(axis=1) / 6000
    np.testing.assert_allclose(scores(values).resampled, exact, rtol=0, atol=1e-6)


def test_systems_get_the_same_draws():
    """A constant difference has no spread, and equal systems no difference at all."""
    values = np.random.default_rng(0).normal(0, 10, (200, 4))
    one, other, same = (scores(each) for each in (values, values + 0.01, values.copy()))
    difference = other.resampled - one.resampled
    assert difference.max() - difference.min() < 1e-4
    assert (one.resampled == same.resampled).all()


def test_draws_do_not_depend_on_how_many_are_made_at_once(monkeypatch: pytest.MonkeyPatch):
    values = np.random.default_rng(0).normal(0, 1, (50, 2))
    whole = scores(values).resampled
    # The first resamples of a chunk are those of its own stream.
    monkeypatch.setattr(statistics, "_CHUNK", 50 * 1000)
    chunked = scores(values).resampled
    assert len(chunked) == len(whole) == statistics.RESAMPLES
    assert (chunked[:1000] == whole[:1000]).all()
    assert chunked.std() == pytest.approx(whole.std(), rel=0.03)


def test_comparisons_are_on_common_seeds_and_items():
    values = np.ones((4, 3))
    holes = values.copy()
    holes[0, 1] = holes[:, 2] = np.nan
    left, right = Sample(np.arange(4), np.array([1, 2, 3]), values[:, :, None], values > 0), scores(holes)
    made = statistics.paired([left.only([2, 3]), right])
    assert made is not None
    assert [sample.seeds.tolist() for sample in made] == [[2], [2]]
    assert [sample.counted[:, 0].tolist() for sample in made] == [[False, True, True, True]] * 2
    assert statistics.paired([left, scores(np.full((4, 3), np.nan))]) is None


def test_a_corpus_value_of_its_own_shifts_all_resamples():
    """METEOR: its items' mean is not the corpus's value; how sure it is comes from the items."""
    scores = np.random.default_rng(0).random((30, 2, 1))
    plain = Sample(np.arange(30), np.array([1, 2]), scores, np.ones((30, 2), dtype=bool))
    shift = np.array([0.25, -0.5])
    shifted = Sample(np.arange(30), np.array([1, 2]), scores, np.ones((30, 2), dtype=bool), shift=shift)
    np.testing.assert_allclose(shifted.by_seed, scores[:, :, 0].mean(0) + shift)
    np.testing.assert_allclose(shifted.resampled_by_seed, plain.resampled_by_seed + shift)
    np.testing.assert_allclose(shifted.only([2]).by_seed, scores[:, 1:, 0].mean(0) - 0.5)


def coverage(spread: float, *, two_levels: bool) -> float:
    """How often the interval of a mean over 5 seeds and 60 items holds the true mean, 0.

    Seeds vary by `spread`, items by 1, and single scores by 1.
    """
    rng = np.random.default_rng(7)
    hits, trials = 0, 400
    for _ in range(trials):
        values = rng.normal(0, spread, (1, 5)) + rng.normal(0, 1, (60, 1)) + rng.normal(0, 1, (60, 5))
        if two_levels:
            low, high = statistics.interval(scores(values).resampled)
        else:
            low, high = statistics.bootstrap_interval(values.mean(axis=1))
        hits += low <= 0 <= high
    return hits / trials


def test_intervals_hold_the_truth_of_other_training_runs():
    """Seeds' own variance: .6^2 / 5 beside items' 1.2 / 60. Resampling items alone sees a fifth of the whole."""
    assert coverage(0.6, two_levels=True) >= 0.85
    assert coverage(0.6, two_levels=False) < 0.7
    # Where seeds do not differ, neither is wrong.
    assert coverage(0.0, two_levels=True) >= 0.93


def test_with_one_seed_only_items_are_drawn():
    values = np.random.default_rng(0).normal(0, 1, (100, 1))
    low, high = statistics.interval(scores(values).resampled)
    assert (low, high) == pytest.approx(statistics.bootstrap_interval(values[:, 0]), abs=1e-6)


@pytest.mark.parametrize(("shift", "expected"), [(0.0, 1.0), (100.0, 2 / 10_001)])
def test_p_value_of_nothing_and_of_much(shift: float, expected: float):
    resampled = np.full(10_000, shift)
    assert statistics.p_value(resampled) == pytest.approx(expected)
    assert statistics.p_value(-resampled) == pytest.approx(expected)


def test_p_value_counts_both_tails():
    resampled = np.array([*[-1.0] * 5, *[1.0] * 94, np.nan])
    assert statistics.p_value(resampled) == pytest.approx(2 * 6 / 100)


def test_the_detectable_difference_is_found_four_times_in_five():
    rng = np.random.default_rng(2)
    smallest = statistics.detectable(rng.normal(0, 0.5, 100_000))
    found = np.abs(rng.normal(smallest, 0.5, 100_000)) > 1.96 * 0.5
    assert found.mean() == pytest.approx(0.8, abs=0.01)


def test_q_values_are_scipys():
    p = np.random.default_rng(0).beta(0.5, 2, 40)
    p[7] = p[3]
    assert statistics.q_values(p.tolist()) == pytest.approx(false_discovery_control(p).tolist())
