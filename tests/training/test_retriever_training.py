"""Training retrievers: they learn, the best epoch is kept, and a run is exact to repeat and to resume."""

from pathlib import Path
from types import SimpleNamespace

import children
import numpy as np
import pytest
import torch
from small_task import retriever_config as config
from small_task import same_bytes, values

from seqcap import retrieval
from seqcap.config import config_path, write_config
from seqcap.data.vocabulary import EOS, PAD, UNK
from seqcap.files.json_file import read_json, write_json
from seqcap.files.parquet import read_table, write_rows
from seqcap.files.schemas import CURVES, REFERENCES
from seqcap.retrieval import dual_encoder, exchanges
from seqcap.retrieval.recalls import recall_sum, recalls
from seqcap.system.scratch import forget
from seqcap.training import loop
from seqcap.training.retrievers import Job, checkpoint_folder, choose, make

CPU = torch.device("cpu")


def made(config):
    """Makes a retriever, and forgets its checkpoints, as `seqcap repro` does once DVC has its weights."""
    curves = make(config)
    forget(Path(), "retriever-listener")
    return curves


@pytest.mark.parametrize("model", [{}, {"loss": "info_nce", "temperature": 0.1}])
def test_it_learns_and_the_best_epoch_is_kept(small_images, model):
    curves = made(config(model=model, training={"epochs": 25}))
    sums = values(curves, "val_recall_sum")
    assert len(sums) == 26
    assert sums[0] < 5 < max(sums)
    # Look-alikes in a batch keep the loss above zero.
    assert values(curves, "train_loss")[-1] < 0.7 * values(curves, "train_loss")[0]
    retriever, metadata = retrieval.load(Path("out/seed1.safetensors"))
    assert metadata["val_recall_sum"] == max(sums[1:])
    split = retriever.load_task(small_images / "artifacts/image").split("val", 6)
    assert recall_sum(recalls(retriever, split, CPU)) == max(sums[1:])
    assert not Path("scratch/retriever-listener").exists()


def test_the_architecture_of_the_configuration_is_trained(small_images, monkeypatch):
    class Own(dual_encoder.Model):
        """Another architecture."""

        def __init__(self, settings, *sizes):
            super().__init__(dual_encoder.Config(embedding=4, hidden=4), *sizes)

    modules = {"own": SimpleNamespace(Config=dict, Model=Own)}
    monkeypatch.setattr(retrieval, "find_module", lambda package, name: modules[name])
    own = config().model_copy(update={"architecture": "own", "model": {"config": 1}})
    assert type(Job(own, 1).begin().learner.model) is Own


def test_an_epoch_that_is_not_the_best_is_not_kept(small_images):
    """Steps far too large: the last epoch is not the best one."""
    curves = make(config(training={"epochs": 6, "learning_rate": 0.9, "decay": 1.0}))
    trained = values(curves, "val_recall_sum")[1:]
    assert trained[-1] < max(trained)
    assert retrieval.load(Path("out/seed1.safetensors"))[1]["val_recall_sum"] == max(trained)


def test_the_learning_rate_decays_by_epochs(small_images):
    job = Job(config(), 1)
    state, rates = job.begin(), []
    for batch in job.read(state):
        loop.update(job, state, batch)
        rates.append(state.optimizer.param_groups[0]["lr"])
    # 24 images in batches of 9: three steps an epoch.
    assert rates == [0.01] * 9 + [0.005] * 3


def test_features_are_standardised_by_the_training_images(small_images):
    job = Job(config(), 1)
    model, features = job.begin().learner.model, job.training.inputs.get(np.arange(24))
    torch.testing.assert_close(model.feature_mean, features.mean(0))
    torch.testing.assert_close(model.feature_scale, 1 / features.std(0))


def test_each_caption_of_an_image_is_as_likely_and_a_missing_one_never_drawn():
    captions = torch.tensor([[[5, EOS], [6, EOS], [7, EOS]], [[8, EOS], [PAD, PAD], [9, EOS]]])
    rng = np.random.default_rng(0)
    drawn = torch.stack([captions[torch.arange(2), choose(captions, rng)] for _ in range(3000)])
    assert drawn.shape == (3000, 2, 2)
    shares = [torch.bincount(drawn[:, i, 0], minlength=10) / 3000 for i in range(2)]
    np.testing.assert_allclose(shares[0][[5, 6, 7]], 1 / 3, atol=0.04)
    np.testing.assert_allclose(shares[1][[8, 9]], 1 / 2, atol=0.04)
    assert shares[1][PAD] == 0


def test_a_step_has_one_caption_of_every_image_and_no_image_twice(small_images):
    job = Job(config(training={"epochs": 8}), 1)
    seen = [(batch.features, batch.captions[:, 0]) for batch in job.read(job.begin())]
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


@pytest.mark.parametrize("every_step", [False, True])
def test_an_interrupted_run_resumes_to_the_same_bytes(small_images, monkeypatch, killed_after_saving, every_step):
    """Killed at the end of every epoch; or at every step, before the first epoch's end, too."""
    if every_step:
        monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1)
        monkeypatch.setattr(loop, "LOG_STEPS", 1)
    expected = made(config(weights="one"))
    assert killed_after_saving(lambda: made(config(weights="two"))) == (expected, 12 if every_step else 4)
    assert made(config(weights="three")) == expected
    assert same_bytes("one", "two")
    assert same_bytes("one", "three")


CROSS = {"hidden": 8, "size": 6, "heads": 2, "temperature": 0.05}
EXCHANGED = {"exchanges": 2, "epochs": 20}


def judge_config(**changes):
    small = config(training=EXCHANGED | changes.pop("training", {}), **changes)
    return small.model_copy(update={"architecture": "cross_attention", "model": CROSS})


def test_captions_with_a_fact_exchanged_are_learned_to_be_worse(small_images):
    job = Job(judge_config(), 1)
    assert not (job.exchanged["train"] == UNK).any()
    batch = next(job.read(job.begin()))
    words = job.task.vocabulary
    for own, *others in batch.captions.tolist():
        said = words.decode(own)
        # Photographs' captions: a colour and an animal, of which one is another now.
        exchanged = [words.decode(ids) for ids in others]
        assert all(sum(a != b for a, b in zip(said, other, strict=True)) == 1 for other in exchanged)
        assert exchanged[0] != exchanged[1]
    curves = made(judge_config())
    told = values(curves, "val_told")
    assert told[0] < 0.75 < max(told)
    # Of photographs words alone may tell them: they do not choose the epoch.
    _, metadata = retrieval.load(Path("out/seed1.safetensors"))
    assert metadata["val_recall_sum"] == max(values(curves, "val_recall_sum")[1:])


def test_where_facts_are_known_they_choose_the_epoch(small_images, monkeypatch):
    monkeypatch.setattr(exchanges, "knows_facts", lambda task: task.folder.name == "image")
    assert Job(config(), 1).decisive == "val_recall_sum"
    monkeypatch.setattr(exchanges, "read", lambda *of: torch.zeros(1))
    assert Job(judge_config(), 1).decisive == "val_told"


def test_a_killed_judge_resumes_to_the_same_bytes(small_images, killed_after_saving):
    few = {"epochs": 3}
    expected = made(judge_config(weights="one", training=few))
    assert killed_after_saving(lambda: made(judge_config(weights="two", training=few))) == (expected, 3)
    assert same_bytes("one", "two")


def test_seeds_side_by_side_are_those_one_by_one_and_the_stage_measures_them(small_images, command):
    both = config(seeds=(1, 2), weights="both")
    write_config(config_path("retriever", "listener"), both)
    write_json("artifacts/machine.json", {"device": "cpu", "workers": 2, "launcher": "python"})
    command("listener", script=children.STAGES / "retriever.py")
    curves = read_table("both/curves.parquet", CURVES).to_pylist()
    forget(Path(), "retriever-listener")
    assert curves == [row for seed in (1, 2) for row in made(config(seeds=(seed,), weights=f"alone{seed}"))]
    assert all(same_bytes("both", f"alone{seed}", seed) for seed in (1, 2))
    assert Path("both/seed1.safetensors").read_bytes() != Path("both/seed2.safetensors").read_bytes()
    measured = read_json("both/recalls.json")
    assert [measured[name] for name in ("split", "images", "captions")] == ["test", 6, 12]
    for seed in (1, 2):
        retriever, _ = retrieval.load(Path(f"both/seed{seed}.safetensors"))
        split = retriever.load_task(small_images / "artifacts/image").split("test", 6)
        assert measured["seeds"][str(seed)] == recalls(retriever, split, CPU)


def test_checkpoints_are_of_everything_that_weights_depend_on(small_images):
    same = [config(), config(weights="x"), config(seeds=(1, 2)), config(evaluate_on="val")]
    other = [config(max_length=5), config(model={"loss": "info_nce"}), config(training={"epochs": 5})]
    other += [config(code={"src/seqcap/retrieval/losses.py": "0123"})]
    assert len({checkpoint_folder(a) for a in same}) == 1
    assert len({checkpoint_folder(a) for a in [config(), *other]}) == 5
    before = checkpoint_folder(config())
    rows = read_table("artifacts/image/data/references.parquet", REFERENCES).to_pylist()
    write_rows("artifacts/image/data/references.parquet", rows[:-1], REFERENCES)
    assert checkpoint_folder(config()) != before
