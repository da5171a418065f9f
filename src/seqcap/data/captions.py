"""Writes the tables and the vocabulary of a task of images or clips."""

import importlib
from pathlib import Path
from typing import Any

from seqcap.config.data import ClipData, ImageData
from seqcap.data import datasets
from seqcap.data.vocabulary import Vocabulary
from seqcap.files.json_file import write_json
from seqcap.files.parquet import write_rows
from seqcap.files.schemas import IMAGES, PRETRAINED, REFERENCES, VOCABULARY

CONFIGS = {"images": ImageData, "clips": ClipData}


def prepare(config: ImageData | ClipData, folder: Path) -> None:
    """Generates or reads a dataset; writes its images or clips, references, and the training captions' vocabulary."""
    dataset = datasets.find(config.dataset, config.kind)
    settings = config.scenes if isinstance(config, ImageData) else config.clips
    if settings is not None:
        dataset.generate(folder, settings, config.seed)
    items, references = dataset.read(Path(config.root))
    write_rows(folder / "images.parquet", items, IMAGES)
    write_rows(folder / "references.parquet", references, REFERENCES)
    if isinstance(config, ImageData) and config.pretrained is not None:
        # By name: it imports torch, which other tasks' data do not need.
        reader: Any = importlib.import_module("seqcap.features.captioner_folder")
        reader.read_vocabulary(Path(config.pretrained)).write(folder / VOCABULARY)
        write_json(folder / PRETRAINED, {"folder": config.pretrained, "images": config.root})
        return
    # Training cuts captions after max_length words: a word that comes only later would never be learnt.
    training = (row["tokens"][: config.max_length] for row in references if row["split"] == "train")
    Vocabulary.build(training, config.min_count).write(folder / VOCABULARY)
