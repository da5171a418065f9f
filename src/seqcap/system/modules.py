"""Finds a module by its name in a package with one module per choice: captioners, objectives, retrievers."""

import importlib
import re
from pathlib import Path
from types import ModuleType


def find_module(package: str, name: str) -> ModuleType:
    """The module `name` of a package; a `ModuleNotFoundError` names the allowed ones unless it defines `Config`."""
    full = f"{package}.{name}"
    try:
        module = importlib.import_module(full)
    except ModuleNotFoundError as error:
        # Another name means that the module exists, but an import in it fails.
        if error.name != full:
            raise
        module = None
    if module is None or not hasattr(module, "Config"):
        known = ", ".join(list_modules(package))
        raise ModuleNotFoundError(f"{package} has {known}; not {name}", name=full)
    return module


def list_modules(package: str) -> list[str]:
    """Names of a package's modules that define `Config`, without importing them."""
    folder = Path(str(importlib.import_module(package).__file__)).parent
    return sorted(path.stem for path in folder.glob("*.py") if re.search(r"^class Config\(", path.read_text(), re.M))
