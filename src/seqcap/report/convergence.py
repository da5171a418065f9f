"""Whether a run was trained until it gained no more, by its validation curve."""

from collections.abc import Mapping, Sequence

import pandas as pd

from seqcap.metrics import registry

_POINTS = 100  # of all these measures, which are shares and scores around 1
_MEASURES = ("val_R@10", *(registry.find(metric).curve for metric in ("CIDEr", "BLEU")))


def gains(curves: pd.DataFrame) -> Mapping[str, float]:
    """Run -> how many points of CIDEr, BLEU or R@10 the mean over seeds of its validation curve gained in the last
    quarter of its updates, by the measure that gained most. Steps in which a discriminator or a head learns alone are
    no updates of the run. A run without updates is left out. `curves` has the columns of `schemas.CURVES`."""
    found: dict[str, float] = {}
    chosen = curves[curves["quantity"].isin(_MEASURES)]
    for name, its in chosen.groupby("variant"):
        measures = [curve.groupby("step")["value"].mean() for _, curve in its.groupby("quantity")]
        first = _first_update(measures)
        learned = [means[means.index >= first] for means in measures if means.index.max() > first]
        if learned:
            found[str(name)] = max(map(_gained, learned))
    return found


def _first_update(measures: Sequence[pd.Series]) -> int:
    """The last step before any measure changes, before which the captioner did not learn; if none does, the first."""
    found = []
    for means in measures:
        unlike = means.index[means != means.iloc[0]]
        if len(unlike):
            found.append(int(means.index[means.index < unlike[0]].max()))
    return min(found, default=min(int(means.index.min()) for means in measures))


def _gained(means: pd.Series) -> float:
    """What a curve, step -> mean, gained in its last quarter."""
    first, last = means.index.min(), means.index.max()
    before = means[means.index <= first + 0.75 * (last - first)]
    return _POINTS * float(means.iloc[-1] - before.iloc[-1])
