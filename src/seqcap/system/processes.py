"""Processes that work side by side and end with their parent."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import forkserver
from multiprocessing.connection import wait
from typing import Any, TypeVar

from seqcap.errors import InputError

T = TypeVar("T")


def side_by_side(function: Callable[..., T], jobs: Sequence[tuple[Any, ...]], processes: int) -> list[T]:
    """Calls a function, which pickle finds by name, with the arguments of each job. Returns the results in the order of
    the jobs; an `InputError` if a worker was killed. With one process, this process does the work."""
    if processes == 1:
        return [function(*job) for job in jobs]
    start_server(function.__module__)
    context = multiprocessing.get_context("forkserver")
    with ProcessPoolExecutor(processes, context, exit_with_parent) as pool:
        try:
            return list(pool.map(function, *zip(*jobs, strict=True)))
        except BrokenProcessPool:
            # On Ctrl-C the workers end, too; the interrupt then reaches this process while it sleeps.
            time.sleep(1)
            problem = "a worker was killed, perhaps because memory ran out"
            raise InputError("params.yaml", problem, "run it again, with fewer `workers` if so") from None


def start_server(module: str) -> None:
    """Starts the process from which workers are forked: it imports `module` once, and has no threads to lose."""
    forkserver.set_forkserver_preload([module])
    forkserver.ensure_running()


def exit_with_parent() -> None:
    """Makes this process end with its parent, and at once on Ctrl-C, which the parent reports."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)
