"""Whether two measures rank systems alike."""

from collections.abc import Sequence

import numpy as np

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
    (rho,) = _spearman(x, y, np.ones((1, count)))
    if np.isnan(rho):
        return Estimate(None, remarks=("a measure is the same for all systems",))
    members = np.array([names == name for name in dict.fromkeys(names.tolist())])
    drawn = np.random.default_rng(0).integers(len(members), size=(RESAMPLES, len(members)))
    # Of so few groups there are few different draws.
    different, times = np.unique(np.sort(drawn), axis=0, return_counts=True)
    resampled = _spearman(x, y, members[different].sum(axis=1))
    low, high = interval(np.repeat(resampled, times))
    return Estimate(float(rho), low, high, n=f"{count} objectives in {len(members)} groups")


def _spearman(x: Floats, y: Floats, times: Floats) -> Floats:
    """Spearman's rho [draws] of two measures [n], each system taken so many `times` [draws, n]; NaN where one of the
    measures is the same everywhere."""
    ranks = np.stack([_ranks(x, times), _ranks(y, times)])
    means = (ranks * times).sum(axis=-1, keepdims=True) / times.sum(axis=-1, keepdims=True)
    centred = ranks - means
    products = np.einsum("adn,bdn,dn->abd", centred, centred, times)
    scale = np.sqrt(products[0, 0] * products[1, 1])
    rho: Floats = np.divide(products[0, 1], scale, out=np.full_like(scale, np.nan), where=scale > 0)
    return rho


def _ranks(values: Floats, times: Floats) -> Floats:
    """The rank [draws, n] of each system by its value [n] among all that were drawn; equal ones share their mean."""
    below = times @ (values[:, None] < values[None, :])
    equal = times @ (values[:, None] == values[None, :])
    ranks: Floats = below + (equal + 1) / 2
    return ranks
