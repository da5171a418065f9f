"""Tasks: what a captioner reads and what it is to say. Images and captions, or sentences and translations.

Each task's stages keep their outputs in artifacts/<task>/.
"""

from __future__ import annotations

from pathlib import Path

from seqcap.artifacts import LANGUAGES
from seqcap.models.base import Captioner
from seqcap.tasks.base import Inputs, Split, Task
from seqcap.tasks.images import Images
from seqcap.tasks.translation import Translation

__all__ = ["Inputs", "Split", "Task", "files", "load"]

ARTIFACTS = Path("artifacts")


def load(name: str, captioner: type[Captioner]) -> Task:
    """The task `name` as a kind of captioner sees it.

    Raises:
        InputError: its artifacts are missing or malformed.
    """
    kind: type[Task] = Translation if name in LANGUAGES else Images
    return kind(ARTIFACTS / name, captioner)


def files(name: str) -> list[Path]:
    """Every file that training on a task may read."""
    folder = ARTIFACTS / name
    return sorted(path for pattern in ("data/*.json", "data/*.parquet", "features/*") for path in folder.glob(pattern))
