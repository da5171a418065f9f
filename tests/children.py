"""Stage scripts in child processes that start fast: they are forked from one server that has imported training."""

import os
import runpy
import sys
from collections.abc import Mapping, Sequence
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path

STAGES = Path(__file__).parents[1] / "stages"
# Not from the test process itself: once it has trained on a machine with a GPU, its forks cannot.
CONTEXT = get_context("forkserver")
CONTEXT.set_forkserver_preload(["seqcap.training.captioners"])


def start(script: str, *arguments: str, output: str | Path = os.devnull, **environment: str) -> ForkServerProcess:
    """Starts stages/<script> in this process's folder; its standard output goes to a file."""
    process = CONTEXT.Process(target=_run, args=(script, arguments, output, environment))
    process.start()
    return process


def _run(script: str, arguments: Sequence[str], output: str | Path, environment: Mapping[str, str]) -> None:
    os.environ.update(environment)
    os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT), 1)
    sys.argv = [str(STAGES / script), *arguments]
    runpy.run_path(sys.argv[0], run_name="__main__")
