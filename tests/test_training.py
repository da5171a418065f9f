"""The training loop: it learns, it is exact to repeat and to resume, and it keeps a second process out."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from small_task import WORDS, run_config, translation_config, write_task, write_translation_task

from seqcap import training
from seqcap.artifacts import CURVES, REFERENCES, embeddings_schema, read_table, write_json, write_rows
from seqcap.errors import InputError
from seqcap.models import load
from seqcap.training import Run, locked, scratch, train, train_all

ROOT = Path(__file__).parents[1]
PRETRAINED = Path("artifacts/image/pretrain/lstm")
SHORT = {
    "epochs": 2,
    "batch_size": 6,
    "learning_rate": 0.005,
    "dropout": 0.0,
    "decay": 1.0,
    "decay_every": 1,
    "beta1": 0.9,
    "clip": 5.0,
}


def curves_of(config, folder):
    """Trains one variant; its seeds' learning curves."""
    [trained] = train_all([config | {"weights": str(folder)}])
    return [row for seed in trained for row in seed.curves]


@pytest.fixture
def task(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_task(tmp_path)
    return tmp_path


@pytest.fixture
def pretrained(task):
    curves_of(run_config(training=run_config()["training"] | {"epochs": 8}), PRETRAINED)
    return task


def values(curves, quantity):
    return [row["value"] for row in curves if row["quantity"] == quantity]


def variant(objective, **settings):
    return run_config(
        variant=objective,
        objective=objective,
        settings=settings,
        training=SHORT,
        start_from=str(PRETRAINED),
    )


def test_cross_entropy_learns_the_task(task):
    longer = run_config()["training"] | {"epochs": 25}
    curves = curves_of(run_config(training=longer), Path("out"))
    assert values(curves, "val_cider")[0] < 1
    assert max(values(curves, "val_cider")) > 3
    assert values(curves, "train_loss")[-1] < 0.5 * values(curves, "train_loss")[0]
    assert not any(Path("scratch").iterdir())


def test_the_best_epoch_on_val_is_kept(task):
    curves = curves_of(run_config(), Path("out"))
    assert load(Path("out/seed1.safetensors"))[1]["val_cider"] == max(values(curves, "val_cider"))


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
    longer = SHORT | {"epochs": 50, "learning_rate": 0.01}
    curves = curves_of(variant(objective, **settings) | {"training": longer}, Path("out"))
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
    write_embeddings(Path("embeddings.parquet"))
    longer = run_config()["training"] | {"epochs": 25}
    config = run_config(objective=objective, settings=settings, training=longer, embeddings="embeddings.parquet")
    curves = curves_of(config, Path("out"))
    assert max(values(curves, "val_cider")) > 2.5
    assert values(curves, "train_loss")[-1] < 0.6 * values(curves, "train_loss")[0]


def write_embeddings(path):
    """Colours near colours, animals near animals."""
    rng = np.random.default_rng(0)
    vectors = np.repeat(np.eye(2), 3, axis=0) + rng.normal(0, 0.1, (6, 2))
    rows = [{"word": word, "vector": vector} for word, vector in zip(WORDS, vectors.tolist(), strict=True)]
    write_rows(path, rows, embeddings_schema(2))


def test_what_training_spoils_is_not_replaced_by_what_it_started_from(pretrained):
    spoilt = variant("cross_entropy") | {"training": SHORT | {"epochs": 2, "learning_rate": 0.5}}
    start, *trained = values(curves_of(spoilt, Path("out")), "val_cider")
    assert start > max(trained)
    assert load(Path("out/seed1.safetensors"))[1]["val_cider"] == max(trained)


def test_no_epochs_copy_the_pretrained_captioner(pretrained):
    config = variant("cross_entropy") | {"training": SHORT | {"epochs": 0}}
    curves_of(config, Path("out"))
    before, _ = load(PRETRAINED / "seed1.safetensors")
    after, _ = load(Path("out/seed1.safetensors"))
    assert all((before.state_dict()[k] == v).all() for k, v in after.state_dict().items())


def test_two_runs_give_the_same_bytes(pretrained):
    config = variant("sequence_exploration", samples=3)
    curves = [curves_of(config, Path(name)) for name in ("one", "two")]
    assert curves[0] == curves[1]
    assert Path("one/seed1.safetensors").read_bytes() == Path("two/seed1.safetensors").read_bytes()


@pytest.mark.parametrize(
    ("objective", "settings"),
    [
        ("self_critical", {"samples": 3}),
        # These have a part of their own that learns, and a schedule.
        ("rollout_policy_gradient", {"baseline_steps": 6}),
        ("mixer", {"epochs_per_stage": 1}),
    ],
)
def test_an_interrupted_run_resumes_to_the_same_bytes(pretrained, monkeypatch, objective, settings):
    config = variant(objective, **settings)
    expected = curves_of(config, Path("one"))
    saves = []

    def save_and_die(run, path):
        original(run, path)
        saves.append(path)
        raise KeyboardInterrupt

    original = Run.save
    monkeypatch.setattr(Run, "save", save_and_die)
    with pytest.raises(KeyboardInterrupt):
        curves_of(config, Path("two"))
    assert saves[0].exists()
    assert not Path("two/seed1.safetensors").exists()
    monkeypatch.undo()
    os.chdir(pretrained)
    resumed = curves_of(config, Path("two"))
    assert resumed == expected
    assert Path("one/seed1.safetensors").read_bytes() == Path("two/seed1.safetensors").read_bytes()


@pytest.fixture(params=[None, 12])
def translation(request, tmp_path, monkeypatch):
    """A translation task, by words and by subwords."""
    monkeypatch.chdir(tmp_path)
    write_translation_task(tmp_path, request.param)
    return tmp_path


def test_a_translator_learns_and_the_best_epoch_is_kept(translation):
    longer = run_config()["training"] | {"epochs": 25}
    curves = curves_of(translation_config(training=longer), Path("out"))
    assert values(curves, "val_bleu")[0] < 0.1
    assert max(values(curves, "val_bleu")) > 0.8
    assert not values(curves, "val_cider")
    assert load(Path("out/seed1.safetensors"))[1]["val_bleu"] == max(values(curves, "val_bleu"))


@pytest.mark.parametrize(
    ("objective", "settings"),
    [
        ("entropy_regularised", {"gamma": 0.05}),
        ("token_smoothing", {"tau": 0.2}),
        ("sequence_smoothing", {"tau": 0.5, "reward": "mixture", "substitutes": "references"}),
        ("token_sequence_smoothing", {"token": {"tau": 0.2}, "sequence": {"tau": 0.5, "substitutes": "batch"}}),
        ("self_critical", {"samples": 3}),
    ],
)
def test_every_kind_of_objective_trains_a_translator(tmp_path, monkeypatch, objective, settings):
    monkeypatch.chdir(tmp_path)
    write_translation_task(tmp_path)
    words = ["red", "green", "blue", "dog", "cat", "bird"]
    rows = [{"word": w, "vector": v} for w, v in zip(words, np.repeat(np.eye(2), 3, axis=0).tolist(), strict=True)]
    write_rows(Path("embeddings.parquet"), rows, embeddings_schema(2))
    start = Path("artifacts/de_en/pretrain/translator")
    curves_of(translation_config(training=run_config()["training"] | {"epochs": 6}), start)
    config = translation_config(
        objective=objective,
        settings=settings,
        reward={"bleu4": 1.0},
        embeddings="embeddings.parquet",
        start_from=str(start),
        training=SHORT | {"epochs": 20},
    )
    curves = curves_of(config, Path("out"))
    assert values(curves, "val_bleu")[0] == load(start / "seed1.safetensors")[1]["val_bleu"]
    losses, rewards = values(curves, "train_loss"), values(curves, "train_reward")
    if objective == "self_critical":
        assert np.mean(rewards[-5:]) > 1.3 * np.mean(rewards[:5])
    else:
        assert np.mean(losses[-5:]) < 0.7 * np.mean(losses[:5])


def test_a_translator_resumes_to_the_same_bytes(translation, monkeypatch):
    config = translation_config()
    expected = curves_of(config, Path("one"))
    original = Run.save

    def save_and_die(run, path):
        original(run, path)
        raise KeyboardInterrupt

    monkeypatch.setattr(Run, "save", save_and_die)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            curves_of(config, Path("two"))
    monkeypatch.undo()
    os.chdir(translation)
    assert curves_of(config, Path("two")) == expected
    assert Path("one/seed1.safetensors").read_bytes() == Path("two/seed1.safetensors").read_bytes()


def test_seeds_side_by_side_are_the_seeds_one_by_one(task):
    config = run_config(seeds=[1, 2])
    one = curves_of(config, Path("one"))
    write_json("artifacts/machine.json", {"device": "cpu", "workers": 2, "launcher": "python"})
    two = curves_of(config, Path("two"))
    assert one == two
    for seed in (1, 2):
        name = f"seed{seed}.safetensors"
        assert Path("one", name).read_bytes() == Path("two", name).read_bytes()
    assert Path("one/seed1.safetensors").read_bytes() != Path("one/seed2.safetensors").read_bytes()


def test_kill_9_and_run_again(task):
    """The stage script, killed without warning after its first checkpoint, ends where an undisturbed one does."""
    longer = run_config()["training"] | {"epochs": 60}
    for name in ("killed", "whole"):
        write_json(f"{name}.json", run_config(training=longer, weights=name))
    command = [sys.executable, str(ROOT / "stages/train.py")]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    process = subprocess.Popen([*command, "killed.json"], env=environment, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not list(Path("scratch").glob("*/*.safetensors")):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not Path("killed").exists()
    for name in ("killed", "whole"):
        subprocess.run([*command, f"{name}.json"], env=environment, check=True, capture_output=True)
    for file in ("seed1.safetensors", "curves.parquet"):
        assert Path("killed", file).read_bytes() == Path("whole", file).read_bytes()


def test_two_processes_of_a_launcher_train_one_captioner(pretrained):
    """torchrun with gloo: each rank samples for its share of the batch, and their gradients are averaged."""
    write_json("config.json", variant("self_critical", samples=3) | {"weights": "out"})
    write_json(
        "artifacts/machine.json",
        {"device": "cpu", "workers": 1, "launcher": f"{sys.executable} -m torch.distributed.run --nproc-per-node=2"},
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, str(ROOT / "stages/train.py"), "config.json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    curves = read_table("out/curves.parquet", CURVES).to_pylist()
    # 24 images in batches of 6, two epochs; one process writes, once.
    assert max(row["step"] for row in curves) == 8
    assert len(values(curves, "val_cider")) == 3
    assert load(Path("out/seed1.safetensors"))[1]["val_cider"] == max(values(curves, "val_cider"))


def test_a_run_that_is_going_on_is_not_joined(task, monkeypatch):
    monkeypatch.setattr(training, "LOCK_SECONDS", 0)
    kept = scratch(run_config())
    with locked(kept / "seed1_rank0.lock"), pytest.raises(InputError, match="being trained already"):
        train(run_config(), 1, Path("out/seed1.safetensors"), kept)


def test_checkpoints_of_other_inputs_are_not_taken_up(task):
    config = run_config()
    before = scratch(config)
    rows = read_table("artifacts/image/data/references.parquet", REFERENCES).to_pylist()
    write_rows("artifacts/image/data/references.parquet", rows[:-1], REFERENCES)
    assert scratch(config) != before
    assert scratch(config | {"max_length": 5}) != scratch(config)
    write_embeddings(Path("embeddings.parquet"))
    with_embeddings = config | {"embeddings": "embeddings.parquet"}
    before = scratch(with_embeddings)
    write_rows(Path("embeddings.parquet"), [{"word": "red", "vector": [1.0, 0.0]}], embeddings_schema(2))
    assert scratch(with_embeddings) != before


def test_a_policy_without_reward_is_one_line(pretrained):
    """References that share no word with what the captioner says: the document frequencies do not match."""
    path = Path("artifacts/image/data/references.parquet")
    rows = [row | {"tokens": ["something", "else"]} for row in read_table(path, REFERENCES).to_pylist()]
    write_rows(path, rows, REFERENCES)
    with pytest.raises(InputError, match="no reward at step 0"):
        curves_of(variant("self_critical", samples=3), Path("out"))


def test_an_empty_split_is_one_line(task):
    path = Path("artifacts/image/data/references.parquet")
    rows = [row for row in read_table(path, REFERENCES).to_pylist() if row["split"] != "val"]
    write_rows(path, rows, REFERENCES)
    with pytest.raises(InputError, match="no captions in split 'val'"):
        curves_of(run_config(), Path("out"))


def test_weights_of_something_else_are_one_line(task):
    from seqcap.artifacts import save_weights

    save_weights("encoder.safetensors", {}, {"backbone": "resnet18"})
    with pytest.raises(InputError, match="holds no captioner"):
        load(Path("encoder.safetensors"))


def test_variants_train_side_by_side_to_the_same_bytes_as_alone(pretrained):
    """A group: every run of it as if it were alone, and how long its epochs take."""
    configs = [variant("self_critical", samples=s) | {"variant": f"s{s}", "weights": f"group/s{s}"} for s in (2, 3)]
    write_json("artifacts/machine.json", {"device": "cpu", "workers": 2, "launcher": "python"})
    write_json("group.json", {"runs": configs})
    command = [sys.executable, str(ROOT / "stages/train.py"), "group.json", "timing.json"]
    subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT / "src")}, check=True, capture_output=True)
    for config in configs:
        curves_of(config, Path("alone") / config["variant"])
        weights = Path(config["weights"]) / "seed1.safetensors"
        assert weights.read_bytes() == (Path("alone") / config["variant"] / "seed1.safetensors").read_bytes()
        assert read_table(weights.with_name("curves.parquet"), CURVES).num_rows > 0
    times = json.loads(Path("timing.json").read_text())
    assert set(times) == {"s2", "s3"}
    assert all(0 < time["seconds_per_epoch"] < 60 for time in times.values())
