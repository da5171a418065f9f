"""Flickr8k (Hodosh, Young & Hockenmaier, JAIR 2013) in Karpathy's layout."""

from __future__ import annotations

from pathlib import Path

from seqcap.data.karpathy import Rows
from seqcap.data.karpathy import read as read_karpathy

KIND = "images"


def read(root: Path) -> tuple[Rows, Rows]:
    """See `karpathy.read`."""
    return read_karpathy(root, "flickr8k")
