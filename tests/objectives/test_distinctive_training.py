"""Distinctive objectives in real training runs: what they keep, what they leave alone, and that they resume."""

from pathlib import Path

import pytest
import torch
from small_task import run_config, train_group, write_listener

from seqcap.files.tensors import load_weights
from seqcap.objectives.shared.discriminator import Discriminator
from seqcap.training import loop


@pytest.fixture
def task(small_images):
    write_listener(small_images)
    train_group(run_config(weights="start"))


def run_of(objective, weights):
    first = {"tuning_steps": 2, "grammar_pace": 1.0}
    return run_config(
        objective=objective,
        settings=first if objective == "scst_grammar" else {"pretraining_steps": 2, "discriminator_pace": 1.0},
        reward={},
        # Three steps an epoch.
        training={"epochs": 2, "batch_size": 9},
        start="start",
        reads={"listener": "starts/retriever/small"},
        weights=weights,
    )


@pytest.mark.parametrize(
    ("objective", "partner"),
    [("weighted_teacher_forcing_reinforce", "discriminator"), ("scst_grammar", "grammar")],
)
def test_an_interrupted_run_resumes_to_the_same_bytes(task, monkeypatch, killed_after_saving, objective, partner):
    """Killed at every step: in the first ones, in which the captioner does not learn, too."""
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1)
    monkeypatch.setattr(loop, "LOG_STEPS", 1)
    [[expected]] = train_group(run_of(objective, "one"))
    [[resumed]], kills = killed_after_saving(lambda: train_group(run_of(objective, "two")))
    assert (resumed.curves, kills) == (expected.curves, 6)
    for file in ("seed1.safetensors", f"seed1.{partner}.safetensors"):
        assert Path("one", file).read_bytes() == Path("two", file).read_bytes()
    # Before the first step, and after each epoch.
    for quantity in (f"val_{partner}", "val_R@10"):
        assert sum(row["quantity"] == quantity for row in expected.curves) == 3
    kept, metadata = load_weights(f"one/seed1.{partner}.safetensors")
    if partner == "discriminator":
        Discriminator(metadata["embedding"]).load_state_dict(kept)
        assert all(tensor.isfinite().all() for tensor in kept.values())
        return
    # The tuned encoder is kept; its images are the retriever's.
    before, described = load_weights("starts/retriever/small/seed1.safetensors")
    assert metadata["encoder"] == described
    tower = {name: kept[f"encoder.tower.{name}"] for name in before}
    changed = {name for name, value in before.items() if not torch.equal(value, tower[name])}
    assert "embedding.weight" in changed
    assert not any(name.startswith(("image", "feature")) for name in changed)
