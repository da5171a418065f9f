"""PSST: variance and bias of gradients, on invented gradients whose expectation is known."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from invented_psst import PsstRun

from seqcap.config.estimators import ESTIMATES
from seqcap.files import parquet
from seqcap.papers.psst import claims, figures
from seqcap.papers.psst.estimators import EXACT, OWN_HINGE, Replicates, qualities_by_rho, read_estimates
from seqcap.report import statistics
from seqcap.report.inputs import Results
from seqcap.report.statistics import Floats

SIZE = 200
FILE = Path("artifacts/psst/results/psst_estimators.parquet")
# Squared norm 10.
GRADIENT = np.zeros(SIZE)
GRADIENT[:2] = 1, 3


def drawn(rng: np.random.Generator, replicates: int, variance: float, bias: float) -> Floats:
    """Gradients [replicates, SIZE] of this variance and squared bias, at right angles to the exact gradient."""
    mean = GRADIENT.copy()
    mean[2] += np.sqrt(bias)
    return mean + np.sqrt(variance / SIZE) * rng.normal(size=(replicates, SIZE))


def replicates(mine: Floats, reference: Floats, draws: int = 1) -> Replicates:
    return Replicates(mine @ mine.T, mine @ reference.T, draws)


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


def write(psst: PsstRun, **changes: Any) -> Results:
    """Gradients that get noisier and more biased with rho; `changes`: of the rows, by column."""
    rng = np.random.default_rng(0)
    fed = [(name, rho, True) for name in ("multinomial", "gumbel") for rho in (0.0, 0.25, 1.0)]
    keys = [*fed, OWN_HINGE, ("multinomial", 0.0, False), ("gumbel", 0.0, False), EXACT]
    reference = drawn(rng, 24, variance=40, bias=0)
    rows = []
    for name, rho, feedback in keys:
        level = 0.2 if rho is None else rho
        mine = reference if (name, rho, feedback) == EXACT else drawn(rng, 20, 10 ** (1 + level), 20 * level)
        made = replicates(mine, reference)
        for number, (own, across) in enumerate(zip(made.own.tolist(), made.across.tolist(), strict=True)):
            row = {"estimator": name, "rho": rho, "feedback_grad": feedback, "draws": 16 if rho is None else 1}
            rows.append(row | {"replicate": number, "own": own, "reference": across} | changes)
    parquet.write_rows(FILE, rows, ESTIMATES)
    return psst.read()


def test_what_was_measured_is_read(psst: PsstRun):
    found = read_estimates(write(psst))
    assert next(iter(found)) == EXACT
    assert len(found) == 10
    variances = {rho: quality.variance.value for rho, quality in qualities_by_rho(found, "multinomial").items()}
    assert list(variances) == [0.0, 0.25, 1.0]
    assert list(variances.values()) == pytest.approx([1, 10**0.25, 10], rel=0.3)
    assert qualities_by_rho(found, "gumbel")[1.0].bias.value == pytest.approx(2, rel=0.5)
    assert found[EXACT].variance.value == pytest.approx(16 * 4, rel=0.4)


def test_words_give_numbers_with_intervals(psst: PsstRun):
    run = write(psst)
    found = read_estimates(run)
    (words,) = (remark for remark in claims.remarks(run, []) if remark.startswith("*Variance"))

    def said(key: tuple[str, float | None, bool | None], name: str) -> str:
        of = getattr(found[key], name)
        return "{} [{}, {}]".format(*(f"{float(f'{number:.2g}'):,.10g}" for number in (of.value, of.low, of.high)))

    assert f"paid for all hinges of the batch: {said(EXACT, 'variance')}, no bias, {said(EXACT, 'step')}. REIN" in words
    last, first = ("multinomial", 1.0, True), ("multinomial", 0.0, True)
    assert f"rho 1: {said(last, 'variance')}, {said(last, 'bias')}, {said(last, 'step')}. [ ]: 95%" in words
    assert f"rho 0: {said(first, 'variance')}, {said(first, 'bias')} (not told from 0), " in words
    assert "PSST Multinomial, rho 0.25: " in words
    assert "ST Multinomial, no gradient through feedback: " in words


def test_without_the_file_nothing_is_said(psst: PsstRun):
    run = psst.read()
    assert read_estimates(run) == {}
    assert not any(remark.startswith("*Variance") for remark in claims.remarks(run, []))
    words = "The gradient's variance and bias are not part of this run, or noise hides them."
    assert figures.estimators(run) == words


def test_a_gradient_that_noise_hides_has_no_numbers(psst: PsstRun):
    """As on a run of a minute."""
    write(psst)
    rows = parquet.read_table(FILE, ESTIMATES).to_pylist()
    for row in rows:
        if row["estimator"] == EXACT[0]:
            row["own"] = [float(row["replicate"] == other) for other in range(24)]
    parquet.write_rows(FILE, rows, ESTIMATES)
    assert read_estimates(psst.read()) == {}


# --- The figure


def test_every_quality_has_a_panel(psst: PsstRun):
    run = write(psst)
    found, figure = read_estimates(run), figures.estimators(run)
    variance, bias, direction, step = figure.axes
    labels = [container.get_label() for container in variance.containers]
    assert labels == [
        "PSST Multinomial",
        "ST Multinomial, no gradient through feedback",
        "PSST Gumbel Softmax",
        "ST Gumbel Softmax, no gradient through feedback",
    ]
    for axis, name in ((variance, "variance"), (bias, "bias"), (direction, "direction"), (step, "step")):
        line = axis.containers[0].lines[0]
        assert np.asarray(line.get_xdata(), dtype=float) == pytest.approx([0, 0.25, 1], abs=0.01)
        right = [getattr(quality, name).value for quality in qualities_by_rho(found, "multinomial").values()]
        assert np.asarray(line.get_ydata(), dtype=float) == pytest.approx(right)
        hollow = axis.containers[3].lines[0]
        assert np.asarray(hollow.get_ydata(), dtype=float) == getattr(found["gumbel", 0.0, False], name).value
        levels = {line.get_label(): line.get_ydata()[0] for line in axis.get_lines() if line.get_linestyle() == "--"}
        own = getattr(found[OWN_HINGE], name).value
        assert levels["REINFORCE, its own hinge (Table 2)"] == own
        assert len(levels) == (1 if name in ("bias", "direction") else 2)
    assert (variance.get_yscale(), bias.get_yscale()) == ("log", "symlog")
    figure.savefig("figure.png")
