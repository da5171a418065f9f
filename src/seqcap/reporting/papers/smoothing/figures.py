"""Loss smoothing's example captions, gains over MLE beside the published ones, and learning curves."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from seqcap.errors import InputError
from seqcap.reporting.figures import (
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
    plot_curves,
    plot_start,
    systems_row,
)
from seqcap.reporting.inputs import IMAGE, Run
from seqcap.reporting.papers.smoothing.losses import BLOCKS, MLE, POOLS
from seqcap.reporting.papers.smoothing.tables import PARTS, Part, gain_cells

# --- Example captions

_EXAMPLES = {"mle": "MLE", "tok": "Tok", "seq_cider_refs": "Seq", "tok_seq_cider_refs": "Tok-Seq"}
_EXAMPLE_COLOURS = {"MLE": BLACK, "Tok": "#8F7700", "Seq": BLUE, "Tok-Seq": RED}
_NAME_WIDTH, _CAPTION_WIDTH = 14, 88


def figure1(run: Run) -> Figure:
    """Five images with the best beam caption of one loss of each kind, with attention where this run has it."""
    captioner = next((name for name in reversed(BLOCKS) if any(v.captioner == name for v in run.variants)), None)
    if captioner is None:
        return _note("This run has no captioners.")
    rows = []
    seeds = {variant.seeds[0] for variant in run.variants if variant.captioner == captioner}
    for image in choose_images(run.images, 5).to_dict("records"):
        captions = {
            label: beam_caption(run, f"{captioner}_{loss}", int(image["image_id"])) for loss, label in _EXAMPLES.items()
        }
        title = f"{run.config.dataset}, {run.config.split} image {image['image_id']}"
        heading = f"{BLOCKS[captioner]}, best caption of a beam of 3, seed {min(seeds)}"
        rows.append(systems_row(title, str(image["file"]), heading, captions, _EXAMPLE_COLOURS, _CAPTION_WIDTH))
    return captions_figure(rows, [_NAME_WIDTH, _CAPTION_WIDTH], run.config.show_images)


def _note(text: str) -> Figure:
    """A figure of nothing but a sentence."""
    figure = Figure(figsize=(6.0, 2.0))
    figure.text(0.5, 0.5, text, ha="center", va="center", color=GREY)
    return figure


# --- Gains over MLE

_KINDS = {"MLE + gammaH": GREY, "tok": "#8F7700", "seq": BLUE, "tok-seq": RED}


def _colour(row: str) -> str:
    """By what a loss smooths: nothing, tokens, sequences or both."""
    return _KINDS.get(row) or _KINDS[row.partition(" ")[0].rstrip(",").lower()]


def gains(run: Run) -> Figure:
    """A panel per captioner and per translation task: ours with intervals, the paper's hollow."""
    heights = [max(len(part.losses) for part in PARTS[row : row + 2]) for row in (0, 2)]
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
    cells = gain_cells(run, part)
    for place, cell in enumerate(cells):
        colour = _colour(cell.row)
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

_POOL_COLOURS = {"v": ORANGE, "batch": BLUE, "refs": GREEN}
_TOKEN_COLOURS = {"entropy": MUTED, "tok": SKY, "tok_rfreq": PINK}
# Heading -> the losses of that family that are drawn solid, and dashed, each before its pool.
_FAMILIES = {
    "Seq, Hamming (dashed: lazy)": ("seq_hamming", "seq_lazy_hamming"),
    "Seq, CIDEr or BLEU-4 (dashed: lazy)": ("seq_cider", "seq_lazy_cider", "seq_bleu4"),
    "Tok-Seq, Hamming": ("tok_seq_hamming",),
    "Tok-Seq, CIDEr or BLEU-4": ("tok_seq_cider", "tok_seq_bleu4"),
}


def _families(part: Part) -> dict[str, dict[str, str]]:
    """Heading -> its losses -> their colours."""
    families = {"token level": {loss: colour for loss, colour in _TOKEN_COLOURS.items() if loss in part.losses}}
    for heading, stems in _FAMILIES.items():
        families[heading] = {
            f"{stem}_{pool}": _POOL_COLOURS[pool] for stem in stems for pool in POOLS if f"{stem}_{pool}" in part.losses
        }
    return families


def curves(run: Run) -> Figure:
    """A row per captioner and task of this run, a column per family of losses; MLE is in each."""
    curves = run.curves[run.curves["variant"].isin(run.by_name)]
    parts = [part for part in PARTS if part.present(run)]
    if not parts:
        return _note("This run has none of the paper's losses.")
    columns = 1 + len(_FAMILIES)
    figure = Figure(figsize=(3.1 * columns, 0.6 + 2.7 * len(parts)), layout="constrained")
    axes = figure.subplots(len(parts), columns, squeeze=False, sharey="row")
    for row, part in zip(axes, parts, strict=True):
        stem = "val_cider" if part.task == IMAGE else "val_bleu"
        mine = curves[curves["variant"].isin([f"{part.system}_{loss}" for loss in part.losses])]
        quantity = next((name for name in sorted(mine["quantity"].unique()) if name.startswith(stem)), None)
        if quantity is None:
            raise InputError("curves.parquet", f"{part.system} has no {stem}", "run the training stages again")
        shown = mine[mine["quantity"] == quantity]
        mle = [run.by_name[name] for name in [f"{part.system}_{MLE}"] if name in run.by_name]
        for axis, (heading, losses) in zip(row, _families(part).items(), strict=True):
            names = {f"{part.system}_{loss}": colour for loss, colour in losses.items()}
            variants = [run.by_name[name] for name in names if name in run.by_name]
            dashed = [name for name in names if "_lazy_" in name]
            plot_curves(axis, shown, [*mle, *variants], names | {v.variant: BLACK for v in mle}, dashed)
            plot_start(axis, shown, [*mle, *variants], "start")
            if part is parts[0]:
                axis.set_title(heading, loc="left")
            if part is parts[-1]:
                axis.set_xlabel("training step (0: before any)")
        words = "validation CIDEr" if part.task == IMAGE else "validation BLEU"
        row[0].set_ylabel(f"{part.name}\n{words}, greedy")
    figure.legend(handles=_legend(), loc="outside lower center", ncols=7, frameon=False)
    return figure


def _legend() -> list[Line2D]:
    lines: Mapping[str, str] = {
        "MLE": BLACK,
        "MLE + gammaH": _TOKEN_COLOURS["entropy"],
        "Tok": _TOKEN_COLOURS["tok"],
        "Tok rfreq": _TOKEN_COLOURS["tok_rfreq"],
        **{f"substitutes from {printed}": _POOL_COLOURS[pool] for pool, printed in POOLS.items()},
    }
    return [Line2D([], [], color=colour, linewidth=2, label=label) for label, colour in lines.items()]


FIGURES = {
    "smoothing_fig1": FigureKind(
        figure1,
        "Loss smoothing, Figure 1: example captions",
        "The best beam caption of MLE, Tok, Seq and Tok-Seq (the latter two weighted by CIDEr, with Vrefs), with "
        "attention where this run has it. Images are the first of the scored split, by id, whose longest reference has "
        "at least ten words. The paper's own examples are not at hand.",
    ),
    "smoothing_gains": FigureKind(
        gains,
        "Loss smoothing: gains over MLE",
        "Each loss minus MLE of the same captioner or task, x100: dots, ours with 95% paired bootstrap intervals over "
        "test images or sentences; hollow, the difference of the printed numbers. Ours are of other data than the "
        "paper's: signs and orders can be compared. Not in the paper as a figure.",
    ),
    "smoothing_curves": FigureKind(
        curves,
        "Loss smoothing: learning curves",
        "From step 0 on, what they start from (dashed line across: its value). Thin: a seed; thick: their mean. MLE, "
        "trained as long as the rest, is in every panel. Not in the paper.",
    ),
}
