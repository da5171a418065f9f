"""Pictures and their captions: rows of `schemas.IMAGES` and `schemas.REFERENCES`, and the captions' vocabulary."""

from __future__ import annotations

import importlib
from pathlib import Path

from seqcap.config.data import ImageData
from seqcap.data import karpathy
from seqcap.data.items import write_items

CONFIG = ImageData


def prepare(config: ImageData, folder: Path) -> None:
    """Generates or reads a task's pictures, and writes `images.parquet`, `references.parquet` and the vocabulary into
    `folder`.

    Raises:
        InputError: as `karpathy.read`.
    """
    if config.scenes is not None:
        # Imported by name: a dataset that is read from disk does not depend on the code that makes scenes.
        scenes = importlib.import_module("seqcap.world.scenes")
        scenes.write(folder, scenes.Config(**config.scenes), config.seed)
    write_items(folder, *karpathy.read(config.root, config.dataset), config)
