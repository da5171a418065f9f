"""Seconds per epoch of every loss of loss smoothing, and their ratio to MLE of the same captioner or task.

    make repro
    python benchmarks/epochs.py

Training measures them and writes artifacts/timing/<group>.json: run -> the mean seconds of a step times the steps of
an epoch, or null where there was none: on a CPU the process's own time. They depend on the machine and on what else it
did, so no stage of the graph has them as outputs. A group's runs train side by side: compare ratios. Writes
results/epochs.json.
"""

from __future__ import annotations

import math
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from seqcap.errors import InputError, one_line_errors
from seqcap.files.json_file import read_json, write_json
from seqcap.papers.smoothing.rows import FILE, MLE

TIMING = Path("artifacts/timing")


def read_seconds(folder: Path) -> dict[str, float]:
    """Run -> seconds per epoch, of all runs that were trained for any.

    Raises:
        InputError: there are no times, or a file holds something else than positive numbers and nulls.
    """
    seconds: dict[str, float] = {}
    for path in sorted(folder.glob("*.json")):
        for run, value in read_json(path).items():
            if value is not None and not (isinstance(value, float) and 0 < value < math.inf):
                raise InputError(path, f"{run} is {value!r}, not a positive number", "train its group again")
            if value is not None:
                seconds[run] = value
    if not seconds:
        raise InputError(folder, "holds no times", "run `make repro`")
    return seconds


def compared(seconds: dict[str, float]) -> list[dict[str, Any]]:
    """Every loss that was timed, in the printed order: part, loss, seconds per epoch and ratio to the part's MLE."""
    cases = []
    for part in FILE.parts.values():
        base = seconds.get(f"{part.runs}_{MLE}")
        for loss, known in FILE.losses[part.losses].items():
            own = seconds.get(f"{part.runs}_{loss}")
            if own is not None:
                ratio = None if base is None else own / base
                cases.append({"part": part.name, "loss": known.row, "seconds_per_epoch": own, "ratio_to_mle": ratio})
    return cases


def main() -> None:
    cases = compared(read_seconds(TIMING))
    machine = {"cores": os.cpu_count(), "python": platform.python_version(), "torch": version("torch")}
    write_json(Path(__file__).parent / "results" / "epochs.json", {"cases": cases, "machine": machine})
    print(f"{machine['cores']} cores, Python {machine['python']}, torch {machine['torch']}\n")
    print("| captioner or task | loss | seconds per epoch | ratio to MLE |")
    print("|---|---|---:|---:|")
    for case in cases:
        loss, ratio = case["loss"].replace("|", "\\|"), case["ratio_to_mle"]
        shown = "–" if ratio is None else f"{ratio:.2f}"
        print(f"| {case['part']} | {loss} | {case['seconds_per_epoch']:.2f} | {shown} |")


if __name__ == "__main__":
    with one_line_errors():
        main()
