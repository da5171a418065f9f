"""Training objectives: one file each, holding its `Config` and its `Objective`, found by module name.

To add one, write `seqcap/objectives/<name>.py` with both classes and name it in a run of papers/<paper>.yaml.
"""

from __future__ import annotations

import importlib
from typing import Any

from pydantic import BaseModel

from seqcap.objectives.base import Context, Objective


def config_class(name: str) -> type[BaseModel]:
    """The `Config` of `seqcap.objectives.<name>`.

    Raises:
        ModuleNotFoundError: there is no such objective.
    """
    module = importlib.import_module(f"seqcap.objectives.{name}")
    if not hasattr(module, "Config"):
        raise ModuleNotFoundError(f"{module.__name__} holds no objective", name=module.__name__)
    return module.Config  # type: ignore[no-any-return]


def model_class(name: str) -> type[Objective]:
    """The `Model` of `seqcap.objectives.<name>`."""
    return importlib.import_module(f"seqcap.objectives.{name}").Model  # type: ignore[no-any-return]


def build(name: str, config: dict[str, Any], context: Context) -> Objective:
    """Builds the objective `name` from its settings and what it may use."""
    module = importlib.import_module(f"seqcap.objectives.{name}")
    return module.Model(module.Config(**config), context)  # type: ignore[no-any-return]
