"""Pictures and their captions: rows of `artifacts.IMAGES` and `artifacts.REFERENCES`, and the captions' vocabulary."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from seqcap.artifacts import IMAGES, REFERENCES, VOCABULARY, write_rows
from seqcap.config.data import ClipData, ImageData
from seqcap.data import karpathy
from seqcap.data.vocabulary import Vocabulary

CONFIG = ImageData


def prepare(config: ImageData, folder: Path) -> None:
    """Generates or reads a task's pictures, and writes `images.parquet`, `references.parquet` and the vocabulary into
    `folder`.

    Raises:
        InputError: as `karpathy.read`.
    """
    if config.scenes is not None:
        # Imported by name: a dataset that is read from disk does not depend on the code that makes scenes.
        scenes = importlib.import_module("seqcap.data.scenes")
        scenes.write(folder, scenes.Config(**config.scenes), config.seed)
    write_captions(folder, *karpathy.read(config.root, config.dataset), config)


def write_captions(
    folder: Path, images: list[dict[str, Any]], references: list[dict[str, Any]], config: ImageData | ClipData
) -> None:
    """Writes items and their captions, and the vocabulary of the training captions."""
    write_rows(folder / "images.parquet", images, IMAGES)
    write_rows(folder / "references.parquet", references, REFERENCES)
    # Training cuts captions after max_length words: a word that only occurs later would never be learnt.
    training = (row["tokens"][: config.max_length] for row in references if row["split"] == "train")
    Vocabulary.build(training, config.min_count).write(folder / VOCABULARY)
