"""What `configure` resolves comes in, and typed, frozen configurations come out, one file of configs/ per stage, which
the stages read. It imports errors and files only.

A stage's file holds everything that the stage depends on, and nothing else. `code` lists the package's files that the
stage runs, each with a hash: a change of one file repeats the stages that run it, and no others. The label of a run is
only in the report's files, so that a new label repeats no training. Each kind of stage has its models in a module of
its own, so that a new field in one of them does not change the code of the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from seqcap.errors import InputError
from seqcap.files.json_file import read_json, write_json
from seqcap.files.writing import check_output

CONFIGS = Path("configs")

# The kinds of tasks, see `seqcap.tasks.KINDS`.
Kind = Literal["images", "clips", "sentences"]
# File -> its size and modification time. DVC does not track files outside the project.
Fingerprint = Mapping[str, tuple[int, int]]


class Frozen(BaseModel):
    """Values that no stage changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class StageConfig(Frozen):
    """One file of configs/.

    Attributes:
        code: the package's files that the stage runs -> a hash of their content.
    """

    code: Mapping[str, str]

    @classmethod
    def read(cls, stage: str, name: str = "") -> Self:
        """Reads configs/<stage>/<name>.json, or configs/<stage>.json if the stage exists only once.

        Raises:
            InputError: the file is missing, or not what `configure` writes.
        """
        path = config_path(stage, name)
        try:
            return cls.model_validate(read_json(path))
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(map(str, first["loc"]))
            raise InputError(path, f"{key}: {first['msg']}", "run `dvc repro configure`") from None


def config_path(stage: str, name: str = "") -> Path:
    """The file of a stage's configuration."""
    return CONFIGS / stage / f"{name}.json" if name else CONFIGS / f"{stage}.json"


def write_config(path: Path, config: StageConfig) -> None:
    """Writes a configuration. A file that already holds it keeps its modification time.

    Raises:
        InputError: it cannot be written: its name is too long, say.
    """
    content = config.model_dump(mode="json")
    if check_output(path) is None or read_json(path) != content:
        write_json(path, content)
