"""Training retrievers: they learn, the best epoch is kept, and a run is exact to repeat and to resume."""

import os
import runpy
import sys
from pathlib import Path

import children
import numpy as np
import pytest
import torch
from small_task import write_task

from seqcap import retrieval
from seqcap.config import config_path, write_config
from seqcap.config.retrieval import RetrieverConfig
from seqcap.data.vocabulary import EOS, PAD
from seqcap.errors import InputError
from seqcap.files.json_file import read_json, write_json
from seqcap.files.parquet import read_table, write_rows
from seqcap.files.schemas import CURVES, REFERENCES
from seqcap.files.tensors import load_weights
from seqcap.retrieval.dual_encoder import Model
from seqcap.retrieval.recalls import recall_sum, recalls
from seqcap.system.scratch import forget
from seqcap.training import retrievers as retriever_training
from seqcap.training.retrievers import Job, State, begin, draw, make, scratch, update

CPU = torch.device("cpu")


def config(**changes):
    """Of `training` and `model` only what is different."""
    steps = {"epochs": 4, "batch_size": 9, "learning_rate": 0.01, "decay": 0.5, "decay_every": 3}
    values = {
        "code": {},
        "name": "listener",
        "task": "image",
        "architecture": "dual_encoder",
        "seeds": (1,),
        "evaluate_on": "test",
        "max_length": 6,
        "folder": None,
        "fingerprint": {},
        "root": "artifacts/image/data",
        "weights": "out",
    }
    values |= {"training": steps | changes.pop("training", {})}
    values |= {"model": {"embedding": 8, "hidden": 16} | changes.pop("model", {})}
    return RetrieverConfig(**(values | changes))


def made(config):
    """Makes a retriever, and forgets its checkpoints, as `seqcap repro` does once DVC has its weights."""
    curves = make(config)
    forget(Path(), "retriever@listener")
    return curves


def values(curves, quantity, seed=1):
    return [row["value"] for row in curves if row["quantity"] == quantity and row["seed"] == seed]


def same_bytes(one, two, seed=1):
    return Path(one, f"seed{seed}.safetensors").read_bytes() == Path(two, f"seed{seed}.safetensors").read_bytes()


@pytest.fixture
def task(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_task(tmp_path)
    return tmp_path


@pytest.mark.parametrize("model", [{}, {"loss": "info_nce", "temperature": 0.1}])
def test_it_learns_and_the_best_epoch_is_kept(task, model):
    curves = made(config(model=model, training={"epochs": 25}))
    sums = values(curves, "val_recall_sum")
    assert len(sums) == 26
    assert sums[0] < 5 < max(sums)
    # Look-alikes in a batch keep the loss above zero.
    assert values(curves, "train_loss")[-1] < 0.7 * values(curves, "train_loss")[0]
    retriever, metadata = retrieval.load(Path("out/seed1.safetensors"))
    assert metadata["val_recall_sum"] == max(sums[1:])
    split = retriever.pictures(task / "artifacts/image").split("val", 6)
    assert recall_sum(recalls(retriever, split, CPU)) == max(sums[1:])
    assert not Path("scratch/retriever@listener").exists()


def test_an_epoch_that_is_not_the_best_is_not_kept(task):
    """Steps far too large: the last epoch is not the best one."""
    curves = make(config(training={"epochs": 6, "learning_rate": 0.9, "decay": 1.0}))
    trained = values(curves, "val_recall_sum")[1:]
    assert trained[-1] < max(trained)
    assert retrieval.load(Path("out/seed1.safetensors"))[1]["val_recall_sum"] == max(trained)


def test_the_share_of_terms_above_zero_is_logged(task):
    active = values(make(config(training={"epochs": 12, "batch_size": 3})), "train_active")
    assert 0 < active[-1] < active[0] <= 1
    # Alone in a batch there is nothing to learn from.
    job = Job(config(), 1)
    state = begin(job)
    batch = job.training.captions(np.arange(1))[:, 0]
    assert update(job, state, job.training.inputs.get(np.arange(1)), batch) == {"train_loss": 0, "train_active": 0}


def test_the_learning_rate_decays_by_epochs(task):
    job = Job(config(), 1)
    state, rates = begin(job), []
    for _ in range(job.steps):
        update(job, state, job.training.inputs.get(np.arange(4)), job.training.captions(np.arange(4))[:, 0])
        rates.append(state.optimizer.param_groups[0]["lr"])
    # 24 images in batches of 9: three steps an epoch.
    assert rates == [0.01] * 9 + [0.005] * 3


def test_features_are_standardised_by_the_training_images(task):
    model = begin(Job(config(), 1)).model
    features = Job(config(), 1).training.inputs.get(np.arange(24))
    torch.testing.assert_close(model.feature_mean, features.mean(0))
    torch.testing.assert_close(model.feature_scale, 1 / features.std(0))


def test_each_caption_of_an_image_is_as_likely_and_a_missing_one_never_drawn():
    captions = torch.tensor([[[5, EOS], [6, EOS], [7, EOS]], [[8, EOS], [PAD, PAD], [9, EOS]]])
    rng = np.random.default_rng(0)
    drawn = torch.stack([draw(captions, rng) for _ in range(3000)])
    assert drawn.shape == (3000, 2, 2)
    shares = [torch.bincount(drawn[:, i, 0], minlength=10) / 3000 for i in range(2)]
    np.testing.assert_allclose(shares[0][[5, 6, 7]], 1 / 3, atol=0.04)
    np.testing.assert_allclose(shares[1][[8, 9]], 1 / 2, atol=0.04)
    assert shares[1][PAD] == 0


def test_a_step_has_one_caption_of_every_image_and_no_image_twice(task, monkeypatch):
    seen, original = [], update

    def spy(job, state, features, captions):
        seen.append((features, captions))
        return original(job, state, features, captions)

    monkeypatch.setattr(retriever_training, "update", spy)
    make(config(training={"epochs": 8}))
    assert [len(captions) for _, captions in seen] == [9, 9, 6] * 8
    epochs = [torch.cat([features for features, _ in seen[i : i + 3]]) for i in range(0, 24, 3)]
    assert all(len(epoch.unique(dim=0)) == 24 for epoch in epochs)
    # Both captions of an image come up, and its own alone: "a", "the" come first.
    firsts = {}
    for features, captions in seen:
        for feature, caption in zip(features.tolist(), captions.tolist(), strict=True):
            firsts.setdefault(tuple(feature), set()).add(tuple(caption))
    assert len(firsts) == 24
    assert {len({caption[0] for caption in drawn}) for drawn in firsts.values()} == {2}


def die_after_each_save(patch):
    original = State.save

    def save_and_die(state, path):
        original(state, path)
        raise KeyboardInterrupt

    patch.setattr(State, "save", save_and_die)


@pytest.mark.parametrize("every_step", [False, True])
def test_an_interrupted_run_resumes_to_the_same_bytes(task, monkeypatch, every_step):
    """Killed at the end of every epoch; or at every step, before the first epoch's end, too."""
    if every_step:
        monkeypatch.setattr(retriever_training, "CHECKPOINT_SECONDS", -1)
        monkeypatch.setattr(retriever_training, "LOG_STEPS", 1)
    expected = made(config(weights="one"))
    saves = 0
    with monkeypatch.context() as patch:
        die_after_each_save(patch)
        while not Path("two/seed1.safetensors").exists():
            try:
                assert made(config(weights="two")) == expected
            except KeyboardInterrupt:
                saves += 1
                os.chdir(task)
    assert saves == (12 if every_step else 4)
    assert same_bytes("one", "two")
    assert made(config(weights="three")) == expected
    assert same_bytes("one", "three")


def test_seeds_side_by_side_are_those_one_by_one_and_the_stage_measures_them(task, monkeypatch):
    both = config(seeds=(1, 2), weights="both")
    write_config(config_path("retriever", "listener"), both)
    write_json("artifacts/machine.json", {"device": "cpu", "workers": 2, "launcher": "python"})
    monkeypatch.setattr(sys, "argv", ["retriever.py", "listener"])
    runpy.run_path(str(children.STAGES / "retriever.py"), run_name="__main__")
    curves = read_table("both/curves.parquet", CURVES).to_pylist()
    forget(Path(), "retriever@listener")
    assert curves == [row for seed in (1, 2) for row in made(config(seeds=(seed,), weights=f"alone{seed}"))]
    assert all(same_bytes("both", f"alone{seed}", seed) for seed in (1, 2))
    assert Path("both/seed1.safetensors").read_bytes() != Path("both/seed2.safetensors").read_bytes()
    measured = read_json("both/recalls.json")
    assert {name: measured[name] for name in ("split", "images", "captions")} == {
        "split": "test",
        "images": 6,
        "captions": 12,
    }
    for seed in (1, 2):
        retriever, _ = retrieval.load(Path(f"both/seed{seed}.safetensors"))
        split = retriever.pictures(task / "artifacts/image").split("test", 6)
        assert measured["seeds"][str(seed)] == recalls(retriever, split, CPU)


def test_what_has_ended_is_not_trained_again(task, monkeypatch):
    """DVC may fail to record the weights, and then removes them to run the stage again."""
    expected = make(config())
    weights = Path("out/seed1.safetensors").read_bytes()
    Path("out/seed1.safetensors").unlink()
    monkeypatch.setattr(retriever_training, "update", lambda *_: pytest.fail("trained again"))
    assert make(config()) == expected
    assert Path("out/seed1.safetensors").read_bytes() == weights


def test_checkpoints_are_of_everything_that_weights_depend_on(task):
    same = [config(), config(weights="x"), config(seeds=(1, 2)), config(evaluate_on="val")]
    other = [config(max_length=5), config(model={"loss": "info_nce"}), config(training={"epochs": 5})]
    other += [config(code={"src/seqcap/retrieval/losses.py": "0123"})]
    assert len({scratch(a) for a in same}) == 1
    assert len({scratch(a) for a in [config(), *other]}) == 5
    before = scratch(config())
    rows = read_table("artifacts/image/data/references.parquet", REFERENCES).to_pylist()
    write_rows("artifacts/image/data/references.parquet", rows[:-1], REFERENCES)
    assert scratch(config()) != before


def test_a_task_without_captions_to_validate_on_is_one_line(task):
    path = Path("artifacts/image/data/references.parquet")
    rows = [row for row in read_table(path, REFERENCES).to_pylist() if row["split"] != "val"]
    write_rows(path, rows, REFERENCES)
    with pytest.raises(InputError, match="no captions in split 'val'"):
        make(config())


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda terms: terms * float("nan"), "the loss is nan at step 6"),
        # A finite loss, whose gradient is NaN.
        (lambda terms: terms + (0 * terms).abs().sqrt(), "the size of its weights is nan at step 6"),
    ],
)
def test_what_is_not_finite_stops_a_run_and_its_last_good_state_stays(task, monkeypatch, change, problem):
    original, calls = Model.loss, []

    def loss(model, images, captions):
        calls.append(images)
        terms = original(model, images, captions)
        return tuple(change(term) for term in terms) if len(calls) == 6 else terms

    monkeypatch.setattr(Model, "loss", loss)
    with pytest.raises(InputError, match=f"^listener seed 1: {problem}; lower its learning_rate"):
        make(config())
    assert not Path("out").exists()
    [checkpoint] = Path("scratch/retriever@listener").rglob("*.safetensors")
    assert load_weights(checkpoint)[1]["at"] == 3
