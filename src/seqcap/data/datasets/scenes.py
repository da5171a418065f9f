"""Generated scenes, which stand in for COCO, in Karpathy's layout."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seqcap.data.karpathy import Rows
from seqcap.data.karpathy import read as read_karpathy
from seqcap.world import scenes

KIND = "images"


def generate(folder: Path, settings: Mapping[str, Any], seed: int) -> None:
    """Writes scenes; `settings` as in `scenes.Config`."""
    scenes.write(folder, scenes.Config(**settings), seed)


def read(root: Path) -> tuple[Rows, Rows]:
    """See `karpathy.read`."""
    return read_karpathy(root, "scenes")
