"""Runs as they are trained: with the values of those that they are `like`, and one for each value of a sweep."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from seqcap.errors import InputError
from seqcap.pipeline.overlay import overlay
from seqcap.pipeline.validation import Section, validated

Runs = dict[str, dict[str, Any]]


class Sweep(Section):
    """Values of one of a run's settings. The run stands for one run with each: <run>_<symbol><digits of the value>."""

    setting: str
    symbol: str  # the setting's name in names and labels
    values: list[float]


def trained_runs(runs: Mapping[str, Any], source: Path) -> Runs:
    """The values of all runs of a paper's file that have a group."""
    expanded = _expand_sweeps(_inherit(runs, source), source)
    return {name: run for name, run in expanded.items() if run.get("group") is not None}


def _inherit(runs: Mapping[str, Any], source: Path) -> Runs:
    found: Runs = {}

    def look_up(name: str, below: tuple[str, ...]) -> dict[str, Any]:
        if name in found:
            return found[name]
        like = runs[name].get("like", [])
        values: dict[str, Any] = {}
        for other in like if isinstance(like, list) else [like]:
            if other not in runs:
                raise InputError(source, f"runs.{name}.like is {other!r}", f"allowed: {', '.join(runs)}")
            if other in (*below, name):
                fix = "let one of them be like no other"
                raise InputError(source, f"runs.{name}.like leads back to {other!r}", fix)
            overlay(values, look_up(other, (*below, name)), source, ("runs", name))
        own = {key: value for key, value in runs[name].items() if key != "like"}
        overlay(values, own, source, ("runs", name))
        found[name] = values
        return values

    return {name: look_up(name, ()) for name in runs}


def _expand_sweeps(runs: Runs, source: Path) -> Runs:
    """The runs, with those of a sweep in the place of the run that has it. An entry with the name of one changes it."""
    sweeping = {name: run for name, run in runs.items() if None not in (run.get("group"), run.get("sweep"))}
    swept = {name: dict(_sweep(name, run, source)) for name, run in sweeping.items()}
    made = {name for several in swept.values() for name in several}
    expanded: Runs = {}
    for name, run in runs.items():
        if name not in swept and name not in made:
            expanded[name] = run
        for one, values in swept.get(name, {}).items():
            overlay(values, runs.get(one, {}), source, ("runs", one))
            expanded[one] = values
    return expanded


def _sweep(name: str, run: Mapping[str, Any], source: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    sweep = validated(Sweep, run["sweep"], source, f"runs.{name}.sweep")
    for value in sweep.values:
        number = f"{value:g}"
        values = deepcopy({key: value for key, value in run.items() if key != "sweep"})
        values.setdefault("settings", {})[sweep.setting] = value
        values["label"] = f"{run.get('label', '')}, {sweep.symbol} {number.removeprefix('0') or '0'}"
        yield f"{name}_{sweep.symbol}{number.replace('.', '')}", values
