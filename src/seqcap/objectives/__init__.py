"""Training objectives: a captioner and a batch in, a loss and numbers to log out.

One file per objective, with its `Config` and its `Model`, found by name. To add one, write
`seqcap/objectives/<name>.py` with both classes and name it in a run of papers/<paper>.yaml. May import models, tasks,
rewards, metrics, retrieval and what lies below them.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from seqcap.objectives.base import Context, Objective
from seqcap.system.modules import find_module


def config_class(name: str) -> type[BaseModel]:
    """The `Config` of `seqcap.objectives.<name>`.

    Raises:
        ModuleNotFoundError: there is no such objective.
    """
    return find_module(__name__, name).Config  # type: ignore[no-any-return]


def model_class(name: str) -> type[Objective]:
    """The `Model` of `seqcap.objectives.<name>`."""
    return find_module(__name__, name).Model  # type: ignore[no-any-return]


def build(name: str, config: dict[str, Any], context: Context) -> Objective:
    """Builds the objective `name` from its settings and what it may use."""
    module = find_module(__name__, name)
    return module.Model(module.Config(**config), context)  # type: ignore[no-any-return]
