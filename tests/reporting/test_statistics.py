"""The bootstrap against cases worked out by hand or known in closed form."""

from __future__ import annotations

import numpy as np
import pytest

from seqcap.reporting import statistics


def test_two_images_by_hand():
    """Of two images with scores 0 and 1, resamples have mean 0, 1/2 or 1 with probability 1/4, 1/2 and 1/4."""
    means = statistics.resampled_means(np.array([0.0, 1.0]), resamples=20_000)
    assert set(np.unique(means)) == {0.0, 0.5, 1.0}
    for mean, probability in ((0.0, 0.25), (0.5, 0.5), (1.0, 0.25)):
        assert np.mean(means == mean) == pytest.approx(probability, abs=0.015)


def test_interval_of_many_images_is_the_normal_one():
    scores = np.random.default_rng(1).normal(3.0, 2.0, 400)
    low, high = statistics.bootstrap_interval(scores)
    half = 1.96 * scores.std() / np.sqrt(len(scores))
    assert (low, high) == pytest.approx((scores.mean() - half, scores.mean() + half), abs=0.02)


def test_interval_of_three_seeds_is_their_range():
    assert statistics.bootstrap_interval(np.array([0.2, 0.5, 0.3])) == pytest.approx((0.2, 0.5))


def test_systems_are_resampled_together():
    scores = np.random.default_rng(2).normal(size=50)
    means = statistics.resampled_means(np.stack([scores + 1, scores], axis=1), resamples=100)
    assert means.shape == (100, 2)
    np.testing.assert_allclose(means[:, 0] - means[:, 1], 1.0)


def test_chunks_do_not_change_the_number_of_resamples(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(statistics, "_CHUNK", 70)
    means = statistics.resampled_means(np.arange(10.0), resamples=24)
    assert means.shape == (24,)
    assert len(np.unique(means)) > 5


def test_the_same_numbers_come_out_twice():
    scores = np.arange(7.0)
    np.testing.assert_array_equal(statistics.resampled_means(scores), statistics.resampled_means(scores))


def test_no_images_is_an_error():
    with pytest.raises(ValueError, match="no images"):
        statistics.resampled_means(np.empty(0))


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        (np.ones(999), 2 / 1000),  # none on the other side of zero
        (-np.ones(999), 2 / 1000),
        (np.zeros(99), 1.0),
        (np.array([1.0] * 90 + [-1.0] * 9), 2 * 10 / 100),
    ],
)
def test_p_value(differences: np.ndarray, expected: float):
    assert statistics.p_value(differences) == pytest.approx(expected)


def test_p_value_is_calibrated():
    """Where there is no difference, p < .05 about one time in twenty."""
    generator = np.random.default_rng(3)
    ps = [statistics.p_value(statistics.resampled_means(generator.normal(size=60), resamples=600)) for _ in range(300)]
    assert 0.02 < np.mean(np.array(ps) < 0.05) < 0.10


def test_seeds_agreeing():
    assert statistics.seeds_agreeing(np.array([0.1, -0.2, 0.0, 0.3]), +1) == 2
    assert statistics.seeds_agreeing(np.array([0.1, -0.2, 0.0, 0.3]), -1) == 1
