"""A copy of the project, so small that the whole graph runs in about a minute, and with one paper more."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ruamel.yaml import YAML

from seqcap.pipeline import code
from seqcap.pipeline.configure import write_graph
from seqcap.pipeline.experiment import apply_overlay

ROOT = Path(__file__).parents[1]
TINY = ROOT / "experiments/quick.yaml"
FEWER_STAGES = ROOT / "tests/tiny.yaml"
# What somebody who adds a paper writes: its runs, its folder in the package and its published numbers.
MADE_UP = ROOT / "tests/made_up_paper"
# Python runs it at the start of every process: it notes which of the package's files the process has loaded.
WATCH = ROOT / "tests/watch_imports"


def copy_project(folder: Path, *overlays: Path) -> Path:
    """Code, graph and tiny parameters in `folder`, as a git repository of its own. `overlays`: experiments, laid over
    the tiny parameters."""
    # With what numba has compiled: half a minute.
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("*.egg-info"))
    shutil.copytree(ROOT / ".dvc", folder / ".dvc", ignore=shutil.ignore_patterns("cache", "tmp"))
    for name in ("stages", "papers", "scales"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "dvc.lock"))
    for name in ("params.yaml", ".dvcignore", ".gitignore"):
        shutil.copy(ROOT / name, folder / name)
    for experiment in ("flickr8k", "multi30k"):
        (folder / "reports" / experiment).mkdir(parents=True)
        shutil.copy(ROOT / "reports" / experiment / "report.md", folder / "reports" / experiment)
    for overlay in (TINY, *overlays):
        apply_overlay(folder, YAML(typ="safe").load(overlay.read_text()), overlay)
    write_graph(folder)
    git(folder, "init", "--quiet")
    commit(folder, "tiny")
    return folder


def add_made_up_paper(folder: Path) -> None:
    """Adds the made-up paper to a copy: new files, and the graph is renewed."""
    shutil.copytree(MADE_UP, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    run(folder, "seqcap", "graph")


def commit(folder: Path, message: str) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", message)


def forget_code() -> None:
    """Lets the closures of code see files that have changed in this process."""
    for cached in (code._closure, code.code_hash, code._files, code._imports, code._data_files):
        cached.cache_clear()


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    # The same content is the same commit, whose name is on the pages.
    dates = {f"GIT_{who}_DATE": "2026-01-01T00:00:00Z" for who in ("AUTHOR", "COMMITTER")}
    command = ["git", *identity, *arguments]
    done = subprocess.run(command, cwd=folder, env=os.environ | dates, check=True, capture_output=True, text=True)
    return done.stdout


def start(
    folder: Path,
    *command: str,
    code: Path | None = None,
    watch: Path | None = None,
    programs: Path | None = None,
    packages: Sequence[Path] = (),
) -> "subprocess.Popen[str]":
    """Starts `python -m <command>` in a folder, with its own code or that of another repository; notes loaded files in
    `watch`, takes `python` from the folder `programs`, and prefers what is in `packages` to what is installed."""
    python = programs / "python" if programs else Path(sys.executable)
    path = os.pathsep.join([str(python.parent), str(Path(sys.executable).parent), os.environ["PATH"]])
    paths = [str((code or folder) / "src"), *([str(WATCH)] if watch else []), *map(str, packages)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PATH": path, "OMP_NUM_THREADS": "1"}
    # Each of some hundred processes would compile the copy's modules again.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if watch:
        environment["WATCH_IMPORTS"] = str(watch)
    return subprocess.Popen(
        [python, "-m", *command],
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def run(folder: Path, *command: str, programs: Path | None = None) -> str:
    """The output of `start`; it must succeed."""
    process = start(folder, *command, programs=programs)
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output
    return output
