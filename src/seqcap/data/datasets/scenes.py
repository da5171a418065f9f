"""Generated scenes, which replace COCO, in Karpathy's layout."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from seqcap.data import karpathy
from seqcap.world import scenes

KIND = "images"
read = partial(karpathy.read, name="scenes")


def generate(folder: Path, settings: Mapping[str, Any], seed: int) -> None:
    """Writes scenes; `settings` are the fields of `scenes.Config`."""
    scenes.write(folder, scenes.Config(**settings), seed)
