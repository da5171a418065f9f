"""Finds a module by its name in a package that has one module for each choice: captioners, objectives, retrievers."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import ModuleType


def find_module(package: str, name: str) -> ModuleType:
    """The module `name` of a package, if it defines `Config` and `Model`.

    Raises:
        ModuleNotFoundError: it does not; the message names the modules that do.
    """
    full = f"{package}.{name}"
    try:
        module = importlib.import_module(full)
    except ModuleNotFoundError as error:
        # An import that the module itself lacks is a fault of its code, not of the name.
        if error.name != full:
            raise
        module = None
    if module is None or not hasattr(module, "Config"):
        known = ", ".join(list_modules(package))
        raise ModuleNotFoundError(f"{package} has {known}; not {name}", name=full)
    return module


def list_modules(package: str) -> list[str]:
    """Names of the modules of a package that define `Config`, without importing them."""
    folder = Path(str(importlib.import_module(package).__file__)).parent
    return sorted(path.stem for path in folder.glob("*.py") if re.search(r"^class Config\(", path.read_text(), re.M))
