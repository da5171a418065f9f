"""How far a stage has got, and the locks that let one process at a time run it.

A stage that is killed goes on from what it has left in scratch/<stage>@<name>. It does so even if it had ended: DVC may
fail to record its outputs, for want of space, say, and then removes them to run it again. Once they are recorded,
`seqcap repro` deletes the folder.
"""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from seqcap.files.writing import unwritable

SCRATCH = Path("scratch")
# Lock files stay: a process that waits for one that is deleted would not keep the next one out.
LOCKS = SCRATCH / "locks"
# What stages leave in their folders.
ENDINGS = (".lock", ".parquet", ".safetensors", ".tmp")


def checkpoints(stage: str) -> Path:
    """The folder of a stage, which DVC calls `stage`: train@sle_xe."""
    return SCRATCH / stage


@contextmanager
def alone(stage: str) -> Iterator[None]:
    """Keeps other processes out of a stage. Waits for one that is in it: a kill may have left it without its DVC.

    Under a launcher, the processes of one command do not wait for each other.

    Raises:
        InputError: as `locked`.
    """
    with locked(_lock_file(stage, os.environ.get("RANK", "0")), f"runs stage {stage}"):
        yield


def forget(folder: Path, stage: str) -> None:
    """Deletes what a stage has left in a checkout, unless a process is in it. Other files stay, in their folders."""
    left, path = folder / checkpoints(stage), folder / _lock_file(stage, "0")
    path.parent.mkdir(parents=True, exist_ok=True)
    # What cannot be deleted stays: nothing is wrong with it.
    with suppress(OSError), path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # What is in a folder before the folder.
        for found in [*sorted(left.rglob("*"), reverse=True), left]:
            with suppress(OSError):
                if found.is_dir():
                    found.rmdir()
                elif found.suffix in ENDINGS:
                    found.unlink()


@contextmanager
def locked(path: Path, does: str) -> Iterator[None]:
    """Holds a lock file. While another process holds it, says so and waits. The lock goes with the process, so one that
    was killed leaves none behind.

    Args:
        path: the file; it holds the id of the process.
        does: what the process does that others must not do, in words.

    Raises:
        InputError: the file cannot be written.
    """
    with _held(path, does):
        yield


def _held(path: Path, does: str) -> IO[str]:
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
    return file


def _lock_file(stage: str, rank: str) -> Path:
    return LOCKS / f"{stage}.rank{rank}"
