"""METEOR's stems of words for scoring, kept in a file: the stemmer is plain Python, and slower than all of METEOR."""

import os
from collections.abc import Sequence
from pathlib import Path

from seqcap.errors import InputError, warn
from seqcap.files.advice import warn_unkept
from seqcap.files.json_file import read_json, write_json
from seqcap.rewards.meteor_resources import stems_of

STEMS = Path("meteor_stems.json")  # word -> stem


def kept_stems(words: Sequence[str], kept: Path | None) -> list[str]:
    """The stem of each word (`stems_of`). Those of words that are new are added to a file in folder `kept`, if any. A
    file that is damaged is made anew, and one that cannot be written is done without; a warning says so."""
    known = {} if kept is None else _read(kept / STEMS)
    new = [word for word in words if word not in known]
    known.update(zip(new, stems_of(new), strict=True))
    if new and kept is not None:
        try:
            write_json(kept / STEMS, known)
        except InputError:
            warn_unkept(kept / STEMS)
    return [known[word] for word in words]


def _read(path: Path) -> dict[str, str]:
    # `Path.exists` fails in a folder that may not be entered.
    if not os.path.exists(path):  # noqa: PTH110
        return {}
    try:
        found = read_json(path)
    except InputError:
        found = None
    if isinstance(found, dict) and all(isinstance(stem, str) for stem in found.values()):
        return found
    warn(f"{path}: is damaged, and made anew")
    return {}
