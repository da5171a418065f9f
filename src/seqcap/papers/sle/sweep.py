"""SLE's runs by how much they explore: which alpha, which distance."""

from seqcap.report.inputs import Results
from seqcap.report.rates import is_other_rate
from seqcap.report.reported import ReportedRun

SLL, SLE, MULTI = "sll", "sll_sle", "sll_sle_mr"  # runs
# What SLL is, and what is trained with a part of exploration.
_QUALITY_ALONE, _EXPLORATION = "self_critical", "sequence_exploration"


def sweep(results: Results) -> dict[str, dict[float, ReportedRun]]:
    """Distance -> alpha, ascending -> run. Runs without attention, found by what they were trained with, not by name;
    of two that are alike, the first. SLL is alpha 1."""
    runs = [run for run in results.trained if run.captioner == results.captioners[0]]
    lines: dict[str, dict[float, ReportedRun]] = {}
    for run in runs:
        if is_exploring(run):
            distance, estimator = (str(run.settings.get(key, "")) for key in ("distance", "estimator"))
            kind = distance if estimator in ("", "paper") else f"{distance}, {estimator}"
            lines.setdefault(kind, {}).setdefault(float(run.settings["alpha"]), run)
    for alone in (run for run in runs if run.objective == _QUALITY_ALONE):
        for line in lines.values():
            line.setdefault(1.0, alone)
    return {kind: dict(sorted(line.items())) for kind, line in lines.items()}


def chosen_alpha(results: Results) -> float | None:
    """The alpha of the run that makes the paper's rows; None if it is not part of this run."""
    chosen = results.by_name.get(SLE)
    return float(chosen.settings["alpha"]) if chosen is not None and is_exploring(chosen) else None


def is_exploring(run: ReportedRun) -> bool:
    return run.objective == _EXPLORATION and "alpha" in run.settings


def outside_sweep(results: Results) -> list[ReportedRun]:
    """All runs but those that are there for another alpha than the chosen one, or for another learning rate."""
    chosen = chosen_alpha(results)
    runs = [run for run in results.trained if not is_other_rate(run)]
    return [run for run in runs if not is_exploring(run) or run.settings["alpha"] == chosen]
