"""Whose captions the first page shows. No paper claims anything of this table."""

from typing import Any

from seqcap.papers.across.tables import FILE
from seqcap.report import example
from seqcap.report.inputs import Results


def scene(results: Results) -> dict[str, Any] | None:
    """A scene with captions of it, for the first page; None where nothing tells what is true."""
    return example.choose(results, FILE.shown)
