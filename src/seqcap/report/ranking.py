"""Whether two measures rank systems alike."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from seqcap.report.statistics import RESAMPLES, Floats, interval
from seqcap.report.tables import Estimate

FEWEST = 4  # with fewer systems a rank correlation says nothing


def rank_correlation(x: Floats, y: Floats, groups: Sequence[str]) -> Estimate:
    """Spearman's rho of two measures of the same systems [n], with the 95% interval of a bootstrap over `groups` [n] of
    systems: those of one group are alike, and are drawn together."""
    known = ~np.isnan(x) & ~np.isnan(y)
    count = int(known.sum())
    if count < FEWEST:
        return Estimate(None, remarks=(f"fewer than {FEWEST} systems",))
    x, y, names = x[known], y[known], np.asarray(groups)[known]
    rho = _spearman(x, y)
    if np.isnan(rho):
        return Estimate(None, remarks=("a measure is the same for all systems",))
    members = [np.flatnonzero(names == name) for name in dict.fromkeys(names.tolist())]
    drawn = np.random.default_rng(0).integers(len(members), size=(RESAMPLES, len(members)))
    # Of so few groups there are few different draws.
    different, times = np.unique(np.sort(drawn), axis=0, return_counts=True)
    resampled = []
    for draw in different:
        places = np.concatenate([members[group] for group in draw])
        resampled.append(_spearman(x[places], y[places]))
    low, high = interval(np.repeat(resampled, times))
    return Estimate(rho, low, high, n=f"{count} objectives in {len(members)} groups")


def _spearman(x: Floats, y: Floats) -> float:
    """Spearman's rho of two measures [n]; NaN where one of them is the same everywhere."""
    ranks = np.column_stack([pd.Series(values).rank() for values in (x, y)])
    ranks -= ranks.mean(axis=0)
    products = ranks.T @ ranks
    scale = float(np.sqrt(products[0, 0] * products[1, 1]))
    return float(products[0, 1]) / scale if scale else float("nan")
