"""`seqcap doctor`: what this machine has, and what of the package works on it, in ten lines."""

import os
import platform
import shutil
import subprocess
from pathlib import Path

from seqcap.library.texts import cache_folder
from seqcap.metrics.registry import QUALITY
from seqcap.system.extras import EXTRAS, OF_METRIC, install, missing
from seqcap.version import __version__

CPUINFO = Path("/proc/cpuinfo")
# Instruction sets that change speed, and the last bits of results.
SETS = ("avx2", "avx512f", "avx512_bf16", "amx_bf16", "asimd", "sve", "bf16")
BROWSERS = (("chromium", "chromedriver"), ("google-chrome", "chromedriver"))
WAIT = 20  # seconds for a program that tells its version


def doctor() -> list[str]:
    """Ten lines; the last ones say what works and what to install for the rest."""
    lacking = {extra: missing(extra) for extra in EXTRAS}
    ready = [extra for extra, modules in lacking.items() if not modules]
    rows = {
        "seqcap": f"{__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}",
        "processor": _processor(),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB",
        "GPU": _first_line("nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader") or "none seen",
        "Java": _java(),
        "browser": _browser(),
        "cache": _cache(),
        "extras": f"{', '.join(ready) or 'none'} installed",
        "works": _works(ready),
        "missing": _missing(lacking),
    }
    width = max(map(len, rows))
    return [f"{name:{width}}  {text}" for name, text in rows.items()]


def _processor() -> str:
    try:
        told = CPUINFO.read_text(encoding="utf-8", errors="replace")
    except OSError:
        told = ""
    facts = dict(line.split(":", 1) for line in told.splitlines() if ":" in line)
    plain = {name.strip().lower(): value.strip() for name, value in facts.items()}
    flags = set(plain.get("flags", plain.get("features", "")).split())
    name = plain.get("model name") or platform.processor() or platform.machine()
    sets = [name for name in SETS if name in flags]
    return f"{name}, {os.cpu_count()} cores, {', '.join(sets) or 'no known instruction set'}"


def _java() -> str:
    version = _first_line("java", "-version")
    return version or "none: only `seqcap score --official` needs it"


def _browser() -> str:
    for programs in BROWSERS:
        if all(map(shutil.which, programs)):
            return " and ".join(programs)
    return "none: only tests of the raters' page need chromium and chromedriver"


def _cache() -> str:
    folder = cache_folder()
    if folder is None:
        return "none: this user has no home; set XDG_CACHE_HOME to a folder"
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    size = sum(path.stat().st_size for path in folder.glob("*") if path.is_file()) if folder.is_dir() else 0
    state = "can be written" if os.access(existing, os.W_OK) else "cannot be written, so nothing is kept"
    return f"{folder} {state}, {size / 2**20:.0f} MiB"


def _works(ready: list[str]) -> str:
    metrics = [name for name in QUALITY if OF_METRIC.get(name) is None or OF_METRIC[name] in ready]
    parts = [f"score by {', '.join(metrics)}"]
    parts += ["CLIPScore"] if "clip" in ready else []
    parts += ["training"] if "train" in ready else []
    parts += ["the pipeline"] if "pipeline" in ready else []
    return "; ".join(parts)


def _missing(lacking: dict[str, list[str]]) -> str:
    wanted = [f"{extra} ({', '.join(modules)})" for extra, modules in lacking.items() if modules]
    if not wanted:
        return "nothing"
    first = next(extra for extra, modules in lacking.items() if modules)
    return f"{'; '.join(wanted)}: such as {install(first)}"


def _first_line(*command: str) -> str:
    """The first line that a program prints; empty if it is not there, or fails."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=WAIT, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return next(iter((done.stdout or done.stderr).strip().splitlines()), "")
