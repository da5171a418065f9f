"""The dataset's files: layout, determinism, pictures, labels, and damaged input."""

from __future__ import annotations

import hashlib
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
from pydantic import ValidationError

from seqcap.files import parquet
from seqcap.world import scenes
from seqcap.world.drawing import PAINT, draw
from seqcap.world.graph import BACKGROUNDS, COLOURS, KINDS, Scene, SceneObject
from seqcap.world.labels import GROUPS, IMAGE_LABELS, OBJECT_LABELS, image_labels, object_labels
from seqcap.world.scenes import SCENES, Config, read_scenes

SMALL = Config(train=30, val=6, test=4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scenes")
    scenes.write(path, SMALL, 11)
    return path


def digests(path: Path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(path.iterdir())}


def test_layout(folder: Path) -> None:
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
    with tarfile.open(folder / "images.tar") as tar:
        assert tar.getnames() == [f"images/{image['filename']}" for image in data["images"]]
        for member in tar.getmembers():
            assert (member.mtime, member.uid, member.gid, member.uname) == (0, 0, 0, "")
            file = tar.extractfile(member)
            assert file is not None
            with Image.open(io.BytesIO(file.read())) as picture:
                assert (picture.format, picture.mode, picture.size) == ("PNG", "RGB", (64, 64))
    found = read_scenes(folder / "scenes.parquet")
    assert list(found) == list(range(40))
    table = parquet.read_table(folder / "scenes.parquet", SCENES)
    assert table["split"].to_pylist() == [image["split"] for image in data["images"]]
    assert json.dumps(found[7].to_json(), sort_keys=True, separators=(",", ":")) == table["graph"][7].as_py()


def test_two_processes_write_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from seqcap.world import scenes; "
        "scenes.write(sys.argv[1], scenes.Config(train=30, val=6, test=4), 11)"
    )
    # Another hash seed: nothing may depend on the order of a set.
    environment = os.environ | {"PYTHONHASHSEED": "77", "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, env=environment, capture_output=True)
    assert digests(tmp_path) == digests(folder)


def test_seeds_and_sizes(folder: Path, tmp_path: Path) -> None:
    scenes.write(tmp_path / "other", SMALL, 12)
    scenes.write(tmp_path / "longer", Config(train=31, val=6, test=4, captions=2, size=48), 11)
    first, other, longer = (
        read_scenes(path / "scenes.parquet") for path in (folder, tmp_path / "other", tmp_path / "longer")
    )
    assert first != other
    # A picture's scene depends on the seed, its number and its group only, and no border cuts one here.
    assert all(first[i] == longer[i] for i in first)
    assert (tmp_path / "longer" / "images.tar").stat().st_size < (folder / "images.tar").stat().st_size


def test_the_servers_pictures_change_no_other(folder: Path, tmp_path: Path) -> None:
    scenes.write(tmp_path, SMALL.model_copy(update={"server": 5, "server_captions": 40}), 11)
    before, after = (json.loads((path / "dataset_scenes.json").read_text())["images"] for path in (folder, tmp_path))
    assert after[:40] == before
    assert [(image["split"], image["imgid"]) for image in after[40:]] == [("server", 40 + i) for i in range(5)]
    assert [len(image["sentences"]) for image in after[40:]] == [40] * 5
    assert [sentid for image in after for sentid in image["sentids"]] == list(range(40 * 5 + 5 * 40))
    with tarfile.open(folder / "images.tar") as alone, tarfile.open(tmp_path / "images.tar") as together:
        assert together.getnames()[:40] == alone.getnames()
        for name in alone.getnames():
            pixels = [file.read() for file in (alone.extractfile(name), together.extractfile(name)) if file is not None]
            assert pixels[0] == pixels[1]
    graphs = [list(read_scenes(path / "scenes.parquet").items()) for path in (folder, tmp_path)]
    assert graphs[1][:40] == graphs[0]
    # Their first five captions are what a picture of five captions would have.
    scenes.write(tmp_path / "five", SMALL.model_copy(update={"test": 9}), 11)
    five = json.loads((tmp_path / "five" / "dataset_scenes.json").read_text())["images"][40:]
    for few, many in zip(five, after[40:], strict=True):
        assert [s["raw"] for s in few["sentences"]] == [s["raw"] for s in many["sentences"][:5]]
    # Forty people do not say the same.
    assert min(len({s["raw"] for s in image["sentences"]}) for image in after[40:]) > 15


@pytest.mark.parametrize(
    "change",
    [
        {"train": 0},
        {"server": -1},
        {"server_captions": 0},
        {"size": 8},
        {"captions": 0},
        {"noise": -1},
        {"wrong_colours": 1.5},
        {"detail": [0, 0, 0]},
        {"detail": [1, 2]},
        {"detail": [1, -1, 2]},
        {"colour": "red"},
    ],
)
def test_config_is_checked(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Config(**change)
    assert Config(detail=[1, 0, 0]).detail == (1, 0, 0)


def picture(scene: Scene, noise: int = 0, size: int = 64, seed: int = 0) -> np.ndarray:
    return np.asarray(draw(scene, size, noise, np.random.default_rng(seed)), dtype=np.int64)


def alone(kind: str, colour: str, background: str = "meadow", **changes: Any) -> Scene:
    action = {"man": "standing", "woman": "standing", "dog": "standing", "cat": "standing", "bird": "flying"}
    action["kite"] = "flying"
    values = {
        "kind": kind, "colour": colour, "size": "large", "texture": "plain", "action": action.get(kind), "left": 60,
        "top": 60, "width": 120, "height": 120, "flip": False,
    }  # fmt: skip
    return Scene(background, (SceneObject(**(values | changes)),))


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_show_the_colour(kind: str) -> None:
    for colour in COLOURS:
        pixels = picture(alone(kind, colour)).reshape(-1, 3)
        assert (np.abs(pixels - PAINT[colour]).max(axis=1) <= 2).sum() > 25, (kind, colour)


def test_pictures_differ_where_the_scene_does() -> None:
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


def test_noise_and_size() -> None:
    scene = alone("car", "blue")
    clean = picture(scene)
    noisy = picture(scene, noise=6)
    assert 1 <= np.abs(noisy - clean).max() <= 6
    assert (noisy != picture(scene, noise=6, seed=1)).any()
    assert (noisy == picture(scene, noise=6)).all()
    assert picture(scene, size=96).shape == (96, 96, 3)


def test_labels() -> None:
    scene = Scene(
        "beach",
        (
            SceneObject("dog", "red", "small", "striped", "running", 10, 180, 40, 40, False),
            SceneObject("dog", "blue", "small", "plain", "sitting", 60, 180, 40, 40, True),
            SceneObject("kite", "red", "large", "plain", "flying", 200, 20, 50, 70, False),
        ),
    )
    found = image_labels(scene)
    assert found.dtype == np.float32
    assert found.shape == (len(IMAGE_LABELS),)
    assert {name for name, value in zip(IMAGE_LABELS, found, strict=True) if value} == {
        "beach", "objects:3", "dog", "dog:several", "red", "blue", "dog:red", "dog:blue", "small", "dog:small",
        "striped", "dog:striped", "plain", "dog:plain", "running", "dog:running", "sitting", "dog:sitting", "kite",
        "kite:red", "large", "kite:large", "kite:plain", "flying", "kite:flying", "left_of", "next_to",
    }  # fmt: skip
    found = object_labels(scene.objects[0])
    assert found.shape == (len(OBJECT_LABELS),)
    assert {name for name, value in zip(OBJECT_LABELS, found, strict=True) if value} == {
        "dog", "red", "dog:red", "small", "striped", "running", "dog:running",
    }  # fmt: skip


def test_label_names_are_distinct() -> None:
    assert len(set(IMAGE_LABELS)) == len(IMAGE_LABELS)
    assert {name for names in GROUPS.values() for name in names} <= set(IMAGE_LABELS)
