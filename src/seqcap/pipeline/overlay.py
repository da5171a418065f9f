"""Lays parameters over others: changes by a scale or an experiment, what a run takes from those it is `like`, and the
values of a sweep."""

from collections.abc import Iterator, Mapping, MutableMapping
from copy import deepcopy
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from seqcap.errors import InputError
from seqcap.pipeline.validation import Section, find, validated

Runs = dict[str, dict[str, Any]]


class Sweep(Section):
    """Values of one of a run's settings. The run stands for one run with each: <run>_<symbol><digits of the value>."""

    setting: str
    symbol: str  # the setting's name in names and labels
    values: list[float]


def overlay(
    values: MutableMapping[str, Any], changes: Mapping[str, Any], source: Path, place: tuple[str, ...] = ()
) -> None:
    """Changes `values` in place: mappings merge, anything else replaces, null removes a named entry, another
    `architecture` keeps nothing of `model`. `values` is the content of a file, or the part of it at `place`; `source`
    holds the changes."""
    # Here: it loads all kinds of stages, and so torch.
    from seqcap.pipeline.forms import named_sections

    if "model" in values and changes.get("architecture", values.get("architecture")) != values.get("architecture"):
        values["model"] = {}
    for key, change in changes.items():
        inner = (*place, str(key))
        if change is None and len(inner) == 2 and place[0] in named_sections():
            if key not in values:
                raise InputError(source, f"{'.'.join(inner)} is null, but there is no such entry", "correct the name")
            del values[key]
        elif isinstance(change, Mapping) and isinstance(values.get(key), MutableMapping):
            overlay(values[key], change, source, inner)
        else:
            values[key] = deepcopy(change)


def trained_runs(runs: Mapping[str, Any], source: Path) -> Runs:
    """The values of a paper's runs that have a group. An entry with the name of a sweep's run changes that."""
    inherited = _inherit(runs, source)
    swept: dict[str, Runs] = {}
    for name, run in inherited.items():
        if run.get("group") is not None and run.get("sweep") is not None:
            swept[name] = dict(_sweep(name, run, source))
    members = {member for runs_of_sweep in swept.values() for member in runs_of_sweep}
    expanded: Runs = {}
    for name, run in inherited.items():
        if name not in swept and name not in members:
            expanded[name] = run
        for member, values in swept.get(name, {}).items():
            overlay(values, inherited.get(member, {}), source, ("runs", member))
            expanded[member] = values
    return {name: run for name, run in expanded.items() if run.get("group") is not None}


def _inherit(runs: Mapping[str, Any], source: Path) -> Runs:
    """The runs with the values of those that they are `like`, the later over the earlier, and their own over all."""
    likes = {}
    for name, run in runs.items():
        like = run.get("like", [])
        likes[name] = like if isinstance(like, list) else [like]
        for other in likes[name]:
            find(runs, other, source, f"runs.{name}.like")
    try:
        order = list(TopologicalSorter(likes).static_order())
    except CycleError as error:
        fix = "let one of them be like no other"
        raise InputError(source, f"runs.{error.args[1][0]}.like leads back to itself", fix) from None
    inherited: Runs = {}
    for name in order:
        own = {key: value for key, value in runs[name].items() if key != "like"}
        inherited[name] = {}
        for values in (*(inherited[other] for other in likes[name]), own):
            overlay(inherited[name], values, source, ("runs", name))
    return {name: inherited[name] for name in runs}


def _sweep(name: str, run: Mapping[str, Any], source: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    sweep = validated(Sweep, run["sweep"], source, f"runs.{name}.sweep")
    for value in sweep.values:
        number = f"{value:g}"
        values = deepcopy({key: value for key, value in run.items() if key != "sweep"})
        values.setdefault("settings", {})[sweep.setting] = value
        values["label"] = f"{run.get('label', '')}, {sweep.symbol} {number.removeprefix('0') or '0'}"
        yield f"{name}_{sweep.symbol}{number.replace('.', '')}", values
