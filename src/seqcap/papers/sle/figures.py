"""SLE's figures that need code: how peaked p(y|x) is, and alpha."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from seqcap.metrics import registry
from seqcap.papers.sle.sweep import MULTI, SLE, chosen_alpha, outside_sweep, sweep
from seqcap.report.drawing import figures as draw
from seqcap.report.drawing.colours import BLACK, MUTED, PEOPLE, colour_of, palette
from seqcap.report.inputs import Results
from seqcap.report.reported import ReportedRun
from seqcap.report.statistics import Floats
from seqcap.report.tables import Measure
from seqcap.report.tradeoff import level
from seqcap.report.verdicts import LEAST_SEEDS

# Runs of one objective share a marker, with attention and without, of images and of clips.
_MARKERS = {"xe": "o", "sll": "s", "sll_me": "^", SLE: "D", MULTI: "P"}


def _colours(results: Results) -> dict[str, str]:
    """Run -> its colour."""
    colours = palette(run.label for run in results.runs)
    return {run.name: colours[run.label] for run in results.runs}


def _marker(run: ReportedRun) -> str:
    return _MARKERS.get(run.name.removesuffix("_att").removesuffix("_clip"), "v")


def _named(run: ReportedRun) -> str:
    """Its label, marked as in the tables where it has few seeds."""
    return run.label if len(run.seeds) >= LEAST_SEEDS else f"{run.label} °"


def _whose(results: Results, captioner: str) -> str:
    """What a captioner is, and the data that it was tested on."""
    task = next(run.task for run in results.trained if run.captioner == captioner)
    return f"{captioner}, {results.dataset(task)} {results.split(task)}"


def concentration(results: Results) -> Figure:
    """A row per captioner: how probable its beams are, and how improbable its random samples."""
    figure = Figure(figsize=(9.6, 0.4 + 3.9 * len(results.captioners)), layout="constrained")
    axes, colours = figure.subplots(len(results.captioners), 2, squeeze=False), _colours(results)
    for (left, right), captioner in zip(axes, results.captioners, strict=True):
        surprisals = []
        for run in (run for run in outside_sweep(results) if run.captioner == captioner):
            decoded, colour = results.decoded(run.name), colours[run.name]
            best_first = decoded[decoded["decoder"] == "beam"].sort_values("log_prob", ascending=False)
            beams = best_first.assign(mass=np.exp(best_first["log_prob"])).groupby(["seed", "item"])
            curve = beams["mass"].cumsum().groupby(beams.cumcount() + 1).mean()
            left.plot(curve.index, curve.to_numpy(), color=colour, marker=_marker(run), label=_named(run))
            samples = decoded.loc[decoded["decoder"] == "sample", "log_prob"]
            surprisals.append((_named(run), colour, -samples.to_numpy(dtype=float)))
        left.set(xlabel="captions of the beam, most probable first", ylabel="cumulative probability", ylim=(0, None))
        left.set_xticks(range(1, results.beam() + 1))
        left.legend(frameon=False, loc="upper left", bbox_to_anchor=(0.0, -0.2), ncols=2, fontsize=8)
        left.set_title(f"{_whose(results, captioner)}: the k best beam captions", loc="left")
        _boxes(right, surprisals)
        right.set_title("surprisal of random samples", loc="left")
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


def _per_seed(results: Results, name: str, measure: Measure) -> pd.Series[float] | None:
    return results.scores.by_seed(name, measure.decoder, measure.metric, measure.captions)


# Distance -> its colour and marker.
_DISTANCES = {
    "pairwise": (colour_of("SLL-SLE") or MUTED, _MARKERS[SLE]),
    "multi_reference": (colour_of("SLL-SLE (multi-reference)") or MUTED, _MARKERS[MULTI]),
    "pairwise, leave_one_out": (colour_of("SLL-SLE (leave-one-out)") or MUTED, "v"),
}
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

_LEAST_ALPHAS = 3  # of which there is a figure


def alpha(results: Results) -> Figure | str:
    """A panel per measure of the random samples, a line per distance, from exploration alone (0) to SLL (1)."""
    if len(set().union(*sweep(results).values())) < _LEAST_ALPHAS:
        return "Fewer than three values of alpha: the tables have them."
    panels, task = _OF_SAMPLES | (_TRUE if results.knows_facts else {}), results.config.pictures
    lines = -(-len(panels) // 3)
    figure = Figure(figsize=(10.6, 3.3 * lines + 0.4), layout="constrained")
    axes = list(figure.subplots(lines, 3, squeeze=False, sharex=True).flat)
    for axis, (title, measure) in zip(axes, panels.items(), strict=False):
        _alpha_panel(axis, results, measure)
        axis.set_title(title, loc="left")
        axis.set_xlabel("alpha (1: SLL)")
        axis.tick_params(labelbottom=True)
    _alpha_panel(axes[0], results, Measure("beam", "CIDEr"), style="--", suffix=", best beam caption")
    axes[0].set_title("CIDEr x100 (dashed: best beam caption)", loc="left")
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    figure.suptitle(f"{results.dataset(task)} {results.split(task)}, random samples", x=0.01, ha="left", fontsize=10)
    free = axes[len(panels)] if len(axes) > len(panels) else None
    draw.legend(figure, axes, ncols=3, free=free)
    return figure


def _alpha_panel(axis: Axes, results: Results, measure: Measure, style: str = "-", suffix: str = "") -> None:
    lines, scale = sweep(results), registry.find(measure.metric).scale
    for place, (distance, line) in enumerate(lines.items()):
        colour, marker = _DISTANCES.get(distance, (PEOPLE, "v"))
        shift = 0.012 * (place - (len(lines) - 1) / 2)
        points = {value + shift: measure.of(results, run.name) for value, run in line.items()}
        for x, run in zip(points, line.values(), strict=True):
            seeds = _per_seed(results, run.name, measure)
            if seeds is not None:
                axis.plot([x] * len(seeds), seeds * scale, "_", color=colour, markersize=9, alpha=0.5)
        label = f"{distance.replace('_', '-')} distance{suffix}"
        look: dict[str, Any] = {
            "color": colour,
            "marker": marker,
            "markersize": 5,
            "capsize": 2,
            "ls": style,
            "label": label,
        }
        draw.plot_estimates(axis, points, scale, **look)
    xe, chosen = level(results, "xe", measure), chosen_alpha(results)
    if xe is not None and not suffix:
        axis.axhline(xe * scale, color=BLACK, linewidth=1, linestyle=":", label="XE")
    if chosen is not None and not suffix:
        axis.axvline(chosen, color=MUTED, linewidth=1, linestyle="-.", label="alpha of this run's SLL-SLE")
    there = sorted(set().union(*lines.values()))
    axis.set(xlim=(there[0] - 0.05, there[-1] + 0.05), xticks=there)
    # Alphas near to 1 are close together.
    axis.tick_params(axis="x", labelrotation=90)


FIGURES = {"sle_fig3": concentration, "sle_alpha": alpha}
