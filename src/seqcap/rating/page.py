"""Writes the page that raters judge captions on and the key to its questions, or why there is no page.

The page is one HTML file that needs no network and allows itself none: it holds the questions as JSON and the images as
data URIs. The scenes are drawn for the page, larger than the captioner's images and without their noise, so no
photograph can get in. Every rater meets the questions, and the two sides of each, in an order drawn from a hash of the
rater's name.
"""

import base64
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from seqcap.errors import InputError
from seqcap.evaluation.retrieval import most_similar
from seqcap.files.json_file import write_json
from seqcap.files.writing import atomic
from seqcap.rating import KEY_FILE, PAGE, Entry, Key, Task, kit_folder
from seqcap.report.inputs import Results
from seqcap.report.reported import PaperConfig
from seqcap.report.standalone import render
from seqcap.tasks import ARTIFACTS
from seqcap.world.drawing import draw
from seqcap.world.graph import Scene
from seqcap.world.scenes import SCENES_FILE, read_scenes

# Part of the code of every module that imports this one (`pipeline.code`).
DATA_FILES = "web/*"
_SIZE = 320  # pixels of an image's side: as large as the page shows it on a desktop


@dataclass(frozen=True)
class AccuracyItem:
    """A caption and two images: which does it mean?"""

    item: int  # the caption's image
    other: int  # a similar one
    model: str  # whose caption it is; the page does not say
    caption: str  # may be empty


@dataclass(frozen=True)
class NaturalnessItem:
    """Two captions of an image, which is not shown: which is better English? The page does not say whose they are."""

    item: int
    model: str
    caption: str
    against: str
    against_caption: str


class RatingConfig(PaperConfig):
    """What the stage `rating` makes a page of: captions that people are asked about."""

    judge: str  # folder of the retriever whose first seed says which images are similar


def write_kit(results: Results, judge: str) -> None:
    """Writes reports/<paper>/rating: page and key, or where there is nothing to show or to ask, README.md. `judge` is
    the folder of the retriever that says which images are similar."""
    task, folder = results.config.pictures, kit_folder(results.paper.name)
    why = f"The pictures are photographs ({results.dataset(task)}), which are not ours to show."
    if results.config.tasks[task].show:
        part = results.paper.find("rating")
        accuracy, naturalness = part.questions(results, most_similar(judge, task, results.split(task)))
        if accuracy or naturalness:
            scenes = read_scenes(ARTIFACTS / task / "data" / SCENES_FILE)
            write_page(folder / PAGE, accuracy, naturalness, "Captions of pictures", scenes)
            return
        why = "None of the methods that the paper's raters judged is part of this run."
    with atomic(folder / "README.md") as path:
        path.write_text(f"# No page for raters\n\n{why}\n", encoding="utf-8")


def write_page(
    path: Path,
    accuracy: Sequence[AccuracyItem],
    naturalness: Sequence[NaturalnessItem],
    title: str,
    scenes: Mapping[int, Scene],
) -> None:
    """Writes the page, and `KEY_FILE` beside it. The same questions in any order give the same bytes.

    A caption that several models give is asked for once. Two equal captions are not asked for: they are equally good.
    `scenes`: item -> scene, of the images in `accuracy` (`seqcap.world.scenes.read_scenes`).
    """
    shown = {image for question in accuracy for image in (question.item, question.other)}
    images = {item: _draw(path, item, scenes) for item in sorted(shown)}
    questions: dict[str, dict[str, Any]] = {}
    entries = [*_ask_accuracy(questions, accuracy, images, path), *_ask_naturalness(questions, naturalness)]
    if not questions:
        raise InputError(path, "there is nothing to ask", "give captions, and in naturalness different ones")
    content = _content(questions, sorted(set(images.values())))
    kit = _hash(content)[:12]
    # Inside a script element only "<" can end it.
    embedded = json.dumps({"kit": kit, **content}, ensure_ascii=False).replace("<", "\\u003c")
    with atomic(path) as temporary:
        page = render(Path(__file__).parent / "web", title=title, questions=Markup(embedded))
        temporary.write_text(page, encoding="utf-8")
    write_json(path.with_name(KEY_FILE), Key(kit=kit, entries=tuple(entries)).model_dump(mode="json"))


def _ask_accuracy(
    questions: dict[str, dict[str, Any]], accuracy: Sequence[AccuracyItem], images: Mapping[int, str], path: Path
) -> list[Entry]:
    """Adds the questions on accuracy; returns their entries in the key."""
    entries = []
    for question in accuracy:
        own, other = images[question.item], images[question.other]
        if own == other:
            problem = f"items {question.item} and {question.other} look the same"
            raise InputError(path, problem, "choose another similar image")
        asked = _ask(questions, "accuracy", question.item, own, other, question.caption)
        entries.append(Entry(task="accuracy", item=question.item, model=question.model, against=None, **asked))
    return entries


def _ask_naturalness(questions: dict[str, dict[str, Any]], naturalness: Sequence[NaturalnessItem]) -> list[Entry]:
    """Adds the questions on naturalness; returns their entries in the key."""
    entries = []
    for question in naturalness:
        asked = {"question": None, "side": None}
        if question.caption != question.against_caption:
            asked = _ask(questions, "naturalness", question.item, question.caption, question.against_caption)
        item, model, against = question.item, question.model, question.against
        entries.append(Entry(task="naturalness", item=item, model=model, against=against, **asked))
    return entries


def _content(questions: Mapping[str, dict[str, Any]], pictures: Sequence[str]) -> dict[str, Any]:
    """What the page holds. Questions are in the order of their names, images in that of their bytes: neither tells
    more."""
    numbers = {picture: number for number, picture in enumerate(pictures)}
    ordered = [_with_numbers(questions[name], numbers) for name in sorted(questions)]
    return {"pictures": pictures, "questions": ordered}


def _with_numbers(question: dict[str, Any], numbers: Mapping[str, int]) -> dict[str, Any]:
    """A question on accuracy with the numbers of its two pictures, not the pictures."""
    if question["task"] != "accuracy":
        return question
    return question | {side: numbers[question[side]] for side in ("a", "b")}


def _draw(path: Path, item: int, scenes: Mapping[int, Scene]) -> str:
    """A scene's image, as a data URI."""
    if item not in scenes:
        fix = "photographs are not shown to raters: ask for naturalness alone"
        raise InputError(path, f"image {item} is not a generated scene", fix)
    drawn = draw(scenes[item], _SIZE, noise=0, rng=np.random.default_rng(0))
    buffer = io.BytesIO()
    # Flat colours: a palette halves the bytes, and only a few of the shades along edges are merged.
    drawn.quantize(256).save(buffer, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")


def _ask(
    questions: dict[str, dict[str, Any]], task: Task, item: int, own: str, other: str, caption: str = ""
) -> dict[str, Any]:
    """Adds a question, unless it is there already; returns its name, and the side that `own` is on. Both come from a
    hash of what raters see, so that they tell nothing. Each item has its own questions: items can be resampled."""
    first, second = sorted((own, other))
    name = _hash([task, item, caption, first, second])
    # A digit that is not in the question's name.
    a, b = (first, second) if int(name[-1], 16) % 2 else (second, first)
    questions[name[:10]] = {"id": name[:10], "task": task, "caption": caption, "a": a, "b": b}
    return {"question": name[:10], "side": "a" if a == own else "b"}


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
