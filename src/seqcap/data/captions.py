"""Writes the tables and the vocabulary of a task of images or clips."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from seqcap.config import Fingerprint, StageConfig
from seqcap.data import datasets
from seqcap.data.vocabulary import Vocabulary
from seqcap.files.json_file import write_json
from seqcap.files.parquet import write_rows
from seqcap.files.schemas import IMAGES, PRETRAINED, REFERENCES, VOCABULARY


class CaptionData(StageConfig):
    """Stage `data` of a task with captions."""

    dataset: str
    root: str
    min_count: int
    max_length: int
    seed: int
    fingerprint: Fingerprint


class ImageData(CaptionData):
    """What the stage `data` makes of a task with images."""

    kind: Literal["images"] = "images"
    scenes: Mapping[str, Any] | None  # None: the images are read from `root`
    pretrained: str | None = None  # folder of the captioner whose tokens the captions are; None: words


class ClipData(CaptionData):
    """What the stage `data` makes of a task with clips."""

    kind: Literal["clips"] = "clips"
    clips: Mapping[str, Any] | None  # None: the clips are read from `root`


def prepare(config: ImageData | ClipData, folder: Path, pretrained: Vocabulary | None = None) -> None:
    """Generates or reads a dataset; writes its images or clips, references, and a vocabulary: that of a pretrained
    captioner if there is one, else that of the training captions."""
    dataset = datasets.find(config.dataset, config.kind)
    settings = config.scenes if isinstance(config, ImageData) else config.clips
    if settings is not None:
        dataset.generate(folder, settings, config.seed)
    items, references = dataset.read(Path(config.root))
    write_rows(folder / "images.parquet", items, IMAGES)
    write_rows(folder / "references.parquet", references, REFERENCES)
    if isinstance(config, ImageData) and pretrained is not None:
        pretrained.write(folder / VOCABULARY)
        write_json(folder / PRETRAINED, {"folder": config.pretrained, "images": config.root})
        return
    # Training cuts captions after max_length words: a word that comes only later would never be learnt.
    training = (row["tokens"][: config.max_length] for row in references if row["split"] == "train")
    Vocabulary.build(training, config.min_count).write(folder / VOCABULARY)
