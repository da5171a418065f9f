"""A small kit and its questions."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from seqcap.rating import Key, read_key
from seqcap.rating.page import AccuracyItem, NaturalnessItem

IMAGES = 4
# Captions that would break a page, or a program, that does not escape them.
HOSTILE = '</script><img src=x onerror="document.title=1"> & <b>"a dog\'s" $& {{style}} \\u003c </SCRIPT\n>'


class Kit(NamedTuple):
    """A page and its key."""

    page: Path
    key_file: Path

    @property
    def key(self) -> Key:
        return read_key(self.key_file)

    @property
    def html(self) -> str:
        return self.page.read_text(encoding="utf-8")

    @property
    def content(self) -> dict[str, Any]:
        """The questions and pictures that the page holds."""
        found = re.search('<script id="questions" type="application/json">(.*?)</script>', self.html, re.DOTALL)
        return dict(json.loads(found[1])) if found else {}


def accuracy_items() -> list[AccuracyItem]:
    """Three models on every image; two of them agree on image 1, and image 0 has a hostile caption."""
    items = []
    for item in range(IMAGES):
        for model in ("modelpsst", "modelst", "modelhuman"):
            caption = HOSTILE if (item, model) == (0, "modelst") else f"caption {item} of {len(model)} words"
            if item == 1 and model == "modelst":
                caption = "caption 1 of 9 words"
            items.append(AccuracyItem(item, (item + 1) % IMAGES, model, caption))
    return items


def naturalness_items() -> list[NaturalnessItem]:
    """One model against another on every image; on image 2 both say the same."""
    return [
        NaturalnessItem(item, "modelpsst", f"a fine caption {item}", "modelst", other)
        for item in range(IMAGES)
        for other in (HOSTILE if item == 0 else "a fine caption 2" if item == 2 else f"fine the caption {item}",)
    ]
