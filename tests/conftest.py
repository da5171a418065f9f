"""Fixtures shared by the whole suite."""

import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

# Two processes of two threads each are many times slower on two cores than two of one.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest

from seqcap.metrics.meteor import Meteor

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


@pytest.fixture(scope="session")
def pycocoevalcap_folder() -> Path:
    package = importlib.util.find_spec("pycocoevalcap")
    assert package is not None
    assert package.submodule_search_locations is not None
    return Path(package.submodule_search_locations[0])


@pytest.fixture(scope="session")
def java() -> str:
    found = shutil.which("java")
    if found is None:
        pytest.skip("needs Java, and there is no `java` on the PATH")
    return found


@pytest.fixture(scope="session")
def meteor(java: str) -> Iterator[Meteor]:
    """The one real METEOR process of the test session: it takes 10 seconds to start."""
    with Meteor() as running:
        yield running
