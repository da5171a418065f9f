"""Runs that differ from another one in their learning rate alone, and what each rate had on val."""

from collections.abc import Sequence

from seqcap.report.inputs import Results
from seqcap.report.reported import ReportedRun

_NAMED = "rate_"  # how a run that is there for another learning rate begins
_LATE = 3  # epochs whose mean is compared


def is_other_rate(run: ReportedRun) -> bool:
    return run.name.startswith(_NAMED)


def other_rates(results: Results, base: ReportedRun) -> list[ReportedRun]:
    """The runs that differ from a run in their learning rate alone, the lowest first."""
    alike = (base.objective, base.captioner, base.reward)
    runs = [run for run in results.trained if (run.objective, run.captioner, run.reward) == alike]
    return sorted(filter(is_other_rate, runs), key=lambda run: run.learning_rate)


def rates_on_val(results: Results, names: Sequence[str], scale: float, digits: int) -> tuple[str, list[str]]:
    """What runs had on val with each learning rate that was tried, times `scale`, in words; and the labels of those for
    which another rate was better on average. Each is compared over as many epochs and seeds as its other rates have:
    the mean of the last three, and that of each seed. It is what greedy captions earn of the run's reward, or their
    CIDEr where that is the reward."""
    told, not_best = list[str](), list[str]()
    for name in names:
        base = results.by_name.get(name)
        others = other_rates(results, base) if base is not None else []
        if base is None or not others:
            continue
        last, seeds = others[0].epochs, others[0].seeds
        compared = sorted([*others, base], key=lambda run: run.learning_rate)
        on_val = {run.name: late_on_val(results, run.name, last, seeds) for run in compared}
        levels = []
        for run in compared:
            words = f"{run.learning_rate:g}, the tables'" if run is base else f"{run.learning_rate:g}"
            if len(seeds) > 1:
                each = (scale * late_on_val(results, run.name, last, [seed]) for seed in seeds)
                words += f"; by seed {', '.join(f'{value:.{digits}f}' for value in each)}"
            levels.append(f"{scale * on_val[run.name]:.{digits}f} ({words})")
        counted = f"seeds {', '.join(map(str, seeds))}" if len(seeds) > 1 else f"seed {seeds[0]}"
        epochs = f"epochs {max(1, last - _LATE + 1)} to {last}"
        told.append(f"{base.label}, {epochs} of {counted}: {', '.join(levels)}")
        if on_val[base.name] < max(on_val.values()):
            not_best.append(base.label)
    return "; ".join(told), not_best


def late_on_val(results: Results, name: str, last: int, seeds: Sequence[int]) -> float:
    """The mean on val of the last three epochs up to `last`, over some seeds."""
    on_val = results.decisive(name)
    on_val = on_val[on_val["seed"].isin(seeds)]
    steps = sorted(on_val["step"].unique())  # of the start, and of each epoch
    late = steps[max(1, last - _LATE + 1) : last + 1]
    return float(on_val.loc[on_val["step"].isin(late), "value"].mean())
