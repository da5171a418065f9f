"""How noisy the policy gradient is with K rollouts, with and without the baseline (spider_variance.parquet)."""

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


Settings = Mapping[tuple[int, bool], Noise]  # (rollouts, whether with the baseline) -> its replicates


def read_variance(run: Run) -> Settings:
    """The replicates that the variance stage measured, by setting; none if it is not part of this run."""
    path = Path(run.config.results) / "spider_variance.parquet"
    if not path.exists():
        return {}
    frame = parquet.read_table(path, schemas.VARIANCE).to_pandas()
    return {
        (int(rollouts), bool(baseline)): Noise(of["squared_distance"].to_numpy(float), of["squared_mean"].iloc[0])
        for (rollouts, baseline), of in frame.groupby(["rollouts", "baseline"])
    }


def in_words(settings: Settings) -> str:
    """The effect of rollouts (K = 3 against 1) and of the baseline on the variance, in words."""
    found = []
    for baseline, words in ((False, "without the baseline"), (True, "with it")):
        share = _times(settings, (3, baseline), (1, baseline))
        found += [f"{share} of K = 1's variance {words}"] if share else []
    words = f" K = 3 rollouts leave {' and '.join(found)}." if found else ""
    for rollouts in (1, 3):
        share = _times(settings, (rollouts, True), (rollouts, False))
        words += f" At K = {rollouts} the baseline leaves {share} of the variance without one." if share else ""
    if not words:
        return ""
    return (
        f"*Rollouts and the baseline.*{words} Variance: the mean squared distance of a gradient's replicates from "
        "their mean; [ ]: 95% bootstrap over replicates."
    )


def _times(settings: Settings, one: tuple[int, bool], other: tuple[int, bool]) -> str:
    """One setting's variance over another's, with the 95% interval; nothing unless both were measured."""
    if not {one, other} <= set(settings):
        return ""
    mine, others = settings[one], settings[other]
    ratios = statistics.resampled_means(mine.distances) / statistics.resampled_means(others.distances, seed=1)
    low, high = statistics.interval(ratios)
    return f"{mine.variance / others.variance:.2f} [{low:.2f}, {high:.2f}]"
