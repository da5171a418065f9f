"""What is small starts without what takes seconds to import."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# What takes seconds to import, or much memory.
HEAVY = {"torch", "torchvision", "numba", "spacy", "matplotlib", "transformers"}
LIGHT_MODULES = [
    *("cli", "pipeline.experiment", "report.reported", "tasks", "rewards", "metrics"),
    *("data.captions", "data.pairs", "metrics.files", "tools.submit"),
]


@pytest.mark.parametrize("stage", ["data", ""])
def test_what_is_small_starts_fast(stage):
    """Importing torch or numba takes longer than such a stage does, or a mistake in a command."""
    code = f"import runpy; runpy.run_path('stages/{stage}.py', run_name='imported')"
    if not stage:
        code = f"import {', '.join(f'seqcap.{name}' for name in LIGHT_MODULES)}"
    code += f"; import sys; print(sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
