"""What the papers' figures share: style, captions beside images, curves; PNG files with reproducible bytes."""

import io
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib.style
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray
from PIL import Image

from seqcap.config.report import ReportedRun
from seqcap.data.frames import ClipSource
from seqcap.data.images import ImageSource
from seqcap.files import json_file, writing
from seqcap.report import REPORTS
from seqcap.report.inputs import Results
from seqcap.report.statistics import Floats
from seqcap.report.tables import Estimate
from seqcap.tasks import ARTIFACTS

# Okabe and Ito's colours, told apart with any colour vision.
BLACK, BLUE, ORANGE, RED = "#000000", "#0072B2", "#E69F00", "#D55E00"
GREEN, PINK, SKY, YELLOW = "#009E73", "#CC79A7", "#56B4E9", "#F0E442"
MUTED, GREY, OLIVE = "#8a8a8a", "#555555", "#8F7700"
_SPARE_COLOURS = (GREEN, PINK, SKY, YELLOW)
# In all papers alike: maximum likelihood, from which they start, the paper's own method, and people.
BASELINE, METHOD, PEOPLE = BLACK, RED, GREY

HOLLOW = "hollow: one training seed (bar: over test items alone)"

_STYLE = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 10}
_DPI, _COLOURS = 105, 256  # of a file, to which a palette is a quarter of the size
_LINE = 0.185  # inches from one line of a caption to the next
_CHARACTER = 0.072  # inches of caption text, on average
_LONG_REFERENCE = 10
# Frames of a clip that are shown, in so many rows and columns.
_FRAMES = 2, 3
_CURVE_POINTS = 60


def write_figures(results: Results) -> None:
    """Writes <name>.png of every figure, and figures.json. A function with nothing to draw returns a sentence."""
    folder, functions = REPORTS / results.paper.name / "figures", results.paper.functions("figures")
    words = {}
    with matplotlib.style.context(["default", _STYLE]):
        for name, text in results.paper.figures.items():
            drawn = functions[name](results)
            if isinstance(drawn, str):
                words[name] = {"title": text.title, "missing": drawn}
            else:
                _save(drawn, folder / f"{name}.png")
                words[name] = {"title": text.title, "caption": results.fill(text.caption)}
    # Not as markdown: `dvc plots` looks at every file of the folder, and knows no such kind.
    json_file.write_json(folder / "figures.json", {"order": list(words), "figures": words})


def _save(figure: Figure, path: Path) -> None:
    FigureCanvasAgg(figure)
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=_DPI)
    with writing.atomic(path) as temporary, Image.open(drawn) as image:
        # Octrees keep colours that few pixels have.
        few = image.convert("RGB").quantize(_COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        few.save(temporary, format="PNG", optimize=True)


def palette(names: Iterable[str], known: Mapping[str, str]) -> dict[str, str]:
    """A colour for every name: the known one, else a spare one."""
    spare = [colour for colour in _SPARE_COLOURS if colour not in known.values()]
    others = sorted(set(names) - set(known))
    return dict(known) | {name: spare[i % len(spare)] for i, name in enumerate(others)}


def lighter(colour: str, share: float) -> str:
    """A colour, by a share on the way to white."""
    red, green, blue = (part + share * (1 - part) for part in to_rgb(colour))
    return to_hex((red, green, blue))


def choose_images(images: pd.DataFrame, count: int) -> pd.DataFrame:
    """Images drawn with a fixed seed, those with a reference of ten words or more first: they show several things."""
    drawn = images.sample(frac=1, random_state=0)
    short = drawn["longest_reference"] < _LONG_REFERENCE
    return pd.concat([drawn[~short], drawn[short]]).head(count)


def image_name(results: Results, item: int, task: str = "") -> str:
    task = task or results.config.pictures
    return f"{results.dataset(task)}, {results.split(task)} {results.kind(task).unit} {item}"


def captions_of(results: Results, name: str, item: int, decoder: str) -> list[str]:
    decoded, seed = results.decoded(name), results.by_name[name].seeds[0]
    chosen = decoded[(decoded["item"] == item) & (decoded["decoder"] == decoder) & (decoded["seed"] == seed)]
    return [str(text) for text in chosen.sort_values("rank")["text"]]


@dataclass(frozen=True)
class Line:
    text: str
    colour: str = BLACK
    bold: bool = False

    @property
    def lines(self) -> int:
        return self.text.count("\n") + 1


@dataclass(frozen=True)
class Row:
    """One image with its captions: a column's first line is its heading."""

    name: str
    columns: list[list[Line]]
    file: str | None = None  # None for an image of the paper, which is not at hand
    task: str = ""  # that of a clip; "" for an image

    @property
    def height(self) -> float:
        lines = max(sum(line.lines for line in column[1:]) for column in self.columns)
        return max(lines * _LINE + 0.5, 1.55 if self.file else 0.9)


def captions_figure(results: Results, rows: Sequence[Row], left_out: Sequence[str] = ()) -> Figure:
    """A row per image: the image, or its file name where it may not be shown, and columns as wide as their text; below,
    the systems that are `left_out` because this run does not have them."""
    columns = zip(*(row.columns for row in rows), strict=True)
    inches = [_CHARACTER * (2 + max(map(_width, column))) for column in columns]
    words = textwrap.fill(f"Not part of this run: {', '.join(left_out)}." if left_out else "", 100)
    below = Line(words, GREY)
    height = sum(row.height for row in rows) + 0.1 + (below.lines * _LINE if words else 0.0)
    figure = Figure(figsize=(2.3 + sum(inches), height))
    top = height - 0.05
    _text(figure, 0.1, 0.05 + below.lines * _LINE, below)
    for row in rows:
        _draw_image(figure, 0.1, top, row, results)
        left = 2.1
        for (heading, *lines), width in zip(row.columns, inches, strict=True):
            _text(figure, left, top - 0.12, heading)
            y = top - 0.12 - 1.35 * _LINE
            for line in lines:
                _text(figure, left, y, line)
                y -= _LINE * line.lines
            left += width
        top -= row.height
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
        wrapped = Line(textwrap.fill(caption.text, width, subsequent_indent="    "), caption.colour)
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


def _draw_image(figure: Figure, left: float, top: float, row: Row, results: Results) -> None:
    _text(figure, left, top - 0.12, Line(textwrap.fill(row.name, 26), bold=True))
    if row.file is None:
        _text(figure, left, top - 0.38, Line("a COCO photograph,\nnot shown", GREY))
    elif not results.config.tasks[row.task or results.config.pictures].show:
        words = f"{'clip' if row.task else 'photograph'} not shown: {Path(row.file).name}"
        _text(figure, left, top - 0.38, Line(textwrap.fill(words, 24), GREY))
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


def spans(estimates: Iterable[Estimate], scale: float) -> tuple[Floats, Floats]:
    """Values [n], and how far their intervals reach below and above them [2, n]: 0 without one, or beside the value."""
    found = [(ours.value or 0.0, ours.low, ours.high) for ours in estimates]
    values, low, high = np.array(found, dtype=np.float64).T  # None is NaN
    return scale * values, scale * np.fmax([values - low, high - values], 0)


def plot_estimates(axis: Axes, points: Mapping[float, Estimate], scale: float, **look: Any) -> None:
    """A line through values with error bars, by their places on the x axis; those of one training seed are hollow."""
    known = {x: ours for x, ours in points.items() if ours.value is not None}
    if known:
        values, errors = spans(known.values(), scale)
        axis.errorbar(list(known), values, errors, **look)
        alone = [(x, y) for (x, ours), y in zip(known.items(), values, strict=True) if ours.seeds == 1]
        hollow(axis, alone, look["color"], look["marker"], look.get("markersize"))


def hollow(
    axis: Axes, points: Sequence[tuple[float, float]], colour: str, marker: str, size: float | None = None
) -> None:
    """Hollow markers at some points, on top of what is there: those of one training seed."""
    if points:
        x, y = zip(*points, strict=True)
        axis.plot(x, y, marker, color=colour, markerfacecolor="white", markersize=size, zorder=4, label=HOLLOW)


def legend(figure: Figure, axes: Iterable[Axes], ncols: int) -> None:
    """One legend below the figure, with every label of some axes once; what hollow means comes last."""
    handles = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    if handles.pop(HOLLOW, None):
        handles[HOLLOW] = Line2D([], [], color=GREY, marker="o", markerfacecolor="white", linestyle="")
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=ncols, frameon=False)


def plot_curves(
    axis: Axes,
    curves: pd.DataFrame,
    runs: Iterable[ReportedRun],
    colours: Mapping[str, str],
    dashed: Collection[str] = (),
) -> None:
    """One quantity of several runs (columns of `schemas.CURVES`): a thin line per seed, and their mean on top, dashed
    for the runs in `dashed`. Runs without training have no line."""
    for run in runs:
        mine = curves[curves["variant"] == run.name]
        if mine.empty or mine["step"].max() == 0:
            continue
        colour = colours[run.name]
        for _, seed in mine.groupby("seed"):
            line = binned(seed.sort_values("step"))
            axis.plot(line["step"], line["value"], color=colour, linewidth=0.7, alpha=0.4)
        mean = binned(mine.groupby("step")["value"].mean().reset_index())
        style = "--" if run.name in dashed else "-"
        axis.plot(mean["step"], mean["value"], color=colour, linewidth=2, linestyle=style, label=run.label)


def plot_start(axis: Axes, curves: pd.DataFrame, runs: Iterable[ReportedRun], label: str) -> None:
    """A dashed line at the runs' mean value at step 0: the pretrained captioner's."""
    names = [run.name for run in runs]
    starts = curves.loc[curves["variant"].isin(names) & (curves["step"] == 0), "value"]
    if not starts.empty:
        axis.axhline(starts.mean(), color="#666666", linestyle="--", linewidth=1, label=f"{label} (step 0)")


def curves_panel(
    axis: Axes,
    results: Results,
    title: str,
    quantities: Collection[str],
    runs: Sequence[ReportedRun],
    colours: Mapping[str, str],
    start: str = "",
    scale: float = 1.0,
) -> None:
    """Learning curves of some runs, of which none has two of the quantities; `start` names what they start from."""
    curves = results.curves[results.curves["quantity"].isin(quantities)]
    curves = curves.assign(value=scale * curves["value"])
    plot_curves(axis, curves, runs, colours)
    if start:
        plot_start(axis, curves, runs, start)
    axis.set_title(title, loc="left")
    axis.set_xlabel("training step (0: before any)")


def binned(curve: pd.DataFrame) -> pd.DataFrame:
    """Averages a long curve over at most `_CURVE_POINTS` stretches of equal length; step 0 stays by itself."""
    if len(curve) <= _CURVE_POINTS:
        return curve
    stretch = np.ceil(curve["step"] / curve["step"].max() * _CURVE_POINTS)
    return curve.groupby(stretch)[["step", "value"]].mean()
