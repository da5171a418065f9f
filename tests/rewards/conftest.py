"""Real captions as lower-case words."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def coco_captions(coco_annotations: dict[int, list[str]]) -> list[list[list[str]]]:
    """The first 200 images' captions."""
    return [
        [caption.lower().strip(" .").split() for caption in coco_annotations[image_id]]
        for image_id in sorted(coco_annotations)[:200]
    ]
