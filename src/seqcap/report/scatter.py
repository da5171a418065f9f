"""Points with intervals, their Pareto front, and their names beside them, none on another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.transforms import Bbox

from seqcap.report.figures import MUTED
from seqcap.report.ranking import pareto_front
from seqcap.report.statistics import Floats

_SIZE = 7.5  # of the names
_POINT = 5.0  # half of the room that a point takes, in pixels
# Where a name may stand: distances from the point, in pixels, and directions, right and left first.
_DISTANCES = (7, 12, 18, 26, 36, 48, 62, 78)
_DIRECTIONS = np.pi / 12 * np.array([0, 12, 2, -2, 10, -10, 4, -4, 8, -8, 6, -6])
_LEADER = 12  # a name that is farther away has a line to its point


@dataclass(frozen=True)
class Point:
    name: str
    colour: str
    x: tuple[float, float, float]  # value and its interval; the value three times without one
    y: tuple[float, float, float]  # the same
    hollow: bool = False


def draw_points(axis: Axes, points: Sequence[Point]) -> None:
    for point in points:
        (x, left, right), (y, low, high) = point.x, point.y
        axis.plot([left, right], [y, y], color=point.colour, linewidth=0.8, alpha=0.6)
        axis.plot([x, x], [low, high], color=point.colour, linewidth=0.8, alpha=0.6)
        axis.plot(x, y, "o", color=point.colour, markersize=5, markerfacecolor="white" if point.hollow else None)
    values = np.array([[point.x[0], point.y[0]] for point in points])
    x, y = values[pareto_front(values)].T
    order = np.argsort(x)
    # From a point to the next better x, the next point's y is the best.
    axis.step(x[order], y[order], where="pre", color=MUTED, linewidth=1.2, linestyle="--", zorder=0)
    axis.margins(0.1)


def name_points(axis: Axes, points: Sequence[Point]) -> None:
    """Writes every name near its point, where it covers no point and no other name. To be called last, when the
    figure's layout is settled: `Figure.draw_without_rendering`."""
    places = axis.transData.transform([(point.x[0], point.y[0]) for point in points])
    taken = [Bbox.from_extents(*(place - _POINT), *(place + _POINT)) for place in places]
    inside = axis.get_window_extent()
    # Those in the thick first: they have the fewest free places.
    crowd = np.exp(-np.linalg.norm(places[:, None] - places[None], axis=2) / 60).sum(1)
    for number in np.argsort(-crowd, kind="stable").tolist():
        point, place = points[number], places[number]
        text = axis.text(0, 0, point.name, color=point.colour, fontsize=_SIZE, ha="center", va="center")
        text.set(in_layout=False, path_effects=[withStroke(linewidth=2, foreground="white")])
        size = text.get_window_extent().size
        boxes = [(_overlaps(box, taken, inside), distance, box) for distance, box in _around(place, size)]
        _, distance, box = min(boxes, key=lambda found: found[:2])
        taken.append(box)
        centre, start, end = axis.transData.inverted().transform(
            [(box.min + box.max) / 2, place, np.clip(place, box.min, box.max)]
        )
        text.set_position(centre)
        if distance > _LEADER:
            axis.plot(*zip(start, end, strict=True), color=point.colour, linewidth=0.5, alpha=0.6, zorder=0)


def _around(place: Floats, size: Floats) -> Iterator[tuple[int, Bbox]]:
    for distance in _DISTANCES:
        for angle in _DIRECTIONS:
            centre = place + np.array([np.cos(angle), np.sin(angle)]) * (distance + size / 2)
            yield distance, Bbox.from_extents(*(centre - size / 2), *(centre + size / 2))


def _overlaps(box: Bbox, taken: Sequence[Bbox], inside: Bbox) -> int:
    outside = not (inside.containsx(box.x0) and inside.containsx(box.x1) and inside.containsy(box.y0))
    return box.count_overlaps(taken) + len(taken) * (outside or not inside.containsy(box.y1))
