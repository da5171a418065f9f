"""SLE's runs by how much they explore: which alpha, which distance."""

from seqcap.config.report import ReportedRun
from seqcap.report.inputs import Run

SLL, SLE, MULTI = "sll", "sll_sle", "sll_sle_mr"  # runs
# What SLL is, and what is trained with a part of exploration.
_QUALITY_ALONE, _EXPLORATION = "self_critical", "sequence_exploration"


def sweep(run: Run) -> dict[str, dict[float, ReportedRun]]:
    """Distance -> alpha, ascending -> run. Runs without attention, found by what they were trained with, not by name;
    of two that are alike, the first. SLL is alpha 1."""
    entries = [entry for entry in run.trained if entry.captioner == run.captioners[0]]
    lines: dict[str, dict[float, ReportedRun]] = {}
    for entry in entries:
        if is_exploring(entry):
            distance, estimator = (str(entry.settings.get(key, "")) for key in ("distance", "estimator"))
            kind = distance if estimator in ("", "paper") else f"{distance}, {estimator}"
            lines.setdefault(kind, {}).setdefault(float(entry.settings["alpha"]), entry)
    for alone in (entry for entry in entries if entry.objective == _QUALITY_ALONE):
        for line in lines.values():
            line.setdefault(1.0, alone)
    return {kind: dict(sorted(line.items())) for kind, line in lines.items()}


def chosen_alpha(run: Run) -> float | None:
    """The alpha of the run that makes the paper's rows; None if it is not part of this run."""
    chosen = run.by_name.get(SLE)
    return float(chosen.settings["alpha"]) if chosen is not None and is_exploring(chosen) else None


def is_exploring(entry: ReportedRun) -> bool:
    return entry.objective == _EXPLORATION and "alpha" in entry.settings


def outside_sweep(run: Run) -> list[ReportedRun]:
    """All runs but those that are there for another alpha than the chosen one."""
    chosen = chosen_alpha(run)
    return [entry for entry in run.trained if not is_exploring(entry) or entry.settings["alpha"] == chosen]
