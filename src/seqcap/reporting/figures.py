"""The papers' figures from our own captions and curves, as PNG files that come out the same byte for byte.

Images for the qualitative figures are chosen by a rule, not by eye: see `choose_images`.
"""

from __future__ import annotations

import csv
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib.style
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from numpy.typing import NDArray

from seqcap import artifacts
from seqcap.data.images import ImageSource
from seqcap.errors import InputError
from seqcap.reporting import published
from seqcap.reporting.inputs import DATA, REPORTS, ReportConfig, Scores, Variant

# Okabe and Ito's colours, told apart with any colour vision. Variants of one objective share a colour.
_COLOURS = {"xe": "#000000", "sll": "#0072B2", "sll_me": "#E69F00", "sll_sle": "#D55E00"}
_OTHER_COLOURS = ("#009E73", "#CC79A7", "#56B4E9", "#F0E442")
_MARKERS = {"xe": "o", "sll": "s", "sll_me": "^", "sll_sle": "D"}

_STYLE = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 10, "figure.dpi": 110}
_MUTED = "#8a8a8a"
_LINE = 0.185  # inches from one line of a caption to the next
_LONG_REFERENCE = 10
_CURVE_POINTS = 100

QUANTITIES = {
    "train_reward": "reward of training samples (CIDEr-D)",
    "val_cider": "validation CIDEr, greedy captions",
    "val_cider_sample": "validation CIDEr, sampled captions",
}


@dataclass(frozen=True)
class Inputs:
    """What the figures of one paper are drawn from.

    Attributes:
        decoded: variant -> its captions, columns of `artifacts.DECODED`.
        curves: learning curves of training and pretraining, columns of `artifacts.CURVES`.
        images: of the scored split: image_id, file, longest_reference.
    """

    config: ReportConfig
    variants: Sequence[Variant]
    scores: Scores
    decoded: dict[str, pd.DataFrame]
    curves: pd.DataFrame
    images: pd.DataFrame

    @property
    def trained(self) -> list[Variant]:
        """Variants with decoded captions."""
        return [variant for variant in self.variants if variant.variant in self.decoded]


# --- Style


def _colour(variant: Variant, variants: Sequence[Variant]) -> str:
    name = variant.variant.removesuffix("_att")
    if name in _COLOURS:
        return _COLOURS[name]
    others = sorted({v.variant.removesuffix("_att") for v in variants} - set(_COLOURS))
    return _OTHER_COLOURS[others.index(name) % len(_OTHER_COLOURS)]


def _marker(variant: Variant) -> str:
    return _MARKERS.get(variant.variant.removesuffix("_att"), "v")


def _captioners(variants: Sequence[Variant]) -> list[str]:
    return list(dict.fromkeys(variant.captioner for variant in variants))


def _save(figure: Figure, path: Path) -> None:
    """Writes a PNG whose bytes depend on nothing but what is drawn (no date, no version of matplotlib)."""
    FigureCanvasAgg(figure)
    with artifacts.atomic(path) as temporary:
        figure.savefig(temporary, format="png", dpi=110, metadata={"Software": None})


# --- Captions of single images (the paper's figures 1, 2 and 4)


def choose_images(images: pd.DataFrame, count: int) -> pd.DataFrame:
    """The first images of the scored split, by id, whose longest reference has at least ten words.

    Images that people describe at length show several things; with too few of those, the first of the rest follow.
    """
    long = images[images["longest_reference"] >= _LONG_REFERENCE]
    short = images[images["longest_reference"] < _LONG_REFERENCE]
    return pd.concat([long, short]).head(count)


def _samples(inputs: Inputs, variant: Variant, image_id: int) -> list[str]:
    """The 5 samples of one image, first seed."""
    decoded = inputs.decoded[variant.variant]
    chosen = decoded[
        (decoded["image_id"] == image_id) & (decoded["decoder"] == "sample") & (decoded["seed"] == variant.seeds[0])
    ]
    return [str(text) for text in chosen.sort_values("rank")["text"]]


def _pixels(file: str) -> NDArray[np.uint8]:
    """One image of the dataset's tar, RGB [height, width, 3]."""
    return np.asarray(ImageSource(DATA).read(file))


def _wrapped(captions: Sequence[str], width: int) -> list[tuple[str, bool]]:
    """Numbered captions wrapped at `width` characters, each with whether it repeats an earlier one."""
    blocks = []
    for index, caption in enumerate(captions):
        text = textwrap.fill(f"{index + 1}. {caption or '(empty)'}", width, subsequent_indent="    ")
        blocks.append((text, caption in captions[:index]))
    return blocks


@dataclass(frozen=True)
class _Row:
    """One image with the captions of each system; `file` is None for the paper's own."""

    name: str
    file: str | None
    headings: list[str]
    panels: list[list[tuple[str, bool]]]

    @property
    def height(self) -> float:
        """Inches that the row takes."""
        lines = max(sum(text.count("\n") + 1 for text, _ in panel) for panel in self.panels)
        return max(lines * _LINE + 0.5, 1.55)


def _captions_figure(inputs: Inputs, shown: dict[str, str], count: int, number: int, first: int = 0) -> Figure:
    """A row per image: the picture, then one column of 5 samples per system; the paper's own captions last.

    Args:
        inputs: the run.
        shown: variant -> the system's name in the paper, a column each.
        count: how many images.
        number: of the paper's figure.
        first: how many chosen images to pass over.
    """
    width = {1: 58, 2: 44}.get(len(shown), 34)
    known = {variant.variant: variant for variant in inputs.variants}
    rows = []
    for image in choose_images(inputs.images, first + count).tail(count).to_dict("records"):
        headings, panels = [], []
        for name, system in shown.items():
            if name in known:
                headings.append(f"{system}, 5 samples, seed {known[name].seeds[0]}")
                panels.append(_wrapped(_samples(inputs, known[name], int(image["image_id"])), width))
            else:
                headings.append(system)
                panels.append([(textwrap.fill(f"variant {name} is not in params.yaml", width), True)])
        title = f"{inputs.config.dataset}, {inputs.config.split} image {image['image_id']}"
        rows.append(_Row(title, str(image["file"]), headings, panels))
    keys = list(shown.values()) if len(shown) > 1 else ["captions"]
    printed = [_wrapped(published.example_captions(f"sle_fig{number}", key), width) for key in keys]
    headings = [f"{system}, as printed (COCO)" for system in shown.values()]
    rows.append(_Row(f"the paper's Figure {number}", None, headings, printed))

    panel_width = 0.072 * width
    figure = Figure(figsize=(2.2 + panel_width * len(shown), sum(row.height for row in rows) + 0.1))
    top = figure.get_figheight() - 0.05
    for row in rows:
        _picture(figure, 0.1, top, row, inputs.config.show_images)
        for column, (name, heading, panel) in enumerate(zip(shown, row.headings, row.panels, strict=True)):
            left = 1.95 + column * panel_width
            _text(figure, left, top - 0.12, heading, weight="bold", color=_COLOURS[name])
            y = top - 0.12 - 1.35 * _LINE
            for text, muted in panel:
                _text(figure, left, y, text, color=_MUTED if muted else "#000000")
                y -= _LINE * (text.count("\n") + 1)
        top -= row.height
    return figure


def _text(figure: Figure, x: float, y: float, text: str, weight: str = "normal", color: str = "#000000") -> None:
    """Text whose upper left corner is at (x, y) inches."""
    width, height = figure.get_size_inches()
    figure.text(
        x / width, y / height, text, va="top", ha="left", fontsize=9, linespacing=1.25, weight=weight, color=color
    )


def _picture(figure: Figure, left: float, top: float, row: _Row, show: bool) -> None:
    """The row's name and picture below (left, top), in inches; or words in the picture's place."""
    _text(figure, left, top - 0.12, textwrap.fill(row.name, 26), weight="bold")
    if row.file is None:
        _text(figure, left, top - 0.38, "a COCO photograph,\nnot shown", color="#555555")
    elif not show:
        words = f"photograph not shown: {Path(row.file).name}"
        _text(figure, left, top - 0.38, textwrap.fill(words, 24), color="#555555")
    else:
        side = min(row.height - 0.45, 1.45)
        width, height = figure.get_size_inches()
        axes = figure.add_axes((left / width, (top - 0.38 - side) / height, side / width, side / height))
        axes.imshow(_pixels(row.file), interpolation="nearest")
        axes.set_axis_off()


def _figure1(inputs: Inputs) -> Figure:
    return _captions_figure(inputs, {"sll": "SLL"}, count=1, number=1)


def _figure2(inputs: Inputs) -> Figure:
    return _captions_figure(inputs, {"xe": "XE", "sll": "SLL"}, count=1, number=2, first=1)


def _figure4(inputs: Inputs) -> Figure:
    return _captions_figure(inputs, {"xe": "XE", "sll": "SLL", "sll_sle": "SLL-SLE"}, count=3, number=4, first=2)


# --- How concentrated p(y|x) is (measured; the paper's figure 3 is a sketch)


def _figure3(inputs: Inputs) -> Figure:
    captioners = _captioners(inputs.trained)
    figure = Figure(figsize=(9.6, 0.4 + 3.3 * len(captioners)), layout="constrained")
    axes = figure.subplots(len(captioners), 2, squeeze=False)
    for row, captioner in zip(axes, captioners, strict=True):
        variants = [variant for variant in inputs.trained if variant.captioner == captioner]
        surprisals = []
        for variant in variants:
            decoded = inputs.decoded[variant.variant]
            beam = decoded[decoded["decoder"] == "beam"]
            best_first = beam.sort_values(["seed", "image_id", "log_prob"], ascending=[True, True, False])
            mass = np.exp(best_first["log_prob"]).groupby([best_first["seed"], best_first["image_id"]]).cumsum()
            place = best_first.groupby(["seed", "image_id"]).cumcount() + 1
            curve = mass.groupby(place).mean()
            row[0].plot(
                curve.index,
                curve.to_numpy(),
                color=_colour(variant, inputs.variants),
                marker=_marker(variant),
                label=variant.label,
            )
            surprisals.append(-decoded.loc[decoded["decoder"] == "sample", "log_prob"].to_numpy(dtype=float))
        row[0].set(xlabel="captions of the beam, most probable first", ylabel="cumulative probability")
        row[0].set_ylim(bottom=0)
        row[0].set_title(f"{captioner}: probability of the k best beam captions", loc="left")
        row[0].set_xticks(range(1, 6))
        row[0].legend(frameon=False)
        boxes = row[1].boxplot(
            surprisals,
            orientation="horizontal",
            widths=0.55,
            showfliers=False,
            whis=(5, 95),
            showmeans=True,
            patch_artist=True,
            meanprops={"marker": "D", "markerfacecolor": "white", "markeredgecolor": "black", "markersize": 5},
            medianprops={"color": "black"},
        )
        for box, variant in zip(boxes["boxes"], variants, strict=True):
            box.set_facecolor(to_rgba(_colour(variant, inputs.variants), alpha=0.5))
        means = [f"{variant.label}  {values.mean():.1f}" for variant, values in zip(variants, surprisals, strict=True)]
        row[1].set_yticks(range(1, len(variants) + 1), means)
        row[1].set_ylim(len(variants) + 0.6, 0.4)
        row[1].set_xlim(left=0)
        row[1].set_xlabel("-log p(y|x) of a random sample, nats")
        row[1].set_title(f"{captioner}: surprisal of random samples", loc="left")
    return figure


# --- Learning curves


def _binned(curve: pd.DataFrame) -> pd.DataFrame:
    """Averages a long curve over at most `_CURVE_POINTS` stretches of equal length; step 0 stays by itself."""
    if len(curve) <= _CURVE_POINTS:
        return curve
    stretch = np.ceil(curve["step"] / curve["step"].max() * _CURVE_POINTS)
    return curve.groupby(stretch)[["step", "value"]].mean()


def _curves(inputs: Inputs) -> Figure:
    names = [variant.variant for variant in inputs.variants]
    curves = inputs.curves[inputs.curves["variant"].isin(names)]
    quantities = [quantity for quantity in QUANTITIES if (curves["quantity"] == quantity).any()]
    if not quantities:
        raise InputError("curves.parquet", f"has none of {', '.join(QUANTITIES)}", "run the training stages again")
    trained = [variant for variant in inputs.variants if (curves["variant"] == variant.variant).any()]
    captioners = _captioners(trained)
    size = (3.9 * max(len(quantities), 2), 0.4 + 3.2 * len(captioners))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(len(captioners), len(quantities), squeeze=False)
    for row, captioner in zip(axes, captioners, strict=True):
        for axis, quantity in zip(row, quantities, strict=True):
            _one_quantity(axis, curves[curves["quantity"] == quantity], inputs, captioner)
            axis.set_title(QUANTITIES[quantity], loc="left")
            axis.set_xlabel("training step (0: before any)")
        row[0].set_ylabel(captioner)
        row[0].legend(frameon=False, fontsize=8)
    return figure


def _one_quantity(axis: Axes, curves: pd.DataFrame, inputs: Inputs, captioner: str) -> None:
    """A thin line per seed, the mean of seeds on top, and a dashed line at step 0: the pretrained (XE) captioner."""
    starts = []
    for variant in inputs.variants:
        mine = curves[curves["variant"] == variant.variant]
        if variant.captioner != captioner or mine.empty:
            continue
        starts += mine.loc[mine["step"] == 0, "value"].tolist()
        if mine["step"].max() == 0:
            continue  # trained no further: the dashed line
        colour = _colour(variant, inputs.variants)
        for _, seed in mine.groupby("seed"):
            line = _binned(seed.sort_values("step"))
            axis.plot(line["step"], line["value"], color=colour, linewidth=0.7, alpha=0.4)
        mean = _binned(mine.groupby("step")["value"].mean().reset_index())
        axis.plot(mean["step"], mean["value"], color=colour, linewidth=2, label=variant.label)
    if starts:
        axis.axhline(float(np.mean(starts)), color="#666666", linestyle="--", linewidth=1, label="XE (step 0)")


# --- Quality against diversity


def _tradeoff(inputs: Inputs) -> Figure:
    figure = Figure(figsize=(9.6, 3.9), layout="constrained")
    ours, paper = figure.subplots(1, 2)
    captioners = _captioners(inputs.trained)
    for variant in inputs.trained:
        cider = inputs.scores.per_image(variant.variant, "sample", "CIDEr", "every")
        div2 = inputs.scores.per_image(variant.variant, "sample", "Div2", "set")
        if cider is None or div2 is None:
            continue
        attention = variant.captioner != captioners[0]
        colour = _colour(variant, inputs.variants)
        ours.scatter(
            div2.mean(axis=0),
            cider.mean(axis=0) * 100,
            color="none" if attention else colour,
            edgecolors=colour,
            marker=_marker(variant),
            s=42,
            linewidths=1.4,
            label=variant.label,
        )
    ours.set_title(f"ours, {inputs.config.dataset} {inputs.config.split}: a point per seed", loc="left")
    for name, row in (("xe", "XE (rs)"), ("sll", "SLL (rs)"), ("sll_me", "SLL-ME (rs)"), ("sll_sle", "SLL-SLE (rs)")):
        x, y = (published.published_value("sle", 4, row, column) for column in ("Div2", "CIDEr"))
        label = row.removesuffix(" (rs)")
        paper.scatter(x, y, color=_COLOURS[name], marker=_MARKERS[name], s=42, label=label)
    paper.set_title("the paper's Table 4, COCO", loc="left")
    for axis in (ours, paper):
        axis.set(xlabel="Div-2 of 5 samples (more diverse →)", ylabel="mean CIDEr of 5 samples, x100")
        axis.margins(0.12)
        axis.legend(frameon=False)
    return figure


@dataclass(frozen=True)
class FigureKind:
    """How a figure is drawn, and its caption in the report."""

    draw: Callable[[Inputs], Figure]
    title: str
    caption: str


_CHOICE = (
    "Images are the first of the scored split, by id, whose longest reference has at least ten words, in turn over the "
    "three figures. A repeated caption is grey."
)

SLE_FIGURES = {
    "sle_fig1": FigureKind(_figure1, "SLE, Figure 1", f"Five random samples of an SLL captioner. {_CHOICE}"),
    "sle_fig2": FigureKind(_figure2, "SLE, Figure 2", f"Five random samples of XE and of SLL. {_CHOICE}"),
    "sle_fig3": FigureKind(
        _figure3,
        "SLE, Figure 3, measured",
        "The paper sketches how peaked p(y|x) is; this measures it. Left: the probability that the beam's k best "
        "captions hold together, mean over images and seeds. Right: -log p(y|x) of 5 random samples per image; "
        "its mean (diamond, and beside the name) estimates the entropy. Boxes span the quartiles, whiskers 5% to 95%.",
    ),
    "sle_fig4": FigureKind(_figure4, "SLE, Figure 4", f"Five random samples of XE, SLL and SLL-SLE. {_CHOICE}"),
    "sle_curves": FigureKind(
        _curves,
        "Learning curves",
        "From step 0, the cross-entropy checkpoint (dashed: its value). Thin: a seed; thick: their mean. A curve of "
        "over 100 points is averaged over 100 stretches of steps. Not in the paper.",
    ),
    "sle_tradeoff": FigureKind(
        _tradeoff,
        "Quality against diversity",
        "Mean CIDEr of 5 random samples against their Div-2. Hollow points: with attention. The panels have their own "
        "axes: CIDEr on one dataset says nothing about CIDEr on another. Not in the paper.",
    ),
}

PAPERS = {"sle": SLE_FIGURES}


def draw(paper: str, inputs: Inputs, folder: Path = REPORTS / "figures") -> None:
    """Writes every figure of a paper as <folder>/<name>.png."""
    with matplotlib.style.context(["default", _STYLE]):
        for name, kind in PAPERS[paper].items():
            _save(kind.draw(inputs), folder / f"{name}.png")


def write_curves(curves: pd.DataFrame, path: Path = REPORTS / "curves.csv") -> None:
    """Writes every learning curve for `dvc plots`: step, variant, seed, quantity, value."""
    columns = ["step", "variant", "seed", "quantity", "value"]
    ordered = curves.sort_values(["variant", "quantity", "seed", "step"])[columns]
    with artifacts.atomic(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for step, variant, seed, quantity, value in ordered.itertuples(index=False):
            writer.writerow([step, variant, seed, quantity, f"{value:.6g}"])
