"""Tasks: artifacts/<task>/ comes in; inputs, captions and vocabularies of each split go out; imports `models` and what
is below it.

A task has images or clips with captions, or sentences with translations. A kind of task is one entry of `KINDS`, which
names its modules; they are imported when they are needed."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seqcap.models.base import Captioner
    from seqcap.tasks.base import Task

ARTIFACTS = Path("artifacts")
STARTS = Path("starts")  # what runs start from: git keeps it, so that they start from the same weights everywhere


@dataclass(frozen=True)
class Kind:
    """What differs between images, clips and sentences: names and modules.

    Attributes:
        unit: name of an input, for people.
        units: name of several inputs.
        caption: name of an output, for people.
        data: module with `prepare(config, folder)`, which writes the task's data.
        reader: module with `Reader`, a `tasks.base.Task`.
        validation: module with `criteria` for the best epoch.
        evaluator: module with `evaluate`, which scores decoded captions.
        features: whether visual features are extracted.
        english: whether its captions are English, as METEOR and SPICE need.
        captions_file: table of the task's data with its captions.
        captions_column: its column with their words.
        quality: the first metric of its claims and tables.
    """

    unit: str
    units: str
    caption: str
    data: str
    reader: str
    validation: str
    evaluator: str
    features: bool
    english: bool
    captions_file: str
    captions_column: str
    quality: str

    @property
    def modules(self) -> tuple[str, str]:
        """The modules that reading a task and validating on it import by name."""
        return self.reader, self.validation


IMAGES = Kind(
    unit="image",
    units="images",
    caption="caption",
    data="seqcap.data.captions",
    reader="seqcap.tasks.images",
    validation="seqcap.training.validation.captions",
    evaluator="seqcap.evaluation.captions",
    features=True,
    english=True,
    captions_file="references",
    captions_column="tokens",
    quality="CIDEr",
)
# Features of clips have the form of features of images.
CLIPS = replace(IMAGES, unit="clip", units="clips")
SENTENCES = Kind(
    unit="sentence",
    units="sentences",
    caption="translation",
    data="seqcap.data.pairs",
    reader="seqcap.tasks.sentences",
    validation="seqcap.training.validation.translations",
    evaluator="seqcap.evaluation.translations",
    features=False,
    english=False,
    captions_file="pairs",
    captions_column="target",
    quality="BLEU",
)
KINDS = {"images": IMAGES, "clips": CLIPS, "sentences": SENTENCES}


def load(kind: str, name: str, captioner: type[Captioner]) -> Task:
    """The task `name` as captioners of a class read it; an `InputError` if the class cannot read it."""
    reader: Any = importlib.import_module(KINDS[kind].reader).Reader
    return reader(ARTIFACTS / name, captioner)  # type: ignore[no-any-return]


def files(name: str) -> list[Path]:
    """Every file that training on a task may read."""
    folder = ARTIFACTS / name
    return sorted(path for pattern in ("data/*.json", "data/*.parquet", "features/*") for path in folder.glob(pattern))
