"""WTF-RL's runs, the measures of Table 1, and ablations: runs with some settings changed, found by these, not by
their names."""

from collections.abc import Iterable
from typing import Any

from seqcap.report.inputs import HUMAN, Results
from seqcap.report.paper import Paper
from seqcap.report.reported import ReportedRun
from seqcap.report.tables import Measure

TF, LONGER, WTF, WTF_RL, RL, ALONE = "tf", "tf_longer", "wtf", "wtf_rl", "rl", "rl_alone"
TUNES = "scst_grammar"  # the objective that tunes a copy of the retriever that pays
PEOPLE = f"{HUMAN}:reward"  # in the scores: people's captions, found by the retriever that pays
# Setting -> its name in tables.
_NAMES = {"alpha": "alpha", "temperature": "tau", "mined_ranks": "mined images", "co_training": "co-training"}
# Fields that do not decide how a run is trained: runs that differ in these alone have the same training.
_NOT_OF_TRAINING = {"name", "label", "row", "seeds", "evaluation", "weights", "decoded"}


def measure(results: Results, column: str, columns: str = "table1") -> Measure:
    """The measure of a column, of the best caption of the beam; with `of` "judge" recall by the judge."""
    return Measure("beam", *results.paper.facts.columns[columns][column])


def rows_by_run(paper: Paper) -> dict[str, str]:
    return {name: row for row, (name, _) in paper.facts.rows["table1"].items()}


def runs_of_table(results: Results) -> list[ReportedRun]:
    """The runs that make rows, in their order, without the ablations."""
    return [results.by_name[name] for name in rows_by_run(results.paper) if name in results.by_name]


def ablations(results: Results) -> dict[str, dict[str, ReportedRun]]:
    """Names of the changed settings -> value in words -> run; numbers ascend. Without WTF-RL there are none. A run with
    several changes is under all of their names."""
    found: dict[tuple[str, ...], list[ReportedRun]] = {}
    for run in changed(results):
        base = results.by_name[WTF_RL].settings
        keys = tuple(key for key in base if run.settings.get(key) != base[key])
        found.setdefault(keys, []).append(run)
    blocks = {}
    for keys, runs in found.items():
        rows: dict[str, ReportedRun] = {}
        for run in sorted(runs, key=lambda run: [_place(run.settings.get(key)) for key in keys]):
            row = in_words(run, keys) or run.label
            rows[f"{row}, {run.name}" if row in rows else row] = run
        blocks[", ".join(_NAMES.get(key, key) for key in keys) or "the same settings"] = rows
    return blocks


def changed(results: Results) -> list[ReportedRun]:
    """The runs of WTF-RL's objective that differ from WTF-RL."""
    if WTF_RL not in results.by_name:
        return []
    base = results.by_name[WTF_RL]
    same = base.model_dump(exclude=_NOT_OF_TRAINING)
    others = [run for run in results.trained if run.objective == base.objective]
    return [run for run in others if run.model_dump(exclude=_NOT_OF_TRAINING) != same]


def in_words(run: ReportedRun, keys: Iterable[str] = tuple(_NAMES)) -> str:
    """Some settings of a run, those that it has."""
    return ", ".join(_words(key, run.settings[key]) for key in keys if key in run.settings)


def _place(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def _words(key: str, value: Any) -> str:
    if key == "mined_ranks":
        return f"mined images of rank {' and '.join(map(str, value))}" if value else "no mined images"
    if key == "co_training":
        return "the discriminator learns on" if value else "the discriminator is fixed after its pretraining"
    return f"{_NAMES.get(key, key)} {value:g}" if isinstance(value, float) else f"{_NAMES.get(key, key)} {value}"
