"""Checkpoints of stages, and locks that let one process at a time run a stage.
A killed stage resumes from its checkpoints in scratch/<stage>-<name>. Those of a finished stage stay until DVC has
recorded its outputs, because DVC removes the outputs if that fails; then `seqcap repro` deletes the folder."""

import fcntl
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from seqcap.files.json_file import write_json
from seqcap.files.writing import unwritable

SCRATCH = Path("scratch")
TIMING = Path("artifacts/timing/stages")  # stage -> the seconds that its last run took
# Lock files are never deleted: a process that waits for a deleted file would not exclude the next one.
LOCKS = SCRATCH / "locks"
ENDINGS = (".lock", ".parquet", ".safetensors", ".tmp")  # the files that stages write into their scratch folders


def checkpoints(stage: str) -> Path:
    """The folder of a stage, named as in DVC: train-sle_xe."""
    return SCRATCH / stage


@contextmanager
def alone(stage: str) -> Iterator[None]:
    """Waits until no other process runs a stage, and keeps others out: it may still run although its DVC was killed.
    Under a launcher, the processes of one command do not wait for each other. Notes how long the stage took."""
    rank = os.environ.get("RANK", "0")
    with locked(_lock_file(stage, rank), f"runs stage {stage}"):
        started = time.monotonic()
        yield
        if rank == "0":
            write_json(TIMING / f"{stage}.json", {"seconds": time.monotonic() - started})


def forget(folder: Path, stage: str) -> None:
    """Deletes a stage's checkpoints in a checkout unless the stage is running. Other files stay."""
    left, path = folder / checkpoints(stage), folder / _lock_file(stage, "0")
    path.parent.mkdir(parents=True, exist_ok=True)
    # Files that cannot be deleted are harmless.
    with suppress(OSError), path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Files before their folder.
        for found in [*sorted(left.rglob("*"), reverse=True), left]:
            with suppress(OSError):
                if found.is_dir():
                    found.rmdir()
                elif found.suffix in ENDINGS:
                    found.unlink()


@contextmanager
def locked(path: Path, does: str) -> Iterator[None]:
    """Holds a lock file until the block or the process ends, even if killed; waits while another process holds it.
    `does`: what that process is doing, for the message."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            print(f"waiting: process {file.read().strip()} {does}", file=sys.stderr, flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
    except OSError as error:
        raise unwritable(path, error) from None
    with file:
        yield


def _lock_file(stage: str, rank: str) -> Path:
    return LOCKS / f"{stage}.rank{rank}"
