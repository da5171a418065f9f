"""What each loss gains over maximum likelihood, against the number of training images."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seqcap.papers.sizes.study import FILE, METRIC, SMOOTHED, decoders, gain, sizes
from seqcap.report.drawing import figures as draw
from seqcap.report.drawing.colours import BLACK, MUTED, colour_of
from seqcap.report.inputs import Results

_WIDTH, _HEIGHT = 4.6, 3.6  # inches of a panel
_APART = 0.035  # of a size, between the losses' points, so that intervals do not lie upon each other


def gains(results: Results) -> Figure | str:
    there = sizes(results)
    if not there:
        return "No size is part of this run."
    panels = decoders(results)
    figure = Figure(figsize=(_WIDTH * len(panels), _HEIGHT), layout="constrained")
    axes = list(figure.subplots(1, len(panels), squeeze=False, sharey=True).flat)
    for axis, (decoder, words) in zip(axes, panels.items(), strict=True):
        for place, loss in enumerate(SMOOTHED):
            shift = 1 + _APART * (place - (len(SMOOTHED) - 1) / 2)
            points = {size * shift: gain(results, loss, size, decoder) for size in there}
            of = FILE.losses[loss]
            look = {"color": colour_of(of.label) or MUTED, "linestyle": of.line, "marker": "o", "markersize": 4}
            draw.plot_estimates(axis, points, 100, label=of.label, elinewidth=1.2, linewidth=1.4, **look)
        _frame(axis, there, words)
    axes[0].set_ylabel(f"gain in {METRIC} over MLE, x100")
    draw.legend(figure, axes, ncols=len(SMOOTHED))
    return figure


def _frame(axis: Axes, there: list[int], words: str) -> None:
    axis.axhline(0, color=BLACK, linewidth=0.8, zorder=1)
    axis.set_xscale("log", base=2)
    axis.set_xticks(there, [f"{size:,}" for size in there])
    axis.minorticks_off()
    axis.set_xlabel("training images")
    axis.tick_params(labelleft=True)
    axis.set_title(words, loc="left")


FIGURES = {"sizes_gains": gains}
