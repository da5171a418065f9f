"""The training loop: it learns, it is exact to repeat and to resume, and it keeps a second process out."""

import os
import shutil
import socket
from contextlib import chdir
from itertools import islice
from pathlib import Path

import children
import numpy as np
import pytest
import torch
from enumeration import make_context, tiny_captioner
from small_checkout import wait_until
from small_task import (
    STAGE,
    run_config,
    same_bytes,
    train_group,
    translation_config,
    values,
    write_embeddings,
    write_task,
    write_translation_task,
)

from seqcap import objectives
from seqcap.config import config_path, write_config
from seqcap.data.vocabulary import UNK
from seqcap.errors import InputError
from seqcap.files.json_file import read_json, write_json
from seqcap.files.parquet import read_table, write_rows
from seqcap.files.schemas import CURVES, REFERENCES, embeddings_schema
from seqcap.models import load
from seqcap.objectives import cross_entropy, sequence_exploration
from seqcap.objectives.shared.base import Partner
from seqcap.system.scratch import checkpoints
from seqcap.training import captioners, loop
from seqcap.training.captioners import checkpoint_folder
from seqcap.training.checkpoint import State
from seqcap.training.run import TrainConfig

PRETRAINED = Path("starts/pretrain/lstm")
TRAIN = children.STAGES / "train.py"
SHORT = {"epochs": 2, "batch_size": 6, "learning_rate": 0.005, "dropout": 0.0, "decay": 1.0, "decay_every": 1}


def curves_of(run, folder):
    """Trains one run into a folder; its seeds' learning curves."""
    [trained] = train_group(run.model_copy(update={"weights": str(folder)}))
    return [row for seed in trained for row in seed.curves]


def write_group(name, *runs):
    """The configuration of a group of runs."""
    write_config(config_path("train", name), TrainConfig(runs=runs, code={}))


@pytest.fixture(scope="module")
def with_pretrained(tmp_path_factory):
    """The small image task with a captioner that was pretrained on it."""
    folder = tmp_path_factory.mktemp("pretrained")
    write_task(folder)
    with chdir(folder):
        curves = curves_of(run_config(training={"epochs": 8}), PRETRAINED)
        write_rows(PRETRAINED / "curves.parquet", curves, CURVES)
    return folder


@pytest.fixture
def pretrained(with_pretrained, tmp_path, monkeypatch):
    """A copy of it, in the working directory."""
    shutil.copytree(with_pretrained, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def going_on(objective, **changes):
    """A run that goes on from the pretrained captioner, for a short time."""
    shortly = SHORT | changes.pop("training", {})
    return run_config(name=objective, objective=objective, training=shortly, start=str(PRETRAINED), **changes)


def test_cross_entropy_learns_the_task_and_the_best_epoch_is_kept(small_images):
    curves = curves_of(run_config(training={"epochs": 25}), "out")
    assert values(curves, "val_cider")[0] < 1
    assert max(values(curves, "val_cider")) > 3
    assert values(curves, "train_loss")[-1] < 0.5 * values(curves, "train_loss")[0]
    assert load(Path("out/seed1.safetensors"))[1]["val_cider"] == max(values(curves, "val_cider"))
    assert not checkpoints(STAGE).exists()


@pytest.mark.parametrize(
    ("objective", "settings"),
    [
        ("self_critical", {"samples": 3}),
        ("rollout_policy_gradient", {"paths": 3, "baseline_steps": 20, "baseline_hidden": 16}),
    ],
)
def test_the_reward_is_raised_from_where_cross_entropy_left_it(pretrained, objective, settings):
    longer = {"epochs": 50, "learning_rate": 0.01}
    curves = curves_of(going_on(objective, settings=settings, training=longer), "out")
    steps = [row["step"] for row in curves if row["quantity"] == "train_reward"]
    assert steps[0] == 0
    assert values(curves, "val_cider")[0] == load(PRETRAINED / "seed1.safetensors")[1]["val_cider"]
    assert np.mean(values(curves, "train_reward")[-10:]) > 1.3 * values(curves, "train_reward")[0]


def test_adam_does_not_see_the_captioner_before_it_learns(pretrained):
    """Zero gradients would leave moments that make the first steps too large."""
    run = going_on("rollout_policy_gradient", settings={"rollouts": 1, "baseline_steps": 2})
    job = captioners.Job(run, 1)
    state = job.begin()
    before = {name: tensor.clone() for name, tensor in state.learner.captioner.state_dict().items()}
    remembered = []
    for batch in islice(job.read(state), 3):
        loop.update(job, state, batch)
        remembered.append([parameter in state.optimizer.state for parameter in state.learner.captioner.parameters()])
        if len(remembered) == 2:
            after = state.learner.captioner.state_dict()
            assert all(torch.equal(after[name], tensor) for name, tensor in before.items())
    assert [any(seen) for seen in remembered] == [False, False, True]
    steps = {state.optimizer.state[parameter]["step"].item() for parameter in state.learner.captioner.parameters()}
    assert steps == {1}


def test_captions_are_encoded_once_for_all_seeds_and_anew_after_a_change(small_images):
    shared = captioners.Job(run_config(), 1)
    assert captioners.Job(run_config(name="other", objective="self_critical"), 2).reward is shared.reward
    assert captioners.Job(run_config(reward={"bleu4": 1.0}), 1).reward is not shared.reward
    shorter = captioners.Job(run_config(max_length=2), 1)
    assert shorter.training.tokens.shape[2] == 2
    os.utime("artifacts/image/data/references.parquet", ns=(0, 0))
    assert captioners.Job(run_config(max_length=2), 1).training is not shorter.training


def test_what_training_spoils_is_not_replaced_by_what_it_started_from(pretrained):
    spoilt = going_on("cross_entropy", training={"learning_rate": 0.5})
    start, *trained = values(curves_of(spoilt, "out"), "val_cider")
    assert start > max(trained)
    assert load(Path("out/seed1.safetensors"))[1]["val_cider"] == max(trained)


def test_an_epoch_is_kept_by_captions_without_unknown_words(pretrained):
    """As captions are decoded: a loss that makes unknown words probable does not lose its epochs to them."""
    job = captioners.Job(going_on("cross_entropy"), 1)
    state = job.begin()
    known = job.validate(state)
    with torch.no_grad():
        state.learner.captioner.output.bias[UNK] += 50
    assert job.validate(state) == known > 0


@pytest.mark.parametrize(("keep", "value"), [("best", 0.9), ("last", 0.1)])
def test_explorations_settings_say_which_epoch_is_kept(keep, value):
    config = sequence_exploration.Config(keep=keep)
    objective = sequence_exploration.Model(config, make_context(None, 2, 5))
    learner = captioners.CaptionerLearner(tiny_captioner(words=1), objective)
    state = State(learner, learner, torch.optim.SGD(learner.parameters()))
    for score in (0.9, 0.1):
        with torch.no_grad():
            learner.captioner.output.bias.fill_(score)
        state.keep(score)
    assert state.best_value == value
    assert state.best["captioner"]["output.bias"][0].item() == pytest.approx(value)


@pytest.mark.parametrize("keeps_last", [False, True])
def test_rewards_of_any_sign_select_an_epoch(pretrained, monkeypatch, keeps_last):
    """All scores are far below zero, and the best of them is not the last; an objective may keep the last."""
    monkeypatch.setattr(objectives.model_class("cross_entropy"), "keeps_last", keeps_last)
    run = going_on("cross_entropy", reward={"cider": -5.0}, training={"epochs": 4, "learning_rate": 0.05})
    curves = curves_of(run, "out")
    start, *trained = values(curves, "val_reward")
    assert max(start, *trained) < -1
    assert max(trained) > trained[-1]
    weights, metadata = load(Path("out/seed1.safetensors"))
    assert metadata["val_reward"] == (trained[-1] if keeps_last else max(trained))
    assert "val_cider" not in metadata
    before, _ = load(PRETRAINED / "seed1.safetensors")
    assert (weights.output.weight != before.output.weight).any()
    assert values(curves, "train_reward")[0] < 0


@pytest.mark.parametrize(
    ("objective", "settings"),
    [
        ("sequence_exploration", {"samples": 3}),
        # These have a part of their own that learns, and a schedule.
        ("rollout_policy_gradient", {"baseline_steps": 6}),
        ("mixer", {"epochs_per_stage": 1}),
    ],
)
def test_an_interrupted_run_resumes_to_the_same_bytes(pretrained, killed_after_saving, objective, settings):
    run = going_on(objective, settings=settings)
    expected = curves_of(run, "one")
    assert killed_after_saving(lambda: curves_of(run, "two")) == (expected, 2)
    # What was not interrupted gives the same bytes, too.
    assert curves_of(run, "three") == expected
    assert same_bytes("one", "two")
    assert same_bytes("one", "three")


def test_a_translator_learns_subwords_and_the_best_epoch_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_translation_task(tmp_path, subwords=12)
    curves = curves_of(translation_config(training={"epochs": 25}), "out")
    assert values(curves, "val_bleu")[0] < 0.1
    assert max(values(curves, "val_bleu")) > 0.8
    assert not values(curves, "val_cider")
    assert load(Path("out/seed1.safetensors"))[1]["val_bleu"] == max(values(curves, "val_bleu"))


def test_runs_and_seeds_side_by_side_are_those_one_by_one(small_images, command):
    """The stage script on a group, and how long its epochs take."""
    runs = [run_config(name=name, weights=f"group/{name}", seeds=(1, 2)) for name in ("first", "second")]
    runs[1] = runs[1].model_copy(update={"model": {"hidden": 12, "image_input": "initial_state"}})
    write_group("both", *runs)
    write_json("artifacts/machine.json", {"device": "cpu", "workers": 2, "launcher": "python"})
    command("train", "both", script=TRAIN)
    write_json("artifacts/machine.json", {"device": "cpu", "workers": 1, "launcher": "python"})
    for run in runs:
        curves = curves_of(run, Path("alone", run.name))
        assert all(same_bytes(run.weights, Path("alone", run.name), seed) for seed in run.seeds)
        assert read_table(Path(run.weights, "curves.parquet"), CURVES).to_pylist() == curves
    weights = {path.read_bytes() for path in Path("group").rglob("*.safetensors")}
    assert len(weights) == 4
    times = read_json("artifacts/timing/both.json")
    assert set(times) == {"first", "second"}
    assert all(0 < seconds < 60 for seconds in times.values())


def test_adam_is_torch_s(pretrained, monkeypatch, killed_after_saving):
    """To the last bit, and from a checkpoint, too."""
    run = going_on("self_critical", settings={"samples": 3})
    expected = curves_of(run, "one")
    monkeypatch.setattr(captioners, "Adam", torch.optim.Adam)
    assert killed_after_saving(lambda: curves_of(run, "two")) == (expected, 2)
    assert same_bytes("one", "two")


def launch(name):
    """Two processes that train a group as torchrun starts them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    group = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    return [children.start("train.py", "train", name, RANK=rank, LOCAL_RANK=rank, **group) for rank in ("0", "1")]


def test_a_killed_launcher_resumes_to_the_same_bytes(pretrained):
    """Two processes, as torchrun starts them, go on from one checkpoint, each with its own random numbers."""
    for name in ("killed", "whole"):
        run = going_on("self_critical", settings={"samples": 3}, training={"epochs": 12}, weights=name)
        write_group(name, run)
    ranks = launch("killed")
    wait_until(lambda: list(Path("scratch/train-killed").glob("*/seed1_of2.safetensors")))
    for process in ranks:
        process.kill()
        process.join()
    assert not Path("killed").exists()
    for name in ("killed", "whole"):
        for process in launch(name):
            process.join(timeout=300)
            assert process.exitcode == 0
    for file in ("seed1.safetensors", "curves.parquet"):
        assert Path("killed", file).read_bytes() == Path("whole", file).read_bytes()
    # 24 images in batches of 6, twelve epochs; what it continued from travels along.
    curves = read_table("whole/curves.parquet", CURVES).to_pylist()
    assert max(row["step"] for row in curves) == 48
    assert len(values(curves, "val_cider")) == 13
    assert Path("whole/start.parquet").read_bytes() == (PRETRAINED / "curves.parquet").read_bytes()


def test_what_has_ended_is_not_trained_again(small_images, monkeypatch, command):
    """DVC may fail to record the weights, and then removes them to run the stage again."""
    write_group("group", run_config())
    command("train", "group", script=TRAIN)
    left = {path: path.read_bytes() for path in [Path("artifacts/timing/group.json"), *Path("weights").iterdir()]}
    for path in Path("weights").iterdir():
        path.unlink()
    monkeypatch.setattr(loop, "update", lambda *_: pytest.fail("trained again"))
    command("train", "group", script=TRAIN)
    assert {path: path.read_bytes() for path in left} == left
    assert read_json("artifacts/timing/group.json")["small"] > 0


def test_grids_too_large_for_memory_are_standardised_by_fewer(small_images, monkeypatch):
    run = run_config(architecture="attention", model={"hidden": 16})
    job = captioners.Job(run, 1)
    asked = []
    get = type(job.training.inputs).get
    monkeypatch.setattr(type(job.training.inputs), "get", lambda i, chosen: asked.append(len(chosen)) or get(i, chosen))
    job.begin()
    # Seven grids of 2 x 2 cells and 8 channels, in float32.
    monkeypatch.setattr("seqcap.tasks.images.FITTED_BYTES", 7 * 2 * 2 * 8 * 4 + 3)
    job.begin()
    assert asked == [24, 7]


def test_checkpoints_of_other_inputs_alone_are_not_taken_up(pretrained):
    run = going_on("token_smoothing")
    seen = {checkpoint_folder(run, {})}

    def is_new(run, code=None):
        folder, before = checkpoint_folder(run, code or {}), len(seen)
        seen.add(folder)
        return len(seen) > before

    # Neither where weights go nor which other seeds there are matters, nor when DVC wrote the same data.
    for path in Path("artifacts/image/data").iterdir():
        os.utime(path, (1, 1))
    for change in ({"weights": "elsewhere"}, {"seeds": (1, 2)}, {"paper": "other"}):
        assert not is_new(run.model_copy(update=change))
    rows = read_table("artifacts/image/data/references.parquet", REFERENCES).to_pylist()
    write_rows("artifacts/image/data/references.parquet", rows[:-1], REFERENCES)
    assert is_new(run)
    assert is_new(run.model_copy(update={"max_length": 5}))
    assert is_new(run, {"src/seqcap/training/captioners.py": "0123"})
    curves_of(run_config(training={"epochs": 1}), PRETRAINED)
    assert is_new(run)
    # A file and a folder that are read.
    Path("listener").mkdir()
    embeddings = write_embeddings(pretrained)
    reading = run.model_copy(update={"reads": {"embeddings": str(embeddings), "listener": "listener"}})
    assert is_new(reading)
    write_rows(embeddings, [{"word": "red", "vector": [1.0, 0.0]}], embeddings_schema(2))
    assert is_new(reading)
    Path("listener/seed1.safetensors").write_bytes(b"weights")
    assert is_new(reading)
    Path("listener/seed1.safetensors").write_bytes(b"other weights")
    assert is_new(reading)
    assert not is_new(reading)


def test_a_reward_that_says_nothing_is_one_line(pretrained):
    """References that share no word with what the captioner says: every caption earns 0."""
    path = Path("artifacts/image/data/references.parquet")
    rows = [row | {"tokens": ["something", "else"]} for row in read_table(path, REFERENCES).to_pylist()]
    write_rows(path, rows, REFERENCES)
    with pytest.raises(InputError, match=r"pretrain/lstm: every caption .* at step 0 earns the same reward, 0;"):
        curves_of(going_on("self_critical", settings={"samples": 3}), "out")
    curves_of(going_on("cross_entropy", reward={}), "out")


class Critic(cross_entropy.Model):
    """Cross-entropy, and a critic of images that learns on its own, faster than the captioner, and has no file."""

    def __init__(self, config, context):
        super().__init__(config, context)
        self.critic = torch.nn.Linear(*context.feature_shape, 1)

    def partners(self):
        return {"critic": Partner(self.critic, pace=3.0)}

    def forward(self, captioner, batch):
        loss, logs = super().forward(captioner, batch)
        return loss + (self.critic(batch.features) - 1).square().mean(), logs


def test_a_critic_of_an_objectives_own_has_a_pace_and_no_file(small_images, monkeypatch, killed_after_saving):
    monkeypatch.setattr(cross_entropy, "Model", Critic)
    job = captioners.Job(run_config(), 1)
    state = job.begin()
    before = state.learner.objective.critic.weight.detach().clone()
    loop.update(job, state, next(job.read(state)))
    assert [group["lr"] for group in state.optimizer.param_groups] == [0.02, 0.02 * 3]
    # Adam's first step is as long as the learning rate.
    change = (state.learner.objective.critic.weight - before).abs()
    torch.testing.assert_close(change, torch.full_like(change, 0.06), rtol=1e-3, atol=0)
    expected = curves_of(run_config(), "one")
    assert killed_after_saving(lambda: curves_of(run_config(), "two")) == (expected, 4)
    assert [path.name for path in Path("one").iterdir()] == ["seed1.safetensors"]
    assert job.context(state.learner.captioner).vocabulary_size == len(job.task.vocabulary)
    assert same_bytes("one", "two")
