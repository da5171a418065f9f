"""Real captions as lower-case words."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def coco_captions(coco_annotations: dict[int, list[str]]) -> dict[int, list[list[str]]]:
    """The first 100 images' captions, by image id."""
    return {
        image_id: [caption.lower().strip(" .").split() for caption in coco_annotations[image_id]]
        for image_id in sorted(coco_annotations)[:100]
    }
