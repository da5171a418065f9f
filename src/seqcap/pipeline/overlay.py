"""Lays parameters over others: changes by a scale or an experiment, and what a run takes from those it is `like`."""

from collections.abc import Mapping, MutableMapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from seqcap.errors import InputError

NAMED = (
    *("tasks", "features", "captioners", "pretrain", "retrievers", "mined", "rewards", "evaluations", "groups"),
    *("runs", "ensembles", "retrievals", "variances", "estimators"),
)


def overlay(
    values: MutableMapping[str, Any], changes: Mapping[str, Any], source: Path, place: tuple[str, ...] = ()
) -> None:
    """Changes `values` in place: mappings merge, anything else replaces, null removes a named entry of `NAMED`, another
    `architecture` keeps nothing of `model`. `values` is the content of a file, or the part of it at `place`; `source`
    holds the changes."""
    if "model" in values and changes.get("architecture", values.get("architecture")) != values.get("architecture"):
        values["model"] = {}
    for key, change in changes.items():
        inner = (*place, str(key))
        if change is None and len(inner) == 2 and place[0] in NAMED:
            if key not in values:
                raise InputError(source, f"{'.'.join(inner)} is null, but there is no such entry", "correct the name")
            del values[key]
        elif isinstance(change, Mapping) and isinstance(values.get(key), MutableMapping):
            overlay(values[key], change, source, inner)
        else:
            values[key] = deepcopy(change)
