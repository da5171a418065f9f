"""What was measured and where: it differs from run to run, so that no hash of DVC may depend on it."""

import os
import platform
import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import pyarrow.parquet as pq

from seqcap import __version__
from seqcap.config.report import ReportConfig, Trained
from seqcap.files.json_file import read_json
from seqcap.system.machine import MACHINE, Machine
from seqcap.tasks import ARTIFACTS

# Group of runs or captioner -> the seconds per epoch of each run's first seed, as `train` measures them.
TIMING = ARTIFACTS / "timing"
# What decides the numbers of a run. Git tracks these.
_DECIDING = ("src", "stages", "params.yaml", "papers", "scales", "requirements.txt")
_LISTED = 3  # how many changed files are named


@dataclass(frozen=True)
class Measured:
    facts: tuple[tuple[str, str], ...]  # what is told, and how it is here
    minutes: dict[str, float]  # run -> minutes of training of one seed
    totals: dict[str, float]  # paper, or "" for the captioners that are pretrained -> minutes of all its runs and seeds


def measure(config: ReportConfig) -> Measured:
    groups = {"": config.captioners, **config.runs}
    found = {name: {run: _minutes(run, trained) for run, trained in runs.items()} for name, runs in groups.items()}
    minutes = {run: value for runs in found.values() for run, value in runs.items() if value is not None}
    totals = {
        name: sum(minutes[run] * len(trained.seeds) for run, trained in runs.items() if run in minutes)
        for name, runs in groups.items()
        if minutes.keys() & runs.keys()
    }
    packages = ", ".join(f"{package} {version(package)}" for package in ("torch", "numpy"))
    facts = (
        ("commit", _commit()),
        ("made", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC{_trained_when()}"),
        ("on", _machine()),
        ("versions", f"Python {platform.python_version()}, {packages}, seqcap {__version__}"),
        ("data", "; ".join(f"`{task}`: {dataset}{_sizes(task)}" for task, dataset in config.tasks.items())),
    )
    return Measured(facts, minutes, totals)


def _minutes(run: str, trained: Trained) -> float | None:
    path = TIMING / f"{trained.stage}.json"
    seconds = read_json(path).get(run) if path.is_file() else None
    return None if seconds is None else seconds * trained.epochs / 60


def _commit() -> str:
    commit = _output("git", "rev-parse", "--short=12", "HEAD")
    if not commit:
        return "unknown"
    changed = [line[3:] for line in _output("git", "status", "--porcelain", "--", *_DECIDING).splitlines()]
    more = f" and {len(changed) - _LISTED} more" if len(changed) > _LISTED else ""
    changes = f", with uncommitted changes in {', '.join(changed[:_LISTED])}{more}" if changed else ""
    return f"`{commit}`{changes}"


def _trained_when() -> str:
    times = [datetime.fromtimestamp(path.stat().st_mtime, UTC) for path in TIMING.glob("*.json")]
    return f"; trained {min(times):%Y-%m-%d %H:%M} to {max(times):%Y-%m-%d %H:%M} UTC" if times else ""


def _machine() -> str:
    """The GPUs if torch may use them, else the CPU; torch itself takes seconds to import."""
    cpu_only = "+cpu" in version("torch") or (MACHINE.is_file() and Machine.read().device == "cpu")
    gpus = "" if cpu_only else _output("nvidia-smi", "--query-gpu=name", "--format=csv,noheader")
    if gpus:
        return "GPU: " + ", ".join(f"{number} x {name}" for name, number in Counter(gpus.splitlines()).items())
    path = Path("/proc/cpuinfo")
    found = re.search(r"(?m)^model name\s*: (.+)$", path.read_text(encoding="utf-8") if path.is_file() else "")
    return f"CPU: {os.cpu_count()} cores, {found[1] if found else platform.machine()}; a process computes in one thread"


def _sizes(task: str) -> str:
    """How many images or sentences each split of a task has."""
    for name in ("images", "pairs"):
        path = ARTIFACTS / task / f"data/{name}.parquet"
        if path.is_file():
            counts = Counter(pq.ParquetFile(path).read(columns=["split"])["split"].to_pylist())
            return f" ({', '.join(f'{number:,} {split}' for split, number in counts.items())})"
    return ""


def _output(*command: str) -> str:
    """What a program says; "" without it, or if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip("\n") if done.returncode == 0 else ""
