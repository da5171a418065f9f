"""Which stage of the graph starts next, and how many run side by side."""

from collections.abc import Mapping
from graphlib import TopologicalSorter
from pathlib import Path

import psutil

from seqcap.files.json_file import read_json, write_json
from seqcap.pipeline.records import DVC
from seqcap.system.machine import cores

SECONDS = DVC / "seqcap-seconds.json"  # stage -> seconds; local, as DVC's own records there
MEMORY = 2 << 30  # bytes: more than any stage of the default scale takes


def jobs_here() -> int:
    """How many stages run side by side unless one says: as many as there are cores, if memory holds them."""
    fit = int(psutil.virtual_memory().available) // MEMORY
    return max(1, min(cores(), fit))


def note_seconds(folder: Path, stage: str, seconds: float) -> None:
    """Keeps how long a stage took. What was taken from DVC's cache took less than the stage does: the longest stays. It
    is an estimate: of two stages that end at the same moment one may be lost."""
    known = read_seconds(folder)
    if seconds > known.get(stage, 0):
        write_json(folder / SECONDS, known | {stage: round(seconds, 1)})


def read_seconds(folder: Path) -> dict[str, float]:
    """Stage -> the seconds that it took here; empty before the first run."""
    path = folder / SECONDS
    return dict(read_json(path)) if path.is_file() else {}


class Queue:
    """The stages of a graph in the order in which they start: each when those that it depends on are done; of those
    that may start, the one with the longest path of `seconds` ahead of it first. True until all are done.

    Args:
        graph: stage -> the stages that it depends on.
        seconds: stage -> how long it took.
    """

    def __init__(self, graph: Mapping[str, set[str]], seconds: Mapping[str, float]) -> None:
        self._path = path_seconds(graph, seconds)
        self._order = TopologicalSorter(graph)
        self._order.prepare()
        self._waiting: list[str] = []

    def __bool__(self) -> bool:
        return self._order.is_active()

    def take(self) -> str | None:
        """The next stage to start; None while all others wait for those that run."""
        self._waiting = sorted([*self._waiting, *self._order.get_ready()], key=lambda stage: -self._path[stage])
        return self._waiting.pop(0) if self._waiting else None

    def done(self, stage: str) -> None:
        self._order.done(stage)


def path_seconds(graph: Mapping[str, set[str]], seconds: Mapping[str, float]) -> dict[str, float]:
    """Stage -> the seconds from its start to the end of the longest path through what depends on it. A stage that was
    never measured counts as the mean of those that were, or as one second if none was.

    Args:
        graph: stage -> the stages that it depends on.
        seconds: stage -> how long it takes.
    """
    known = [seconds[stage] for stage in graph if stage in seconds]
    usual = sum(known) / len(known) if known else 1.0
    longest = {stage: seconds.get(stage, usual) for stage in graph}
    for stage in reversed(tuple(TopologicalSorter(graph).static_order())):
        for before in graph[stage]:
            through = seconds.get(before, usual) + longest[stage]
            longest[before] = max(longest[before], through)
    return longest
