"""Advice about missing and damaged files."""

from pathlib import Path

from seqcap.errors import warn


def mend(path: str | Path) -> str:
    """What to do about a damaged file: the pipeline can make its own files again."""
    return "delete it and run `dvc repro`" if _is_own(path) else "restore it"


def find(path: str | Path) -> str:
    """What to do about a missing file."""
    return "run `dvc repro` to make it" if _is_own(path) else "check the path"


def warn_unkept(path: str | Path) -> None:
    """Warns that a file which saves time cannot be written: once for all files of a folder."""
    warn(f"{Path(path).parent}: cannot be written to, so nothing is kept there for the next time")


def _is_own(path: str | Path) -> bool:
    return Path(path).parts[:1] in (("artifacts",), ("scratch",))
