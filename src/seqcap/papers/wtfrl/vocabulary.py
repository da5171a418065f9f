"""How many words a captioner uses: a number of all captions of a split together, with what test items do to it."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from seqcap.report import statistics
from seqcap.report.inputs import Results
from seqcap.report.sources import OfOneRun
from seqcap.report.statistics import Floats, Missing, Number

METRIC = "vocabulary"


@dataclass(frozen=True)
class Vocabulary(OfOneRun):
    """The distinct words in a run's best captions of the beam, of all test items; with each training seed."""

    def number(self, results: Results) -> Number | Missing:
        if self.run not in results.by_name:
            return Missing.run(self.run)
        decoded = results.decoded(self.run)
        best = decoded[(decoded["decoder"] == "beam") & (decoded["rank"] == 0)]
        used = {seed: _used(best[best["seed"] == seed]) for seed in sorted(best["seed"].unique().tolist())}
        by_seed = {seed: float(of.any(axis=0).sum()) for seed, of in used.items()}
        resampled = np.stack([_resampled(of) for of in used.values()], axis=1)
        items = min(len(of) for of in used.values())
        return Number(float(np.mean(list(by_seed.values()))), by_seed, resampled, items)


def _used(captions: pd.DataFrame) -> Floats:
    """Which words each caption has, 0 or 1: [items, words]."""
    words = captions.sort_values("item").reset_index()["text"].str.split().explode().dropna()
    counts = pd.crosstab(words.index, words)
    # A caption without words has no row of its own.
    used: Floats = counts.reindex(range(len(captions)), fill_value=0).clip(upper=1).to_numpy(dtype=np.float64)
    return used


def _resampled(used: Floats) -> Floats:
    """How many words the captions of resampled items have [DRAWS]. A resample lacks rare words, so that these are fewer
    than the number itself: how much they differ is what is asked of them."""
    drawn = statistics.item_weights(len(used)) @ used.astype(np.float32)
    found: Floats = (drawn > 0).sum(axis=1).astype(np.float64)
    return found
