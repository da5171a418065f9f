"""Which of many systems are on a Pareto front, and whether two measures rank them alike."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from seqcap.report.statistics import RESAMPLES, Floats, interval
from seqcap.report.tables import Estimate

FEWEST = 4  # with fewer systems a rank correlation says nothing


def pareto_front(values: Floats) -> NDArray[np.bool_]:
    """Which systems are on the front, from values [systems, measures], where more is better: no other is as good in all
    measures and better in one. A system that lacks a value (NaN) is not on it."""
    as_good = np.all(values[None] >= values[:, None], axis=2)
    better = np.any(values[None] > values[:, None], axis=2)
    front: NDArray[np.bool_] = ~np.any(as_good & better, axis=1) & ~np.isnan(values).any(axis=1)
    return front


def rank_correlation(x: Floats, y: Floats) -> Estimate:
    """Spearman's rho of two measures of the same systems [n], with the 95% interval of a bootstrap over systems."""
    known = ~np.isnan(x) & ~np.isnan(y)
    count = int(known.sum())
    if count < FEWEST:
        return Estimate(None, remarks=(f"fewer than {FEWEST} systems",))
    drawn = np.random.default_rng(0).integers(count, size=(RESAMPLES, count))
    # First all systems as they are.
    places = np.concatenate([np.arange(count)[None], drawn])
    ranks = [pd.DataFrame(values[known][places]).rank(axis=1).to_numpy() for values in (x, y)]
    x, y = (rank - rank.mean(axis=1, keepdims=True) for rank in ranks)
    with np.errstate(divide="ignore", invalid="ignore"):
        rho: Floats = (x * y).sum(axis=1) / np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
    if np.isnan(rho[0]):
        return Estimate(None, remarks=("a measure is the same for all systems",))
    return Estimate(float(rho[0]), *interval(rho[1:]), n=f"{count} objectives")
