"""Loss smoothing's gains over MLE beside the published ones, and what the width of the beam does to them."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from seqcap.papers.smoothing.rows import FILE, Part, parts
from seqcap.report.by_length import ByLength
from seqcap.report.drawing import figures as draw
from seqcap.report.drawing.colours import BLACK, MUTED, PEOPLE, colour_of
from seqcap.report.drawing.scatter import hollow_handle
from seqcap.report.inputs import Results
from seqcap.report.tables import Cell, Measure, shown

# Level of smoothing: none, tokens, sequences or both -> colour.
_KINDS = {"": MUTED} | {level.lower(): colour_of(level) or MUTED for level in ("Tok", "Seq", "Tok-Seq")}
_ROW = 0.27  # inches
_METRIC, _APART = "CIDEr", 0.08  # of the figure of beams; by how much its dashed points are to the right


def gains(results: Results) -> Figure | str:
    """A panel per captioner and per translation task that has a gain, with the losses of this run: ours with
    intervals, of one seed hollow in a line of its own, and the paper's."""
    measured = [
        (part, {loss: cell for loss, cell in part.gains().items() if cell.ours.value is not None})
        for part in parts(results).values()
    ]
    there = [(part, cells) for part, cells in measured if cells]
    if not there:
        return "This run has no loss beside MLE."
    pairs = [there[place : place + 2] for place in range(0, len(there), 2)]
    heights = [0.7 + _ROW * max(len(cells) for _, cells in pair) for pair in pairs]
    columns = min(len(there), 2)
    figure = Figure(figsize=(5.6 * columns, sum(heights) + 0.6), layout="constrained")
    axes = figure.subplots(len(pairs), columns, squeeze=False, height_ratios=heights)
    for line, pair in zip(axes, pairs, strict=True):
        for axis, (part, cells) in zip(line, pair, strict=False):
            _gains_of(axis, part, cells)
        for axis in line[len(pair) :]:
            axis.set_axis_off()
        # Both sides of the pair on one scale where they are of one metric.
        if len({part.facts.metric for part, _ in pair}) == 1:
            _one_scale([axis for axis in line if axis.axison])
    handles = [
        Line2D([], [], color=PEOPLE, marker="o", label="ours, 95% interval over seeds and test items"),
        Line2D([], [], color=PEOPLE, marker="x", linestyle="", label="the paper's, at our level of MLE"),
    ]
    if any(cell.ours.seeds == 1 for _, cells in there for cell in cells.values()):
        handles.append(hollow_handle("hollow: one training seed, as if it scattered like MLE's"))
    # Below a single panel there is no room for one beside the other.
    figure.legend(handles=handles, loc="outside lower center", ncols=3 if columns > 1 else 1, frameon=False)
    return figure


def _gains_of(axis: Axes, part: Part, cells: dict[str, Cell]) -> None:
    for place, (loss, cell) in enumerate(cells.items()):
        colour = _KINDS[part.losses[loss].level]
        axis.plot(part.carried_over(loss), place + 0.2, "x", color=colour, markersize=5)
        (value,), errors = draw.spans([cell.ours], 100)
        look: dict[str, Any] = {"color": colour, "markersize": 5, "elinewidth": 1.4}
        if cell.ours.seeds == 1:
            # Pale, small and dotted: it says little, and shall not look as if it said more.
            look = {"color": MUTED, "markersize": 4, "elinewidth": 0.8, "markerfacecolor": "white"}
        bar = axis.errorbar(value, place - 0.2, xerr=errors, fmt="o", **look)
        if cell.ours.seeds == 1:
            bar.lines[2][0].set_linestyle(":")
    axis.axvline(0, color=BLACK, linewidth=0.8)
    axis.set_yticks(range(len(cells)), [cell.row for cell in cells.values()], fontsize=8)
    axis.set_ylim(len(cells) - 0.4, -0.6)
    axis.grid(axis="y", color="#e6e6e6", linewidth=0.6)
    axis.set_axisbelow(True)
    axis.set(xlabel=f"gain in {part.facts.metric} over MLE, x100")
    axis.set_title(part.on_data, loc="left")


def beams(results: Results) -> Figure | str:
    """CIDEr by the width of the beam: of its most probable caption, and of the one most probable per token."""
    losses = [loss for loss in FILE.beams.losses if f"{FILE.beams.of}_{loss}" in results.by_name]
    decoded = {loss: _by_width(results, loss) for loss in losses}
    if not any(len(names) > 1 for names in decoded.values()):
        return "This run has no beams of other widths."
    figure = Figure(figsize=(5.6, 4.0), layout="constrained")
    axis = figure.subplots()
    for loss, names in decoded.items():
        label = FILE.losses["captions"][loss].row
        look: dict[str, Any] = {"color": colour_of(label) or MUTED, "marker": "o", "markersize": 4, "elinewidth": 1.0}
        # A beam of 1 is greedy decoding: it has one caption.
        points = {1: Measure("greedy", _METRIC).of(results, names[FILE.beams.width])}
        points |= {width: Measure("beam", _METRIC).of(results, name) for width, name in names.items()}
        normalised = {width: shown(ByLength(name).number(results), "images") for width, name in names.items()}
        draw.plot_estimates(axis, dict(sorted(points.items())), 100, label=label, linestyle="-", **look)
        apart = {width + _APART: normalised[width] for width in sorted(names)}
        draw.plot_estimates(axis, apart, 100, label=f"{label}, per token", linestyle="--", **look)
    axis.set(xlabel="width of the beam", ylabel=f"{_METRIC}, x100")
    axis.set_xticks(range(1, 1 + max(width for names in decoded.values() for width in names)))
    axis.set_title(next(iter(parts(results).values())).on_data, loc="left")
    draw.legend(figure, [axis], ncols=2)
    return figure


def _by_width(results: Results, loss: str) -> dict[int, str]:
    """Width of the beam -> the run of a loss that was decoded with it."""
    names = {FILE.beams.width: f"{FILE.beams.of}_{loss}"}
    names |= FILE.beams.again(loss)
    return {width: name for width, name in names.items() if name in results.by_name}


def _one_scale(axes: list[Axes]) -> None:
    ends = [axis.get_xlim() for axis in axes]
    for axis in axes:
        axis.set_xlim(min(low for low, _ in ends), max(high for _, high in ends))


FIGURES = {"smoothing_gains": gains, "smoothing_beams": beams}
