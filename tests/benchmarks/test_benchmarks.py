"""One tiny case of each benchmark: they go on running as the package changes."""

from pathlib import Path
from typing import Any

import doors
import epochs
import gpu
import numpy as np
import pytest
import rewards
import scale
import torch
import training
import walk
import walk_data
import walk_scoring

from seqcap.files.json_file import write_json
from seqcap.files.tensors import load_weights
from seqcap.system import machine

WORDS = ["<pad>", "<bos>", "<eos>", "<unk>", *"abcdefghijklmnop"]
CASES = [(task, code, 4) for task in training.OBJECTIVES for code in training.codes_of(task) if code != "bfloat16"]


def captions(images: int) -> list[list[list[int]]]:
    """Five captions of each image, of three to eight words."""
    rng = np.random.default_rng(0)
    return [[rng.integers(4, len(WORDS), rng.integers(3, 9)).tolist() for _ in range(5)] for _ in range(images)]


@pytest.fixture
def tiny(monkeypatch):
    """Everything small, and as few repetitions as there can be."""
    sizes = {"HIDDEN": 8, "CHANNELS": 6, "VOCABULARY": len(WORDS), "IMAGES": 12, "ITEMS": np.arange(12), "SECONDS": 0.0}
    for name, value in (sizes | {"PRETRAINING": 1, "PRETRAINED_ON": 4}).items():
        monkeypatch.setattr(training, name, value)
    monkeypatch.setattr(training, "coco_ids", lambda: captions(12))
    for name, value in {"SECONDS": 0.003, "BATCH": 2, "BATCHES": 2, "IMAGES": 12, "PAIRWISE_IMAGES": 4}.items():
        monkeypatch.setattr(rewards, name, value)
    small = {"TRAIN": 20, "HELD_OUT": 5, "MIN_COUNT": 1, "HIDDEN": 8, "CHANNELS": 6, "SHAPES": {"pooled": (6,)}}
    for name, value in (small | {"BATCHES": {"pooled": 4}, "SECONDS": 0.01}).items():
        monkeypatch.setattr(scale, name, value)
    for module in (rewards, scale):
        monkeypatch.setattr(module, "coco", lambda split: rewards.Corpus(WORDS, captions(15)))


def test_a_training_step_of_ours_of_the_textbook_and_of_products(tiny, tmp_path):
    weights = tmp_path / "captioner.safetensors"
    training.pretrain(weights)
    results = [training.run_case(*case, weights) for case in CASES]
    assert min(result["images_per_s"] for result in results) > 0
    lines = training.table(results)[2:]
    assert [line.split(" | ")[0] for line in lines] == [f"| {task}" for task in training.OBJECTIVES]
    by_name = {(result["task"], result["code"]): result["images_per_s"] for result in results}
    ratio = by_name["exploration", "seqcap"] / by_name["self_critical", "textbook"]
    assert f" | {ratio:.2f} | " in next(line for line in lines if line.startswith("| exploration"))


def test_a_training_step_on_a_gpu(tiny, tmp_path, monkeypatch):
    """Measured on a CPU here: what is said of each task and precision."""
    for name, value in {"SECONDS": 0.0, "SQUARE": 16, "WARM_UP": 1, "CHANNELS": training.CHANNELS}.items():
        monkeypatch.setattr(gpu, name, value)
    training.pretrain(tmp_path / "captioner.safetensors")
    weights = load_weights(tmp_path / "captioner.safetensors")[0]
    cases = [case for case in gpu.cases() if case[2] == "float32" and case[3] == gpu.SIZES[0]]
    results = [gpu.run_case(task, code, precision, 4, weights, training.Data()) for task, code, precision, _ in cases]
    by_name = {(result["task"], result["code"]): result["images_per_s"] for result in results}
    ratio = by_name["exploration", "seqcap"] / by_name["self_critical", "textbook"]
    lines = gpu.table(results)[2:]
    assert [line.split(" | ")[0] for line in lines] == [f"| {task}" for task in gpu.TASKS]
    assert f" | {ratio:.2f} | " in next(line for line in lines if line.startswith("| exploration"))


def test_ratios_are_of_one_run():
    assert training.together(["exploration"]) == ["self_critical", "exploration"]
    assert training.together(["transformer_xe"]) == ["transformer_xe"]
    assert training.together(["xe", "transformer_beam"])[-2:] == ["sequence_smoothing", "transformer_beam"]


def test_the_textbook_scores_its_samples_as_the_captioner_does(tiny):
    torch.manual_seed(0)
    data, model = training.Data(), training.captioner()
    batch = data.batch(4, 0)
    textbook = training.Textbook(model, data)
    tokens, log_prob = textbook.sample(batch.features, 3, greedy=False)
    logits = model.token_logits(tokens, training.repeat(model.encode(batch.features), 3))
    row = (tokens != 0).nonzero()[:, 0]
    token = logits.log_softmax(1).gather(1, tokens[tokens != 0][:, None]).squeeze(1)
    torch.testing.assert_close(log_prob, torch.zeros(12).index_add(0, row, token))


def test_rewards_are_compared(tiny):
    rows = rewards.sequences(captions(12))
    assert len(rows) == 6
    assert max(row.largest_difference for row in rows) < 1e-9
    assert min(row.ratio for row in rows) > 0


def test_data_of_any_size_is_trained_on(tiny, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_json(machine.MACHINE, {"device": "cpu", "workers": 1, "launcher": "python"})
    backward = torch.Tensor.backward
    scale.write("pooled", 30)
    result = scale.train("pooled", "self-critical", "float32")
    monkeypatch.setattr(torch.Tensor, "backward", backward)
    assert result["images_per_s"] > 0
    assert sum(result["shares"].values()) == pytest.approx(1)
    assert scale.read_alone("pooled")["images_per_s"] > 0


def test_doors_are_compared(tiny, monkeypatch):
    for name, value in {"ROUNDS": 1, "SECONDS": 0.0, "BATCH": 2}.items():
        monkeypatch.setattr(doors, name, value)
    corpus = rewards.Corpus(WORDS, captions(12))
    of_rewards = doors.rewards_of(corpus)
    for door in of_rewards:
        assert rewards.difference(door.direct(), door.door()) < 1e-9
    for door in [*of_rewards, *doors.metrics_of(corpus, 12)]:
        cells = door.line().strip("| ").split(" | ")
        assert (cells[0], len([float(cell) for cell in cells[1:]])) == (door.name, 5)


def test_epochs_are_compared_with_mles(tmp_path):
    part = next(iter(epochs.FILE.parts.values()))
    write_json(tmp_path / "group.json", {f"{part.runs}_{epochs.MLE}": 2.0, f"{part.runs}_tok": 3.0})
    cases = epochs.compared(epochs.read_seconds(tmp_path))
    assert (cases[0]["part"], cases[0]["ratio_to_mle"]) == (part.name, 1.0)


SMALL = {
    "lstm": {"hidden": 8, "image_input": "initial_state"},
    "translator_de_en": {"embedding": 8, "hidden": 8, "readout": 8},
    "dual_encoder": {"embedding": 8, "hidden": 8},
    "cross_attention": {"hidden": 8, "size": 8, "heads": 2},
}


def smaller(what: str, config: dict[str, Any]) -> dict[str, Any] | None:
    """The configuration of a case with small models; None for models that take long."""
    if "measured" in config:
        models = {"start": "lstm", "listener": "dual_encoder"}
        return config | {name: config[name] | {"model": SMALL[models[name]]} for name in models.keys() & config.keys()}
    if what in SMALL:
        return config | {"model": SMALL[what]}
    return config if what in ("coco", "captions") else None


def test_two_steps_of_every_kind_of_stage(tiny, tmp_path, monkeypatch):
    for module in (walk_data, walk_scoring):
        monkeypatch.setattr(module, "WORDS", {"image": 20, "de_en": 20})
    for name in ("READ", "SCORED", "FOUND", "MINED", "DRAWN"):
        monkeypatch.setattr(walk_scoring, name, 4)
    monkeypatch.setattr(walk_scoring, "MIN_COUNT", 1)
    monkeypatch.setattr(scale, "SHAPES", {"pooled": (6,), "grid": (2, 2, 6)})
    cases = walk.cases(walk.paper_project(Path(__file__).parents[2]))
    assert {stage for stage, *_ in cases} == set(walk.MEASURES)
    for at, (stage, what, config) in enumerate(cases):
        small = smaller(what, config)
        if small is None:
            continue
        folder = tmp_path / str(at)
        folder.mkdir()
        monkeypatch.chdir(folder)
        result = walk.run_case(stage, what, small)
        assert (result["stage"], result["of"]) == (stage, what)
        assert result["seconds"] > 0
        assert result["peak_mb"] > 10
