"""Datasets of images or clips with captions: one module each, found by its name.

To add one, write `seqcap/data/datasets/<name>.py`, and name it as `dataset` of a task in params.yaml. It needs

    KIND = "images" or "clips"
    def read(root: Path) -> (items, references)

`items` are rows of `schemas.IMAGES`; `ImageSource` or `ClipSource` finds their `file` in `root`. `references` are rows
of `schemas.REFERENCES`. `karpathy.read` reads files in Karpathy's layout, `tgif.read` those in TGIF's. The generated
datasets, scenes and clips, also have `generate(folder, settings, seed)`, which writes what `read` reads.
"""

import importlib
import pkgutil
from types import ModuleType

GENERATED = ("scenes", "clips")  # datasets that are made here


def find(name: str, kind: str) -> ModuleType:
    """The module of a dataset; a `ValueError` if there is none of this kind."""
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
