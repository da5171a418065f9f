"""The dataset's files: layout, determinism, pictures, labels, and damaged input."""

import io
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from scenes_languages import digests, table, thing, written_scene

from seqcap.files import parquet
from seqcap.world import scenes
from seqcap.world.drawing import PAINT, draw
from seqcap.world.graph import BACKGROUNDS, COLOURS, KINDS, Scene
from seqcap.world.labels import GROUPS, IMAGE_LABELS, OBJECT_LABELS, image_labels, object_labels
from seqcap.world.scenes import SCENES, Config, read_scenes

SMALL = Config(train=30, val=6, test=4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scenes")
    scenes.write(path, SMALL, 11)
    return path


def images_of(folder: Path) -> dict[str, bytes]:
    with tarfile.open(folder / "images.tar") as tar:
        return {member.name: tar.extractfile(member).read() for member in tar.getmembers()}


def test_layout(folder):
    data = json.loads((folder / "dataset_scenes.json").read_text())
    assert data["dataset"] == "scenes"
    assert [image["imgid"] for image in data["images"]] == list(range(40))
    assert [image["split"] for image in data["images"]] == ["train"] * 30 + ["val"] * 6 + ["test"] * 4
    sentids = []
    for image in data["images"]:
        assert set(image) == {"filename", "split", "imgid", "sentids", "sentences"}
        assert image["sentids"] == [sentence["sentid"] for sentence in image["sentences"]]
        sentids += image["sentids"]
        for sentence in image["sentences"]:
            assert set(sentence) == {"raw", "tokens", "imgid", "sentid"}
            assert sentence["imgid"] == image["imgid"]
            assert sentence["tokens"] == sentence["raw"].split()
    assert sentids == list(range(200))
    contents = images_of(folder)
    assert list(contents) == [f"images/{image['filename']}" for image in data["images"]]
    for content in contents.values():
        with Image.open(io.BytesIO(content)) as image:
            assert (image.format, image.mode, image.size) == ("PNG", "RGB", (64, 64))
    assert list(read_scenes(folder / "scenes.parquet")) == list(range(40))
    table = parquet.read_table(folder / "scenes.parquet", SCENES)
    assert table["split"].to_pylist() == [image["split"] for image in data["images"]]


def test_two_processes_write_the_same_bytes(folder, tmp_path):
    code = "import sys, test_scenes_dataset as t; t.scenes.write(sys.argv[1], t.SMALL, 11)"
    # Another hash seed: nothing may depend on the order of a set.
    environment = os.environ | {
        "PYTHONHASHSEED": "77",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, env=environment, capture_output=True)
    assert digests(tmp_path) == digests(folder)


def test_seeds_and_sizes(folder, tmp_path):
    scenes.write(tmp_path / "other", SMALL, 12)
    scenes.write(tmp_path / "longer", Config(train=31, val=6, test=4, captions=2, size=48), 11)
    first, other, longer = (
        read_scenes(path / "scenes.parquet") for path in (folder, tmp_path / "other", tmp_path / "longer")
    )
    assert first != other
    # A picture's scene depends on the seed, its number and its group only, and no border cuts one here.
    assert all(first[i] == longer[i] for i in first)
    assert (tmp_path / "longer" / "images.tar").stat().st_size < (folder / "images.tar").stat().st_size


def test_the_servers_pictures_change_no_other(folder, tmp_path):
    scenes.write(tmp_path, SMALL.model_copy(update={"server": 5, "server_captions": 40}), 11)
    before, after = (json.loads((path / "dataset_scenes.json").read_text())["images"] for path in (folder, tmp_path))
    assert after[:40] == before
    assert [(image["split"], image["imgid"]) for image in after[40:]] == [("server", 40 + i) for i in range(5)]
    assert [len(image["sentences"]) for image in after[40:]] == [40] * 5
    assert [sentid for image in after for sentid in image["sentids"]] == list(range(40 * 5 + 5 * 40))
    assert list(images_of(tmp_path).items())[:40] == list(images_of(folder).items())
    graphs = [list(read_scenes(path / "scenes.parquet").items()) for path in (folder, tmp_path)]
    assert graphs[1][:40] == graphs[0]
    # Their first five captions are what a picture of five captions would have.
    scenes.write(tmp_path / "five", SMALL.model_copy(update={"test": 9}), 11)
    five = json.loads((tmp_path / "five" / "dataset_scenes.json").read_text())["images"][40:]
    for few, many in zip(five, after[40:], strict=True):
        assert [s["raw"] for s in few["sentences"]] == [s["raw"] for s in many["sentences"][:5]]
    # Forty people do not say the same.
    assert min(len({s["raw"] for s in image["sentences"]}) for image in after[40:]) > 15


def picture(scene: Scene, noise: int = 0, size: int = 64, seed: int = 0) -> np.ndarray:
    return np.asarray(draw(scene, size, noise, np.random.default_rng(seed)), dtype=np.int64)


ACTIONS = dict.fromkeys(("man", "woman", "dog", "cat"), "standing") | {"bird": "flying", "kite": "flying"}


def alone(kind: str, colour: str, background: str = "meadow", **changes: Any) -> Scene:
    values = {"size": "large", "action": ACTIONS.get(kind)} | changes
    return Scene(background, (thing(kind, 60, 60, 120, 120, colour=colour, **values),))


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_show_the_colour(kind):
    for colour in COLOURS:
        pixels = picture(alone(kind, colour)).reshape(-1, 3)
        assert (np.abs(pixels - PAINT[colour]).max(axis=1) <= 2).sum() > 25, (kind, colour)


def test_pictures_differ_where_the_scene_does():
    variants = [alone("dog", "red", background) for background in BACKGROUNDS]
    variants += [alone(kind, "red") for kind in KINDS if kind != "dog"]
    variants += [alone("dog", colour) for colour in COLOURS if colour != "red"]
    variants += [alone("dog", "red", action=action) for action in ("running", "sitting", "sleeping")]
    variants += [alone("man", "red", action=action) for action in ("walking", "sitting", "waving")]
    variants += [alone("dog", "red", texture=texture) for texture in ("striped", "dotted")]
    variants += [alone("bird", "red", action="sitting"), alone("dog", "red", flip=True)]
    pictures = [picture(scene) for scene in variants]
    for i, left in enumerate(pictures):
        for right in pictures[:i]:
            assert (np.abs(left - right).max(axis=2) > 30).sum() > 30


def test_noise_and_size():
    scene = alone("car", "blue")
    clean = picture(scene)
    noisy = picture(scene, noise=6)
    assert 1 <= np.abs(noisy - clean).max() <= 6
    assert (noisy != picture(scene, noise=6, seed=1)).any()
    assert (noisy == picture(scene, noise=6)).all()
    assert picture(scene, size=96).shape == (96, 96, 3)


def labelled(names, found):
    assert (found.dtype, found.shape) == (np.float32, (len(names),))
    return {name for name, value in zip(names, found, strict=True) if value}


def test_labels():
    known = table("labels.yaml")
    scene = written_scene(known["scene"])
    assert labelled(IMAGE_LABELS, image_labels(scene)) == set(known["image"])
    assert labelled(OBJECT_LABELS, object_labels(scene.objects[0])) == set(known["first_object"])
    assert len(set(IMAGE_LABELS)) == len(IMAGE_LABELS)
    assert {name for names in GROUPS.values() for name in names} <= set(IMAGE_LABELS)
