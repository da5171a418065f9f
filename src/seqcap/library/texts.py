"""Captions and references as people hold them in Python: in lists side by side, or in dicts by image."""

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqcap.data.tokenizer import tokenize
from seqcap.errors import InputError, warn

Texts = str | Sequence[str]  # of one item: a caption, or several
Captions = Sequence[Texts] | Mapping[Any, Texts]  # of all items, in a row or by image
Words = list[list[str]]  # of one item's captions
ALIGNED = "pass a list of captions beside a list of references, or two dicts by image"


@dataclass(frozen=True)
class Paired:
    """Candidates and references of the same items, in words.

    Attributes:
        items: places in the lists, or keys of the dicts.
        candidates: [items], the captions of each in words: equally many.
        references: [items], those of each in words.
        missing: items with references that have no candidate.
    """

    items: list[Hashable]
    candidates: list[Words]
    references: list[Words]
    missing: int

    @property
    def number(self) -> int:
        """Candidates of each item."""
        return len(self.candidates[0])


def pair(candidates: Captions, references: Captions) -> Paired:
    """InputError if they do not belong together, or an entry is no text."""
    if isinstance(candidates, Mapping) != isinstance(references, Mapping):
        raise InputError("captions", "are by image, and references are not, or the other way round", ALIGNED)
    found = by_item(candidates, "captions")
    known = by_item(references, "references")
    if not found:
        raise InputError("captions", "hold none", "pass at least one")
    if not isinstance(candidates, Mapping) and len(found) != len(known):
        raise InputError("captions", f"are {len(found)}, and references are of {len(known)} items", ALIGNED)
    unknown = [item for item in found if item not in known]
    if unknown:
        problem = f"hold {len(unknown)} of {len(found)} items without references, the first is {unknown[0]!r}"
        raise InputError("captions", problem, "name images in the same way in both")
    # In the references' order, on which no value depends.
    items = [item for item in known if item in found]
    for item in items:
        if not known[item]:
            raise InputError("references", f"item {item!r} has none", "pass at least one, or drop the item")
        if len(found[item]) != len(found[items[0]]) or not found[item]:
            counts = f"item {item!r} has {len(found[item])} captions and {items[0]!r} has {len(found[items[0]])}"
            raise InputError("captions", counts, "pass the same number for each item, at least 1")
    return Paired(items, [found[item] for item in items], [known[item] for item in items], len(known) - len(items))


def by_item(captions: Captions, what: str) -> dict[Hashable, Words]:
    """Words of the captions of each item; InputError if an entry is no text."""
    if isinstance(captions, str) or not isinstance(captions, Mapping | Sequence):
        raise InputError(what, f"are {captions!r:.60}", ALIGNED)
    pairs = captions.items() if isinstance(captions, Mapping) else enumerate(captions)
    return {item: [tokenize(text) for text in texts_of(texts, f"{what} of item {item!r}")] for item, texts in pairs}


def texts_of(texts: Any, where: str) -> list[str]:
    """One text or several as a list; InputError for anything else."""
    listed = [texts] if isinstance(texts, str) else texts
    if not isinstance(listed, Sequence) or not all(isinstance(text, str) for text in listed):
        raise InputError(where, f"are {texts!r:.60}", "pass a text, or a list of texts")
    return list(listed)


def cache_folder() -> Path | None:
    """Where SPICE's parses and METEOR's phrases are kept between calls: `seqcap` in the user's cache folder; None if
    there is no such place."""
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "seqcap"
    except RuntimeError:  # a user without a home, as in some containers
        warn("nothing is kept for the next time, because this user has no home; set XDG_CACHE_HOME to a folder")
        return None
