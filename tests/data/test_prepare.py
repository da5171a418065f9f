"""What the stage `data` writes for a task of either kind."""

import sys
from types import ModuleType

import pyarrow.compute as pc
import pytest
from small_task import corpus_config

from seqcap.data import captions, datasets, pairs
from seqcap.data.captions import ClipData, ImageData
from seqcap.data.pairs import SentenceData
from seqcap.data.vocabulary import SPECIALS, Vocabulary
from seqcap.errors import InputError
from seqcap.files.parquet import read_table
from seqcap.files.schemas import IMAGES, PAIRS, REFERENCES

SCENES = {"train": 6, "val": 2, "test": 2, "size": 32, "captions": 2}


def image_data(folder, **changes):
    given = {"dataset": "scenes", "root": str(folder), "min_count": 1, "max_length": 3, "scenes": SCENES, "seed": 1}
    return ImageData(**(given | {"fingerprint": {}, "code": {}} | changes))


def test_pictures_are_generated_and_words_after_the_cut_are_unknown(tmp_path):
    captions.prepare(image_data(tmp_path), tmp_path)
    assert len(read_table(tmp_path / "images.parquet", IMAGES)) == 10
    references = read_table(tmp_path / "references.parquet", REFERENCES)
    training = references.filter(pc.equal(references["split"], "train"))["tokens"].to_pylist()
    expected = {word for tokens in training for word in tokens[:3]}
    vocabulary = Vocabulary.read(tmp_path / "vocabulary.json")
    assert set(vocabulary.words) == expected | set(SPECIALS)
    assert expected < {word for tokens in training for word in tokens}


def test_pictures_are_read_from_another_folder(tmp_path):
    source, folder = tmp_path / "source", tmp_path / "folder"
    captions.prepare(image_data(source), source)
    captions.prepare(image_data(source, scenes=None), folder)
    for name in ("images.parquet", "references.parquet", "vocabulary.json"):
        assert (source / name).read_bytes() == (folder / name).read_bytes()
    assert not (folder / "scenes.parquet").exists()


def test_clips_are_generated(tmp_path):
    given = {"dataset": "clips", "clips": {"train": 3, "val": 1, "test": 1, "size": 32}, "min_count": 1, "seed": 1}
    config = ClipData(root=str(tmp_path), max_length=3, fingerprint={}, code={}, **given)
    captions.prepare(config, tmp_path)
    rows = read_table(tmp_path / "images.parquet", IMAGES)
    assert rows["split"].to_pylist() == ["train"] * 3 + ["val", "test"]


def test_sentences_are_generated(tmp_path):
    given = {"corpus": corpus_config(target="fr"), "parallel": {"train": 5, "val": 2, "test": 3}, "seed": 1}
    pairs.prepare(SentenceData(root=str(tmp_path), fingerprint={}, code={}, **given), tmp_path)
    rows = read_table(tmp_path / "pairs.parquet", PAIRS)
    assert rows["split"].to_pylist() == ["train"] * 5 + ["val"] * 2 + ["test"] * 3
    assert (tmp_path / "train.fr").exists()


def test_a_missing_dataset_is_one_line(tmp_path):
    with pytest.raises(InputError, match=r"dataset_coco\.json: does not exist"):
        captions.prepare(image_data(tmp_path, dataset="coco", scenes=None), tmp_path)


def test_a_dataset_is_a_module_found_by_its_name(tmp_path, monkeypatch):
    mine = ModuleType("seqcap.data.datasets.mine")
    item = {"item": 7, "split": "train", "file": "7.jpg", "coco_id": None}
    caption = {"item": 7, "split": "train", "caption_id": 0, "text": "a dog", "tokens": ["a", "dog"]}
    mine.KIND, mine.read = "images", lambda root: ([item], [caption])
    monkeypatch.setitem(sys.modules, mine.__name__, mine)
    captions.prepare(image_data(tmp_path, dataset="mine", scenes=None), tmp_path)
    assert read_table(tmp_path / "images.parquet", IMAGES).to_pylist() == [item]
    with pytest.raises(ValueError, match="'mine' is a dataset of images, not of clips"):
        datasets.find("mine", "clips")
    with pytest.raises(ValueError, match=r"allowed: clips, coco, .*; or add seqcap/data/datasets/yours\.py"):
        datasets.find("yours", "images")
