"""SLE's figures: captions, clips, how peaked p(y|x) is, learning curves, quality against diversity, and alpha."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from seqcap.config.report import ReportedRun
from seqcap.metrics import registry
from seqcap.papers.sle.sweep import MULTI, SLE, chosen_alpha, outside_sweep, sweep
from seqcap.report import figures as draw
from seqcap.report.inputs import Results, read_captions, read_images
from seqcap.report.statistics import Floats
from seqcap.report.tables import Measure
from seqcap.report.tradeoff import level

# Runs of one objective share a colour and a marker, with attention and without, of images and of clips.
_COLOURS = {"xe": draw.BASELINE, "sll": draw.BLUE, "sll_me": draw.ORANGE, SLE: draw.METHOD, MULTI: draw.PINK}
_MARKERS = {"xe": "o", "sll": "s", "sll_me": "^", SLE: "D", MULTI: "P"}
_LABELS = {"xe": "XE", "sll": "SLL", "sll_me": "SLL-ME", SLE: "SLL-SLE"}


def _plain(name: str) -> str:
    return name.removesuffix("_att").removesuffix("_clip")


def _colours(results: Results) -> dict[str, str]:
    colours = draw.palette((_plain(name) for name in results.by_name), _COLOURS)
    return {name: colours[_plain(name)] for name in results.by_name}


def _marker(run: ReportedRun) -> str:
    return _MARKERS.get(_plain(run.name), "v")


def _numbered(captions: Sequence[str], width: int) -> list[draw.Line]:
    lines = []
    for index, caption in enumerate(captions):
        text = textwrap.fill(f"{index + 1}. {caption or '(empty)'}", width, subsequent_indent="    ")
        lines.append(draw.Line(text, draw.MUTED if caption in captions[:index] else draw.BLACK))
    return lines


def _samples(results: Results, number: int, names: Sequence[str], count: int, first: int) -> Figure | str:
    """The paper's figure of a number: a row per image, a column of random samples per run; `first` are skipped."""
    there = [name for name in names if name in results.by_name]
    if not there:
        return f"Not part of this run: {', '.join(_LABELS[name] for name in names)}."
    width = {1: 58, 2: 44}.get(len(there), 34)

    def column(name: str, heading: str, captions: Sequence[str]) -> list[draw.Line]:
        return [draw.Line(f"{_LABELS[name]}, {heading}", _COLOURS[name], bold=True), *_numbered(captions, width)]

    rows = []
    for image in draw.choose_images(results.images, first + count).tail(count).to_dict("records"):
        item, columns = int(image["item"]), []
        for name in there:
            heading = f"{results.samples()} samples, seed {results.by_name[name].seeds[0]}"
            columns.append(column(name, heading, draw.captions_of(results, name, item, "sample")))
        rows.append(draw.Row(draw.image_name(results, item), columns, str(image["file"])))
    keys = [_LABELS[name] for name in there] if len(names) > 1 else ["captions"]
    theirs = [results.paper.published.example_captions(f"fig{number}", key) for key in keys]
    printed = [column(name, "as printed (COCO)", captions) for name, captions in zip(there, theirs, strict=True)]
    rows.append(draw.Row(f"the paper's Figure {number}", printed))
    return draw.captions_figure(results, rows, [_LABELS[name] for name in names if name not in there])


_CLIPS, _CLIP_WIDTH = 4, 78


def clips(results: Results) -> Figure | str:
    """A row per clip: some of its frames, a person's caption, and the best beam caption of each method."""
    task = results.config.clips
    if task is None:
        return "This run captions no clips."
    images, people = read_images(task, results.split(task)), read_captions(task)
    colours = _colours(results)
    shades = {"a person": draw.PEOPLE} | {run.label: colours[run.name] for run in results.trained}

    def captions(item: int) -> dict[str, draw.Line]:
        said = {run.label: draw.beam_caption(results, run.name, item) for run in results.trained if run.task == task}
        return {"a person": draw.Line(people[item])} | said

    chosen = draw.choose_images(images, _CLIPS)
    rows = draw.example_rows(results, chosen, captions, "best beam captions", shades, _CLIP_WIDTH, task)
    return draw.captions_figure(results, rows)


def concentration(results: Results) -> Figure:
    """A row per captioner: how probable its beams are, and how improbable its random samples."""
    figure = Figure(figsize=(9.6, 0.4 + 3.3 * len(results.captioners)), layout="constrained")
    axes, colours = figure.subplots(len(results.captioners), 2, squeeze=False), _colours(results)
    for (left, right), captioner in zip(axes, results.captioners, strict=True):
        surprisals = []
        for run in (run for run in outside_sweep(results) if run.captioner == captioner):
            decoded, colour = results.decoded(run.name), colours[run.name]
            best_first = decoded[decoded["decoder"] == "beam"].sort_values("log_prob", ascending=False)
            beams = best_first.assign(mass=np.exp(best_first["log_prob"])).groupby(["seed", "item"])
            curve = beams["mass"].cumsum().groupby(beams.cumcount() + 1).mean()
            left.plot(curve.index, curve.to_numpy(), color=colour, marker=_marker(run), label=run.label)
            samples = decoded.loc[decoded["decoder"] == "sample", "log_prob"]
            surprisals.append((run.label, colour, -samples.to_numpy(dtype=float)))
        left.set(xlabel="captions of the beam, most probable first", ylabel="cumulative probability", ylim=(0, None))
        left.set_xticks(range(1, results.beam() + 1))
        left.legend(frameon=False)
        left.set_title(f"captioner {captioner}: probability of the k best beam captions", loc="left")
        _boxes(right, surprisals)
        right.set_title(f"captioner {captioner}: surprisal of random samples", loc="left")
    return figure


def _boxes(axis: Axes, surprisals: Sequence[tuple[str, str, Floats]]) -> None:
    """A box per run: its label, colour and the surprisal of its random samples."""
    boxes = axis.boxplot(
        [values for *_, values in surprisals],
        orientation="horizontal",
        widths=0.55,
        showfliers=False,
        whis=(5, 95),
        showmeans=True,
        patch_artist=True,
        meanprops={"marker": "D", "markerfacecolor": "white", "markeredgecolor": "black", "markersize": 5},
        medianprops={"color": "black"},
    )
    for box, (_, colour, _) in zip(boxes["boxes"], surprisals, strict=True):
        box.set_facecolor(to_rgba(colour, alpha=0.5))
    means = [f"{label}  {values.mean():.1f}" for label, _, values in surprisals]
    axis.set_yticks(range(1, len(means) + 1), means)
    axis.set(xlabel="-log p(y|x) of a random sample, nats", xlim=(0, None), ylim=(len(means) + 0.6, 0.4))


def curves(results: Results) -> Figure:
    panels = results.paper.figures["sle_curves"].panels.items()
    there = [(title, of) for title, of in panels if results.curves["quantity"].isin(of).any()]
    figure = Figure(figsize=(3.4 * max(len(there), 2) + 1.9, 2.6 * len(results.captioners)), layout="constrained")
    axes = figure.subplots(len(results.captioners), len(there), squeeze=False)
    for row, captioner in zip(axes, results.captioners, strict=True):
        runs = [run for run in outside_sweep(results) if run.captioner == captioner]
        for axis, (title, quantities) in zip(row, there, strict=True):
            draw.curves_panel(axis, results, title, quantities, runs, _colours(results), "XE", scale=100)
        row[0].set_ylabel(f"captioner {captioner}")
        row[-1].legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def tradeoff(results: Results) -> Figure:
    """Left ours, a point per seed; right the paper's Table 4."""
    figure = Figure(figsize=(9.6, 3.9), layout="constrained")
    ours, paper = figure.subplots(1, 2)
    colours, task = _colours(results), results.config.pictures
    for run in outside_sweep(results):
        div2, cider = (_per_seed(results, run.name, _OF_SAMPLES[of]) for of in ("Div-2", "CIDEr"))
        if run.task != task or cider is None or div2 is None:
            continue
        colour = colours[run.name]
        look: dict[str, Any] = {"edgecolors": colour, "marker": _marker(run), "s": 42, "linewidths": 1.4}
        fill = colour if run.captioner == results.captioners[0] else to_rgba(colour, alpha=0.25)
        ours.scatter(div2, cider * 100, color=fill, label=run.label, **look)
    ours.set_title(f"ours, {results.dataset(task)} {results.split(task)}: a point per seed", loc="left")
    for name, label in _LABELS.items():
        x, y = (results.paper.published.value("table4", f"{label} (rs)", column) for column in ("Div2", "CIDEr"))
        paper.scatter(x, y, color=_COLOURS[name], marker=_MARKERS[name], s=42, label=label)
    paper.set_title("the paper's Table 4, COCO", loc="left")
    for axis, samples in ((ours, results.samples()), (paper, 5)):
        axis.set(xlabel=f"Div-2 of {samples} samples (more diverse →)", ylabel=f"mean CIDEr of {samples} samples, x100")
        axis.margins(0.12)
        axis.legend(frameon=False)
    return figure


def _per_seed(results: Results, name: str, of: Measure) -> pd.Series[float] | None:
    return results.scores.by_seed(name, of.decoder, of.metric, of.captions)


# Distance -> its colour and marker.
_DISTANCES = {"pairwise": (_COLOURS[SLE], _MARKERS[SLE]), "multi_reference": (_COLOURS[MULTI], _MARKERS[MULTI])}
_OF_SAMPLES = {
    "CIDEr": Measure("sample", "CIDEr", "every"),
    "Div-2": Measure("sample", "Div2", "set"),
    "mBLEU-4 (low: diverse)": Measure("sample", "mBleu4", "set"),
}
# What can be measured where everything that is true of an image is known.
_TRUE = {
    "true precision": Measure("sample", "precision_true", "every"),
    "true recall of all together": Measure("sample", "recall_true", "set"),
}


def alpha(results: Results) -> Figure | str:
    """A panel per measure of the random samples, a line per distance, from exploration alone (0) to SLL (1)."""
    if len(set().union(*sweep(results).values())) < 2:
        return "This run has fewer than two values of alpha."
    panels = _OF_SAMPLES | (_TRUE if results.knows_facts else {})
    lines = -(-len(panels) // 3)
    figure = Figure(figsize=(10.6, 3.3 * lines + 0.4), layout="constrained")
    axes = list(figure.subplots(lines, 3, squeeze=False, sharex=True).flat)
    for axis, (title, measure) in zip(axes, panels.items(), strict=False):
        _alpha_panel(axis, results, measure)
        axis.set_title(title, loc="left")
        axis.set_xlabel("alpha (1: SLL)")
        axis.tick_params(labelbottom=True)
    _alpha_panel(axes[0], results, Measure("beam", "CIDEr"), style="--", of=", best beam caption")
    axes[0].set_title("CIDEr x100 (dashed: best beam caption)", loc="left")
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    draw.legend(figure, axes, ncols=3)
    return figure


def _alpha_panel(axis: Axes, results: Results, measure: Measure, style: str = "-", of: str = "") -> None:
    lines, scale = sweep(results), registry.find(measure.metric).scale
    for place, (distance, line) in enumerate(lines.items()):
        colour, marker = _DISTANCES.get(distance, (draw.GREY, "v"))
        shift = 0.012 * (place - (len(lines) - 1) / 2)
        points = {value + shift: measure.of(results, run.name) for value, run in line.items()}
        for x, run in zip(points, line.values(), strict=True):
            seeds = _per_seed(results, run.name, measure)
            if seeds is not None:
                axis.plot([x] * len(seeds), seeds * scale, "_", color=colour, markersize=9, alpha=0.5)
        label = f"{distance.replace('_', '-')} distance{of}"
        look = {"color": colour, "marker": marker, "markersize": 5, "capsize": 2, "ls": style, "label": label}
        draw.plot_estimates(axis, points, scale, **look)
    xe, chosen = level(results, "xe", measure), chosen_alpha(results)
    if xe is not None and not of:
        axis.axhline(xe * scale, color=draw.BLACK, linewidth=1, linestyle=":", label="XE")
    if chosen is not None and not of:
        axis.axvline(chosen, color=draw.MUTED, linewidth=1, linestyle="-.", label="alpha of this run's SLL-SLE")
    axis.set(xlim=(-0.05, 1.05), xticks=[0, 0.25, 0.5, 0.75, 1])


FIGURES = {
    "sle_fig1": partial(_samples, number=1, names=["sll"], count=1, first=0),
    "sle_fig2": partial(_samples, number=2, names=["xe", "sll"], count=1, first=1),
    "sle_fig3": concentration,
    "sle_fig4": partial(_samples, number=4, names=["xe", "sll", SLE], count=3, first=2),
    "sle_clips": clips,
    "sle_curves": curves,
    "sle_tradeoff": tradeoff,
    "sle_alpha": alpha,
}
