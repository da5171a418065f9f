"""The best caption of a beam by log p / length, in which a caption loses nothing by being longer: as the decoder of
SLE's authors ranks finished captions (marshimarocj/precision_recall, model/util.py, and
marshimarocj/caption_competition). Ours, and that of loss smoothing's authors, rank by log p."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from seqcap.report.inputs import Results
from seqcap.report.sources import OfOneRun
from seqcap.report.statistics import Contrast, Missing, Number, Sample, difference, matched

_CIDER = "CIDEr"
_KEYS = ["seed", "item", "rank"]


def by_length(results: Results, name: str) -> Sample | Missing:
    """CIDEr of the kept beam captions with the highest log p / length of each item; a length is words and EOS."""
    if name not in results.by_name:
        return Missing.run(name)
    scores = results.scores.by_rank(name, "beam", _CIDER)
    if scores.empty:
        return Missing(results.scores.why_missing(name, "beam", _CIDER))
    if int(scores["rank"].max()) == 0:
        return Missing("only the best caption of a beam was scored")
    decoded = results.decoded(name)
    kept = decoded[(decoded["decoder"] == "beam") & np.isfinite(decoded["log_prob"])]
    length = kept["text"].str.split().str.len() + 1
    ranked = kept.assign(by_length=kept["log_prob"] / length).sort_values("by_length", ascending=False)
    chosen = ranked.drop_duplicates(["seed", "item"])[_KEYS]
    values = chosen.merge(scores, on=_KEYS).pivot_table(index="item", columns="seed", values="value")
    return _sample(values)


@dataclass(frozen=True)
class ByLength(OfOneRun):
    """A side of a claim: a run's CIDEr (x1), its beams ranked so; `Missing` without."""

    def number(self, results: Results) -> Number | Missing:
        sample = by_length(results, self.run)
        return sample if isinstance(sample, Missing) else Number.of(sample)


def gain(results: Results, name: str, base: str) -> Contrast | Missing:
    """How much higher a run's captions score than those of `base`, both ranked by log p / length."""
    ours, theirs = (by_length(results, of) for of in (name, base))
    if isinstance(ours, Missing):
        return ours
    if isinstance(theirs, Missing):
        return theirs
    samples = matched([ours, theirs])
    if samples is None:
        return Missing("CIDEr is undefined for every item")
    left, right = map(Number.of, samples)
    return difference(left, right, results.share_start(((name,), (base,))))


def _sample(values: pd.DataFrame) -> Sample:
    """Scores [items x seeds] as a sample; NaN is undefined."""
    there = values.notna().to_numpy()
    statistics = values.fillna(0.0).to_numpy()[:, :, None]
    return Sample(values.index.to_numpy(), values.columns.to_numpy(), statistics, there)
