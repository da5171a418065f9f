"""The committed parameter files, changed by a test."""

import copy
import json
import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ruamel.yaml import YAML

from seqcap.config import StageConfig
from seqcap.pipeline.params import Params, read_params
from seqcap.pipeline.project import Project

ROOT = Path(__file__).parents[1]
PATTERNS = ("params.yaml", "papers/*/runs.yaml", "scales/*.yaml", "papers/*/scales/*.yaml")
FILES = tuple(str(path.relative_to(ROOT)) for pattern in PATTERNS for path in ROOT.glob(pattern))


def resolve(params: Params) -> dict[str, dict[str, StageConfig]]:
    """Kind of stage -> name -> its configuration."""
    by_kind = Project(params).all_stages()
    return {kind: {name: stage.config for name, stage in stages.items()} for kind, stages in by_kind.items()}


@cache
def _committed(name: str) -> dict[str, Any]:
    return YAML(typ="safe").load((ROOT / name).read_text())  # type: ignore[no-any-return]


class ParameterFiles:
    """A copy in `folder`. A key is "file:a.b.c", of params.yaml where no file is named."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._changed: dict[str, Any] = {}
        for name in FILES:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)

    def __getitem__(self, key: str) -> Any:
        place, last = self._place(key)
        return place[last]

    def __setitem__(self, key: str, value: Any) -> None:
        place, last = self._place(key)
        place[last] = value

    def __delitem__(self, key: str) -> None:
        place, last = self._place(key)
        del place[last]

    def _place(self, key: str) -> tuple[dict[str, Any], str]:
        file, _, path = key.rpartition(":")
        place = self.content(file or "params.yaml")
        *above, last = path.split(".")
        for part in above:
            place = place.setdefault(part, {})
        return place, last

    def content(self, file: str) -> dict[str, Any]:
        """A file's content, to be changed; {} of a new one."""
        return self._changed.setdefault(file, copy.deepcopy(_committed(file)) if file in FILES else {})

    def read(self) -> Params:
        """Writes what was changed, and reads everything."""
        for name, content in self._changed.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            # JSON is YAML, too, and keeps the order.
            (self.folder / name).write_text(json.dumps(content))
        return read_params(self.folder)

    def resolved(self) -> dict[str, dict[str, Any]]:
        """Every stage's configuration without its code, by "<stage>/<name>"."""
        return {
            f"{stage}/{name}".rstrip("/"): config.model_dump(mode="json", exclude={"code"})
            for stage, configs in resolve(self.read()).items()
            for name, config in configs.items()
        }


@cache
def committed() -> dict[str, dict[str, Any]]:
    """`ParameterFiles.resolved` of the files as they are; nobody changes it."""
    with TemporaryDirectory() as folder:
        return ParameterFiles(Path(folder)).resolved()


def changed(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    """The names whose content differs."""
    return {name for name in before | after if before.get(name) != after.get(name)}
