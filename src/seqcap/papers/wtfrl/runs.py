"""WTF-RL's runs, the measures of Table 1, and ablations: runs with some settings changed, found by these, not by
their names."""

from collections.abc import Iterable
from typing import Any

from seqcap.config.report import ReportedRun
from seqcap.report.inputs import HUMAN, Run
from seqcap.report.paper import Paper
from seqcap.report.tables import Measure

TF, LONGER, WTF, WTF_RL, ALONE = "tf", "tf_longer", "wtf", "wtf_rl", "rl_alone"
PEOPLE = f"{HUMAN}:reward"  # in the scores: people's captions, found by the retriever that pays
# Setting -> its name in tables.
_NAMES = {"alpha": "alpha", "temperature": "tau", "mined_ranks": "mined images", "co_training": "co-training"}
# What may differ between two runs that are the same.
_NAMELESS = {"name", "label", "row", "seeds", "evaluation", "weights", "decoded"}


def measure(run: Run, column: str, of: str = "table1") -> Measure:
    """The measure of a column, of the best caption of the beam; with `of` "judge" recall by the judge."""
    return Measure("beam", *run.paper.facts.columns[of][column])


def rows_by_run(paper: Paper) -> dict[str, str]:
    return {name: row for row, (name, _) in paper.facts.rows["table1"].items()}


def runs_of_table(run: Run) -> list[ReportedRun]:
    """The runs that make rows, in their order, without the ablations."""
    return [run.by_name[name] for name in rows_by_run(run.paper) if name in run.by_name]


def ablations(run: Run) -> dict[str, dict[str, ReportedRun]]:
    """Names of the changed settings -> value in words -> run; numbers ascend. Without WTF-RL there are none. A run with
    several changes is under all of their names."""
    found: dict[tuple[str, ...], list[ReportedRun]] = {}
    for entry in changed(run):
        base = run.by_name[WTF_RL].settings
        keys = tuple(key for key in base if entry.settings.get(key) != base[key])
        found.setdefault(keys, []).append(entry)
    blocks = {}
    for keys, entries in found.items():
        rows: dict[str, ReportedRun] = {}
        for entry in sorted(entries, key=lambda entry: [_place(entry.settings.get(key)) for key in keys]):
            row = in_words(entry, keys) or entry.label
            rows[f"{row}, {entry.name}" if row in rows else row] = entry
        blocks[", ".join(_NAMES.get(key, key) for key in keys) or "the same settings"] = rows
    return blocks


def changed(run: Run) -> list[ReportedRun]:
    """The runs of WTF-RL's objective that differ from WTF-RL."""
    if WTF_RL not in run.by_name:
        return []
    base = run.by_name[WTF_RL]
    same = base.model_dump(exclude=_NAMELESS)
    others = [entry for entry in run.trained if entry.objective == base.objective]
    return [entry for entry in others if entry.model_dump(exclude=_NAMELESS) != same]


def in_words(entry: ReportedRun, keys: Iterable[str] = tuple(_NAMES)) -> str:
    """Some settings of a run, those that it has."""
    return ", ".join(_words(key, entry.settings[key]) for key in keys if key in entry.settings)


def _place(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def _words(key: str, value: Any) -> str:
    if key == "mined_ranks":
        return f"mined images of rank {' and '.join(map(str, value))}" if value else "no mined images"
    if key == "co_training":
        return "the discriminator learns on" if value else "the discriminator is fixed after its pretraining"
    return f"{_NAMES.get(key, key)} {value:g}" if isinstance(value, float) else f"{_NAMES.get(key, key)} {value}"
