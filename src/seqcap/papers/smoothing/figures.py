"""Loss smoothing's example captions, gains over MLE beside the published ones, and learning curves."""

from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from seqcap.metrics import registry
from seqcap.papers.smoothing.rows import FILE, MLE, Loss, parts
from seqcap.report import figures as draw
from seqcap.report.inputs import Results

# Level of smoothing: none, tokens, sequences or both -> colour.
_KINDS = {"": draw.MUTED, "tok": draw.OLIVE, "seq": draw.BLUE, "tok-seq": draw.METHOD}
# Source of substitutes -> how pale its colour is.
_PALE = {"Vrefs": 0.0, "Vbatch": 0.4, "V": 0.7}
# Loss -> its name in the figure.
_EXAMPLES = {MLE: "MLE", "tok": "Tok", "seq_cider_refs": "Seq", "tok_seq_cider_refs": "Tok-Seq"}
_CAPTION_WIDTH = 88


def figure1(results: Results) -> Figure | str:
    """Five images with the best beam caption of one loss of each kind, with attention if this run has all of them."""
    blocks = [part for part in parts(results, "table1").values() if part.runs]
    if not blocks:
        return "This run has no captioners."
    part = ([part for part in blocks if set(_EXAMPLES) <= set(part.runs)] or blocks)[-1]
    seed = min(run.seeds[0] for run in part.runs.values())
    there = {loss: label for loss, label in _EXAMPLES.items() if loss in part.runs}
    colours = {label: _colour(loss, part.losses[loss]) for loss, label in _EXAMPLES.items()}
    heading = f"{part.facts.name}, best caption of {results.a_beam(part.evaluation)}, seed {seed}"

    def captions(item: int) -> dict[str, draw.Line]:
        return {label: draw.beam_caption(results, part.name_of(loss), item) for loss, label in there.items()}

    images = draw.choose_images(results.images, 5)
    rows = draw.example_rows(results, images, captions, heading, colours, _CAPTION_WIDTH)
    return draw.captions_figure(results, rows, [label for loss, label in _EXAMPLES.items() if loss not in there])


def gains(results: Results) -> Figure:
    """A panel per captioner and per translation task: ours with intervals, of one seed hollow, and the paper's."""
    shown = list(parts(results).values())
    heights = [max(len(part.printed) for part in shown[row : row + 2]) for row in (0, 2)]
    figure = Figure(figsize=(11.0, 9.8), layout="constrained")
    axes = figure.subplots(2, 2, height_ratios=heights, sharex="row", sharey="row")
    for axis, part in zip(axes.flat, shown, strict=True):
        gains = part.gains()
        for place, (loss, cell) in enumerate(gains.items()):
            colour = _KINDS[part.losses[loss].level]
            axis.plot(float(cell.printed), place + 0.16, "x", color=colour, markersize=5)
            if cell.ours.value is not None:
                alone = cell.ours.seeds == 1
                (value,), errors = draw.spans([cell.ours], 100)
                width, alpha = (0.6, 0.6) if alone else (1.4, 1.0)
                look: dict[str, Any] = {"color": colour, "markersize": 5, "elinewidth": width, "alpha": alpha}
                axis.errorbar(value, place - 0.16, xerr=errors, fmt="o", **look)
                draw.hollow(axis, [(float(value), place - 0.16)] * alone, colour, "o", 5)
        axis.axvline(0, color=draw.BLACK, linewidth=0.8)
        axis.set_yticks(range(len(gains)), [cell.row for cell in gains.values()])
        axis.set_ylim(len(gains) - 0.4, -0.6)
        axis.grid(axis="y", color="#e6e6e6", linewidth=0.6)
        axis.set_axisbelow(True)
        axis.set(xlabel=f"gain in {part.facts.metric} over MLE, x100")
        absent = "" if any(cell.ours.value is not None for cell in gains.values()) else " (the paper's only)"
        axis.set_title(f"{part.label}{absent}", loc="left")
    axes[0, 0].errorbar([], [], xerr=[], color=draw.GREY, fmt="o", label="ours, 95% interval over seeds and test items")
    axes[0, 0].plot([], [], "x", color=draw.GREY, label="the paper's")
    draw.legend(figure, axes.flat, ncols=3)
    return figure


def _family(loss: Loss) -> str:
    if not loss.pool:
        return "token level"
    return f"{loss.level.title()}, {'Hamming' if loss.reward == 'hamming' else 'CIDEr or BLEU-4'}"


_FAMILIES = list(dict.fromkeys(map(_family, FILE.losses["captions"].values())))


def _colour(name: str, loss: Loss) -> str:
    """That of the level of smoothing, paler the larger the pool of substitutes is; Tok rfreq's is paler than Tok's."""
    pale = _PALE[loss.pool] if loss.pool else 0.5 * (name == "tok_rfreq")
    return draw.BASELINE if name == MLE else draw.lighter(_KINDS[loss.level], pale)


def curves(results: Results) -> Figure | str:
    """A row per captioner and task of this run, a column per family of losses; MLE is in each."""
    there = [part for part in parts(results).values() if part.runs]
    if not there:
        return "This run has none of the paper's losses."
    figure = Figure(figsize=(2.6 * len(_FAMILIES), 0.6 + 2.2 * len(there)), layout="constrained")
    axes = figure.subplots(len(there), len(_FAMILIES), squeeze=False, sharey="row")
    for row, part in zip(axes, there, strict=True):
        quantity = registry.find(part.facts.metric).curve
        names = [run.name for run in part.runs.values()]
        shown = results.curves[(results.curves["quantity"] == quantity) & results.curves["variant"].isin(names)]
        shown = shown.assign(value=100 * shown["value"])
        colours = {run.name: _colour(loss, part.losses[loss]) for loss, run in part.runs.items()}
        dashed = [run.name for loss, run in part.runs.items() if part.losses[loss].lazy]
        for axis, family in zip(row, _FAMILIES, strict=True):
            mine = [run for loss, run in part.runs.items() if loss == MLE or _family(part.losses[loss]) == family]
            draw.plot_curves(axis, shown, mine, colours, dashed)
        # After the first fifth of training, where losses differ.
        late = shown.loc[shown["step"] >= 0.2 * shown["step"].max(), "value"]
        margin = 0.05 * (late.max() - late.min()) or 0.01
        row[0].set_ylim(late.min() - margin, late.max() + margin)
        row[0].set_ylabel(f"{part.label}\nvalidation {part.facts.metric} x100, greedy")
    for column, heading in zip(axes.T, _FAMILIES, strict=True):
        column[0].set_title(heading, loc="left")
        column[-1].set_xlabel("training step (0: before any)")
    looks = {"MLE": draw.BASELINE, "MLE + gammaH": draw.MUTED, "Tok": draw.OLIVE}
    looks["Tok rfreq"] = draw.lighter(draw.OLIVE, 0.5)
    looks |= {f"substitutes from {pool}": draw.lighter(draw.GREY, pale) for pool, pale in _PALE.items()}
    handles = [Line2D([], [], color=colour, linewidth=2, label=label) for label, colour in looks.items()]
    handles.append(Line2D([], [], color=draw.GREY, linewidth=2, linestyle="--", label="lazy"))
    figure.legend(handles=handles, loc="outside lower center", ncols=8, frameon=False)
    return figure


FIGURES = {"smoothing_fig1": figure1, "smoothing_gains": gains, "smoothing_curves": curves}
