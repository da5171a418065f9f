"""How noisy and how biased gradients through the listener are, against rho (psst_estimators.parquet).

The mean inner product of two independent replicates of an estimator is the squared norm of its expectation; that of a
replicate with one of the reference's is the product of the two expectations. Neither has a bias, and the reference's
expectation is the exact gradient. Intervals are 95% bootstrap over the replicates of estimator and reference, on the
safe side: where noise hides the expectation, they are too wide (Arcones and Giné, Annals of Statistics 1992).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from seqcap.files import parquet
from seqcap.files.schemas import ESTIMATES
from seqcap.report import statistics
from seqcap.report.inputs import Results
from seqcap.report.statistics import Floats
from seqcap.report.tables import Estimate

# Estimator as `seqcap.evaluation.estimators` names it, rho, whether the gradient flows through what is fed back.
Key = tuple[str, float | None, bool | None]
EXACT: Key = ("score_function", None, None)
OWN_HINGE: Key = ("own_hinge", None, None)


@dataclass(frozen=True)
class Quality:
    """How good an estimator is, with one caption of each image. Score functions have means over several captions as
    replicates: their `step` is the mean product over the root of an estimate's mean squared norm."""

    variance: Estimate  # of one estimate, summed over parameters, over the exact gradient's squared norm
    bias: Estimate  # squared distance of its expectation from the exact gradient, over the same
    direction: Estimate  # cosine of its expectation with the exact gradient
    step: Estimate  # mean cosine of one estimate with the exact gradient


@dataclass(frozen=True, eq=False)
class Replicates:
    """Inner products of an estimator's replicates, each the mean over `draws` captions of each image."""

    own: Floats  # [r, r]
    across: Floats  # [r, n], with the replicates of the reference
    draws: int

    def quality(self, reference: Replicates, seed: int) -> Quality:
        """Against the reference; `seed` of the resamples is 0 for the reference itself."""
        mine, others = _weights(len(self.own), seed), _weights(len(reference.own), 0)
        exact = np.maximum(_pairs(reference.own, others), 0)
        norm, lengths = _pairs(self.own, mine), self.own.diagonal()
        # Of a replicate of the reference with itself the product says nothing.
        product = norm if self is reference else ((mine @ self.across) * others).sum(1) / self.across.size
        variance = self.draws * (mine @ lengths / len(lengths) - norm)
        along = self.across @ others.T / len(reference.own)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.draws == 1 and self is not reference:
                step = (mine.T * (along / np.sqrt(lengths)[:, None])).mean(0)
            else:
                step = product / np.sqrt(norm + variance)
            found = (
                variance / exact,
                (norm - 2 * product + exact) / exact,
                product / np.sqrt(norm * exact),
                step / np.sqrt(exact),
            )
        return Quality(*map(_estimate, found))


def _estimate(values: Floats) -> Estimate:
    """A number and its interval, from it and the same of resampled replicates [1 + resamples]; NaN: none."""
    defined = np.where(np.isfinite(values), values, np.nan)
    hidden = np.isnan(defined[1:]).mean() > statistics.TOO_MANY
    bounds = (np.nan, np.nan) if hidden else statistics.interval(defined[1:])
    return Estimate(float(defined[0]), *bounds)


def _weights(n: int, seed: int) -> Floats:
    """How often each of n replicates is drawn: [1 + resamples, n], once each in the first row."""
    drawn = np.random.default_rng([n, seed]).multinomial(n, np.full(n, 1 / n), size=statistics.RESAMPLES)
    return np.concatenate([np.ones((1, n)), drawn])


def _pairs(products: Floats, weights: Floats) -> Floats:
    """The mean product [m] of two different replicates, drawn as `weights` [m, n] say."""
    totals = ((weights @ products) * weights).sum(1) - weights**2 @ products.diagonal()
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = totals / (weights.sum(1) ** 2 - (weights**2).sum(1))
    return found


def read_estimates(results: Results) -> Mapping[Key, Quality]:
    """The measured qualities, the reference first; empty if none were, or noise hides the exact gradient."""
    path = Path(results.config.results) / "psst_estimators.parquet"
    if not path.exists():
        return {}
    rows: dict[Key, list[dict[str, Any]]] = {EXACT: []}
    for row in parquet.read_table(path, ESTIMATES).to_pylist():
        rows.setdefault((row["estimator"], row["rho"], row["feedback_grad"]), []).append(row)
    found = {}
    for key, values in rows.items():
        own, across = (np.array([row[name] for row in values]) for name in ("own", "reference"))
        found[key] = Replicates(own, across, values[0]["draws"])
    qualities = {key: value.quality(found[EXACT], seed) for seed, (key, value) in enumerate(found.items())}
    return {} if np.isnan(qualities[EXACT].variance.value or 0.0) else qualities


def qualities_by_rho(found: Mapping[Key, Quality], distribution: str) -> dict[float, Quality]:
    """Rho -> the estimator of a distribution that has a gradient through feedback."""
    return {rho: value for (name, rho, fed), value in found.items() if name == distribution and fed and rho is not None}
