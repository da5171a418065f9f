"""Real captions that every installation has."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def coco_annotations(pycocoevalcap_folder: Path) -> dict[int, list[str]]:
    """All captions of COCO val2014 by image id, inside pycocoevalcap's SPICE jar."""
    with zipfile.ZipFile(pycocoevalcap_folder / "spice" / "spice-1.0.jar") as archive:
        annotations = json.loads(archive.read("coco/annotations/captions_val2014.json"))["annotations"]
    images: dict[int, list[str]] = {}
    for annotation in annotations:
        images.setdefault(annotation["image_id"], []).append(annotation["caption"])
    return images


@pytest.fixture(scope="session")
def coco_captions(coco_annotations: dict[int, list[str]]) -> dict[int, list[list[str]]]:
    """The first 100 images' captions, as lower-case words."""
    return {
        image_id: [caption.lower().strip(" .").split() for caption in coco_annotations[image_id]]
        for image_id in sorted(coco_annotations)[:100]
    }
