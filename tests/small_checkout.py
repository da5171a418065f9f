"""A checkout whose graph takes seconds: the stages that `seqcap repro` knows by name, as shell commands."""

import atexit
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pipeline_files
import stage_server
from pipeline_files import ROOT, commit, git

FILES = {
    ".gitignore": "/artifacts/\n/configs/\n/runs/\n/scratch/\n/begun\n/wait\n",
    ".dvc/.gitignore": "/config.local\n/tmp\n/cache\n",
    "params.yaml": "seed: 1\ndevice: cpu\nworkers: auto\nlauncher: python\ntasks:\n  image:\n    root: null\n",
    "papers/sle/runs.yaml": "pictures: image\ngroups: {}\nruns: {}\n",
    "code.py": "committed\n",
    "experiments/e.yaml": "params.yaml:\n  seed: 2\n",
    "configure.sh": "mkdir -p configs\ncp params.yaml configs/all.json\n"
    """echo '{"papers": ["sle"]}' > configs/report.json\n"""
    # What it has checked, as `configure` notes it.
    """for file in dvc.yaml papers/sle/dvc.yaml; do sha256sum $file; done |\n"""
    """sed 's/^\\(.*\\)  \\(.*\\)/"\\2": "\\1"/' | paste -sd, | sed 's/.*/{&}/' > configs/graph.json\n""",
    # It says that it has begun, and waits while it is told to.
    "work.sh": "set -e\necho begun >> begun\nwhile [ -e wait ]; do sleep 0.1; done\nmkdir -p artifacts/work\n"
    "cp configs/all.json artifacts/work/all.json\n",
    # The first page, in reports/ or in the folder that an experiment publishes.
    "stages/report.py": "import pathlib, sys\nfolder = pathlib.Path([*sys.argv, 'reports'][1])\n"
    "(folder / 'report.md').write_text('published\\n')\n",
    "dvc.yaml": """\
stages:
  configure:
    cmd: sh configure.sh
    deps: [params.yaml, configure.sh]
    outs:
    - configs:
        cache: false
  work:
    cmd: sh work.sh
    deps: [configs/all.json, work.sh]
    outs: [artifacts/work]
  report:
    cmd: cp reports/sle/results/claims.json reports/report.md
    deps: [reports/sle]
    outs:
    - reports/report.md:
        cache: false
""",
    "papers/sle/dvc.yaml": """\
stages:
  section-sle:
    wdir: ../..
    cmd: mkdir -p reports/sle/results && cp artifacts/work/all.json reports/sle/results/claims.json
    deps: [artifacts/work]
    outs:
    - reports/sle/results:
        cache: false
""",
}
STAGES = 4


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def small_checkout(folder: Path) -> Path:
    """Makes the checkout."""
    write(folder, FILES)
    for name in (".dvc/config", ".dvcignore"):
        (folder / name).write_text((ROOT / name).read_text())
    git(folder, "init", "--quiet")
    commit(folder, "small")
    return folder


def start(folder: Path, *command: str, programs: Path | None = None) -> "subprocess.Popen[str]":
    """Starts `python -m <command>` there, with the code of this repository, and a `python` of the folder `programs`."""
    return pipeline_files.start(folder, *command, code=ROOT, programs=programs)


def finish(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """Its status and all that it has said."""
    output, _ = process.communicate(timeout=300)
    return process.returncode, output


@cache
def preloaded() -> Path:
    """The folder with a `python` that has loaded DVC before."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(stage_server.stage_server(stage_server.DVC))


def run(folder: Path, *command: str) -> tuple[int, str]:
    """As `start` and `finish`, in less time: nobody kills these processes."""
    return finish(start(folder, *command, programs=preloaded()))


def wait_until(condition: Callable[[], object], seconds: float = 60) -> None:
    """Waits until a condition holds, at most so long."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
