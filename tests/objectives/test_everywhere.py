"""Every objective and every captioner that it can serve, found in the packages."""

import importlib
import os
import pkgutil
from typing import Literal, get_args, get_origin

import numpy as np
import pytest
import torch
from pydantic import BaseModel
from small_task import (
    run_config,
    train_group,
    write_embeddings,
    write_listener,
    write_pretrained_task,
    write_task,
    write_translation_task,
)

from seqcap import models, objectives
from seqcap.errors import InputError
from seqcap.files.json_file import write_json
from seqcap.files.tensors import load_weights
from seqcap.system import machine
from seqcap.system.machine import check_precision

# Kind of task -> what a run on its small task is.
TASKS = {
    "images": {"task": "image", "max_length": 6, "reward": {"cider": 1.0}},
    "sentences": {"task": "de_en", "max_length": 12, "reward": {"bleu4": 1.0}},
}
# A captioner from a folder reads pictures, and writes its own tokens.
PRETRAINED = {"task": "photo", "model": {"folder": "blip"}}
# Two steps on images, two on pairs.
TRAINING = {"images": {"epochs": 1, "batch_size": 12}, "sentences": {"epochs": 1, "batch_size": 30}}
# Settings whose defaults the small tasks do not have. Of the two steps, the captioner learns in the second.
SETTINGS = {"self_retrieval": {"unlabelled": "test"}}
ONE_STEP = ("pretraining_steps", "tuning_steps")
# Sizes without a default are 8, but for what takes time.
FEWER = {"layers": 2}
# What objectives ask of a captioner: the likelihood of given captions, samples, rollouts from prefixes, a beam, and
# captions that are distributions over words.
OF_EACH_KIND = (
    "token_sequence_smoothing",
    "sequence_exploration",
    "rollout_policy_gradient",
    "mixer",
    "weighted_teacher_forcing_reinforce",
    "straight_through",
)


def modules(package):
    """A package's modules with a Config and a Model."""
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        found = importlib.import_module(module.name)
        if hasattr(found, "Config") and hasattr(found, "Model"):
            yield module.name.removeprefix(f"{package.__name__}.")


def required(config):
    """Something small for each setting that has no default."""
    found = {}
    for name, field in config.model_fields.items():
        kind = field.annotation
        if not field.is_required():
            continue
        if get_origin(kind) is Literal:
            found[name] = get_args(kind)[0]
        else:
            found[name] = required(kind) if issubclass(kind, BaseModel) else FEWER.get(name, 8)
    return found


def serves(objective, captioner):
    """Listeners read images alone."""
    images = models.model_class(captioner).kinds[0] == "images"
    return images or "listener" not in objectives.model_class(objective).reads


def tried(objective, captioner):
    """Each captioner but the LSTM with one objective of a kind; `make campaigns` tries all with all."""
    one_of_a_kind = captioner != "lstm" and objective in OF_EACH_KIND
    return (os.environ.get("SEQCAP_FULL") or one_of_a_kind) and serves(objective, captioner)


def precision_here():
    """What needs the most care of those in which this processor trains."""
    try:
        check_precision("bfloat16", torch.device("cpu"))
    except InputError:
        return "float32"
    return "bfloat16"


RUNS = [(o, c, "float32") for o in modules(objectives) for c in modules(models) if tried(o, c)]
RUNS += [(objective, "lstm", precision_here()) for objective in modules(objectives)]


@pytest.fixture(scope="module")
def tasks(tmp_path_factory):
    """A folder with a small task of each kind, its embeddings, and a listener."""
    folder = tmp_path_factory.mktemp("everywhere")
    write_task(folder)
    write_translation_task(folder)
    write_listener(folder)
    write_pretrained_task(folder, "blip")
    write_listener(folder, "photo")
    for task in (*TASKS.values(), PRETRAINED):
        write_embeddings(folder, task["task"])
    return folder


def run_of(objective, captioner, **changes):
    model, kind = objectives.model_class(objective), models.model_class(captioner).kinds[0]
    config = objectives.config_class(objective)
    settings = required(config) | {name: 1 for name in ONE_STEP if name in config.model_fields}
    task = TASKS[kind] | (PRETRAINED if captioner == "huggingface" else {})
    listener = "photo" if captioner == "huggingface" else "small"
    read = {
        "embeddings": f"artifacts/words/{task['task']}/embeddings.parquet",
        "listener": f"starts/retriever/{listener}",
    }
    values = {
        "kind": kind,
        "captioner": captioner,
        "architecture": captioner,
        "model": required(models.config_class(captioner)),
        "objective": objective,
        "settings": settings | SETTINGS.get(objective, {}),
        "training": TRAINING[kind],
        "reads": {what: read[what] for what in model.reads},
    }
    return run_config(**(values | task | changes))


def curve(trained, quantity):
    return [row["value"] for row in trained.curves if row["quantity"] == quantity]


@pytest.mark.parametrize(("objective", "captioner", "precision"), RUNS)
def test_every_objective_takes_two_steps(tasks, tmp_path, monkeypatch, objective, captioner, precision):
    monkeypatch.chdir(tasks)
    run = run_of(objective, captioner, weights=str(tmp_path), precision=precision)
    [[trained]] = train_group(run)
    assert max(row["step"] for row in trained.curves) == 2
    assert np.isfinite([row["value"] for row in trained.curves]).all()
    weights, metadata = load_weights(tmp_path / "seed1.safetensors")
    assert all(tensor.dtype == torch.float32 and tensor.isfinite().all() for tensor in weights.values())
    decisive = {"images": "val_cider", "sentences": "val_bleu"}[run.kind]
    assert metadata[decisive] == curve(trained, decisive)[-1]
    # A listener that learned is kept beside the captioner, and is another one than before.
    kept = {path.name for path in tmp_path.iterdir()}
    learns = objective in ("straight_through", "joint_reinforce", "frozen_speaker", "gan")
    assert ("seed1.listener.safetensors" in kept) == learns
    if learns:
        before, _ = load_weights(f"{run.reads['listener']}/seed1.safetensors")
        after, described = load_weights(tmp_path / "seed1.listener.safetensors")
        assert any((before[name] != after[name]).any() for name in before)
        assert described["architecture"] == "dual_encoder"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device: every objective takes two steps on it")
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_every_objective_takes_two_steps_on_a_gpu(tasks, tmp_path, monkeypatch, precision):
    monkeypatch.chdir(tasks)
    monkeypatch.setattr(machine, "MACHINE", tmp_path / "machine.json")
    write_json(machine.MACHINE, {"device": "cuda", "workers": 1, "launcher": "python"})
    for objective, captioner in sorted({(objective, captioner) for objective, captioner, _ in RUNS}):
        weights = tmp_path / objective / captioner
        weights.mkdir(parents=True)
        [[trained]] = train_group(run_of(objective, captioner, weights=str(weights), precision=precision))
        assert max(row["step"] for row in trained.curves) == 2, (objective, captioner)
        assert np.isfinite([row["value"] for row in trained.curves]).all(), (objective, captioner)
