"""Karpathy's layout: what is read, and every way the file can be wrong."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from PIL import Image
from small_task import karpathy_layout

from seqcap.data import karpathy
from seqcap.errors import InputError
from seqcap.files.schemas import IMAGES, REFERENCES


def write(root: Path, content: dict[str, Any]) -> None:
    (root / "dataset_coco.json").write_text(json.dumps(content), encoding="utf-8")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "images").mkdir()
    for i in range(4):
        Image.new("RGB", (2, 2)).save(tmp_path / "images" / f"{i}.png")
    return tmp_path


def test_rows_fit_the_schemas_and_splits_are_mapped(root):
    write(root, karpathy_layout("coco"))
    images, references = karpathy.read(root, "coco")
    assert [(row["item"], row["split"], row["file"]) for row in images] == [
        (10, "train", "0.png"),
        (11, "train", "1.png"),
        (12, "val", "2.png"),
        (13, "test", "3.png"),
    ]
    assert {row["coco_id"] for row in images} == {None}
    assert pa.Table.from_pylist(images, schema=IMAGES).num_rows == 4
    assert pa.Table.from_pylist(references, schema=REFERENCES).num_rows == 8
    caption = {"caption_id": 1, "text": "A dog runs 1 .", "tokens": ["a", "dog", "runs"]}
    assert references[1] == {"item": 10, "split": "train", **caption}
    # A filepath is a subfolder.
    content = karpathy_layout("coco")
    (root / "images").rename(root / "val2014")
    for image in content["images"]:
        image["filepath"] = "val2014"
    write(root, content)
    assert karpathy.read(root, "coco")[0][0]["file"] == "val2014/0.png"


def test_the_dataset_of_the_docs_reads_its_own_file(root):
    page = (Path(__file__).parents[2] / "docs/data.md").read_text(encoding="utf-8")
    defined: dict[str, Any] = {}
    exec(page.partition("```python\n")[2].partition("```")[0], defined)
    (root / "dataset_flickr30k.json").write_text(json.dumps(karpathy_layout("flickr30k")), encoding="utf-8")
    images, references = defined["read"](root)
    assert defined["KIND"] == "images"
    assert (len(images), len(references)) == (4, 8)


def test_cocos_ids_are_kept(root):
    content = karpathy_layout("coco")
    for record in content["images"]:
        record["cocoid"] = 391890 + record["imgid"]
    write(root, content)
    assert [row["coco_id"] for row in karpathy.read(root, "coco")[0]] == [391900, 391901, 391902, 391903]
    content["images"][1]["cocoid"] = 391900
    write(root, content)
    with pytest.raises(InputError, match=r"image 1 \(imgid 11, '1\.png'\): cocoid 391900 occurs twice"):
        karpathy.read(root, "coco")


@pytest.mark.parametrize("captions", [0, 2])
def test_images_of_the_server_are_kept_apart_and_may_have_no_captions(root, captions):
    content = karpathy_layout("coco")
    Image.new("RGB", (2, 2)).save(root / "images/4.png")
    content["images"][4]["split"] = "server"
    content["images"][4]["sentences"] = content["images"][4]["sentences"][:captions]
    write(root, content)
    images, references = karpathy.read(root, "coco")
    assert [row["split"] for row in images] == ["train", "train", "val", "test", "server"]
    assert Counter(row["split"] for row in references)["server"] == captions


def image(key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda content: content["images"][1].__setitem__(key, value)


def sentence(key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda content: content["images"][1]["sentences"][1].__setitem__(key, value)


IMAGE = r"dataset_coco\.json: images?.1"
SENTENCE = IMAGE + r"\.sentences\.1"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda c: c.pop("images"), r"images is .*Field required"),
        (lambda c: c["images"].__setitem__(1, 7), IMAGE + " is 7 .*valid dictionary"),
        (lambda c: c["images"][1].pop("imgid"), IMAGE + r"\.imgid .*Field required"),
        (lambda c: c["images"][1]["sentences"][1].pop("tokens"), SENTENCE + r"\.tokens .*Field required"),
        (lambda c: c["images"].pop(2), "has no val image"),
        (image("imgid", 10), "imgid 10 occurs twice"),
        (image("filename", "../x.png"), IMAGE + ".*'../x.png' leaves the folder"),
        (image("split", "dev"), IMAGE + r"\.split is 'dev' .*'train', 'restval'"),
        (image("sentences", []), IMAGE + ".*has no sentences"),
        (sentence("tokens", []), SENTENCE + r"\.tokens is \[\] .*at least 1 item"),
        (sentence("tokens", ["a dog"]), SENTENCE + r"\.tokens\.0 is 'a dog' .*empty or holds white space"),
        (sentence("tokens", [""]), SENTENCE + r"\.tokens\.0 is '' .*empty or holds"),
        (sentence("sentid", 0), IMAGE + ".*: sentid 0 occurs twice"),
        (image("imgid", 10**30), IMAGE + r"\.imgid is 10{30} .*less than"),
        (image("filename", "./0.png"), IMAGE + r".*: file '0\.png' occurs twice"),
        (image("filename", "a" * 300), r"images: 1 of 4 images are missing, first 'aaa"),
        (sentence("raw", "half \ud83d"), r"dataset_coco\.json: has half a character after .*half "),
    ],
)
def test_a_malformed_file_is_one_line_that_names_the_record(root, damage, message):
    content = karpathy_layout("coco")
    damage(content)
    write(root, content)
    with pytest.raises(InputError, match=message) as caught:
        karpathy.read(root, "coco")
    assert "\n" not in str(caught.value)


def test_flickr8k(shared):
    images, references = karpathy.read(shared / "data" / "flickr8k", "flickr8k")
    assert Counter(row["split"] for row in images) == {"train": 6000, "val": 1000, "test": 1000}
    assert len(references) == 40_000
    assert references[0]["tokens"][:4] == ["a", "black", "dog", "is"]
