"""Whether a run was trained until it gained no more, by the validation curve of what a claim measures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from seqcap.metrics import registry

if TYPE_CHECKING:
    import pandas as pd  # it takes a second to import, and the report's last stage reads no curve

_POINTS = 100  # of all these measures, which are shares and scores around 1
RECALL, QUALITY = "R@10", "CIDEr or BLEU"  # what is measured on val
# Curve -> what it measures.
_CURVES = {"val_R@10": RECALL, **{registry.find(metric).curve: QUALITY for metric in ("CIDEr", "BLEU")}}
_QUALITY = {*registry.QUALITY, *registry.QUALITY_TABLE, "BLEU"}


def validated_by(metric: str) -> str:
    """What val measures of a metric's kind: R@10 for every recall, by whatever listener; CIDEr or BLEU for every
    likeness to references; "" of others (diversity, truth, words)."""
    if re.search(r"_R@\d+$", metric):
        return RECALL
    return QUALITY if metric.partition(" ")[0] in _QUALITY else ""


def gains(curves: pd.DataFrame) -> Mapping[str, Mapping[str, float]]:
    """Run -> `RECALL` or `QUALITY` -> how many points the mean over seeds of its validation curve gained in the last
    quarter of its updates. Steps in which a discriminator or a head learns alone are no updates of the run. A run
    without updates is left out. `curves` has the columns of `schemas.CURVES`."""
    found: dict[str, dict[str, float]] = {}
    chosen = curves[curves["quantity"].isin(_CURVES)]
    for name, its in chosen.groupby("variant"):
        means = {str(quantity): of.groupby("step")["value"].mean() for quantity, of in its.groupby("quantity")}
        first = _first_update(list(means.values()))
        for quantity, curve in means.items():
            if curve.index.max() > first:
                found.setdefault(str(name), {})[_CURVES[quantity]] = _gained(curve[curve.index >= first])
    return found


def gained_in(metric: str, gained: Mapping[str, float]) -> float:
    """What a run gained in what a metric is validated by, `gained` as of `gains`. Where it has no such curve, or the
    metric none, by the curve that gained most."""
    own = validated_by(metric)
    return gained[own] if own in gained else max(gained.values())


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
