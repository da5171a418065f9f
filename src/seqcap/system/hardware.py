"""The machine that a stage runs on, which its results may depend on beside code, data and seeds. It is noted in files
that DVC does not track."""

import os
import platform
import re
import subprocess
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

from seqcap.files.json_file import read_json, write_json
from seqcap.system.machine import MACHINE, Machine

MACHINES = Path("artifacts/timing/machines")  # stage -> the machine of its last run
_CPUINFO = Path("/proc/cpuinfo")
# The instruction sets that numbers may depend on, the widest first: flag of the processor -> name.
_INSTRUCTIONS = {"avx512f": "AVX-512", "avx2": "AVX2", "sve": "SVE", "asimd": "NEON"}


def note(stage: str) -> None:
    """Notes the machine on which a stage, named as in DVC, has run."""
    write_json(MACHINES / f"{stage}.json", {**this_machine(), "torch": version("torch")})


def noted(stage: str) -> dict[str, Any] | None:
    """`this_machine` of the last run of a stage, and the "torch" that it ran with; None if that is not known."""
    path = MACHINES / f"{stage}.json"
    return read_json(path) if path.is_file() else None


def this_machine() -> dict[str, Any]:
    """The GPUs if torch may use them, else the CPU with its instruction set and number of cores; torch itself takes
    seconds to import."""
    cpu_only = "+cpu" in version("torch") or (MACHINE.is_file() and Machine.read().device == "cpu")
    gpus = "" if cpu_only else _names_of_gpus()
    if gpus:
        names = ", ".join(f"{number} x {name}" for name, number in Counter(gpus.splitlines()).items())
        return {"processor": names, "instructions": None, "cores": None}
    text = _CPUINFO.read_text(encoding="utf-8") if _CPUINFO.is_file() else ""
    return {**processor(text), "cores": os.cpu_count()}


def processor(cpuinfo: str) -> dict[str, str | None]:
    """The name of a processor and its widest instruction set, from Linux's /proc/cpuinfo; "" elsewhere."""
    name = re.search(r"(?m)^model name\s*: (.+)$", cpuinfo)
    flags = re.search(r"(?mi)^(?:flags|features)\s*: (.+)$", cpuinfo)
    known = flags[1].split() if flags else []
    sets = [words for flag, words in _INSTRUCTIONS.items() if flag in known]
    return {"processor": name[1] if name else platform.machine(), "instructions": sets[0] if sets else None}


def _names_of_gpus() -> str:
    """A line for each GPU; "" without any."""
    try:
        asked = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip("\n") if done.returncode == 0 else ""
