"""PSST: variance and bias of gradients, on invented gradients whose expectation is known."""

import numpy as np
import pytest
from invented_estimates import FILE, GRADIENT, drawn, replicates, write
from invented_psst import PsstRun

from seqcap.files import parquet
from seqcap.files.schemas import ESTIMATES
from seqcap.papers.psst import claims, figures
from seqcap.papers.psst.estimators import EXACT, qualities_by_rho, read_estimates
from seqcap.report import statistics
from seqcap.report.inputs import Results

# --- Numbers


@pytest.mark.parametrize("draws", [1, 4])
def test_noise_is_no_bias(monkeypatch: pytest.MonkeyPatch, draws: int):
    """On average over 400 measurements, each of which would be wrong by half if noise were not taken off."""
    monkeypatch.setattr(statistics, "RESAMPLES", 1)
    rng, found = np.random.default_rng(0), []
    for _ in range(400):
        reference = drawn(rng, 24, variance=40, bias=0)
        exact = replicates(reference, reference)
        mine = drawn(rng, 20, variance=100, bias=5)
        quality = replicates(mine, reference, draws).quality(exact, seed=1)
        same = exact.quality(exact, seed=0)
        numbers = (quality.variance, quality.bias, quality.direction, same.variance, same.bias, same.direction)
        found.append([number.value for number in numbers])
    cosine = np.sqrt(10 / 15)
    assert np.mean(found, axis=0) == pytest.approx([10 * draws, 0.5, cosine, 4, 0, 1], rel=0.05, abs=0.02)


def test_one_estimates_direction(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(statistics, "RESAMPLES", 1)
    rng = np.random.default_rng(0)
    reference, mine = drawn(rng, 400, variance=40, bias=0), drawn(rng, 400, variance=100, bias=5)
    exact = replicates(reference, reference)
    cosines = mine @ GRADIENT / np.linalg.norm(mine, axis=1) / np.sqrt(10)
    assert replicates(mine, reference).quality(exact, 1).step.value == pytest.approx(cosines.mean(), abs=0.01)
    # Means over 4 captions say what one would be like.
    rough = drawn(rng, 400, variance=400, bias=5)
    cosines = rough @ GRADIENT / np.linalg.norm(rough, axis=1) / np.sqrt(10)
    assert replicates(mine, reference, draws=4).quality(exact, 1).step.value == pytest.approx(cosines.mean(), abs=0.01)


@pytest.mark.parametrize("bias", [0.0, 5.0])
def test_intervals_hold_what_is_right(monkeypatch: pytest.MonkeyPatch, bias: float):
    monkeypatch.setattr(statistics, "RESAMPLES", 300)
    rng, held = np.random.default_rng(1), []
    for seed in range(1, 101):
        reference, mine = drawn(rng, 40, variance=40, bias=0), drawn(rng, 40, variance=100, bias=bias)
        quality = replicates(mine, reference).quality(replicates(reference, reference), seed)
        held.append([of.low <= right <= of.high for of, right in ((quality.variance, 10), (quality.bias, bias / 10))])
        assert quality.bias.high - quality.bias.low < 2
    assert (np.mean(held, axis=0) >= 0.9).all()


# --- The file


def run_with_estimates(psst: PsstRun) -> Results:
    write()
    psst.methods, psst.second = ["psst_mle"], False
    return psst.read()


def test_what_was_measured_is_read(psst: PsstRun):
    found = read_estimates(run_with_estimates(psst))
    assert next(iter(found)) == EXACT
    assert len(found) == 10
    variances = {rho: quality.variance.value for rho, quality in qualities_by_rho(found, "multinomial").items()}
    assert list(variances) == [0.0, 0.25, 1.0]
    assert list(variances.values()) == pytest.approx([1, 10**0.25, 10], rel=0.3)
    assert qualities_by_rho(found, "gumbel")[1.0].bias.value == pytest.approx(2, rel=0.5)
    assert found[EXACT].variance.value == pytest.approx(16 * 4, rel=0.4)


def test_without_the_file_nothing_is_said(psst: PsstRun):
    psst.methods, psst.second = ["psst_mle"], False
    run = psst.read()
    assert read_estimates(run) == {}
    assert not any(remark.startswith("*Variance") for remark in claims.remarks(run, []))
    words = "The gradient's variance and bias are not part of this run, or noise hides them."
    assert figures.estimators(run) == words


def test_a_gradient_that_noise_hides_has_no_numbers(psst: PsstRun):
    """As on a run of a minute."""
    run_with_estimates(psst)
    rows = parquet.read_table(FILE, ESTIMATES).to_pylist()
    for row in rows:
        if row["estimator"] == EXACT[0]:
            row["own"] = [float(row["replicate"] == other) for other in range(24)]
    parquet.write_rows(FILE, rows, ESTIMATES)
    assert read_estimates(psst.read()) == {}
