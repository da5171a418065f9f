"""docs/huggingface.md on a tiny folder: its Python runs, and its experiment resolves to stages."""

import re
from pathlib import Path

import pytest
from parameter_files import ParameterFiles
from ruamel.yaml import YAML
from small_captioner import write_huggingface
from small_task import LAYOUT, write_pretrained_task, write_task

from seqcap.errors import InputError
from seqcap.pipeline.experiment import apply_overlay
from seqcap.pipeline.graph import graph
from seqcap.pipeline.params import read_params
from seqcap.pipeline.project import Project

PAGE = (Path(__file__).parents[1] / "docs/huggingface.md").read_text()


def block(language: str) -> str:
    [found] = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return found


def test_its_python_prints_a_caption(tmp_path, monkeypatch, capsys):
    write_task(tmp_path)
    write_pretrained_task(tmp_path, "blip")
    (tmp_path / "photographs").mkdir()
    (tmp_path / "pictures").rename(tmp_path / "photographs/images")
    for picture in range(LAYOUT["train"]):
        (tmp_path / f"photographs/images/{picture}.png").rename(tmp_path / f"photographs/images/{picture}.jpg")
    monkeypatch.chdir(tmp_path)
    exec(compile(block("python"), "docs/huggingface.md", "exec"), {})
    words, log_prob = capsys.readouterr().out.rsplit(maxsplit=1)
    assert float(log_prob) < 0
    assert words


@pytest.fixture
def experiment(tmp_path):
    """The page's experiment in a checkout, with a tiny captioner and two pictures of each split."""
    files = ParameterFiles(tmp_path)
    files.read()
    write_huggingface(tmp_path / "blip", "blip", ["a", "dog", "run", "##s"])
    changes = YAML(typ="safe").load(block("yaml").replace("/data/blip", str(tmp_path / "blip")))
    changes["params.yaml"]["tasks"]["image"]["root"] = str(tmp_path)

    def resolved(change=lambda changes: None):
        change(changes)
        apply_overlay(tmp_path, changes, Path("blip.yaml"))
        project = Project(read_params(tmp_path))
        project.all_stages()
        return project

    return resolved


def test_its_experiment_resolves(experiment, tmp_path):
    project = experiment()
    configs = {kind: {name: stage.config for name, stage in own.items()} for kind, own in project.all_stages().items()}
    folder = str(tmp_path / "blip")
    assert {run.name for config in configs["train"].values() for run in config.runs} == {
        "xe",
        "sll",
        "sll_sle",
        "sll_sle_mr",
        "sll_sle_95",
    }
    for config in configs["train"].values():
        for run in config.runs:
            assert (run.architecture, run.model, run.start) == ("huggingface", {"folder": folder, "lora": 8}, None)
        assert "src/seqcap/features/pixels.py" in config.code
    assert configs["data"]["image"].pretrained == folder
    assert "model.safetensors" not in configs["data"]["image"].fingerprint
    stages = {name: stage for file in graph(project, tmp_path).values() for name, stage in file["stages"].items()}
    # Other weights in the folder repeat the training.
    assert folder in stages["train-sle_sll"]["deps"]
    assert not [name for name in stages if name.startswith(("pretrain", "retriever", "features", "encoder"))]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda changes: changes["params.yaml"]["tasks"]["image"].pop("pretrained"),
            "tasks.image.pretrained is None: name one folder in both",
        ),
        (
            lambda changes: changes["params.yaml"]["pretrain"].pop("lstm"),
            "pretrain.lstm is of a captioner that is trained already",
        ),
    ],
)
def test_what_does_not_fit_is_one_line(experiment, change, said):
    with pytest.raises(InputError, match=said):
        experiment(change)
