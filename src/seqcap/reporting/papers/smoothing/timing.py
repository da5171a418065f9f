"""How long an epoch took in the training runs (timing/*.json)."""

from __future__ import annotations

import math
from pathlib import Path

from seqcap import artifacts
from seqcap.errors import InputError
from seqcap.reporting.inputs import Run


def read_seconds(run: Run) -> dict[str, float]:
    """Variant -> seconds per epoch of its training; one that was trained for none is left out.

    Raises:
        InputError: a file is malformed, or holds a time that is not positive.
    """
    seconds: dict[str, float] = {}
    for path in sorted((Path("artifacts") / run.paper.name / "timing").glob("*.json")):
        seconds |= _read(path)
    return seconds


def _read(path: Path) -> dict[str, float]:
    timing = artifacts.read_json(path)
    if not isinstance(timing, dict):
        raise InputError(path, "is not a JSON object", "run the training stages again")
    seconds: dict[str, float] = {}
    for variant, record in timing.items():
        if not isinstance(record, dict) or "seconds_per_epoch" not in record:
            raise InputError(path, f"{variant} has no seconds_per_epoch", "run the training stages again")
        value = record["seconds_per_epoch"]
        if value is None:
            continue
        # bool is an int; a JSON file may hold NaN and Infinity.
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
            problem = f"{variant}.seconds_per_epoch is {value!r}, not a positive number"
            raise InputError(path, problem, "run the training stages again")
        seconds[variant] = float(value)
    return seconds
