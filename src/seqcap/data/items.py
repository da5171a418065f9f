"""What is captioned, pictures or clips, and its captions, as the artifacts of a task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seqcap.config.data import ClipData, ImageData
from seqcap.data.vocabulary import Vocabulary
from seqcap.files.parquet import write_rows
from seqcap.files.schemas import IMAGES, REFERENCES, VOCABULARY


def write_items(
    folder: Path, items: list[dict[str, Any]], references: list[dict[str, Any]], config: ImageData | ClipData
) -> None:
    """Writes `images.parquet`, `references.parquet` and the vocabulary of the training captions into `folder`.

    Args:
        items, references: rows of `schemas.IMAGES` and of `schemas.REFERENCES`.
    """
    write_rows(folder / "images.parquet", items, IMAGES)
    write_rows(folder / "references.parquet", references, REFERENCES)
    # Training cuts captions after max_length words: a word that only occurs later would never be learnt.
    training = (row["tokens"][: config.max_length] for row in references if row["split"] == "train")
    Vocabulary.build(training, config.min_count).write(folder / VOCABULARY)
