"""Loss smoothing's example captions, gains over MLE beside the published ones, and learning curves."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from seqcap.errors import InputError
from seqcap.metrics import registry
from seqcap.papers.smoothing.rows import MLE, PARTS, Part
from seqcap.report.figures import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    MUTED,
    ORANGE,
    PINK,
    RED,
    SKY,
    FigureKind,
    beam_caption,
    captions_figure,
    choose_images,
    picture_name,
    plot_curves,
    systems_row,
)
from seqcap.report.inputs import Run

OLIVE = "#8F7700"


# --- Example captions

# Row -> its name in the figure.
_EXAMPLES = {
    MLE: "MLE",
    "Tok | Glove sim": "Tok",
    "Seq | CIDER | Vrefs": "Seq",
    "Tok-Seq | CIDER | Vrefs": "Tok-Seq",
}
_EXAMPLE_COLOURS = {"MLE": BLACK, "Tok": OLIVE, "Seq": BLUE, "Tok-Seq": RED}
_NAME_WIDTH, _CAPTION_WIDTH = 14, 88


def figure1(run: Run) -> Figure | str:
    """Five images with the best beam caption of one loss of each kind, with attention if this run has all of them."""
    blocks = [part for part in PARTS if part.block and part.runs(run.runs)]
    if not blocks:
        return "This run has no captioners."
    whole = [part for part in blocks if all(part.maker(run, row) in run.by_name for row in _EXAMPLES)]
    part = (whole or blocks)[-1]
    seed = min(entry.seeds[0] for entry in part.runs(run.runs).values())
    heading = f"{part.name}, best caption of {run.a_beam(part.evaluation)}, seed {seed}"
    rows = []
    for image in choose_images(run.images, 5).to_dict("records"):
        item = int(image["item"])
        captions = {label: beam_caption(run, part.maker(run, row), item) for row, label in _EXAMPLES.items()}
        name, file = picture_name(run, item), str(image["file"])
        rows.append(systems_row(name, file, heading, captions, _EXAMPLE_COLOURS, _CAPTION_WIDTH))
    return captions_figure(run, rows, [_NAME_WIDTH, _CAPTION_WIDTH])


# --- Gains over MLE

# By what a loss smooths: nothing, tokens, sequences or both.
_KINDS = {"mle": GREY, "tok": OLIVE, "seq": BLUE, "tok-seq": RED}


def gains(run: Run) -> Figure:
    """A panel per captioner and per translation task: ours with intervals, the paper's hollow."""
    heights = [max(len(part.printed) for part in PARTS[row : row + 2]) for row in (0, 2)]
    figure = Figure(figsize=(11.0, 9.8), layout="constrained")
    axes = figure.subplots(2, 2, height_ratios=heights, sharex="row", sharey="row")
    for axis, part in zip(axes.flat, PARTS, strict=True):
        _gains_panel(axis, run, part)
    handles = [
        Line2D([], [], color=GREY, marker="o", label="ours, 95% interval"),
        Line2D([], [], color=GREY, marker="D", markerfacecolor="white", linestyle="", label="the paper's"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False)
    return figure


def _gains_panel(axis: Axes, run: Run, part: Part) -> None:
    cells = part.gain_cells(run)
    for place, cell in enumerate(cells):
        colour = _KINDS[cell.row.split()[0].rstrip(",").lower()]
        axis.plot(float(cell.printed), place + 0.16, "D", color=colour, markerfacecolor="white", markersize=5)
        ours = cell.ours
        if ours.value is not None and ours.low is not None and ours.high is not None:
            value, low, high = 100 * ours.value, 100 * ours.low, 100 * ours.high
            errors = [[value - low], [high - value]]
            axis.errorbar(value, place - 0.16, xerr=errors, fmt="o", color=colour, markersize=5, elinewidth=1.2)
    axis.axvline(0, color=BLACK, linewidth=0.8)
    axis.set_yticks(range(len(cells)), [cell.row for cell in cells])
    axis.set_ylim(len(cells) - 0.4, -0.6)
    axis.grid(axis="y", color="#e6e6e6", linewidth=0.6)
    axis.set_axisbelow(True)
    axis.set(xlabel=f"gain in {part.metric} over MLE, x100")
    absent = "" if any(cell.ours.value is not None for cell in cells) else " (the paper's only)"
    axis.set_title(f"{part.name}{absent}", loc="left")


# --- Learning curves

_FAMILIES = (
    "token level",
    "Seq, Hamming (dashed: lazy)",
    "Seq, CIDEr or BLEU-4 (dashed: lazy)",
    "Tok-Seq, Hamming",
    "Tok-Seq, CIDEr or BLEU-4",
)
# Of losses with substitutes, by where these come from; else by the loss.
_COLOURS = {
    "MLE": BLACK,
    "MLE + gammaH": MUTED,
    "Tok": SKY,
    "Tok rfreq": PINK,
    "substitutes from V": ORANGE,
    "substitutes from Vbatch": BLUE,
    "substitutes from Vrefs": GREEN,
}


def _family(row: str) -> str:
    """Which of `_FAMILIES` a loss is in."""
    kind, *rest = row.split(" | ")
    if len(rest) < 2:
        return _FAMILIES[0]
    return _FAMILIES[1 + 2 * (kind == "Tok-Seq") + (rest[0] != "Hamming")]


def _label(row: str) -> str:
    """Which of `_COLOURS` a loss has."""
    kind, *rest = row.split(" | ")
    if len(rest) == 2:
        return f"substitutes from {rest[1]}"
    return kind if kind.startswith(MLE) else "Tok" + rest[0].removeprefix("Glove sim")


def curves(run: Run) -> Figure | str:
    """A row per captioner and task of this run, a column per family of losses; MLE is in each."""
    parts = [part for part in PARTS if part.runs(run.runs)]
    if not parts:
        return "This run has none of the paper's losses."
    figure = Figure(figsize=(3.1 * len(_FAMILIES), 0.6 + 2.7 * len(parts)), layout="constrained")
    axes = figure.subplots(len(parts), len(_FAMILIES), squeeze=False, sharey="row")
    for row, part in zip(axes, parts, strict=True):
        _curves_row(row, run, part)
    for axis, heading in zip(axes[0], _FAMILIES, strict=True):
        axis.set_title(heading, loc="left")
    for axis in axes[-1]:
        axis.set_xlabel("training step (0: before any)")
    handles = [Line2D([], [], color=colour, linewidth=2, label=label) for label, colour in _COLOURS.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=7, frameon=False)
    return figure


def _curves_row(axes: NDArray[np.object_], run: Run, part: Part) -> None:
    """One part's validation curves, a panel per family."""
    runs, quantity = part.runs(run.runs), registry.find(part.metric).curve
    names = [entry.name for entry in runs.values()]
    shown = run.curves[(run.curves["quantity"] == quantity) & run.curves["variant"].isin(names)]
    if shown.empty:
        raise InputError("curves.parquet", f"{part.name} has no {quantity}", "run the training stages again")
    colours = {entry.name: _COLOURS[_label(row)] for row, entry in runs.items()}
    dashed = [entry.name for row, entry in runs.items() if ", lazy" in row]
    for axis, family in zip(axes, _FAMILIES, strict=True):
        mine = [entry for row, entry in runs.items() if row == MLE or _family(row) == family]
        plot_curves(axis, shown, mine, colours, dashed)
    bottom, top = _late(shown)
    axes[0].set_ylim(bottom, top)
    axes[0].set_ylabel(f"{part.name}\nvalidation {part.metric}, greedy")


def _late(curves: pd.DataFrame) -> tuple[float, float]:
    """Limits for the values after the first fifth of training: what a captioner learns first is much more than what
    losses differ by."""
    late = curves.loc[curves["step"] >= 0.2 * curves["step"].max(), "value"]
    margin = 0.05 * (late.max() - late.min()) or 0.01
    return late.min() - margin, late.max() + margin


FIGURES = {
    "smoothing_fig1": FigureKind(
        figure1,
        "Loss smoothing, Figure 1: example captions",
        "The best beam caption of MLE, Tok, Seq and Tok-Seq (the latter two weighted by CIDEr, with Vrefs), with "
        "attention if this run has all of them with it. Images are drawn with a fixed seed from those of the scored "
        "split whose longest reference has at least ten words. The paper's own examples are not at hand.",
    ),
    "smoothing_gains": FigureKind(
        gains,
        "Loss smoothing: gains over MLE",
        "Each loss minus MLE of the same captioner or task, x100: dots, ours with 95% paired bootstrap intervals over "
        "training seeds, and test images or sentences (a loss with one seed: over the latter alone); hollow, the "
        "difference of the printed numbers. Ours are of other data than the paper's: signs and orders can be compared. "
        "Not in the paper as a figure.",
    ),
    "smoothing_curves": FigureKind(
        curves,
        "Loss smoothing: learning curves",
        "Validation quality of greedy captions or translations along training. Thin: a seed; thick: their mean. MLE, "
        "trained as long as the rest, is in every panel. All that lies below what was reached after a fifth of "
        "training is cut off, so that the end, where curves should be flat, can be seen. Not in the paper.",
    ),
}
