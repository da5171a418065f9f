"""How the best epoch of a run is chosen: one module per kind of task, named in `seqcap.tasks.KINDS`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seqcap.tasks import KINDS

if TYPE_CHECKING:
    from seqcap.tasks.base import Split, Task
    from seqcap.training.run import TrainingRun

# Greedy captions, ids [n, time], of a whole split in its order -> score; higher is better.
Criterion = Callable[[NDArray[np.int64]], float]


@dataclass(frozen=True)
class Criteria:
    """Scores of validation captions after every epoch.

    Attributes:
        measured: the scores, by the name of the curve.
        decisive: the name of the score that decides which epoch is kept.
    """

    measured: Mapping[str, Criterion]
    decisive: str


def criteria(task: Task, run: TrainingRun, validation: Split) -> Criteria:
    """The criteria for a run's kind of task; InputError if a reward among them cannot be built."""
    module: Any = importlib.import_module(KINDS[run.kind].validation)
    return module.criteria(task, run, validation)  # type: ignore[no-any-return]
