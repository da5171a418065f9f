"""How noisy the policy gradient is with K rollouts, with and without the baseline (spider_variance.parquet)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from seqcap.files import parquet, schemas
from seqcap.report import statistics
from seqcap.report.inputs import Run
from seqcap.report.statistics import Floats


@dataclass(frozen=True)
class Noise:
    """Replicates of one gradient."""

    distances: Floats  # squared distance of each from their mean, [replicates]
    squared_mean: float  # squared norm of the expected gradient, the same for all settings

    @property
    def variance(self) -> float:
        return float(self.distances.mean())

    def interval(self) -> tuple[float, float]:
        return statistics.bootstrap_interval(self.distances)

    def relative_to(self, other: Noise) -> tuple[float, float, float]:
        """This variance over the other's, with the 95% interval over both's replicates."""
        ratios = statistics.resampled_means(self.distances) / statistics.resampled_means(other.distances, seed=1)
        return (self.variance / other.variance, *statistics.interval(ratios))


Settings = Mapping[tuple[int, bool], Noise]  # (rollouts, whether with the baseline) -> its replicates


def read_variance(run: Run) -> Settings:
    """The replicates that the variance stage measured, by setting; none if it is not part of this run."""
    path = Path(run.config.results) / "spider_variance.parquet"
    if not path.exists():
        return {}
    frame = parquet.read_table(path, schemas.VARIANCE).to_pandas()
    return {
        (int(rollouts), bool(baseline)): Noise(
            group["squared_distance"].to_numpy(dtype=float), float(group["squared_mean"].iloc[0])
        )
        for (rollouts, baseline), group in frame.groupby(["rollouts", "baseline"])
    }


def in_words(settings: Settings) -> str:
    """The effect of rollouts (K = 3 against 1) and of the baseline on the variance, in words."""
    found = []
    for baseline, words in ((False, "without the baseline"), (True, "with it")):
        if {(1, baseline), (3, baseline)} <= set(settings):
            found.append(f"{_times(settings[3, baseline], settings[1, baseline])} of K = 1's variance {words}")
    sentences = [f"K = 3 rollouts leave {' and '.join(found)}."] if found else []
    for rollouts in (1, 3):
        if {(rollouts, True), (rollouts, False)} <= set(settings):
            share = _times(settings[rollouts, True], settings[rollouts, False])
            sentences.append(f"At K = {rollouts} the baseline leaves {share} of the variance without one.")
    if not sentences:
        return ""
    return (
        f"*Rollouts and the baseline.* {' '.join(sentences)} Variance: the mean squared distance of a gradient's "
        "replicates from their mean; [ ]: 95% bootstrap over replicates."
    )


def _times(one: Noise, other: Noise) -> str:
    value, low, high = one.relative_to(other)
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"
