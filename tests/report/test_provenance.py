"""Where results come from."""

from pathlib import Path

import pytest
from invented_evidence import ORIGIN
from pipeline_files import commit, git

from seqcap.files import json_file, parquet, schemas
from seqcap.report import provenance
from seqcap.system import hardware, scratch


def test_a_paper_has_its_data_seeds_and_minutes(sle):
    """Those of the tasks that it trains on. Minutes are measured per epoch, on a run's first seed."""
    sle.names = ["xe", "sll"]
    run = sle.read()
    images = [{"item": item, "split": split, "file": "a"} for item, split in enumerate(["train", "train", "test"])]
    parquet.write_rows("artifacts/image/data/images.parquet", images, schemas.IMAGES)
    captions = [(0, "train", ["a", "dog"]), (0, "train", ["a", "dog"]), (1, "train", ["cat"]), (2, "test", ["birds"])]
    references = [
        {"item": item, "split": split, "caption_id": number, "text": " ".join(tokens), "tokens": tokens}
        for number, (item, split, tokens) in enumerate(captions)
    ]
    parquet.write_rows("artifacts/image/data/references.parquet", references, schemas.REFERENCES)
    first = run.runs[0]
    group = Path(first.weights).parent.name
    json_file.write_json(f"artifacts/timing/{group}.json", {first.name: 30})
    found = provenance.measure(run.config)
    (data,) = found["data"]
    assert data == {
        "task": "image",
        "name": "scenes",
        "kind": "images",
        "sizes": {"train": 2, "test": 1},
        "words": {"different": 3, "per_text": 1.67, "different_texts": 0.6667},
        "seeds": sorted(first.seeds),
    }
    (row,) = provenance.data_in_words(found["data"])
    assert row["sizes"] == "2 train, 1 test; 3 words, 1.7 a text, 67% differ"
    assert found["minutes"] == {first.name: first.epochs / 2}
    assert found["minutes_of_training"] == pytest.approx(len(first.seeds) * first.epochs / 2)
    assert provenance.minutes_of_training(found) == f"{found['minutes_of_training']:.0f} or more"
    assert found["untimed"] == [one.name for one in run.runs[1:] if one.epochs]
    assert found["scale"] == run.config.scale
    assert found["experiment"] is None
    # In a folder without a graph.
    assert found["minutes_of_everything"] is None


def test_a_paper_has_its_encoders_and_captioners(sle):
    sle.names = ["xe", "sll"]
    run = sle.read()
    assert provenance.models_in_words(provenance.measure(run.config)) == []
    first = run.runs[0]
    trained = {"name": first.name, "architecture": "lstm", "model": {"hidden": 8, "image_input": "first_step"}}
    json_file.write_json(f"configs/train/{Path(first.weights).parent.name}.json", {"runs": [trained]})
    json_file.write_json(f"configs/encoder/{first.task}.json", {"backbone": "mobilenet_v2", "weights": "imagenet"})
    assert provenance.models_in_words(provenance.measure(run.config)) == [
        f"Encoder of `{first.task}`: mobilenet_v2, weights of imagenet; it learns no further",
        f"Captioner `{first.captioner}`: lstm, hidden 8, image_input first_step",
    ]


def test_another_machine_that_has_trained_is_named(sle):
    """As with a cluster, or a GPU that trains and a laptop that scores."""
    sle.names = ["xe", "sll"]
    run = sle.read()
    groups = dict.fromkeys(Path(one.weights).parent.name for one in run.runs)
    for group in groups:
        hardware.note(f"train-{group}")
    found = provenance.measure(run.config)
    here = provenance.in_words(found)["processor"]
    assert len(found["trained_on"]) == 1
    assert "trained on" not in here
    gpu = {"processor": "1 x NVIDIA H100", "instructions": None, "cores": None, "torch": "2.11.0+cu130"}
    for group in groups:
        json_file.write_json(hardware.MACHINES / f"train-{group}.json", gpu)
    words = provenance.in_words(provenance.measure(run.config))["processor"]
    assert words == f"{here}; trained on 1 x NVIDIA H100, torch 2.11.0+cu130"


def test_the_commit_is_the_last_one_that_decides_numbers(tmp_path, monkeypatch):
    """A run can be made from what other runs of the same code have committed."""
    monkeypatch.chdir(tmp_path)
    git(tmp_path, "init", "--quiet")
    assert provenance._commit_of("src", "params.yaml") is None
    Path("params.yaml").touch()
    commit(tmp_path, "parameters")
    decides = git(tmp_path, "rev-parse", "--short=12", "HEAD").strip()
    Path("README.md").touch()
    commit(tmp_path, "words")
    assert provenance._commit_of("src", "params.yaml") == decides
    Path("src").mkdir()
    Path("src/code.py").touch()
    commit(tmp_path, "code")
    assert provenance._commit_of("src", "params.yaml") == git(tmp_path, "rev-parse", "--short=12", "HEAD").strip()


def test_all_stages_before_a_page_are_counted(tmp_path, monkeypatch):
    """Those that papers share, and its own; a stage reads an output, a part of one, or a folder that holds some."""
    monkeypatch.chdir(tmp_path)
    shared = {"data-image": [[], ["artifacts/image/data"]], "data-de_en": [[], ["artifacts/de_en/data"]]}
    shared |= {"features-image": [["artifacts/image/data/images"], [{"artifacts/image/features": {"cache": False}}]]}
    own = {"train-a": [["artifacts/image"], ["artifacts/own/train/a"]], "section-own": [["artifacts/own/train"], ["r"]]}
    shared |= {"pretrain-b": [[], ["artifacts/image/pretrain"]], "retriever-c": [[], ["artifacts/image/retriever"]]}
    for path, stages in (("dvc.yaml", shared), ("papers/own/dvc.yaml", own)):
        content = {name: {"deps": reads, "outs": writes} for name, (reads, writes) in stages.items()}
        json_file.write_json(path, {"stages": content})
    assert provenance.before("own") == ["data-image", "features-image", "pretrain-b", "retriever-c", "train-a"]
    with scratch.alone("train-a"), scratch.alone("data-de_en"), scratch.alone("pretrain-b"):
        pass
    found = provenance._everything("own")
    assert 0 <= found["minutes_of_everything"] < 1
    assert found["not_timed"] == ["data-image", "features-image", "retriever-c"]
    # Of what runs start from, each stage.
    assert list(found["minutes_of_starts"]) == ["pretrain-b"]


def test_of_a_stage_that_went_on_the_time_is_known_in_part():
    """Two cores have 25.2 minutes in 12.6."""
    of_runs = {"versions": {}, "data": [], "minutes": {"xe": 25.0}}
    whole = ORIGIN | of_runs | {"minutes_of_training": 25.0, "minutes_of_everything": 12.6}
    assert provenance.in_words(whole)["everything"] == "12.6"
    assert provenance.in_words(whole | {"minutes_of_training": 102.0})["everything"] == "12.6 or more"
