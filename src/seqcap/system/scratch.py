"""Checkpoints of stages, and the locks that let one process at a time run a stage.

A stage that was killed goes on from its checkpoints in scratch/<stage>@<name>. Those of a finished stage stay until DVC
has recorded its outputs, since DVC removes them if it fails; then `seqcap repro` deletes the folder.
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
# Lock files are never deleted: a process that waits for a deleted file would not keep out the next one.
LOCKS = SCRATCH / "locks"
# The files that stages write into their folders.
ENDINGS = (".lock", ".parquet", ".safetensors", ".tmp")


def checkpoints(stage: str) -> Path:
    """The folder of a stage, by its name in DVC, such as train@sle_xe."""
    return SCRATCH / stage


@contextmanager
def alone(stage: str) -> Iterator[None]:
    """Waits until no other process runs a stage, and keeps others out. One may still run after its DVC was killed.

    Under a launcher, the processes of one command do not wait for each other.
    """
    with locked(_lock_file(stage, os.environ.get("RANK", "0")), f"runs stage {stage}"):
        yield


def forget(folder: Path, stage: str) -> None:
    """Deletes a stage's checkpoints in a checkout, unless a process runs it. Other files stay."""
    left, path = folder / checkpoints(stage), folder / _lock_file(stage, "0")
    path.parent.mkdir(parents=True, exist_ok=True)
    # Files that cannot be deleted do no harm.
    with suppress(OSError), path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # A folder after its files.
        for found in [*sorted(left.rglob("*"), reverse=True), left]:
            with suppress(OSError):
                if found.is_dir():
                    found.rmdir()
                elif found.suffix in ENDINGS:
                    found.unlink()


@contextmanager
def locked(path: Path, does: str) -> Iterator[None]:
    """Holds a lock file with the id of this process; while another process holds it, says so and waits. The lock ends
    with the process, even a killed one.

    Args:
        path: the file.
        does: what others must not do meanwhile, in words, for the message.
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
