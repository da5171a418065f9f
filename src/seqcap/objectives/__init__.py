"""Training objectives: captioner and batch in, loss and numbers to log out; may import all rooms below, such as models,
tasks, rewards, metrics and retrieval.

To add an objective, write `seqcap/objectives/<name>.py` with its `Config` and its `Model`, and name it in a run of
papers/<paper>/runs.yaml. What several objectives share is in `shared`."""

from typing import Any

from pydantic import BaseModel

from seqcap.objectives.shared.base import Context, Objective
from seqcap.system.modules import find_module


def config_class(name: str) -> type[BaseModel]:
    """The `Config` of `seqcap.objectives.<name>`; ModuleNotFoundError if there is no such objective."""
    return find_module(__name__, name).Config  # type: ignore[no-any-return]


def model_class(name: str) -> type[Objective]:
    return find_module(__name__, name).Model  # type: ignore[no-any-return]


def build(name: str, config: BaseModel | dict[str, Any], context: Context) -> Objective:
    module = find_module(__name__, name)
    return module.Model(module.Config.model_validate(config), context)  # type: ignore[no-any-return]
