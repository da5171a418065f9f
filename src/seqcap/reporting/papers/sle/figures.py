"""SLE's figures 1, 2 and 4 with our captions, figure 3 measured, learning curves, and quality against diversity."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from seqcap.errors import InputError
from seqcap.reporting import published
from seqcap.reporting.figures import (
    BLACK,
    BLUE,
    MUTED,
    ORANGE,
    RED,
    FigureKind,
    Line,
    Row,
    captioners,
    captions_figure,
    captions_of,
    choose_images,
    palette,
    plot_curves,
    plot_start,
)
from seqcap.reporting.inputs import Run, Variant

# Variants of one objective share a colour and a marker, with attention and without.
_COLOURS = {"xe": BLACK, "sll": BLUE, "sll_me": ORANGE, "sll_sle": RED}
_MARKERS = {"xe": "o", "sll": "s", "sll_me": "^", "sll_sle": "D"}

QUANTITIES = {
    "train_reward": "reward of training samples (CIDEr-D)",
    "val_cider": "validation CIDEr, greedy captions",
    "val_cider_sample": "validation CIDEr, sampled captions",
}


def _plain(name: str) -> str:
    return name.removesuffix("_att")


def _colours(run: Run) -> dict[str, str]:
    colours = palette((_plain(name) for name in run.by_name), _COLOURS)
    return {name: colours[_plain(name)] for name in run.by_name}


def _marker(variant: Variant) -> str:
    return _MARKERS.get(_plain(variant.variant), "v")


# --- Captions of single images


def _numbered(captions: Sequence[str], width: int) -> list[Line]:
    """Numbered captions wrapped at `width` characters; one that repeats an earlier one is grey."""
    lines = []
    for index, caption in enumerate(captions):
        text = textwrap.fill(f"{index + 1}. {caption or '(empty)'}", width, subsequent_indent="    ")
        lines.append(Line(text, MUTED if caption in captions[:index] else BLACK))
    return lines


def _samples_figure(run: Run, shown: dict[str, str], count: int, number: int, first: int = 0) -> Figure:
    """A row per image with one column of 5 samples per system; the paper's own captions last.

    Args:
        run: ours.
        shown: variant -> the system's name in the paper, a column each.
        count: how many images.
        number: of the paper's figure.
        first: how many chosen images to pass over.
    """
    width = {1: 58, 2: 44}.get(len(shown), 34)
    rows = []
    for image in choose_images(run.images, first + count).tail(count).to_dict("records"):
        headings, columns = [], []
        for name, system in shown.items():
            if name in run.by_name:
                variant = run.by_name[name]
                heading = f"{system}, 5 samples, seed {variant.seeds[0]}"
                columns.append(_numbered(captions_of(run, variant, int(image["image_id"]), "sample"), width))
            else:
                heading = system
                columns.append([Line(textwrap.fill(f"variant {name} is not in params.yaml", width), MUTED)])
            headings.append(Line(heading, _COLOURS[name], bold=True))
        title = f"{run.config.dataset}, {run.config.split} image {image['image_id']}"
        rows.append(Row(title, str(image["file"]), headings, columns))
    keys = list(shown.values()) if len(shown) > 1 else ["captions"]
    printed = [_numbered(published.example_captions(f"sle_fig{number}", key), width) for key in keys]
    headings = [Line(f"{system}, as printed (COCO)", _COLOURS[name], bold=True) for name, system in shown.items()]
    rows.append(Row(f"the paper's Figure {number}", None, headings, printed))
    return captions_figure(rows, [width] * len(shown), run.config.show_images)


def figure1(run: Run) -> Figure:
    return _samples_figure(run, {"sll": "SLL"}, count=1, number=1)


def figure2(run: Run) -> Figure:
    return _samples_figure(run, {"xe": "XE", "sll": "SLL"}, count=1, number=2, first=1)


def figure4(run: Run) -> Figure:
    return _samples_figure(run, {"xe": "XE", "sll": "SLL", "sll_sle": "SLL-SLE"}, count=3, number=4, first=2)


# --- How concentrated p(y|x) is (measured; the paper's figure 3 is a sketch)


def figure3(run: Run) -> Figure:
    colours, kinds = _colours(run), captioners(run.variants)
    figure = Figure(figsize=(9.6, 0.4 + 3.3 * len(kinds)), layout="constrained")
    axes = figure.subplots(len(kinds), 2, squeeze=False)
    for row, captioner in zip(axes, kinds, strict=True):
        variants = [variant for variant in run.variants if variant.captioner == captioner]
        surprisals = []
        for variant in variants:
            decoded = run.decoded[variant.variant]
            beam = decoded[decoded["decoder"] == "beam"]
            best_first = beam.sort_values(["seed", "image_id", "log_prob"], ascending=[True, True, False])
            mass = np.exp(best_first["log_prob"]).groupby([best_first["seed"], best_first["image_id"]]).cumsum()
            place = best_first.groupby(["seed", "image_id"]).cumcount() + 1
            curve = mass.groupby(place).mean()
            row[0].plot(
                curve.index,
                curve.to_numpy(),
                color=colours[variant.variant],
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
            box.set_facecolor(to_rgba(colours[variant.variant], alpha=0.5))
        means = [f"{variant.label}  {values.mean():.1f}" for variant, values in zip(variants, surprisals, strict=True)]
        row[1].set_yticks(range(1, len(variants) + 1), means)
        row[1].set_ylim(len(variants) + 0.6, 0.4)
        row[1].set_xlim(left=0)
        row[1].set_xlabel("-log p(y|x) of a random sample, nats")
        row[1].set_title(f"{captioner}: surprisal of random samples", loc="left")
    return figure


# --- Learning curves


def curves(run: Run) -> Figure:
    """A row per captioner, a column per quantity."""
    curves = run.curves[run.curves["variant"].isin(run.by_name)]
    quantities = [quantity for quantity in QUANTITIES if (curves["quantity"] == quantity).any()]
    if not quantities:
        raise InputError("curves.parquet", f"has none of {', '.join(QUANTITIES)}", "run the training stages again")
    trained = [variant for variant in run.variants if (curves["variant"] == variant.variant).any()]
    kinds = captioners(trained)
    figure = Figure(figsize=(3.9 * max(len(quantities), 2), 0.4 + 3.2 * len(kinds)), layout="constrained")
    axes = figure.subplots(len(kinds), len(quantities), squeeze=False)
    for row, captioner in zip(axes, kinds, strict=True):
        variants = [variant for variant in trained if variant.captioner == captioner]
        for axis, quantity in zip(row, quantities, strict=True):
            shown = curves[curves["quantity"] == quantity]
            plot_curves(axis, shown, variants, _colours(run))
            plot_start(axis, shown, variants, "XE")
            axis.set_title(QUANTITIES[quantity], loc="left")
            axis.set_xlabel("training step (0: before any)")
        row[0].set_ylabel(captioner)
        row[0].legend(frameon=False, fontsize=8)
    return figure


# --- Quality against diversity


def tradeoff(run: Run) -> Figure:
    figure = Figure(figsize=(9.6, 3.9), layout="constrained")
    ours, paper = figure.subplots(1, 2)
    colours, first = _colours(run), run.variants[0].captioner
    for variant in run.variants:
        cider = run.scores.per_image(variant.variant, "sample", "CIDEr", "every")
        div2 = run.scores.per_image(variant.variant, "sample", "Div2", "set")
        if cider is None or div2 is None:
            continue
        attention = variant.captioner != first
        colour = colours[variant.variant]
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
    ours.set_title(f"ours, {run.config.dataset} {run.config.split}: a point per seed", loc="left")
    for name, row in (("xe", "XE (rs)"), ("sll", "SLL (rs)"), ("sll_me", "SLL-ME (rs)"), ("sll_sle", "SLL-SLE (rs)")):
        x, y = (published.published_value("sle", "table4", row, column) for column in ("Div2", "CIDEr"))
        label = row.removesuffix(" (rs)")
        paper.scatter(x, y, color=_COLOURS[name], marker=_MARKERS[name], s=42, label=label)
    paper.set_title("the paper's Table 4, COCO", loc="left")
    for axis in (ours, paper):
        axis.set(xlabel="Div-2 of 5 samples (more diverse →)", ylabel="mean CIDEr of 5 samples, x100")
        axis.margins(0.12)
        axis.legend(frameon=False)
    return figure


_CHOICE = (
    "Images are the first of the scored split, by id, whose longest reference has at least ten words, in turn over the "
    "three figures. A repeated caption is grey."
)

FIGURES = {
    "sle_fig1": FigureKind(figure1, "SLE, Figure 1", f"Five random samples of an SLL captioner. {_CHOICE}"),
    "sle_fig2": FigureKind(figure2, "SLE, Figure 2", f"Five random samples of XE and of SLL. {_CHOICE}"),
    "sle_fig3": FigureKind(
        figure3,
        "SLE, Figure 3, measured",
        "The paper sketches how peaked p(y|x) is; this measures it. Left: the probability that the beam's k best "
        "captions hold together, mean over images and seeds. Right: -log p(y|x) of 5 random samples per image; "
        "its mean (diamond, and beside the name) estimates the entropy. Boxes span the quartiles, whiskers 5% to 95%.",
    ),
    "sle_fig4": FigureKind(figure4, "SLE, Figure 4", f"Five random samples of XE, SLL and SLL-SLE. {_CHOICE}"),
    "sle_curves": FigureKind(
        curves,
        "Learning curves",
        "From step 0, the cross-entropy checkpoint (dashed: its value). Thin: a seed; thick: their mean. A curve of "
        "over 100 points is averaged over 100 stretches of steps. Not in the paper.",
    ),
    "sle_tradeoff": FigureKind(
        tradeoff,
        "Quality against diversity",
        "Mean CIDEr of 5 random samples against their Div-2. Hollow points: with attention. The panels have their own "
        "axes: CIDEr on one dataset says nothing about CIDEr on another. Not in the paper.",
    ),
}
