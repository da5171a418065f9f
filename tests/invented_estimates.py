"""Invented gradients of PSST, whose expectation is known."""

from pathlib import Path

import numpy as np

from seqcap.files import parquet
from seqcap.files.schemas import ESTIMATES
from seqcap.papers.psst.estimators import EXACT, OWN_HINGE, Replicates
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
    noise: Floats = np.sqrt(variance / SIZE) * rng.normal(size=(replicates, SIZE))
    return mean + noise


def replicates(mine: Floats, reference: Floats, draws: int = 1) -> Replicates:
    return Replicates(mine @ mine.T, mine @ reference.T, draws)


def write() -> None:
    """The file of gradients that get noisier and more biased with rho."""
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
            rows.append(row | {"replicate": number, "own": own, "reference": across})
    parquet.write_rows(FILE, rows, ESTIMATES)
