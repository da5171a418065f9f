"""Published numbers, and ours beside them: tables, figures, claims and the report. Nothing here needs torch."""

from __future__ import annotations

from pathlib import Path

REPORTS = Path("reports")
# What the report puts together: a folder per paper.
SECTIONS = Path("artifacts/sections")
