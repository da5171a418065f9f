"""Fixtures shared by the whole suite."""

import os
from pathlib import Path

# Two processes of two threads each are many times slower on two cores than two of one.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data beside the checkout; tests that need it are skipped where it is absent."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("the real data (../shared) is not on this machine")
    return folder


@pytest.fixture(scope="session")
def golden(shared: Path) -> Path:
    """1,000 COCO captions with published scores."""
    return shared / "data" / "coco_caption_eval" / "captions_val2014_fakecap_results.json"
