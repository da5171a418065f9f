"""Tasks: what a captioner reads and what it is to say. Pictures or clips and captions, or sentences and translations.

A task's data and features are in artifacts/<task>/. Everything that depends on what kind of task it is, is named here:
a kind is one entry of `KINDS` and the modules that it names.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seqcap.models.base import Captioner
    from seqcap.tasks.base import Task

ARTIFACTS = Path("artifacts")


@dataclass(frozen=True)
class Kind:
    """What a kind of task is.

    Attributes:
        unit, units: what is captioned, in words.
        caption: what is said of it, in words.
        data: module with `prepare(config, folder)`, which writes the task's data.
        reader: module with `Reader`, a `seqcap.tasks.base.Task`.
        validation: module with `criteria`: what tells the best epoch.
        evaluator: module with `evaluate`: every score of decoded captions.
        features: whether visual features are extracted of it.
        english: whether its captions are English, as METEOR and SPICE have them.
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
        """What reading and validating a task imports by name."""
        return self.reader, self.validation


KINDS = {
    "images": Kind(
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
    ),
    # A clip is read as its features are: as a vector, or a map of them.
    "clips": Kind(
        unit="clip",
        units="clips",
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
    ),
    "sentences": Kind(
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
    ),
}


def load(kind: str, name: str, captioner: type[Captioner]) -> Task:
    """The task `name` as a kind of captioner sees it.

    Raises:
        InputError: its artifacts are missing or malformed, or the captioner does not read such a task.
    """
    reader: Any = importlib.import_module(KINDS[kind].reader).Reader
    return reader(ARTIFACTS / name, captioner)  # type: ignore[no-any-return]


def files(name: str) -> list[Path]:
    """Every file that training on a task may read."""
    folder = ARTIFACTS / name
    return sorted(path for pattern in ("data/*.json", "data/*.parquet", "features/*") for path in folder.glob(pattern))
