"""How the best epoch of a run is chosen: one module for each kind of task, named in `seqcap.tasks.KINDS`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seqcap.tasks import KINDS

if TYPE_CHECKING:
    from seqcap.config.training import TrainingRun
    from seqcap.tasks.base import Split, Task

# Greedy captions, ids [n, time], of a whole split in its order -> their score; higher is better.
Criterion = Callable[[NDArray[np.int64]], float]


@dataclass(frozen=True)
class Criteria:
    """What is measured of the validation captions after every epoch.

    Attributes:
        measured: by the name of the curve.
        decisive: the name of the one by which an epoch is kept.
    """

    measured: Mapping[str, Criterion]
    decisive: str


def criteria(task: Task, run: TrainingRun, validation: Split) -> Criteria:
    """The criteria of a run on its kind of task.

    Raises:
        InputError: a reward that is measured cannot be built.
    """
    module: Any = importlib.import_module(KINDS[run.kind].validation)
    return module.criteria(task, run, validation)  # type: ignore[no-any-return]
