"""Processes that work side by side and end with the one that started them."""

from __future__ import annotations

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
    """Calls a function with the arguments of each job, and returns its results in the order of the jobs.

    Args:
        function: one that pickle finds by name.
        processes: how many; with 1 this process does the work, more are forked from a server.

    Raises:
        InputError: a process was killed.
    """
    if processes == 1:
        return [function(*job) for job in jobs]
    start_server(function.__module__)
    context = multiprocessing.get_context("forkserver")
    with ProcessPoolExecutor(processes, context, exit_with_parent) as pool:
        try:
            return list(pool.map(function, *zip(*jobs, strict=True)))
        except BrokenProcessPool:
            # Ctrl-C ends the workers, too, and interrupts this sleep.
            time.sleep(1)
            problem = "a worker was killed, perhaps because memory ran out"
            raise InputError("params.yaml", problem, "run it again, with fewer `workers` if so") from None


def start_server(module: str) -> None:
    """Starts the process that workers are forked from, if it does not run yet. It imports a module once for all workers
    and has no threads, which a fork would lose."""
    forkserver.set_forkserver_preload([module])
    forkserver.ensure_running()


def exit_with_parent() -> None:
    """Makes this process end with the one that started it, and at once on Ctrl-C, which the parent reports."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)
