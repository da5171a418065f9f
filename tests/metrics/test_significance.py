"""Intervals and p-values: those of sacreBLEU's randomisation, and of differences whose distribution is known."""

from dataclasses import astuple

import numpy as np
import pytest
from sacrebleu import significance
from sacrebleu.significance import Result

from seqcap.metrics.quality import Measured
from seqcap.metrics.significance import differences, with_intervals


class Mean:
    """A metric as sacreBLEU's tests take it: the mean of a score."""

    def __init__(self, scores):
        self.scores = scores

    def _extract_corpus_statistics(self, hypotheses, references):
        return self.scores[hypotheses[0]]

    def _compute_score_from_stats(self, sums):
        return Result(float(sums[0] / sums[1]))

    def _aggregate_and_compute(self, stats):
        return self._compute_score_from_stats(np.sum(stats, axis=0))


def difference(first, second):
    (found,) = differences({"mean": Measured.mean(first)}, {"mean": Measured.mean(second)}, len(first)).values()
    return found


@pytest.mark.parametrize("shift", [0.0, 0.2, 0.5])
def test_p_values_are_those_of_sacrebleu(shift):
    random = np.random.default_rng(3)
    scores = {"a": random.normal(size=80), "b": random.normal(size=80) + shift}
    statistics = {name: Measured.mean(values).statistics for name, values in scores.items()}
    metric = Mean(statistics)
    info = {"mean": (statistics["a"], metric._aggregate_and_compute(statistics["a"]))}
    expected = significance._paired_ar_test(info, "b", ["b"] * 80, None, {"mean": metric}, seed=1)[1]["mean"].p_value
    assert difference(scores["a"], scores["b"]).p_value == pytest.approx(expected, abs=0.015)


def test_what_two_systems_have_in_common_falls_out():
    """Images differ far more than the systems do."""
    random = np.random.default_rng(4)
    base = random.normal(size=60)
    found = difference(base, base + 0.02 + random.normal(size=60, scale=0.02))
    assert found.p_value < 0.01
    assert 0 < found.low < found.value < found.high < 0.04


def test_few_images_that_differ_prove_nothing():
    """With one image the systems change places or do not, and the difference is as large either way."""
    assert difference(np.array([0.1, 0.5, 0.5]), np.array([0.3, 0.5, 0.5])).p_value == 1
    same = difference(np.array([0.1, 0.5]), np.array([0.1, 0.5]))
    assert (same.value, same.low, same.high, same.p_value) == (0, 0, 0, 1)


def test_an_interval_is_as_wide_as_the_standard_error_says():
    scores = np.random.default_rng(5).normal(size=400)
    found = with_intervals({"mean": Measured.mean(scores)}, 400)["mean"]
    error = scores.std() / 20
    assert found.value == pytest.approx(scores.mean())
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.1)
    assert found.low < found.value < found.high


def test_many_images_are_drawn_in_parts(monkeypatch):
    first, second = np.random.default_rng(6).normal(size=(2, 30))
    whole = difference(first, second)
    # Three resamples at a time, as of millions of images.
    monkeypatch.setattr("seqcap.metrics.significance._NUMBERS", 100)
    # But for rounding: a product of few rows may add in another order.
    assert astuple(difference(first, second)) == pytest.approx(astuple(whole), abs=1e-12)
