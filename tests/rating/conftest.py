"""A small kit: a page with its key, on images of scenes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_kit import IMAGES, Kit, accuracy_items, naturalness_items

from seqcap.rating.page import write_page
from seqcap.world.graph import Scene, sample


@pytest.fixture(scope="session")
def scenes() -> dict[int, Scene]:
    """Item -> a scene."""
    return {item: sample(np.random.default_rng([7, item])) for item in range(IMAGES)}


@pytest.fixture(scope="session")
def kit(tmp_path_factory: pytest.TempPathFactory, scenes: dict[int, Scene]) -> Kit:
    """Tests do not change it."""
    page = tmp_path_factory.mktemp("kit") / "page.html"
    write_page(page, accuracy_items(), naturalness_items(), "Cats & <dogs>", scenes)
    return Kit(page, page.with_name("key.json"))


@pytest.fixture
def answer_file(kit: Kit, tmp_path: Path) -> Callable[..., Path]:
    """Writes a rater's file as the page does: `choices` maps a question to a or b."""

    def write(rater: str, choices: dict[str, str], /, **changes: Any) -> Path:
        task = {entry.question: entry.task for entry in kit.key.entries}
        lines = ["kit,rater,task,question,choice,place"]
        for question, choice in choices.items():
            row = {"kit": kit.key.kit, "rater": rater, "task": task.get(question), "question": question}
            row |= {"choice": choice, "place": "1"} | changes
            lines.append(",".join(row.values()))
        path = tmp_path / f"{rater}-{len(list(tmp_path.glob('*.csv')))}.csv"
        path.write_text("\r\n".join([*lines, ""]), encoding="utf-8", newline="")
        return path

    return write
