"""WTF-RL with one setting changed, found by the settings of runs, not by their names."""

from collections.abc import Mapping
from typing import Any

from seqcap.config.report import ReportedRun
from seqcap.papers.wtfrl.runs import WTF_RL
from seqcap.report.inputs import Run

# Setting -> its name in tables.
_NAMES = {"alpha": "alpha", "temperature": "tau", "mined_ranks": "mined images", "co_training": "co-training"}


def ablations(run: Run) -> dict[str, dict[str, ReportedRun]]:
    """Names of the changed settings -> value in words -> run; numbers ascend. WTF-RL is in each block; without it there
    are none. A run with several changes is under all of their names."""
    found: dict[tuple[str, ...], list[ReportedRun]] = {}
    for entry in changed(run):
        base = run.by_name[WTF_RL]
        keys = tuple(key for key in base.settings if entry.settings.get(key) != base.settings[key])
        found.setdefault(keys, [base]).append(entry)
    blocks = {}
    for keys, entries in found.items():
        ordered = sorted(entries, key=lambda entry: [_place(entry.settings.get(key)) for key in keys])
        rows: dict[str, ReportedRun] = {}
        for entry in ordered:
            row = _row(entry, keys)
            rows[f"{row}, {entry.name}" if row in rows else row] = entry
        blocks[", ".join(_NAMES.get(key, key) for key in keys) or "the same settings"] = rows
    return blocks


def changed(run: Run) -> list[ReportedRun]:
    """The runs of WTF-RL's objective that are not WTF-RL."""
    if WTF_RL not in run.by_name:
        return []
    objective = run.by_name[WTF_RL].objective
    return [entry for entry in run.trained if entry.objective == objective and entry.name != WTF_RL]


def _place(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def _row(entry: ReportedRun, keys: tuple[str, ...]) -> str:
    words = ", ".join(_words(key, entry.settings) for key in keys)
    return f"{words} ({entry.label})" if words and entry.name == WTF_RL else words or entry.label


def _words(key: str, settings: Mapping[str, Any]) -> str:
    value = settings.get(key)
    if key == "mined_ranks":
        return f"mined images of rank {' and '.join(map(str, value))}" if value else "no mined images"
    if key == "co_training":
        return "the discriminator learns on" if value else "the discriminator is fixed after its pretraining"
    number = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{_NAMES.get(key, key)} {number}"
