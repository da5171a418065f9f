"""Tasks: artifacts/<task>/ in, inputs and captions of each split out.

A task has images or clips with captions, or sentences with translations. Everything that depends on its kind is named
here: a kind is one entry of `KINDS` and the modules that it names, which are imported when they are needed. May import
models and what lies below them.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seqcap.models.base import Captioner
    from seqcap.tasks.base import Task

ARTIFACTS = Path("artifacts")


@dataclass(frozen=True)
class Kind:
    """A kind of task.

    Attributes:
        unit, units: name of an input, for people.
        caption: name of an output, for people.
        data: module with `prepare(config, folder)`, which writes the task's data.
        reader: module with `Reader`, a `seqcap.tasks.base.Task`.
        validation: module with `criteria` for the best epoch.
        evaluator: module with `evaluate`, which scores decoded captions.
        features: whether visual features are extracted.
        english: whether its captions are English, as METEOR and SPICE need.
        captions_file, captions_column: file of the task's data with its captions, and the column with their words.
        quality: the metric that its claims and tables put first.
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
        """The modules that reading and validating a task import by name."""
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
# Features of clips have the form of images' features.
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
    """The task `name` as captioners of a class read it.

    Raises:
        InputError: its artifacts are missing or damaged, or the captioner cannot read it.
    """
    reader: Any = importlib.import_module(KINDS[kind].reader).Reader
    return reader(ARTIFACTS / name, captioner)  # type: ignore[no-any-return]


def files(name: str) -> list[Path]:
    """Every file that training on a task may read."""
    folder = ARTIFACTS / name
    return sorted(path for pattern in ("data/*.json", "data/*.parquet", "features/*") for path in folder.glob(pattern))
