"""Stages and small checkouts whose processes are forked from one that has loaded what they load (`StageServer`).

Where processes are killed, they are real ones."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from seqcap.pipeline import stage_server as servers

DVC = servers.DVC
STAGES = (*DVC, *servers.STAGES, "used_once")


@contextlib.contextmanager
def stage_server(modules: Sequence[str]) -> Iterator[Path]:
    """A folder whose `python` asks a server that has loaded some modules."""
    with servers.StageServer(modules, [Path(__file__).parent]) as opened:
        yield opened.start().parent
