"""A kind of stage is one file in stages/. Whoever adds a kind adds a file.

The file says
- what parameters may say: a `Key` for each key that the kind brings, with one typed class, checked once;
- how parameters become stages: `stages(project)` gives each `Stage` with its configuration, what it reads and writes;
- what a stage runs: `run(configuration, name)`, a call into the library.

Kinds do not import each other. A kind asks the project for the stages of another (`Project.stages`), and reads what
those write: order and dependencies follow from that.

What an edit repeats follows from imports (`seqcap.pipeline.code`): a stage runs `run`, all that its file imports, and
the modules that its parameters name. What a file says of parameters and stages shows in configs/ and in DVC's files, so
an edit of it repeats what it changes there, and nothing else. Therefore this room, the pipeline, is nobody's code.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from seqcap.config import StageConfig, read_config
from seqcap.errors import one_line_errors
from seqcap.pipeline import code
from seqcap.pipeline.validation import Name
from seqcap.system.hardware import note
from seqcap.system.scratch import alone

if TYPE_CHECKING:
    from seqcap.pipeline.project import Project as Project
else:
    # A stage's process makes no stages: it needs neither the parameters nor what these need.
    Project = Any

T = TypeVar("T")


@dataclass(frozen=True)
class Key(Generic[T]):
    """A key of the parameter files.

    Attributes:
        name: the key.
        type: what may stand there, as pydantic takes it.
        of_papers: whether each papers/<paper>/runs.yaml may have it; else params.yaml must.
        default: its value in a paper's file that lacks it.
    """

    name: str
    type: Any
    of_papers: bool = False
    default: Any = None


def entries(name: str, form: type[T], *, of_papers: bool = False) -> Key[dict[str, T]]:
    """A key with named entries. All papers' entries are in one name space."""
    return Key(name, dict[Name, form], of_papers, {})  # type: ignore[valid-type]


@dataclass(frozen=True)
class Stage:
    """A stage. Paths are relative to the root of the checkout.

    Attributes:
        name: its name among those of its kind; "" if the kind has only one.
        does: what it does, in a few words.
        config: all that its `run` depends on, but for files.
        reads: what it depends on besides its configuration: what other stages write, or files in it.
        writes: its outputs.
        paper: the paper whose DVC file it is in; "": it is shared.
        cached: whether DVC's cache keeps the outputs. Otherwise git does.
        written_as: what they are to DVC: "outs" or "plots".
        metrics: outputs with numbers that `dvc metrics` shows.
        modules: modules that parameters name, and `run` imports by these names.
        data: patterns of files in the package that it reads.
    """

    name: str
    does: str
    config: StageConfig
    reads: Sequence[str]
    writes: Sequence[str]
    paper: str = ""
    cached: bool = True
    written_as: str = "outs"
    metrics: Sequence[str] = ()
    modules: Sequence[str] = ()
    data: Sequence[str] = ()


Stages = Iterable[Stage]


@dataclass(frozen=True)
class Kind:
    """A kind of stage.

    Attributes:
        name: of the kind: stage <name>-<name of the stage>, and folder configs/<name>.
        config: the type of its stages' configurations, as pydantic takes it.
        stages: its stages, in order.
        run: runs one, of its configuration and name.
        keys: the keys of the parameter files that it brings.
        on_gpu: whether its stages use a GPU if there is one.
    """

    name: str
    config: Any
    stages: Callable[[Project], Stages]
    run: Callable[[Any, str], None]
    keys: Sequence[Key[Any]] = ()
    on_gpu: bool = False

    @property
    def script(self) -> str:
        """Its file in stages/."""
        return Path(self.run.__code__.co_filename).name

    @property
    def command(self) -> str:
        """What runs its stages, before their name. A file with several kinds needs to be told which."""
        is_alone = [kind.script for kind in kinds().values()].count(self.script) == 1
        return f"python stages/{self.script}" if is_alone else f"python stages/{self.script} {self.name}"


def main(*kinds: Kind) -> None:
    """Runs the stage that the command line names, of one of a file's kinds."""
    *chosen, name = sys.argv[1:]
    kind = next(kind for kind in kinds if kind.name in chosen or len(kinds) == 1)
    stage = f"{kind.name}-{name}"
    with one_line_errors(), alone(stage):
        kind.run(read_config(kind.config, kind.name, name), name)
        note(stage)


@cache
def kinds() -> dict[str, Kind]:
    """Every kind of stage, by name."""
    root = str(code.REPOSITORY)
    if root not in sys.path:
        # First: the folder that a process works in may have stages of another checkout.
        sys.path.insert(0, root)
    by_name: dict[str, Kind] = {}
    for path in sorted((code.REPOSITORY / "stages").glob("*.py")):
        module = importlib.import_module(f"stages.{path.stem}")
        by_name |= {value.name: value for value in vars(module).values() if isinstance(value, Kind)}
    return by_name
