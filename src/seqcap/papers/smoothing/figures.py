"""Loss smoothing's gains over MLE beside the published ones."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from seqcap.papers.smoothing.rows import Part, parts
from seqcap.report import figures as draw
from seqcap.report.colours import BLACK, MUTED, PEOPLE, colour_of
from seqcap.report.inputs import Results
from seqcap.report.scatter import hollow_handle
from seqcap.report.tables import Cell

# Level of smoothing: none, tokens, sequences or both -> colour.
_KINDS = {"": MUTED} | {level.lower(): colour_of(level) or MUTED for level in ("Tok", "Seq", "Tok-Seq")}
_ROW = 0.27  # inches


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
    figure = Figure(figsize=(5.6 * columns, sum(heights) + 0.4), layout="constrained")
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
        Line2D([], [], color=PEOPLE, marker="x", linestyle="", label="the paper's, on its own data"),
    ]
    if any(cell.ours.seeds == 1 for _, cells in there for cell in cells.values()):
        handles.append(hollow_handle())
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
    return figure


def _gains_of(axis: Axes, part: Part, cells: dict[str, Cell]) -> None:
    for place, (loss, cell) in enumerate(cells.items()):
        colour = _KINDS[part.losses[loss].level]
        axis.plot(float(cell.printed), place + 0.2, "x", color=colour, markersize=5)
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


def _one_scale(axes: list[Axes]) -> None:
    ends = [axis.get_xlim() for axis in axes]
    for axis in axes:
        axis.set_xlim(min(low for low, _ in ends), max(high for _, high in ends))


FIGURES = {"smoothing_gains": gains}
