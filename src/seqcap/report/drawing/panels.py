"""Example panels: images, each with captions of several systems."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from seqcap.data.frames import ClipSource
from seqcap.data.images import ImageSource
from seqcap.report.drawing.colours import BLACK, MUTED, palette
from seqcap.report.drawing.colours import PEOPLE as GREY
from seqcap.report.inputs import Results, read_captions, read_images
from seqcap.report.paper import Examples
from seqcap.report.tables import people_label
from seqcap.tasks import ARTIFACTS

_FALSE = "#c00000"
_LINE = 0.185  # inches from one line of a caption to the next
_CHARACTER = 0.072  # inches of caption text, on average
_LONG_REFERENCE = 10
# Frames of a clip that are shown, in so many rows and columns.
_FRAMES = 2, 3
# The width of a caption, in characters: of a row per system, and of so many columns of samples.
_WIDTH, _WIDTHS = 88, {1: 58, 2: 44, 3: 34}


def draw(results: Results, examples: Examples) -> Figure | str:
    """The figure that figures.yaml declares, or a sentence where none of its runs is there."""
    task = examples.task or results.config.pictures
    if task not in results.config.tasks:
        return f"This run has no {examples.task}."
    present = {
        title: {name: label for name, label in systems.items() if name in results.by_name}
        for title, systems in examples.systems.items()
    }
    # Whole ones before those that lack a run.
    order = sorted(present, key=lambda title: (len(present[title]) < len(examples.systems[title]), not present[title]))
    title = order[0]
    if not present[title]:
        labels = dict.fromkeys(label for systems in examples.systems.values() for label in systems.values())
        return f"Not part of this run: {', '.join(labels)}."
    images = read_images(task, results.split(task)) if examples.task else results.images
    chosen = choose_images(images, examples.first + examples.images).tail(examples.images)
    make = _sample_rows if examples.decoder == "sample" else _beam_rows
    left_out = [label for name, label in examples.systems[title].items() if name not in present[title]]
    return captions_figure(results, make(results, examples, title, present[title], chosen), left_out)


def _beam_rows(
    results: Results, examples: Examples, title: str, systems: Mapping[str, str], images: pd.DataFrame
) -> list[Row]:
    """A row per image, a line per system; then the paper's examples."""
    first = results.by_name[next(iter(systems))]
    seed = min(results.by_name[name].seeds[0] for name in systems)
    heading = f"best caption of {results.a_beam(first.evaluation)}, seed {seed}"
    heading = f"{title}, {heading}" if title else heading
    writer = people_label(results)
    colours = palette(examples.systems[title].values()) | {writer: GREY}
    people = read_captions(examples.task or results.config.pictures) if examples.people else {}

    def captions(item: int) -> dict[str, Line]:
        said = {writer: Line(people[item])} if examples.people else {}
        return said | {label: beam_caption(results, name, item) for name, label in systems.items()}

    rows = example_rows(results, images, captions, heading, colours, _WIDTH, examples.task)
    printed = results.paper.published.examples(examples.printed) if examples.printed else {}
    for number, said in enumerate(printed.values(), start=1):
        lines = {label: Line(said[label]) for label in examples.systems[title].values()}
        name = f"{examples.printed.replace('table', 'Table ')}, image {number}"
        rows.append(systems_row(name, "as printed in the paper (COCO)" * (number == 1), lines, colours, _WIDTH))
    return rows


def _sample_rows(
    results: Results, examples: Examples, title: str, systems: Mapping[str, str], images: pd.DataFrame
) -> list[Row]:
    """A row per image, a column of random samples per system; then the paper's examples."""
    width, colours = _WIDTHS[len(systems)], palette(systems.values())

    def column(label: str, heading: str, captions: Sequence[str]) -> list[Line]:
        return [Line(f"{label}, {heading}", colours[label], bold=True), *_numbered(captions, width)]

    rows = []
    for image in images.to_dict("records"):
        item, columns = int(image["item"]), []
        for name, label in systems.items():
            heading = f"{results.samples()} samples, seed {results.by_name[name].seeds[0]}"
            columns.append(column(label, heading, captions_of(results, name, item, "sample")))
        rows.append(Row(image_name(results, item), columns, str(image["file"])))
    # A figure of one system does not name it in print.
    keys = list(systems.values()) if len(examples.systems[title]) > 1 else ["captions"]
    theirs = [results.paper.published.example_captions(examples.printed, key) for key in keys]
    printed = [
        column(label, "as printed (COCO)", captions) for label, captions in zip(systems.values(), theirs, strict=True)
    ]
    number = examples.printed.removeprefix("fig")
    return [*rows, Row(f"the paper's Figure {number}", printed)]


def _numbered(captions: Sequence[str], width: int) -> list[Line]:
    """The captions with their numbers; one that was said before is grey."""
    lines = []
    for index, caption in enumerate(captions):
        text = textwrap.fill(f"{index + 1}. {caption or '(empty)'}", width, subsequent_indent="    ")
        lines.append(Line(text, MUTED if caption in captions[:index] else BLACK))
    return lines


def choose_images(images: pd.DataFrame, count: int) -> pd.DataFrame:
    """Images drawn with a fixed seed, those with a reference of ten words or more first: they show several things."""
    drawn = images.sample(frac=1, random_state=0)
    short = drawn["longest_reference"] < _LONG_REFERENCE
    return pd.concat([drawn[~short], drawn[short]]).head(count)


def image_name(results: Results, item: int, task: str = "") -> str:
    task = task or results.config.pictures
    return f"{results.dataset(task)}, {results.split(task)} {results.kind(task).unit} {item}"


def captions_of(results: Results, name: str, item: int, decoder: str, seed: int | None = None) -> list[str]:
    """A run's captions of an image, the best first; without `seed` those of its first."""
    decoded = results.decoded(name)
    of_seed = decoded["seed"] == (results.by_name[name].seeds[0] if seed is None else seed)
    chosen = decoded[(decoded["item"] == item) & (decoded["decoder"] == decoder) & of_seed]
    return [str(text) for text in chosen.sort_values("rank")["text"]]


@dataclass(frozen=True)
class Line:
    """A line of text below an image."""

    text: str
    colour: str = BLACK
    bold: bool = False
    false: str = ""  # what of it is false, in a line below

    @property
    def lines(self) -> int:
        return self.text.count("\n") + 1 + bool(self.false)


@dataclass(frozen=True)
class Row:
    """One image with its captions: a column's first line is its heading."""

    name: str
    columns: list[list[Line]]
    file: str | None = None  # None for an image of the paper, which is not at hand
    task: str = ""  # that of a clip; "" for an image

    @property
    def height(self) -> float:
        """In inches: room for its lines, and for its image if that is shown."""
        lines = max(sum(line.lines for line in column[1:]) for column in self.columns)
        return max(lines * _LINE + 0.5, 1.55 if self.file is not None else 0.9)

    def may_be_shown(self, results: Results) -> bool:
        return self.file is None or results.config.tasks[self.task or results.config.pictures].show


def captions_figure(results: Results, rows: Sequence[Row], left_out: Sequence[str] = ()) -> Figure | str:
    """A row per image: the image, and columns as wide as their text; below, the systems that are `left_out` because
    this run does not have them. A sentence where the images may not be shown: captions alone tell nothing."""
    if not all(row.may_be_shown(results) for row in rows):
        return "These photographs are not ours to show; some of their captions are in `results/captions`."
    columns = zip(*(row.columns for row in rows), strict=True)
    inches = [_CHARACTER * (2 + max(map(_width, column))) for column in columns]
    words = textwrap.fill(f"Not part of this run: {', '.join(left_out)}." if left_out else "", 100)
    below = Line(words, GREY)
    heights = [row.height for row in rows]
    height = sum(heights) + 0.1 + (below.lines * _LINE if words else 0.0)
    figure = Figure(figsize=(2.3 + sum(inches), height))
    top = height - 0.05
    _text(figure, 0.1, 0.05 + below.lines * _LINE, below)
    for row, its_height in zip(rows, heights, strict=True):
        _draw_image(figure, 0.1, top, row, results)
        left = 2.1
        for (heading, *lines), width in zip(row.columns, inches, strict=True):
            _text(figure, left, top - 0.12, heading)
            y = top - 0.12 - 1.35 * _LINE
            for line in lines:
                _text(figure, left, y, line)
                y -= _LINE * line.lines
            left += width
        top -= its_height
    return figure


def _width(lines: Sequence[Line]) -> float:
    """The characters of the widest line; bold ones are wider."""
    return max(len(part) * (1.15 if line.bold else 1.0) for line in lines for part in line.text.split("\n"))


def beam_caption(results: Results, name: str, item: int) -> Line:
    return Line(captions_of(results, name, item, "beam")[0] or "(empty)")


def systems_row(title: str, heading: str, captions: Mapping[str, Line], colours: Mapping[str, str], width: int) -> Row:
    """An image of the paper with each system's caption."""
    names, texts = [Line("")], [Line(heading, GREY)]
    for name, caption in captions.items():
        wrapped = replace(caption, text=textwrap.fill(caption.text, width, subsequent_indent="    "))
        texts.append(wrapped)
        names.append(Line(name + "\n" * (wrapped.lines - 1), colours[name], bold=True))
    return Row(title, [names, texts])


def example_rows(
    results: Results,
    images: pd.DataFrame,
    captions: Callable[[int], Mapping[str, Line]],
    heading: str,
    colours: Mapping[str, str],
    width: int,
    task: str = "",
) -> list[Row]:
    """A row per image (or clip of `task`); `captions` gives each system's caption of an item."""
    rows: list[Row] = []
    for item, file in zip(images["item"].tolist(), images["file"].tolist(), strict=True):
        row = systems_row(image_name(results, item, task), "" if rows else heading, captions(item), colours, width)
        rows.append(replace(row, file=file, task=task))
    return rows


def _text(figure: Figure, x: float, y: float, line: Line) -> None:
    width, height = figure.get_size_inches()
    weight = "bold" if line.bold else "normal"
    figure.text(x / width, y / height, line.text, color=line.colour, weight=weight, va="top", linespacing=1.25)
    if line.false:
        below = y - (line.lines - 1) * _LINE
        figure.text((x + 0.25) / width, below / height, f"false: {line.false}", color=_FALSE, va="top")


def _draw_image(figure: Figure, left: float, top: float, row: Row, results: Results) -> None:
    _text(figure, left, top - 0.12, Line(textwrap.fill(row.name, 26), bold=True))
    if row.file is None:
        _text(figure, left, top - 0.38, Line("a COCO photograph,\nnot shown", GREY))
    else:
        data = ARTIFACTS / (row.task or results.config.pictures) / "data"
        shown = _frames(data, row.file) if row.task else np.asarray(ImageSource(data).read(row.file))
        high = min(row.height - 0.45, 1.45)
        wide = high * shown.shape[1] / shown.shape[0]
        # Of images that are wider than high, so much that they leave room for the words beside them.
        wide, high = min(wide, 1.75), min(high, 1.75 * high / wide)
        width, height = figure.get_size_inches()
        axes = figure.add_axes((left / width, (top - 0.38 - high) / height, wide / width, high / height))
        axes.imshow(shown, interpolation="nearest")
        axes.set_axis_off()


def _frames(data: Path, file: str) -> NDArray[np.uint8]:
    rows, columns = _FRAMES
    frames = [np.asarray(frame) for frame in ClipSource(data, rows * columns).read(file)]
    apart = [np.pad(frame, ((0, 2), (0, 2), (0, 0)), constant_values=255) for frame in frames]
    lines = [np.concatenate(apart[row * columns : (row + 1) * columns], axis=1) for row in range(rows)]
    return np.concatenate(lines)[:-2, :-2]
