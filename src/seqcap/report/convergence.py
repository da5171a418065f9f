"""Whether a run was trained until it gained no more, by its validation curve."""

from collections.abc import Mapping

import pandas as pd

from seqcap.metrics import registry

_POINTS = 100  # of all these measures, which are shares and scores around 1
_MEASURES = ("val_R@10", *(registry.find(metric).curve for metric in ("CIDEr", "BLEU")))


def gains(curves: pd.DataFrame) -> Mapping[str, float]:
    """Run -> how many points of CIDEr, BLEU or R@10 the mean over seeds of its validation curve gained in the last
    quarter of its updates, by the measure that gained most. A run without updates is left out. `curves` has the columns
    of `schemas.CURVES`."""
    found: dict[str, float] = {}
    chosen = curves[curves["quantity"].isin(_MEASURES)]
    for (name, _), curve in chosen.groupby(["variant", "quantity"]):
        means = curve.groupby("step")["value"].mean()
        last = means.index.max()
        if last > 0:
            before = means[means.index <= 0.75 * last]
            gain = _POINTS * float(means.iloc[-1] - (before.iloc[-1] if len(before) else means.iloc[0]))
            found[str(name)] = max(gain, found.get(str(name), gain))
    return found
