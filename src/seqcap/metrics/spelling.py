"""Metrics by the names that people write. Light: a wrong name is told at once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from seqcap.errors import InputError
from seqcap.metrics.registry import QUALITY

# How people write what the registry writes otherwise, in lower case and without marks.
_SPELLINGS = {"bleu": QUALITY[:4], "rouge": ("ROUGE_L",), "ciderd": ("CIDEr",)}


def find_metrics(names: Iterable[str]) -> list[str]:
    """Metrics of `registry.QUALITY` by names in any case and spelling: `cider`, `BLEU-4`, `rouge`; `bleu` is all four.

    Raises:
        InputError: there is no such metric.
    """
    known: dict[str, tuple[str, ...]] = {_plain(name): (name,) for name in QUALITY} | _SPELLINGS
    found: list[str] = []
    for name in names:
        if _plain(name) not in known:
            close = get_close_matches(_plain(name), known, 1)
            meant = f"did you mean {known[close[0]][0]}? or " if close else ""
            raise InputError("metrics", f"{name!r} is not known", f"{meant}choose among {', '.join(QUALITY)}")
        found += known[_plain(name)]
    return [metric for metric in QUALITY if metric in found]


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
