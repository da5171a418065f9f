"""Configurations: files of configs/ come in and typed, frozen values for one stage go out; imports `errors`, `files`.

`configure` writes the files. A file holds all that its stage depends on. `code` maps the package's files that the stage
runs to hashes: a changed file repeats the stages that run it, and no others. Labels of runs are only in the report's
files, so that a new label repeats no training."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from seqcap.errors import InputError
from seqcap.files.json_file import read_json, write_json
from seqcap.files.writing import check_output

C = TypeVar("C")
CONFIGS = Path("configs")
TaskKind = Literal["images", "clips", "sentences"]  # the kinds of tasks (`seqcap.tasks.KINDS`)
# File -> size and modification time: DVC does not track files outside the project.
Fingerprint = Mapping[str, tuple[int, int]]


class Frozen(BaseModel):
    """Values that do not change once they are checked. A key that no field has is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class StageConfig(Frozen):
    """All that a stage depends on, but for files."""

    code: Mapping[str, str] = Field(default_factory=dict)  # file of the package -> hash

    @classmethod
    def read(cls, stage: str, name: str = "") -> Self:
        return read_config(cls, stage, name)


def read_config(form: type[C], stage: str, name: str = "") -> C:
    """Reads configs/<stage>/<name>.json, or configs/<stage>.json if the stage exists only once."""
    path = config_path(stage, name)
    try:
        return TypeAdapter(form).validate_python(read_json(path))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise InputError(path, f"{key}: {first['msg']}", "run `dvc repro configure`") from None


def config_path(stage: str, name: str = "") -> Path:
    return CONFIGS / stage / f"{name}.json" if name else CONFIGS / f"{stage}.json"


def write_config(path: Path, config: StageConfig) -> None:
    """Writes a configuration. A file that already holds it keeps its modification time."""
    content = config.model_dump(mode="json")
    if check_output(path) is None or read_json(path) != content:
        write_json(path, content)
