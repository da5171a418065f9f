"""Flickr30k (Young, Lai, Hodosh & Hockenmaier, TACL 2014) in Karpathy's layout."""

from __future__ import annotations

from pathlib import Path

from seqcap.data.karpathy import Rows
from seqcap.data.karpathy import read as read_karpathy

KIND = "images"


def read(root: Path) -> tuple[Rows, Rows]:
    """See `karpathy.read`."""
    return read_karpathy(root, "flickr30k")
