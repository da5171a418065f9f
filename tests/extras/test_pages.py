"""`make docs`: a page per objective, reward and metric, without a warning."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocstrings", reason="needs mkdocstrings, which `make test-extras` installs: pages are made")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_objective_has_a_page_with_its_settings(site):
    names = {path.stem for path in (ROOT / "src/seqcap/objectives").glob("*.py")}
    pages = {path.parent.name: path.read_text(encoding="utf-8") for path in site.glob("objectives/*/index.html")}
    assert len(pages) > 20
    assert set(pages) <= names
    exploration = pages["sequence_exploration"]
    assert "(eq. 8)" in exploration  # its docstring
    equation = re.search(r"<code>(.*?)</code>", exploration[exploration.index("The loss is the mean") :], re.DOTALL)
    assert "log p(y_j) - (1 - alpha) (2/s) sum_k" in equation[1]
    assert "weight of quality; 1 - alpha weighs exploration" in exploration  # a setting
    assert "<polyline" in exploration  # a curve
    assert "minutes on one core" in exploration


def test_rewards_and_the_library_have_pages(site):
    cider = (site / "rewards/cider-d/index.html").read_text(encoding="utf-8")
    assert "Vedantam" in cider
    assert "images/s" in cider
    reward = (site / "library/captionreward/index.html").read_text(encoding="utf-8")
    assert "references_column" in reward
    assert len(list(site.glob("metrics/*/index.html"))) > 10
