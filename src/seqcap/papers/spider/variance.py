"""How noisy the policy gradient is with K rollouts, with and without the baseline (spider_variance.parquet)."""

from collections.abc import Mapping
from pathlib import Path

from seqcap.files import parquet, schemas
from seqcap.report import statistics
from seqcap.report.inputs import Results
from seqcap.report.statistics import Floats

# (Rollouts, whether with the baseline) -> squared distance of each replicate of one gradient from their mean.
Settings = Mapping[tuple[int, bool], Floats]


def read_variance(results: Results) -> tuple[Settings, float]:
    """What the variance stage measured, none if it is not part of this run; and the squared norm of the expected
    gradient, which is the same for all settings."""
    path = Path(results.config.results) / "spider_variance.parquet"
    if not path.exists():
        return {}, 0.0
    frame = parquet.read_table(path, schemas.VARIANCE).to_pandas()
    by_setting = frame.groupby(["rollouts", "baseline"])["squared_distance"]
    settings = {
        (int(rollouts), bool(baseline)): distances.to_numpy(float) for (rollouts, baseline), distances in by_setting
    }
    return settings, float(frame["squared_mean"].iloc[0])


def in_words(settings: Settings) -> str:
    """The effect of rollouts (K = 3 against 1) and of the baseline on the variance, in words; "" without any."""
    found = []
    for baseline, words in ((False, "without the baseline"), (True, "with it")):
        share = _times(settings, (3, baseline), (1, baseline))
        found += [f"{share} of K = 1's variance {words}"] if share else []
    words = f" K = 3 rollouts leave {' and '.join(found)}." if found else ""
    for rollouts in (1, 3):
        share = _times(settings, (rollouts, True), (rollouts, False))
        words += f" At K = {rollouts} the baseline leaves {share} of the variance without one." if share else ""
    return words


def _times(settings: Settings, one: tuple[int, bool], other: tuple[int, bool]) -> str:
    """One setting's variance over another's, with the 95% interval; nothing unless both were measured."""
    if not {one, other} <= set(settings):
        return ""
    mine, others = settings[one], settings[other]
    ratios = statistics.resampled_means(mine) / statistics.resampled_means(others, seed=1)
    low, high = statistics.interval(ratios)
    return f"{mine.mean() / others.mean():.2f} [{low:.2f}, {high:.2f}]"
