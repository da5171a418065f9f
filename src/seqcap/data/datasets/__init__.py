"""Datasets of images or clips with captions, a module each, found by its name.

To add one, write `seqcap/data/datasets/<name>.py`, and name it as `dataset` of a task in params.yaml. It offers

    KIND = "images" or "clips"
    def read(root: Path) -> (items, references)

`items` are rows of `schemas.IMAGES`, whose `file` `ImageSource` or `ClipSource` finds in `root`; `references` are rows
of `schemas.REFERENCES`. Files in Karpathy's layout are read by `karpathy.read`, those in TGIF's by `tgif.read`.
The two that are made here, scenes and clips, also offer `generate(folder, settings, seed)`, which writes what `read`
reads.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType


def find(name: str, kind: str) -> ModuleType:
    """The module of a dataset.

    Raises:
        ValueError: there is none, or not of this kind.
    """
    try:
        module = importlib.import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":
            raise
        known = ", ".join(module.name for module in pkgutil.iter_modules(__path__))
        raise ValueError(f"allowed: {known}; or add seqcap/data/datasets/{name}.py") from None
    if kind != module.KIND:
        raise ValueError(f"{name!r} is a dataset of {module.KIND}, not of {kind}")
    return module
