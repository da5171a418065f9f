"""Whether a run was trained until it gained no more, by the curve of what a claim measures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from seqcap.metrics import registry
from seqcap.report.evidence import Gain

if TYPE_CHECKING:
    import pandas as pd  # it takes a second to import, and the report's last stage reads no curve

_POINTS = 100  # of all these measures, which are shares and scores around 1
RECALL, QUALITY = "R@10", "CIDEr or BLEU"  # what is measured on val
SAMPLED = "training reward"  # what is measured of training samples
_REWARD = "train_reward"
# Curve -> what it measures.
_CURVES = {
    "val_R@10": RECALL,
    **{registry.find(metric).curve: QUALITY for metric in ("CIDEr", "BLEU")},
    _REWARD: SAMPLED,
}
_QUALITY = {*registry.QUALITY, *registry.QUALITY_TABLE, "BLEU"}


def validated_by(metric: str) -> str:
    """What val measures of a metric's kind: R@10 for every recall, by whatever listener; CIDEr or BLEU for every
    likeness to references; "" of others (diversity, truth, words)."""
    if re.search(r"_R@\d+$", metric):
        return RECALL
    return QUALITY if metric.partition(" ")[0] in _QUALITY else ""


def gains(curves: pd.DataFrame) -> Mapping[str, Mapping[str, Gain]]:
    """Run -> `RECALL`, `QUALITY` or `SAMPLED` -> how much its curve rose from the last quarter but one of its updates
    to the last one. Steps in which a discriminator or a head learns alone are no updates of the run. A run without
    updates or validation is left out, and so is a curve of one point. `curves` has the columns of `schemas.CURVES`."""
    gained: dict[str, dict[str, Gain]] = {}
    chosen = curves[curves["quantity"].isin(_CURVES)]
    for name, curves_of_run in chosen.groupby("run"):
        by_seed = {
            str(quantity): rows.pivot_table(index="step", columns="seed", values="value")
            for quantity, rows in curves_of_run.groupby("quantity")
        }
        # The reward of samples is never twice the same, whether the captioner learns or not.
        validated = [curve.mean(axis=1) for quantity, curve in by_seed.items() if quantity != _REWARD]
        if not validated:
            continue
        first = _first_update(validated)
        for quantity, curve in by_seed.items():
            updated = curve[curve.index >= first]
            if len(updated) > 1:
                gained.setdefault(str(name), {})[_CURVES[quantity]] = _gained(updated, _CURVES[quantity])
    return gained


def gained_in(metric: str, gained: Mapping[str, Gain], sampled: bool = False) -> Gain:
    """What a run gained in what a metric is validated by, `gained` as of `gains`; with `sampled`, in its training
    reward, if it has one. Where it has no such curve, or the metric none, by the curve of val that gained most."""
    own = SAMPLED if sampled and SAMPLED in gained else validated_by(metric)
    if own in gained:
        return gained[own]
    return max((gain for measure, gain in gained.items() if measure != SAMPLED), key=lambda gain: gain.points)


def _first_update(measures: Sequence[pd.Series]) -> int:
    """The last step before any measure changes, before which the captioner did not learn; if none does, the first."""
    steps = []
    for means in measures:
        unlike = means.index[means != means.iloc[0]]
        if len(unlike):
            steps.append(int(means.index[means.index < unlike[0]].max()))
    return min(steps, default=min(int(means.index.min()) for means in measures))


def _gained(curve: pd.DataFrame, measure: str) -> Gain:
    """What a curve [steps x seeds] of a measure gained at its end. A quarter without a point has the last one before
    it."""
    first, last = curve.index.min(), curve.index.max()
    quarter = (last - first) / 4
    late = curve[curve.index > last - quarter]
    until_then = curve[curve.index <= last - quarter]
    before = until_then[until_then.index > last - 2 * quarter]
    if before.empty:
        before = until_then.tail(1)
    by_seed = (late.mean() - before.mean()).dropna()
    level = _POINTS * float(late.mean().mean())
    return Gain(points=_POINTS * float(by_seed.mean()), level=level, measure=measure)
