"""The training loop: it learns, it is exact to repeat and to resume, and it keeps a second process out."""

import os
import runpy
import socket
import subprocess
import sys
from itertools import islice
from pathlib import Path

import children
import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from small_checkout import wait_until
from small_task import (
    STAGE,
    run_config,
    train_group,
    translation_config,
    write_embeddings,
    write_translation_task,
)

from seqcap import objectives
from seqcap.config import config_path, write_config
from seqcap.config.training import TrainConfig
from seqcap.errors import InputError
from seqcap.features.store import FeatureStore
from seqcap.files.json_file import read_json, write_json
from seqcap.files.parquet import read_table, write_rows
from seqcap.files.schemas import CURVES, REFERENCES, embeddings_schema
from seqcap.models import load
from seqcap.objectives import cross_entropy
from seqcap.objectives.base import Partner
from seqcap.system.scratch import checkpoints
from seqcap.training import captioners, loop
from seqcap.training.captioners import checkpoint_folder

PRETRAINED = Path("artifacts/pretrain/lstm")
SHORT = {"epochs": 2, "batch_size": 6, "learning_rate": 0.005, "dropout": 0.0, "decay": 1.0, "decay_every": 1}


def curves_of(run, folder):
    """Trains one run into a folder; its seeds' learning curves."""
    [trained] = train_group(run.model_copy(update={"weights": str(folder)}))
    return [row for seed in trained for row in seed.curves]


def write_group(name, *runs):
    """The configuration of a group of runs."""
    write_config(config_path("train", name), TrainConfig(runs=runs, code={}))


def run_stage(monkeypatch, *arguments):
    """stages/train.py in this process."""
    monkeypatch.setattr(sys, "argv", [str(children.STAGES / "train.py"), *arguments])
    runpy.run_path(sys.argv[0], run_name="__main__")


def same_bytes(one, two, seed=1):
    return Path(one, f"seed{seed}.safetensors").read_bytes() == Path(two, f"seed{seed}.safetensors").read_bytes()


@pytest.fixture
def pretrained(task):
    curves = curves_of(run_config(training={"epochs": 8}), PRETRAINED)
    write_rows(PRETRAINED / "curves.parquet", curves, CURVES)
    return task


def values(curves, quantity):
    return [row["value"] for row in curves if row["quantity"] == quantity]


def going_on(objective, **changes):
    """A run that goes on from the pretrained captioner, for a short time."""
    shortly = SHORT | changes.pop("training", {})
    return run_config(name=objective, objective=objective, training=shortly, start=str(PRETRAINED), **changes)


def test_cross_entropy_learns_the_task_and_the_best_epoch_is_kept(task):
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
        ("maximum_entropy", {"samples": 3, "entropy_weight": 0.01}),
        ("sequence_exploration", {"samples": 3, "alpha": 0.75}),
        ("rollout_policy_gradient", {"paths": 3, "baseline_steps": 20, "baseline_hidden": 16}),
        ("mixer", {"epochs_per_stage": 5}),
    ],
)
def test_every_objective_raises_the_reward_from_where_cross_entropy_left_it(pretrained, objective, settings):
    longer = {"epochs": 50, "learning_rate": 0.01}
    curves = curves_of(going_on(objective, settings=settings, training=longer), "out")
    steps = [row["step"] for row in curves if row["quantity"] == "train_reward"]
    assert steps[0] == 0
    assert values(curves, "val_cider")[0] == load(PRETRAINED / "seed1.safetensors")[1]["val_cider"]
    assert np.mean(values(curves, "train_reward")[-10:]) > 1.3 * values(curves, "train_reward")[0]


@pytest.mark.parametrize(
    ("objective", "settings"),
    [
        ("entropy_regularised", {"gamma": 0.05}),
        ("token_smoothing", {"tau": 0.2, "beta": 0.1}),
        ("sequence_smoothing", {"tau": 0.5, "reward": "mixture", "reward_temperature": 1.0}),
        ("token_sequence_smoothing", {"token": {"tau": 0.2}, "sequence": {"tau": 0.5, "substitutes": "references"}}),
    ],
)
def test_smoothed_cross_entropy_learns_the_task(task, objective, settings):
    reads = {"embeddings": str(write_embeddings(task))}
    curves = curves_of(run_config(objective=objective, settings=settings, training={"epochs": 25}, reads=reads), "out")
    assert max(values(curves, "val_cider")) > 2.5
    assert values(curves, "train_loss")[-1] < 0.6 * values(curves, "train_loss")[0]


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


def test_what_training_spoils_is_not_replaced_by_what_it_started_from(pretrained):
    spoilt = going_on("cross_entropy", training={"learning_rate": 0.5})
    start, *trained = values(curves_of(spoilt, "out"), "val_cider")
    assert start > max(trained)
    assert load(Path("out/seed1.safetensors"))[1]["val_cider"] == max(trained)


def test_rewards_of_any_sign_select_an_epoch(pretrained):
    """All scores are far below zero, and the best of them is not the last."""
    run = going_on("cross_entropy", reward={"cider": -5.0}, training={"epochs": 4, "learning_rate": 0.05})
    curves = curves_of(run, "out")
    start, *trained = values(curves, "val_reward")
    assert max(start, *trained) < -1
    assert max(trained) > trained[-1]
    weights, metadata = load(Path("out/seed1.safetensors"))
    assert metadata["val_reward"] == max(trained)
    assert "val_cider" not in metadata
    before, _ = load(PRETRAINED / "seed1.safetensors")
    assert (weights.output.weight != before.output.weight).any()
    assert values(curves, "train_reward")[0] < 0


def test_an_objective_may_keep_the_last_epoch(pretrained, monkeypatch):
    monkeypatch.setattr(objectives.model_class("cross_entropy"), "keeps_last", True)
    run = going_on("cross_entropy", reward={"cider": -5.0}, training={"epochs": 4, "learning_rate": 0.05})
    _, *trained = values(curves_of(run, "out"), "val_reward")
    assert max(trained) > trained[-1]
    assert load(Path("out/seed1.safetensors"))[1]["val_reward"] == trained[-1]


def test_no_epochs_copy_the_pretrained_captioner(pretrained):
    curves_of(going_on("cross_entropy", reward={"cider": -5.0}, training={"epochs": 0}), "out")
    before, _ = load(PRETRAINED / "seed1.safetensors")
    after, metadata = load(Path("out/seed1.safetensors"))
    assert all((before.state_dict()[k] == v).all() for k, v in after.state_dict().items())
    assert metadata["val_reward"] < -1


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


def test_a_run_resumes_from_before_its_first_epochs_end(task, monkeypatch, killed_after_saving):
    """Nothing is kept yet at that point."""
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1)
    monkeypatch.setattr(loop, "LOG_STEPS", 2)
    expected = curves_of(run_config(), "one")
    assert killed_after_saving(lambda: curves_of(run_config(), "two")) == (expected, 12)
    assert same_bytes("one", "two")


@pytest.fixture(params=[None, 12])
def translation(request, tmp_path, monkeypatch):
    """A translation task, by words and by subwords."""
    monkeypatch.chdir(tmp_path)
    write_translation_task(tmp_path, request.param)
    return tmp_path


def test_a_translator_learns_and_the_best_epoch_is_kept(translation):
    curves = curves_of(translation_config(training={"epochs": 25}), "out")
    assert values(curves, "val_bleu")[0] < 0.1
    assert max(values(curves, "val_bleu")) > 0.8
    assert not values(curves, "val_cider")
    assert load(Path("out/seed1.safetensors"))[1]["val_bleu"] == max(values(curves, "val_bleu"))


@pytest.mark.parametrize(
    ("objective", "settings"),
    [
        ("token_sequence_smoothing", {"token": {"tau": 0.2}, "sequence": {"tau": 0.5, "substitutes": "batch"}}),
        ("self_critical", {"samples": 3}),
    ],
)
def test_both_kinds_of_objective_train_a_translator(tmp_path, monkeypatch, objective, settings):
    monkeypatch.chdir(tmp_path)
    write_translation_task(tmp_path)
    start = Path("artifacts/pretrain/translator")
    curves_of(translation_config(training={"epochs": 6}), start)
    run = translation_config(
        objective=objective,
        settings=settings,
        reward={"bleu4": 1.0},
        reads={"embeddings": str(write_embeddings(tmp_path, "de_en"))},
        start=str(start),
        training=SHORT | {"epochs": 20},
    )
    curves = curves_of(run, "out")
    assert values(curves, "val_bleu")[0] == load(start / "seed1.safetensors")[1]["val_bleu"]
    losses, rewards = values(curves, "train_loss"), values(curves, "train_reward")
    if objective == "self_critical":
        assert np.mean(rewards[-5:]) > 1.3 * np.mean(rewards[:5])
    else:
        assert np.mean(losses[-5:]) < 0.85 * np.mean(losses[:5])


def test_a_translator_resumes_to_the_same_bytes(translation, killed_after_saving):
    run = translation_config()
    expected = curves_of(run, "one")
    assert killed_after_saving(lambda: curves_of(run, "two")) == (expected, 4)
    assert same_bytes("one", "two")


def test_runs_and_seeds_side_by_side_are_those_one_by_one(task, monkeypatch):
    """The stage script on a group: every run of it as if it were alone, and how long its epochs take."""
    runs = [run_config(name=name, weights=f"group/{name}", seeds=(1, 2)) for name in ("first", "second")]
    runs[1] = runs[1].model_copy(update={"model": {"hidden": 12, "image_input": "initial_state"}})
    write_group("both", *runs)
    write_json("artifacts/machine.json", {"device": "cpu", "workers": 2, "launcher": "python"})
    run_stage(monkeypatch, "train", "both")
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


def test_training_starts_without_torch_s_compiler(pretrained):
    """To import it takes a second, and torch's own Adam does."""
    code = (
        "import sys; from small_task import run_config, train_group\n"
        f"train_group(run_config(weights='out', start={str(PRETRAINED)!r}, training={{'epochs': 1}}))\n"
        "print('torch._dynamo' in sys.modules)"
    )
    paths = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    output = subprocess.check_output([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": paths}, text=True)
    assert output == "False\n"


def test_adam_is_torch_s(pretrained, monkeypatch, killed_after_saving):
    """To the last bit, and from a checkpoint, too."""
    run = going_on("self_critical", settings={"samples": 3})
    expected = curves_of(run, "one")
    monkeypatch.setattr(captioners, "Adam", torch.optim.Adam)
    assert killed_after_saving(lambda: curves_of(run, "two")) == (expected, 2)
    assert same_bytes("one", "two")


def test_kill_9_and_run_again(task, monkeypatch):
    """The stage script, killed without warning after its first checkpoint, ends where an undisturbed one does."""
    for name in ("killed", "whole"):
        write_group(name, run_config(training={"epochs": 60}, weights=name))
    process = children.start("train.py", "train", "killed")
    wait_until(lambda: list(Path("scratch/train@killed").glob("*/*.safetensors")))
    process.kill()
    process.join()
    assert not Path("killed").exists()
    assert list(Path("scratch/train@killed").glob("*/*.safetensors"))
    for name in ("killed", "whole"):
        run_stage(monkeypatch, "train", name)
    for file in ("seed1.safetensors", "curves.parquet"):
        assert Path("killed", file).read_bytes() == Path("whole", file).read_bytes()


def launch(name):
    """Two processes that train a group as torchrun starts them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    group = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    return [children.start("train.py", "train", name, RANK=rank, LOCAL_RANK=rank, **group) for rank in ("0", "1")]


def test_two_processes_of_a_launcher_train_one_captioner(pretrained):
    """As torchrun starts them: each samples for its share of the batch, and their gradients are averaged."""
    write_group("group", going_on("self_critical", settings={"samples": 3}, weights="out"))
    for process in launch("group"):
        process.join(timeout=300)
        assert process.exitcode == 0
    curves = read_table("out/curves.parquet", CURVES).to_pylist()
    # 24 images in batches of 6, two epochs; one process writes, once.
    assert max(row["step"] for row in curves) == 8
    assert len(values(curves, "val_cider")) == 3
    # What it continued from travels along.
    assert Path("out/start.parquet").read_bytes() == (PRETRAINED / "curves.parquet").read_bytes()
    assert load(Path("out/seed1.safetensors"))[1]["val_cider"] == max(values(curves, "val_cider")[1:])


def test_a_killed_launcher_resumes_to_the_same_bytes(pretrained):
    """Its processes go on from one checkpoint, each with its own random numbers."""
    for name in ("killed", "whole"):
        run = going_on("self_critical", settings={"samples": 3}, training={"epochs": 12}, weights=name)
        write_group(name, run)
    ranks = launch("killed")
    wait_until(lambda: list(Path("scratch/train@killed").glob("*/seed1_of2.safetensors")))
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


def test_a_launcher_is_given_the_whole_command(task):
    write_json("artifacts/machine.json", {"device": "cpu", "workers": 1, "launcher": "echo --nproc-per-node=2"})
    process = children.start("train.py", "train", "group", output="said.txt")
    process.join(timeout=300)
    assert Path("said.txt").read_text() == f"--nproc-per-node=2 {children.STAGES / 'train.py'} train group\n"


def test_what_has_ended_is_not_trained_again(task, monkeypatch):
    """DVC may fail to record the weights, and then removes them to run the stage again."""
    write_group("group", run_config())
    run_stage(monkeypatch, "train", "group")
    left = {path: path.read_bytes() for path in [Path("artifacts/timing/group.json"), *Path("weights").iterdir()]}
    for path in Path("weights").iterdir():
        path.unlink()
    monkeypatch.setattr(loop, "update", lambda *_: pytest.fail("trained again"))
    run_stage(monkeypatch, "train", "group")
    assert {path: path.read_bytes() for path in left} == left
    assert read_json("artifacts/timing/group.json")["small"] > 0


@pytest.mark.parametrize("architecture", ["lstm", "attention"])
def test_features_that_are_not_held_in_memory_train_the_same(task, monkeypatch, architecture):
    model = {"hidden": 16, "image_input": "every_step"} if architecture == "lstm" else {"hidden": 16}
    run = run_config(architecture=architecture, model=model)
    for path in Path("artifacts/image/features").iterdir():
        pq.write_table(pq.read_table(path), path, row_group_size=5)
    expected = curves_of(run, "held")
    monkeypatch.setattr(FeatureStore.__init__, "__defaults__", (0,))
    held = []
    read = FeatureStore._read
    monkeypatch.setattr(
        FeatureStore,
        "_read",
        lambda store, group: held.append(store._group.cache_info().currsize) or read(store, group),
    )
    assert curves_of(run, "streamed") == expected
    assert same_bytes("held", "streamed")
    assert len(held) > 50
    assert max(held) == 1


def test_grids_too_large_for_memory_are_standardised_by_fewer(task, monkeypatch):
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


def test_checkpoints_of_other_inputs_are_not_taken_up(pretrained):
    run = going_on("token_smoothing")
    seen = {checkpoint_folder(run, {})}

    def is_new(run, code=None):
        folder = checkpoint_folder(run, code or {})
        before = len(seen)
        seen.add(folder)
        return len(seen) > before

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


def test_checkpoints_are_taken_up_where_no_weight_changes(task):
    """Neither a label nor how captions are decoded is part of a run."""
    run = run_config()
    for change in ({"weights": "elsewhere"}, {"seeds": (1, 2)}, {"paper": "other"}):
        assert checkpoint_folder(run.model_copy(update=change), {}) == checkpoint_folder(run, {})
    assert not {"label", "decoded", "beam", "samples"} & set(type(run).model_fields)
    # DVC made the same data again.
    before = checkpoint_folder(run, {})
    for path in Path("artifacts/image/data").iterdir():
        os.utime(path, (1, 1))
    assert checkpoint_folder(run, {}) == before


def test_a_reward_that_says_nothing_is_one_line(pretrained):
    """References that share no word with what the captioner says: every caption earns 0."""
    path = Path("artifacts/image/data/references.parquet")
    rows = [row | {"tokens": ["something", "else"]} for row in read_table(path, REFERENCES).to_pylist()]
    write_rows(path, rows, REFERENCES)
    with pytest.raises(InputError, match=r"pretrain/lstm: every caption .* at step 0 earns the same reward, 0;"):
        curves_of(going_on("self_critical", settings={"samples": 3}), "out")
    curves_of(going_on("cross_entropy", reward={}), "out")


def test_meteor_without_its_paraphrases_is_one_line(task):
    with pytest.raises(InputError, match=r"paraphrases: are not read, but the reward has meteor; .*reads?"):
        curves_of(run_config(reward={"meteor": 1.0}), "out")


def test_an_empty_split_is_one_line(task):
    path = Path("artifacts/image/data/references.parquet")
    rows = [row for row in read_table(path, REFERENCES).to_pylist() if row["split"] != "val"]
    write_rows(path, rows, REFERENCES)
    with pytest.raises(InputError, match="no captions in split 'val'"):
        curves_of(run_config(), "out")


def test_weights_of_something_else_are_one_line(task):
    from seqcap.files.tensors import save_weights

    save_weights("encoder.safetensors", {}, {"backbone": "resnet18"})
    with pytest.raises(InputError, match="holds no captioner"):
        load(Path("encoder.safetensors"))


def test_an_objective_sees_what_the_run_reads_and_the_sizes_of_networks(task):
    job = captioners.Job(run_config(reads={"listener": "listener"}), 1)
    context = job.context(job.begin().learner.captioner)
    assert context.reads == {"listener": Path("listener")}
    assert context.embeddings is None
    assert context.feature_shape == job.training.inputs.get(np.arange(1)).shape[1:]
    assert context.vocabulary_size == len(job.task.vocabulary)


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


def test_a_critic_of_an_objectives_own_has_a_pace_and_no_file(task, monkeypatch, killed_after_saving):
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
    assert same_bytes("one", "two")
