"""Captions of whole splits, by single captioners and by all seeds together."""

from pathlib import Path

import pytest
import torch
from small_task import CHANNELS, write_task

from seqcap import models
from seqcap.config.decoding import DecodingRun
from seqcap.data.vocabulary import Vocabulary, digest
from seqcap.errors import InputError
from seqcap.evaluation.decode import decode_split
from seqcap.features.store import FeatureStore
from seqcap.files.parquet import read_table, write_rows
from seqcap.files.schemas import DATA, DECODED, IMAGES
from seqcap.files.tensors import save_weights
from seqcap.models import decoding
from seqcap.models.base import Captioner
from seqcap.models.ensemble import Ensemble

FEATURES = Path("artifacts/image/features")
SHAPES = {"lstm": (CHANNELS,), "attention": (2, 2, CHANNELS)}
MODELS = {"lstm": {"hidden": 6, "image_input": "every_step"}, "attention": {"hidden": 6}}
TEST = list(range(30, 36))


@pytest.fixture
def task(tmp_path, monkeypatch):
    """The small task, with two LSTMs (seeds 1 and 2) and an attentive captioner (seed 3)."""
    monkeypatch.chdir(tmp_path)
    write_task(tmp_path)
    vocabulary = Vocabulary.read(DATA / "vocabulary.json")
    (tmp_path / "weights").mkdir()
    for seed, architecture in ((1, "lstm"), (2, "lstm"), (3, "attention")):
        torch.manual_seed(seed)
        captioner = models.build(architecture, MODELS[architecture], len(vocabulary), SHAPES[architecture])
        with torch.no_grad():
            for parameter in captioner.parameters():
                parameter.copy_(torch.randn_like(parameter))
        metadata = {
            "architecture": architecture,
            "model": MODELS[architecture],
            "vocabulary_size": len(vocabulary),
            "vocabulary": digest(vocabulary),
            "feature_shape": list(SHAPES[architecture]),
        }
        save_weights(f"weights/seed{seed}.safetensors", captioner.state_dict(), metadata)
    return tmp_path


def config(**changes):
    # Batches of 4: a split of six takes a whole one and a rest.
    base = {"name": "v", "task": "image", "kind": "images", "split": "test", "teams": [[1], [2]]}
    base |= {"weights": "weights", "decoded": "decoded.parquet", "max_length": 6, "beam": 3, "samples": 2}
    return DecodingRun(**(base | {"no_repeat_ngram": 0, "batch_size": 4} | changes))


def tokens(rows, seed, decoder):
    return {
        (row["item"], row["rank"]): row["tokens"] for row in rows if (row["seed"], row["decoder"]) == (seed, decoder)
    }


def test_a_beam_repeats_itself_only_where_it_may(task):
    def repeats(**changes):
        found = tokens(decode_split(config(**changes)), 1, "beam").values()
        return [len(set(caption)) < len(caption) for caption in found]

    assert any(repeats())
    assert not any(repeats(no_repeat_ngram=1))


def test_each_seed_decodes_by_itself(task):
    rows = decode_split(config())
    assert rows == decode_split(config(teams=[[1]])) + decode_split(config(teams=[[2]]))
    captioner, _ = models.load(task / "weights/seed2.safetensors")
    store = FeatureStore(FEATURES / "pooled.parquet")
    given = torch.from_numpy(store.get(store.rows_of(TEST)))
    found = decoding.beam(captioner, captioner.encode(given), 6, 3)
    words = Vocabulary.read(DATA / "vocabulary.json")
    expected = {
        (image, rank): words.decode(found.tokens[i, rank].tolist()) for i, image in enumerate(TEST) for rank in range(3)
    }
    assert tokens(rows, 2, "beam") == expected
    write_rows("decoded.parquet", rows, DECODED)


def test_an_ensemble_is_one_set_of_captions_under_the_first_seed(task):
    rows = decode_split(config(teams=[[2, 1, 3]]))
    assert {row["seed"] for row in rows} == {2}
    assert len(rows) == 6 * (1 + 3 + 2)
    ensemble, _ = Ensemble.load([task / f"weights/seed{seed}.safetensors" for seed in (2, 1, 3)], torch.device("cpu"))
    stores = {kind: FeatureStore(FEATURES / f"{kind}.parquet") for kind in ("pooled", "grid")}
    features = [
        torch.from_numpy(stores[member.features].get(stores[member.features].rows_of(TEST)))
        for member in ensemble.members
    ]
    found = decoding.greedy(ensemble, ensemble.encode(features), 6)
    words = Vocabulary.read(DATA / "vocabulary.json")
    expected = {(image, 0): words.decode(found.tokens[i].tolist()) for i, image in enumerate(TEST)}
    assert tokens(rows, 2, "greedy") == expected
    assert expected != tokens(decode_split(config(teams=[[2]])), 2, "greedy")


@pytest.mark.parametrize("teams", [[[1]], [[2, 1]]])
def test_weights_of_another_vocabulary_are_one_line(task, teams):
    """As many words, but others: they would be said."""
    words = Vocabulary.read(DATA / "vocabulary.json").words
    Vocabulary([*words[:-1], "zebra"]).write(DATA / "vocabulary.json")
    with pytest.raises(InputError, match=r"weights/seed\d\.safetensors: was trained with another vocabulary"):
        decode_split(config(teams=teams))


def test_weights_of_other_features_are_one_line(task):
    (FEATURES / "grid.parquet").rename(FEATURES / "pooled.parquet")
    with pytest.raises(
        InputError, match=r"seed1\.safetensors: reads features of shape \(8,\); artifacts/image has \(2,"
    ):
        decode_split(config(teams=[[1]]))


def test_captions_without_a_probability_are_one_line(task, monkeypatch):
    """As if finite weights were so large that what they say of an image is not."""
    logits = Captioner.logits
    monkeypatch.setattr(Captioner, "logits", lambda captioner, hidden: logits(captioner, hidden) * float("nan"))
    with pytest.raises(
        InputError, match=r"seed1\.safetensors: a greedy caption of test has a log-probability that is not"
    ):
        decode_split(config(teams=[[1]]))


def test_every_ensemble_has_the_seed_of_its_first_member(task):
    both = decode_split(config(teams=[[2, 1], [3]]))
    assert both == decode_split(config(teams=[[2, 1]])) + decode_split(config(teams=[[3]]))
    assert {row["seed"] for row in both} == {2, 3}


def test_cocos_own_splits_are_told_by_file_names(task):
    rows = read_table(DATA / "images.parquet", IMAGES).to_pylist()
    for row in rows:
        row["file"] = f"{'val' if row['item'] in (3, 29, 31) else 'train'}2014/{row['item']}.png"
    write_rows(DATA / "images.parquet", rows, IMAGES)
    decoded = decode_split(config(split="val2014", teams=[[1]]))
    assert {row["item"] for row in decoded} == {3, 29, 31}


def test_a_split_without_images_is_one_line(task):
    with pytest.raises(InputError, match="has no images in split 'server'"):
        decode_split(config(split="server"))
