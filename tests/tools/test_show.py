"""What `seqcap show` prints of a run: its values as they are trained, each with the place that decides it."""

import shutil
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from seqcap.errors import InputError
from seqcap.tools.show import show

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The project's parameters with a run whose values come from every place that there is."""
    for name in ("papers", "scales"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "params.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "papers/sle/runs.yaml"
    yaml = YAML()
    content = yaml.load(path)
    content["runs"] |= {
        "base": {"captioner": "lstm", "reward": "cider", "training": dict(content["runs"]["policy"]["training"])},
        "other": {"like": "base", "training": {"epochs": 7}},
        "mine": {
            "like": ["other", "sll_sle"],
            "group": "sle_sll_sle",
            "label": "mine",
            "training": {"learning_rate": 0.5},
        },
    }
    yaml.dump(content, path)
    return tmp_path


def lines_of(name):
    """Key -> value and origin."""
    return {line.split()[0]: line for line in show(name)}


def test_each_value_has_the_place_that_decides_it(project):
    lines = lines_of("mine")
    assert lines["learning_rate"].split("  ")[-1].strip() == "papers/sle/runs.yaml: runs.mine"
    assert lines["alpha"].endswith("runs.sll_sle, params.yaml: alpha")
    assert lines["objective"].endswith("papers/sle/runs.yaml: runs.sll_sle")
    # The later of those that it is like, and what that is like.
    assert "16" in lines["epochs"]
    assert lines["epochs"].endswith("papers/sle/runs.yaml: runs.policy")
    assert lines["beta1"].endswith("default")
    assert lines["hidden"].endswith("params.yaml: captioners.lstm.model")


def test_the_scale_comes_last(project):
    path = project / "params.yaml"
    path.write_text(path.read_text().replace("scale: laptop", "scale: paper"))
    assert lines_of("pg_bcmr")["epochs"].endswith("papers/spider/scales/paper.yaml: runs.policy")
    assert "40" in lines_of("pg_bcmr")["epochs"]


def test_a_run_of_a_sweep_and_an_unknown_one(project):
    assert lines_of("sweep_pairwise_0")["alpha"]
    with pytest.raises(InputError, match="there is no run 'sll_sl'; perhaps sll_sle or sll"):
        show("sll_sl")
