"""Clips and their captions: rows of `schemas.IMAGES` and `schemas.REFERENCES`, and the captions' vocabulary."""

from __future__ import annotations

import importlib
from pathlib import Path

from seqcap.config.data import ClipData
from seqcap.data import tgif
from seqcap.data.items import write_items

CONFIG = ClipData


def prepare(config: ClipData, folder: Path) -> None:
    """Generates or reads a task's clips, and writes `images.parquet` (an item is a clip), `references.parquet` and the
    vocabulary into `folder`.

    Raises:
        InputError: as `tgif.read`.
    """
    if config.clips is not None:
        # Imported by name: a dataset that is read from disk does not depend on the code that makes clips.
        generated = importlib.import_module("seqcap.world.clips")
        generated.write_clips(folder, generated.ClipsConfig(**config.clips), config.seed)
    write_items(folder, *tgif.read(config.root), config)
