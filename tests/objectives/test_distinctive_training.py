"""Distinctive objectives in real training runs: what they keep, what they leave alone, and that they resume."""

import os
from pathlib import Path

import pytest
import torch
from small_task import run_config, train_group, write_listener, write_task

from seqcap import objectives
from seqcap.errors import InputError
from seqcap.files.tensors import load_weights
from seqcap.objectives.discriminated import Discriminator
from seqcap.training.captioners import State
from seqcap.training import captioners as training

RETRIEVER = Path("artifacts/retriever/small/seed1.safetensors")
# Three steps an epoch.
TRAINING = {"epochs": 2, "batch_size": 9}
SETTINGS = {"pretraining_steps": 2, "discriminator_pace": 1.0}


@pytest.fixture
def task(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_task(tmp_path)
    write_listener(tmp_path)
    train_group(run_config(weights="start"))
    return tmp_path


def run_of(objective, weights, **changes):
    settings = {"tuning_steps": 2, "grammar_pace": 1.0} if objective == "scst_grammar" else SETTINGS
    values = {
        "objective": objective,
        "settings": settings | changes.pop("settings", {}),
        "reward": {},
        "training": TRAINING | changes.pop("training", {}),
        "start": "start",
        "reads": {"listener": "artifacts/retriever/small"},
        "weights": weights,
    }
    return run_config(**(values | changes))


def curve(trained, quantity):
    return [row["value"] for row in trained.curves if row["quantity"] == quantity]


@pytest.mark.parametrize(
    ("objective", "partner"),
    [("weighted_teacher_forcing_reinforce", "discriminator"), ("scst_grammar", "grammar")],
)
def test_an_interrupted_run_resumes_to_the_same_bytes(task, monkeypatch, objective, partner):
    """Killed at every step: in the first ones, in which the captioner does not learn, too."""
    monkeypatch.setattr(training, "CHECKPOINT_SECONDS", -1)
    monkeypatch.setattr(training, "LOG_STEPS", 1)
    [[expected]] = train_group(run_of(objective, "one"))
    saves = 0
    with monkeypatch.context() as patch:
        original = State.save

        def save_and_die(state, path):
            original(state, path)
            raise KeyboardInterrupt

        patch.setattr(State, "save", save_and_die)
        while not Path("two/seed1.safetensors").exists():
            try:
                [[trained]] = train_group(run_of(objective, "two"))
            except KeyboardInterrupt:
                saves += 1
                os.chdir(task)
    assert saves == 6
    assert trained.curves == expected.curves
    for file in ("seed1.safetensors", f"seed1.{partner}.safetensors"):
        assert Path("one", file).read_bytes() == Path("two", file).read_bytes()


@pytest.mark.parametrize("objective", ["weighted_teacher_forcing", "unidirectional_reinforce", "scst_grammar"])
def test_the_retriever_is_never_changed(task, monkeypatch, objective):
    before, seen = RETRIEVER.read_bytes(), []
    original = training.learn

    def spy(job, state, checkpoint):
        found = original(job, state, checkpoint)
        seen.append(state.step.objective.listener.state_dict())
        return found

    monkeypatch.setattr(training, "learn", spy)
    train_group(run_of(objective, "out"))
    assert RETRIEVER.read_bytes() == before
    weights, _ = load_weights(RETRIEVER)
    assert seen[0].keys() == weights.keys()
    assert all(torch.equal(seen[0][name], value) for name, value in weights.items())
    assert not Path("out/seed1.listener.safetensors").exists()


def test_the_discriminator_is_kept_and_its_curves_are_drawn(task):
    [[trained]] = train_group(run_of("weighted_teacher_forcing_reinforce", "out"))
    kept, metadata = load_weights("out/seed1.discriminator.safetensors")
    Discriminator(metadata["embedding"]).load_state_dict(kept)
    wanted = ["reward", "positive", "human", "entropy", "similarity_std", "regular_std"]
    wanted += ["to_text_positive", "to_image_positive"]
    names = [f"{of}_{name}" for of in ("beam", "truth") for name in wanted]
    names += ["shuffled_human", "discriminator_loss", "discriminator_accuracy", "train_reward"]
    assert all(curve(trained, name) for name in names)
    # Before the first step, and after each epoch.
    assert [len(curve(trained, name)) for name in ("val_discriminator", "val_R@10")] == [3, 3]


def test_the_tuned_encoder_is_kept_and_its_curves_are_drawn(task):
    [[trained]] = train_group(run_of("scst_grammar", "out"))
    kept, metadata = load_weights("out/seed1.grammar.safetensors")
    before, described = load_weights(RETRIEVER)
    assert metadata["encoder"] == described
    encoder = {
        name.removeprefix("encoder.tower."): value for name, value in kept.items() if name.startswith("encoder.tower.")
    }
    assert encoder.keys() == before.keys()
    changed = {name for name, value in before.items() if not torch.equal(value, encoder[name])}
    assert "embedding.weight" in changed
    assert not any(name.startswith(("image", "feature")) for name in changed)
    wanted = ["beam_reward", "beam_positive", "beam_similarity_std", "beam_regular_std", "train_reward"]
    wanted += [f"{of}_grammar" for of in ("beam", "truth", "shuffled")] + ["beam_entropy", "truth_entropy"]
    assert all(curve(trained, name) for name in [*wanted, "grammar_loss", "grammar_accuracy"])
    assert len(curve(trained, "val_grammar")) == 3


def test_mined_images_that_are_missing_are_one_line(task):
    Path("artifacts/retriever/small/seed1.mined.parquet").unlink()
    for name in ("weighted_teacher_forcing", "distinctive_reinforce", "weighted_teacher_forcing_reinforce"):
        with pytest.raises(InputError, match=r"seed1\.mined\.parquet: does not exist"):
            train_group(run_of(name, "out"))
    train_group(run_of("unidirectional_reinforce", "out"))


def test_settings_survive_the_configuration():
    """A run's settings pass through JSON: ranks come back as a list."""
    config = objectives.config_class("weighted_teacher_forcing")
    written = config(mined_ranks=(1, 2)).model_dump(mode="json")
    assert written["mined_ranks"] == [1, 2]
    assert config(**written) == config(mined_ranks=(1, 2))
