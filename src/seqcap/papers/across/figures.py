"""Quality against diversity, distinctiveness and truth: a point per objective, a marker per paper."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from seqcap.papers.across.tables import AGAINST, COLUMNS, FILE, OF_PEOPLE, by_paper
from seqcap.report import figures as draw
from seqcap.report.colours import MUTED, PEOPLE, palette
from seqcap.report.inputs import HUMAN, Results
from seqcap.report.overview import CIDER
from seqcap.report.scatter import HOLLOW, Point, draw_front, draw_points, name_points
from seqcap.report.tables import people_label

_MARKERS = {paper: of.marker for paper, of in FILE.papers.items()}
_WIDTH, _HEIGHT = 5.2, 4.6  # inches of a panel


def tradeoffs(results: Results) -> Figure | str:
    found = {name: _points(results, name) for name in AGAINST}
    panels = {name: points for name, points in found.items() if points}
    if not panels:
        return "Nothing was measured."
    columns = min(len(panels), 2)
    lines = -(-len(panels) // columns)
    figure = Figure(figsize=(_WIDTH * columns, _HEIGHT * lines), layout="constrained")
    axes = list(figure.subplots(lines, columns, squeeze=False, sharey=True).flat)
    for axis, (name, points) in zip(axes, panels.items(), strict=False):
        draw_points(axis, points)
        draw_front(axis, points)
        _people(axis, results, name)
        axis.set(xlabel=f"{name}, x100", ylabel=f"{CIDER}, x100")
        axis.tick_params(labelleft=True)
    data = f"{results.dataset(results.config.pictures)} {results.split(results.config.pictures)}"
    axes[0].set_title(f"one captioner, {data}", loc="left")
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    _legend(figure, axes, results, len(panels))
    figure.draw_without_rendering()
    for axis, points in zip(axes, panels.values(), strict=False):
        name_points(axis, points)
    return figure


def _people(axis: Axes, results: Results, name: str) -> None:
    """A line at what people's captions reach, which have no CIDEr against themselves."""
    people = OF_PEOPLE[name].of(results, HUMAN).value if name in OF_PEOPLE else None
    if people is not None:
        axis.axvline(100 * people, color=PEOPLE, linewidth=1.2, linestyle=":", zorder=0)


def _legend(figure: Figure, axes: list[Axes], results: Results, panels: int) -> None:
    """In the place that is left beside an odd number of panels, else below."""
    look: dict[str, Any] = {"color": PEOPLE, "linestyle": ""}
    handles = [Line2D([], [], marker=_MARKERS[paper], label=paper, **look) for paper in by_paper(results)]
    handles.append(Line2D([], [], marker="o", markerfacecolor="white", label=HOLLOW, **look))
    handles.append(Line2D([], [], color=MUTED, linestyle="--", label="Pareto front of the means"))
    handles.append(Line2D([], [], color=PEOPLE, linestyle=":", label=people_label(results)))
    if panels < len(axes):
        axes[-1].legend(handles=handles, loc="center", frameon=False)
    else:
        figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)


def _points(results: Results, name: str) -> list[Point]:
    runs = [(paper, run) for paper, of_paper in by_paper(results).items() for run in of_paper]
    colours = palette(run.label for _, run in runs)
    found = []
    for paper, run in runs:
        ours = [COLUMNS[column].of(results, run.name) for column in (name, CIDER)]
        if all(value.value is not None for value in ours):
            values, (below, above) = draw.spans(ours, 100)
            x, y = zip(values, values - below, values + above, strict=True)
            alone = len(run.seeds) == 1
            found.append(Point(run.label, colours[run.label], x, y, alone, _MARKERS[paper]))
    return found


FIGURES = {"across": tradeoffs}
