"""Checks parameters with pydantic. Its message becomes one line with the file, the key and the value."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from seqcap.errors import InputError

M = TypeVar("M", bound=BaseModel)
E = TypeVar("E")


class Section(BaseModel):
    """A part of the parameters; keys that are not listed are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


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
