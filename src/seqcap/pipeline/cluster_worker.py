"""What a worker of a Dask cluster does with a stage: it ends one that nobody waits for any more, and all when it closes
itself. Dask would leave their processes behind."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from distributed import Worker, WorkerPlugin, get_worker

from seqcap.system.descendants import terminate_descendants

ASKED_EVERY = 0.5  # seconds, whether a stage is still wanted
_running = set[subprocess.Popen[str]]()


class StagesEnd(WorkerPlugin):
    """Ends the stages of a worker that closes. One that is killed leaves them to come to their end."""

    name = "seqcap-stages"

    def teardown(self, worker: Worker) -> None:
        for process in list(_running):
            _end(process)


def run_while_wanted(call: Callable[..., int], folder: Path, *arguments: str) -> int:
    """`call(folder, *arguments)`; the process that it makes is ended once the task is cancelled, or whoever has asked
    for it is gone."""
    return call(folder, *arguments, watched=_while_wanted)


@contextmanager
def _while_wanted(process: subprocess.Popen[str]) -> Iterator[None]:
    worker = get_worker()
    task, over = worker.get_current_task(), Event()

    def watch() -> None:
        while not over.wait(ASKED_EVERY):
            known = worker.state.tasks.get(task)
            if known is None or known.state == "cancelled":
                _end(process)
                return

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    _running.add(process)
    try:
        yield
    finally:
        _running.discard(process)
        over.set()
        watcher.join()


def _end(process: subprocess.Popen[str]) -> None:
    terminate_descendants(process.pid)
    process.terminate()
