"""Real captions that every installation has: COCO val2014, inside pycocoevalcap's SPICE jar."""

from __future__ import annotations

import importlib.util
import json
import zipfile
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def coco_captions() -> list[list[list[str]]]:
    """The first 200 images' captions, as lower-case words."""
    package = importlib.util.find_spec("pycocoevalcap")
    assert package is not None
    assert package.submodule_search_locations is not None
    jar = Path(package.submodule_search_locations[0]) / "spice" / "spice-1.0.jar"
    with zipfile.ZipFile(jar) as archive:
        annotations = json.loads(archive.read("coco/annotations/captions_val2014.json"))["annotations"]
    images: dict[int, list[list[str]]] = {}
    for annotation in annotations:
        images.setdefault(annotation["image_id"], []).append(annotation["caption"].lower().strip(" .").split())
    return [images[image_id] for image_id in sorted(images)[:200]]
