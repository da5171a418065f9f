"""Files for COCO's server: what they hold, who reads them, and what they must not hold."""

import json

import pytest
from pycocotools.coco import COCO

from seqcap.errors import InputError
from seqcap.files.json_file import write_json
from seqcap.files.parquet import write_rows
from seqcap.files.schemas import DATA, DECODED, IMAGES
from seqcap.tools.submit import submit

# Karpathy's imgids, COCO's ids and file names of five images; the last is of train2014.
COCO_IDS = {0: 391895, 1: 522418, 2: 184613, 3: 318219, 4: 9}
SPLIT_OF = {0: "test", 1: "val", 2: "train", 3: "server", 4: "train"}
YEAR = {0: "val2014", 1: "val2014", 2: "val2014", 3: "test2014", 4: "train2014"}
VAL = (0, 1, 2)


def decoded_rows(images, **changes):
    """Two beam captions and a greedy one of each image."""
    rows = []
    for image in images:
        for decoder, rank in (("beam", 1), ("beam", 0), ("greedy", 0)):
            words = ["a", "dog", decoder, str(rank), str(image)]
            row = {"run": "seq_cider", "seed": 1, "item": image, "decoder": decoder, "rank": rank}
            rows.append(row | {"text": " ".join(words), "tokens": words, "log_prob": -1.0} | changes)
    return rows


@pytest.fixture
def coco(tmp_path, monkeypatch):
    """A pipeline on COCO."""
    monkeypatch.chdir(tmp_path)
    rows = [
        {"item": i, "split": SPLIT_OF[i], "file": f"{y}/COCO_{y}_{COCO_IDS[i]:012d}.jpg", "coco_id": COCO_IDS[i]}
        for i, y in YEAR.items()
    ]
    write_rows(DATA / "images.parquet", rows, IMAGES)
    write_rows("decoded.parquet", decoded_rows(VAL), DECODED)
    return tmp_path


def options(folder, **changes):
    return {"decoded": folder / "decoded.parquet", "out": folder / "results", "split": "val2014"} | changes


def test_images_go_by_cocos_ids_and_the_file_by_its_name(coco):
    path = submit(**options(coco))
    assert path == coco / "results/captions_val2014_seq_cider_results.json"
    assert json.loads(path.read_text()) == [
        {"image_id": COCO_IDS[i], "caption": f"a dog beam 0 {i}"} for i in sorted(VAL, key=COCO_IDS.__getitem__)
    ]
    write_rows("decoded.parquet", decoded_rows([3]), DECODED)
    path = submit(**options(coco, split="test2014", name="A-1_b", decoder="greedy"))
    assert path.name == "captions_test2014_A-1_b_results.json"
    assert json.loads(path.read_text()) == [{"image_id": 318219, "caption": "a dog greedy 0 3"}]


def test_cocos_own_loader_reads_it(coco):
    annotations = [{"id": i, "image_id": COCO_IDS[i], "caption": f"a dog {i}"} for i in VAL]
    truth = {"images": [{"id": COCO_IDS[i]} for i in VAL], "annotations": annotations, "info": {}, "type": "captions"}
    write_json("captions_val2014.json", truth)
    result = COCO("captions_val2014.json").loadRes(str(submit(**options(coco))))
    assert {image: [one["caption"] for one in found] for image, found in result.imgToAnns.items()} == {
        COCO_IDS[i]: [f"a dog beam 0 {i}"] for i in VAL
    }


def test_the_command_writes_what_score_reads(coco, command):
    done = command("submit", "decoded.parquet", "--split", "val2014", "--out", "results", "--seed", "1")
    assert done.returncode == 0, done.stderr
    path = done.stdout.strip()
    sentences = [{"raw": "a dog beam 0 0"}, {"raw": "a cat"}]
    images = [{"cocoid": COCO_IDS[i], "imgid": i, "split": "test", "sentences": sentences} for i in VAL]
    write_json("dataset_coco.json", {"images": images})
    scored = ("--candidates", path, "--metrics", "BLEU1", "--json", "scores.json")
    done = command("score", "--references", "dataset_coco.json", *scored)
    assert done.returncode == 0, done.stderr
    scores = json.loads((coco / "scores.json").read_text())["captions_val2014_seq_cider_results"]
    assert scores["images"] == 3
    assert scores["scores"]["BLEU1"]["value"] == pytest.approx(13 / 15)


def test_generated_scenes_are_not_submitted(tmp_path, monkeypatch):
    """COCO's server would score them as the images that have their numbers."""
    monkeypatch.chdir(tmp_path)
    rows = [{"item": i, "split": "server", "file": f"{i}.png"} for i in range(3)]
    write_rows(DATA / "images.parquet", rows, IMAGES)
    write_rows("decoded.parquet", decoded_rows(range(3)), DECODED)
    with pytest.raises(InputError, match=r"images\.parquet: has no image with a coco_id; submit captions of COCO"):
        submit(**options(tmp_path))
    assert not (tmp_path / "results").exists()


GREEDY = {"decoder": "greedy"}


@pytest.mark.parametrize(
    ("rows", "changes", "message"),
    [
        ([r for r in decoded_rows(VAL) if (r["item"], r["rank"]) != (2, 0)], {}, "1 of 3 images have no beam caption"),
        (decoded_rows((0, 2)), {}, "1 of 3 images have no beam caption, first image 1"),
        (decoded_rows((*VAL, 4)), {}, "image 4 and 0 others are not of val2014"),
        (decoded_rows(VAL), {"split": "test2014"}, "image 0 and 2 others are not of test2014"),
        (decoded_rows(VAL), {"decoder": "sample"}, "has no decoder 'sample'; choose among beam, greedy"),
        (decoded_rows(VAL), {"seed": 2}, "has no seed 2; choose among 1"),
        (decoded_rows(VAL) + decoded_rows(VAL, seed=2), {}, "holds seed 1, 2; choose one with --seed"),
        (decoded_rows(VAL) + decoded_rows(VAL, run="x"), {}, "holds run seq_cider, x; choose one with --run"),
        ([], {}, "holds no caption"),
        (decoded_rows(VAL), {"name": "a b"}, "name: is 'a b'"),
        (decoded_rows(VAL), {"name": "../x"}, r"name: is '\.\./x'"),
        (decoded_rows(VAL), {"name": "straße"}, "name: is 'straße'"),
        (decoded_rows(VAL), {"name": "a" * 101}, "name: is .*at most 100"),
    ],
)
def test_what_the_server_would_refuse_is_one_line(coco, rows, changes, message):
    write_rows("decoded.parquet", rows, DECODED)
    with pytest.raises(InputError, match=message) as caught:
        submit(**options(coco, **changes))
    assert "\n" not in str(caught.value)
    assert not (coco / "results").exists()


def test_an_image_without_a_coco_id_is_one_line(coco):
    rows = [{"item": i, "split": "val", "file": f"val2014/{i}.jpg", "coco_id": i or None} for i in VAL]
    write_rows(DATA / "images.parquet", rows, IMAGES)
    with pytest.raises(InputError, match="image 0 has no coco_id"):
        submit(**options(coco))
