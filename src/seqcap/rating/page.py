"""Writes the page that raters judge captions on, and the key to its questions.

The page is one HTML file that needs no network, and forbids itself any. It is made of template.html, page.css and
page.js, the questions as JSON, and the pictures as data URIs. It draws generated scenes itself, larger than the
captioner's pictures and without their noise. So no photograph can get in.

Every rater meets the questions, and the two sides of each, in an order drawn from a hash of the rater's name.
"""

from __future__ import annotations

import base64
import hashlib
import html
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from seqcap.errors import InputError
from seqcap.files.json_file import write_json
from seqcap.files.writing import atomic
from seqcap.rating import KEY_FILE
from seqcap.rating.key import Entry, Key, Side, Task
from seqcap.world.drawing import draw
from seqcap.world.graph import Scene

# Pixels of a picture's side: as large as it is shown on a desktop.
_SIZE = 320


@dataclass(frozen=True)
class AccuracyItem:
    """A caption and two pictures: which does it mean?

    Attributes:
        item: the picture that the caption is of.
        other: a similar one.
        model: whose caption it is; the page does not say.
        caption: as raters read it; may be empty.
    """

    item: int
    other: int
    model: str
    caption: str


@dataclass(frozen=True)
class NaturalnessItem:
    """Two captions of a picture, which is not shown: which is better English?

    Attributes:
        item: the picture.
        model, caption: a caption and whose it is; the page does not say.
        against, against_caption: the one that it is compared with.
    """

    item: int
    model: str
    caption: str
    against: str
    against_caption: str


def write_page(
    path: Path,
    accuracy: Sequence[AccuracyItem],
    naturalness: Sequence[NaturalnessItem],
    title: str,
    scenes: Mapping[int, Scene],
) -> None:
    """Writes the page, and `KEY_FILE` beside it. The same questions give the same bytes.

    The same caption of several models is asked for once. Two equal captions are not asked for: they are equally good.

    Args:
        path: of the HTML file.
        accuracy, naturalness: the questions, in any order.
        title: above the page.
        scenes: item -> scene, of the pictures in `accuracy` (`seqcap.world.scenes.read_scenes`).

    Raises:
        InputError: a picture is not a generated scene; both pictures of a question look the same; a model has two
            captions of a picture; or there is nothing to ask.
    """
    pictures = _pictures(path, accuracy, scenes)
    questions: dict[str, dict[str, Any]] = {}
    entries = []
    for one in accuracy:
        of_both = {"own": pictures[one.item], "other": pictures[one.other]}
        if of_both["own"] == of_both["other"]:
            raise InputError(path, f"items {one.item} and {one.other} look the same", "choose another similar picture")
        question, side = _asked(questions, "accuracy", one.item, of_both["own"], of_both["other"], one.caption)
        entries.append(Entry(**_whose(one, "accuracy"), against=None, question=question, side=side))
    for two in naturalness:
        whose = _whose(two, "naturalness")
        if two.caption == two.against_caption:
            entries.append(Entry(**whose, against=two.against, question=None, side=None))
            continue
        question, side = _asked(questions, "naturalness", two.item, two.caption, two.against_caption)
        entries.append(Entry(**whose, against=two.against, question=question, side=side))
    _check(path, entries, questions)
    content = _content(questions)
    kit = _hash(content)[:12]
    with atomic(path) as temporary:
        temporary.write_text(_page(kit, content, title), encoding="utf-8")
    write_json(path.with_name(KEY_FILE), Key(kit=kit, entries=tuple(entries)).model_dump(mode="json"))


def _whose(judged: AccuracyItem | NaturalnessItem, task: Task) -> dict[str, Any]:
    return {"task": task, "item": judged.item, "model": judged.model}


def _pictures(path: Path, accuracy: Sequence[AccuracyItem], scenes: Mapping[int, Scene]) -> dict[int, str]:
    """Item -> its picture, as a data URI."""
    pictures = {}
    for item in sorted({item for one in accuracy for item in (one.item, one.other)}):
        if item not in scenes:
            fix = "photographs are not shown to raters: ask for naturalness alone"
            raise InputError(path, f"picture {item} is not a generated scene", fix)
        drawn = draw(scenes[item], _SIZE, noise=0, rng=np.random.default_rng(0))
        buffer = io.BytesIO()
        # Flat colours: a palette halves the bytes, and only a few of the shades along edges are merged.
        drawn.quantize(256).save(buffer, "PNG", optimize=True)
        pictures[item] = "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
    return pictures


def _asked(
    questions: dict[str, dict[str, Any]], task: Task, item: int, own: str, other: str, caption: str = ""
) -> tuple[str, Side]:
    """Asks a question unless it is asked already: its name, and the side that `own` is on.

    Name and side come from a hash of what raters see, so that they tell nothing. A question is of one item: its answer
    is one draw of the items.
    """
    first, second = sorted((own, other))
    name = _hash([task, item, caption, first, second])
    # A digit that is not in the question's name.
    a, b = (first, second) if int(name[-1], 16) % 2 else (second, first)
    questions[name[:10]] = {"id": name[:10], "task": task, "caption": caption, "a": a, "b": b}
    return name[:10], "a" if a == own else "b"


def _check(path: Path, entries: Sequence[Entry], questions: Mapping[str, Any]) -> None:
    seen = set()
    for entry in entries:
        judged = (entry.task, entry.item, entry.model, entry.against)
        if judged in seen:
            problem = f"{entry.task}: model {entry.model!r} has two captions of item {entry.item}"
            raise InputError(path, problem, "give each model one")
        seen.add(judged)
    if not questions:
        raise InputError(path, "there is nothing to ask", "give captions, and in naturalness different ones")


def _content(questions: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """What the page's script reads. Questions go by their names, pictures by their bytes: neither order tells more."""
    by_name = [questions[name] for name in sorted(questions)]
    shown = sorted({q[side] for q in by_name if q["task"] == "accuracy" for side in ("a", "b")})
    place = {picture: index for index, picture in enumerate(shown)}
    numbered = [q | {s: place[q[s]] for s in ("a", "b")} if q["task"] == "accuracy" else q for q in by_name]
    return {"pictures": shown, "questions": numbered}


def _page(kit: str, content: Mapping[str, Any], title: str) -> str:
    files = resources.files("seqcap.rating")
    template, style, script = (
        files.joinpath(name).read_text(encoding="utf-8") for name in ("template.html", "page.css", "page.js")
    )
    # Nothing but this style, this script and pictures within the page may run or load.
    policy = f"default-src 'none'; img-src data:; style-src '{_allowed(style)}'; script-src '{_allowed(script)}'"
    # Inside a script element only "<" can end it.
    questions = json.dumps({"kit": kit, **content}, ensure_ascii=False).replace("<", "\\u003c")
    parts = {
        "policy": f"{policy}; base-uri 'none'; form-action 'none'",
        "title": html.escape(title),
        "style": style,
        "questions": questions,
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


def _allowed(source: str) -> str:
    """How a content security policy names an inline script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode("ascii")


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
