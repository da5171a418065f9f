"""Checks parameters with pydantic. Its message becomes one line with the file, the key and the value."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from seqcap.config import Frozen
from seqcap.errors import InputError

M = TypeVar("M", bound=BaseModel)
E = TypeVar("E")
# DVC joins names with @ and hyphens, and names become file names.
Name = Annotated[str, Field(max_length=100, pattern="^[a-z0-9_]+$")]
Positive = Annotated[int, Field(ge=1)]
Seeds = Annotated[int, Field(ge=1, le=100)]


class Section(Frozen):
    """A part of the parameters; keys that are not listed are errors."""

    model_config = ConfigDict(allow_inf_nan=False)


def _check_label(text: str) -> str:
    """Labels go into Markdown and CSV: no line breaks, no HTML, no formula."""
    if not text.isprintable() or set("<>") & set(text) or text.startswith(("=", "+", "-", "@")):
        raise ValueError("a label is one printable line, without < and >, and begins with none of = + - @")
    return text


Label = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_check_label)]


def validated(model: type[M], value: Any, source: Path, prefix: str = "") -> M:
    """`value` as a `model`; an `InputError` names the first wrong key, what is wrong, and what stands there."""
    try:
        # Strict: True and '1' are no numbers. As JSON, whose lists may become tuples.
        return model.model_validate_json(json.dumps(value, default=str), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, [prefix, *first["loc"]])).lstrip(".")
        raise InputError(source, f"{key}: {first['msg']}", f"found {first['input']!r:.80}") from None


def find(entries: Mapping[str, E], name: str, source: Path, place: str) -> E:
    """The entry that a parameter at `place` names; an `InputError` if there is none."""
    if name not in entries:
        raise InputError(source, f"{place} is {name!r}", f"allowed: {', '.join(entries) or 'nothing'}")
    return entries[name]


def fingerprint(paths: Iterable[Path]) -> dict[str, tuple[int, int]]:
    """Sizes and times of change of the files among `paths`."""
    files = sorted(path for path in paths if path.is_file())
    return {path.name: (path.stat().st_size, path.stat().st_mtime_ns) for path in files}


def config_class(package: ModuleType, name: str, source: Path, what: str) -> type[BaseModel]:
    """The `Config` of the package's module that a parameter names; an `InputError` if there is none."""
    try:
        return package.config_class(name)  # type: ignore[no-any-return]
    except ModuleNotFoundError as error:
        # An import that is missing in the module itself is a fault of its code, not of the parameters.
        if error.name != f"{package.__name__}.{name}":
            raise
        folder = package.__name__.replace(".", "/")
        raise InputError(source, what, f"there is no such file in src/{folder}") from None
