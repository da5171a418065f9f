"""Generated clips, which replace TGIF, in its layout."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seqcap.data.tgif import read
from seqcap.world import clips

__all__ = ["KIND", "generate", "read"]
KIND = "clips"


def generate(folder: Path, settings: Mapping[str, Any], seed: int) -> None:
    """Writes clips; `settings` are the fields of `clips.ClipsConfig`."""
    clips.write_clips(folder, clips.ClipsConfig(**settings), seed)
