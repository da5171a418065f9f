"""Figures of trade-offs: panels of points, a run each, with intervals and names; as figures.yaml declares them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from seqcap.report.drawing import scatter
from seqcap.report.drawing.colours import MUTED, palette
from seqcap.report.drawing.colours import PEOPLE as GREY
from seqcap.report.drawing.scatter import Point
from seqcap.report.inputs import HUMAN, Results
from seqcap.report.paper import Coordinate, Panel, PrintedPoints, TradeOffs
from seqcap.report.reported import ReportedRun
from seqcap.report.tables import Estimate, Measure, people_label

_WIDTH, _HEIGHT = 5.2, 4.6  # inches of a panel
_COLUMNS = 2  # but for three panels without a legend, which would leave one empty
# Of runs of the first captioner, of the second, and so on.
_MARKERS = ("o", "s", "^", "D")
_OTHERS = "#c4c4c4"  # of runs without a name; lighter than any method
_LINE: Mapping[str, Any] = {"color": MUTED, "linewidth": 1.2, "marker": "."}


@dataclass(frozen=True)
class Line:
    """A line through the points of some runs, in their order, in panels whose numbers two of them have."""

    label: str
    runs: tuple[str, ...] = ()


_NO_LINE = Line("")


@dataclass(frozen=True)
class _Drawn:
    """A panel with its points. People's captions are a point where both coordinates were measured, else a line."""

    panel: Panel
    points: Sequence[Point]
    line: Sequence[Point] = ()
    people: Mapping[str, Estimate] = field(default_factory=dict)  # "x" or "y" -> the only coordinate

    def line_at(self, name: str) -> list[float]:
        """Where people's line crosses the axis "x" or "y"; [] without one."""
        coordinate = self.panel.x if name == "x" else self.panel.y
        return [coordinate.scale * (self.people[name].value or 0.0)] if name in self.people else []


def draw(
    results: Results,
    declared: TradeOffs,
    markers: Mapping[str, str] | None = None,
    shapes: Mapping[str, str] | None = None,
    line: Line = _NO_LINE,
) -> Figure | str:
    """The figure, or a sentence where nothing was measured. `markers`: run -> its marker, if not by captioner;
    `shapes`: what a marker stands for -> the marker, in the legend; `line`: a further one."""
    if markers is None:
        markers = _by_captioner(results)
    panels = [_measured(results, panel, declared, markers, line) for panel in declared.panels if _fits(panel, results)]
    panels = [drawn for drawn in panels if drawn.points]
    if all(drawn.panel.printed for drawn in panels):
        return "Nothing was measured."
    handles = _handles(results, declared, panels, shapes or _of_captioners(results, panels), line)
    columns = 3 if len(panels) == 3 and not handles else _COLUMNS
    lines = -(-len(panels) // columns)
    figure = Figure(figsize=(_WIDTH * columns, _HEIGHT * lines), layout="constrained")
    axes = list(figure.subplots(lines, columns, squeeze=False).flat)
    for axis, drawn in zip(axes, panels, strict=False):
        _draw_panel(axis, results, drawn, declared)
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    if handles and len(axes) > len(panels):
        axes[len(panels)].legend(handles=handles, loc="center", frameon=False)
    elif handles:
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)
    for scale in {drawn.panel.scale for drawn in panels} - {""}:
        alike = [(axis, drawn.points) for axis, drawn in zip(axes, panels, strict=False) if drawn.panel.scale == scale]
        scatter.frame([axis for axis, _ in alike], [point for _, points in alike for point in points])
    for axis, drawn in zip(axes, panels, strict=False):
        if not drawn.panel.scale:
            x = [*drawn.line_at("x"), *(point.x[0] for point in drawn.line)]
            y = [*drawn.line_at("y"), *(point.y[0] for point in drawn.line)]
            scatter.frame([axis], drawn.points, x=x, y=y)
    figure.draw_without_rendering()
    for axis, drawn in zip(axes, panels, strict=False):
        scatter.name_points(axis, drawn.points)
    return figure


def _by_captioner(results: Results) -> dict[str, str]:
    of_captioner = {name: _MARKERS[index % len(_MARKERS)] for index, name in enumerate(results.captioners)}
    return {run.name: of_captioner[run.captioner] for run in results.trained}


def _of_captioners(results: Results, panels: Sequence[_Drawn]) -> dict[str, str]:
    """Captioner -> its marker, where points have several."""
    used = {point.marker for drawn in panels if drawn.panel.printed is None for point in drawn.points}
    markers = {f"captioner {name}": _MARKERS[index % len(_MARKERS)] for index, name in enumerate(results.captioners)}
    markers = {name: marker for name, marker in markers.items() if marker in used}
    return markers if len(markers) > 1 else {}


def _fits(panel: Panel, results: Results) -> bool:
    return panel.exact is None or panel.exact == results.knows_facts


def _measured(results: Results, panel: Panel, declared: TradeOffs, markers: Mapping[str, str], line: Line) -> _Drawn:
    if panel.printed is not None:
        return _Drawn(panel, _printed(results, panel.printed))
    runs = [run for run in results.trained if run.task == results.config.pictures]
    others = [run for run in runs if not run.row] if declared.others else []
    if len(others) == 1:
        # One has its name, and needs no legend.
        others = []
    named = [run for run in runs if run.row or (declared.others and not others)]
    colours = palette(run.label for run in named)
    points: list[Point] = []
    for run in others:
        points += _point(results, run, panel, "", _OTHERS, markers)
    for run in named:
        points += _point(results, run, panel, run.label, colours[run.label], markers)
    through = _through(results, panel, line, markers)
    people = {
        name: Measure(*coordinate.people).of(results, HUMAN)
        for name, coordinate in (("x", panel.x), ("y", panel.y))
        if coordinate.people is not None
    }
    people = {name: ours for name, ours in people.items() if ours.value is not None}
    if len(people) == 2:
        both, scales = (people["x"], people["y"]), (panel.x.scale, panel.y.scale)
        return _Drawn(panel, [*points, *scatter.measured(people_label(results), GREY, both, scales)], through)
    return _Drawn(panel, points, through, people)


def _point(
    results: Results, run: ReportedRun, panel: Panel, name: str, colour: str, markers: Mapping[str, str]
) -> list[Point]:
    """A run's point; none where one of its numbers was not measured."""
    ours = [Measure(*coordinate.measure).of(results, run.name) for coordinate in (panel.x, panel.y)]
    return scatter.measured(name, colour, ours, (panel.x.scale, panel.y.scale), markers[run.name])


def _through(results: Results, panel: Panel, line: Line, markers: Mapping[str, str]) -> list[Point]:
    """The points of a line; none where fewer than two were measured."""
    runs = [results.by_name[name] for name in line.runs if name in results.by_name]
    points = [point for run in runs for point in _point(results, run, panel, "", MUTED, markers)]
    return points if len(points) > 1 else []


def _printed(results: Results, printed: PrintedPoints) -> list[Point]:
    colours = palette(printed.rows)
    points = []
    for name, row in printed.rows.items():
        x, y = (results.paper.published.value(printed.table, row, column) for column in (printed.x, printed.y))
        points.append(Point(name, colours[name], (x, x, x), (y, y, y)))
    return points


def _draw_panel(axis: Axes, results: Results, drawn: _Drawn, declared: TradeOffs) -> None:
    scatter.draw_points(axis, drawn.points)
    places = [(point.x[0], point.y[0]) for point in drawn.line]
    if places:
        axis.plot(*zip(*places, strict=True), zorder=0, **_LINE)
    for name, line in (("x", axis.axvline), ("y", axis.axhline)):
        for value in drawn.line_at(name):
            line(value, color=GREY, linewidth=1.2, linestyle=":", zorder=0)
    data = f"{results.dataset(results.config.pictures)} {results.split(results.config.pictures)}"
    axis.set_title(results.fill(drawn.panel.title, data=data), loc="left")
    axis.set(xlabel=_label(results, drawn.panel.x), ylabel=_label(results, drawn.panel.y))


def _label(results: Results, coordinate: Coordinate) -> str:
    return results.fill(coordinate.label)


def _handles(
    results: Results, declared: TradeOffs, panels: Sequence[_Drawn], shapes: Mapping[str, str], line: Line
) -> list[Line2D]:
    """What no name beside a point explains."""
    handles = [Line2D([], [], color=GREY, marker=marker, linestyle="", label=name) for name, marker in shapes.items()]
    points = [point for drawn in panels for point in drawn.points]
    if any(not point.name for point in points):
        handles.append(Line2D([], [], color=_OTHERS, marker="o", linestyle="", label=declared.others))
    if any(drawn.line for drawn in panels):
        handles.append(Line2D([], [], label=line.label, **_LINE))
    if any(point.hollow for point in points):
        handles.append(scatter.hollow_handle())
    if any(drawn.people for drawn in panels):
        handles.append(Line2D([], [], color=GREY, linestyle=":", label=people_label(results)))
    return handles
