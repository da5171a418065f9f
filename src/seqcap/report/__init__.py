"""Published numbers, and ours beside them: tables, figures, claims and the report. Nothing here needs torch."""

from __future__ import annotations

from pathlib import Path

REPORTS = Path("reports")
# What the report puts together: a folder per paper, and probe-<task>.json, what probes found in a task's features.
SECTIONS = Path("artifacts/sections")
