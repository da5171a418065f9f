"""Points with intervals and their names beside them, none on another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.transforms import Bbox

from seqcap.report.drawing.colours import PEOPLE
from seqcap.report.statistics import Floats
from seqcap.report.tables import Estimate

HOLLOW = "hollow: one training seed (bar: over test items alone)"

_MARGIN = 0.2  # of the range of the values, on either side
_FARTHEST = 0.5  # of it, up to which the frame is wider where intervals are
_FROM_EDGE = 0.03  # of it, between the end of an interval and the frame
_SIZE = 8  # of the names
_POINT = 5.0  # half of the room that a point takes, in pixels
_APART = 1.5  # of names from all else, in pixels
# Where a name may stand: distances from the point, in pixels, and directions, right and left first.
_DISTANCES = (7, 12, 18, 26, 36, 48, 62, 78)
_DIRECTIONS = np.pi / 12 * np.array([0, 12, 2, -2, 10, -10, 4, -4, 8, -8, 6, -6])
_LEADER = 12  # a name that is farther away has a line to its point
_AS_BAD = 20  # as so many pixels of distance counts a name on an interval; on a point or a name it is not put at all


@dataclass(frozen=True)
class Point:
    """A point of a figure, with its intervals on both axes."""

    name: str  # "": one of many that are not named
    colour: str
    x: tuple[float, float, float]  # value and its interval; the value three times without one
    y: tuple[float, float, float]  # the same
    hollow: bool = False  # whether it has a single training seed
    marker: str = "o"


def draw_points(axis: Axes, points: Sequence[Point]) -> None:
    """The points with their intervals; hollow and small, with thin dotted intervals, where there is a single seed."""
    for point in points:
        (x, left, right), (y, low, high) = point.x, point.y
        bars: dict[str, Any] = {"color": point.colour, "alpha": 0.45, "zorder": 1}
        bars |= {"linewidth": 0.7, "linestyle": ":"} if point.hollow else {"linewidth": 1.0}
        axis.plot([left, right], [y, y], **bars)
        axis.plot([x, x], [low, high], **bars)
        size, fill = (4.5, "white") if point.hollow else (6, point.colour)
        axis.plot(x, y, point.marker, color=point.colour, markersize=size, markerfacecolor=fill, zorder=3)


def measured(
    name: str, colour: str, ours: Sequence[Estimate], scales: Sequence[float], marker: str = "o"
) -> list[Point]:
    """The point of two estimates, x and y; none where one of them has no value."""
    if any(estimate.value is None for estimate in ours):
        return []
    x, y = (_span(estimate, scale) for estimate, scale in zip(ours, scales, strict=True))
    return [Point(name, colour, x, y, hollow=ours[0].seeds == 1, marker=marker)]


def _span(estimate: Estimate, scale: float) -> tuple[float, float, float]:
    value = estimate.value or 0.0
    low, high = (value if end is None else end for end in (estimate.low, estimate.high))
    return scale * value, scale * min(low, value), scale * max(high, value)


def frame(axes: Sequence[Axes], points: Sequence[Point], x: Sequence[float] = (), y: Sequence[float] = ()) -> None:
    """Gives axes one scale, on which all values are, `x` and `y`, and the intervals but for very long ones."""
    for limit, spans, more in (("xlim", [point.x for point in points], x), ("ylim", [point.y for point in points], y)):
        values, ends = [*(span[0] for span in spans), *more], [end for span in spans for end in span]
        lowest, highest = min(values), max(values)
        margin, farthest, apart = (share * (highest - lowest) or 1.0 for share in (_MARGIN, _FARTHEST, _FROM_EDGE))
        low = min(lowest - margin, max(min(ends) - apart, lowest - farthest))
        high = max(highest + margin, min(max(ends) + apart, highest + farthest))
        for axis in axes:
            axis.set(**{limit: (low, high)})


def hollow_handle(label: str = HOLLOW) -> Line2D:
    """What a hollow point means, for a legend."""
    look: dict[str, Any] = {"marker": "o", "markersize": 4.5, "markerfacecolor": "white"}
    return Line2D([], [], color=PEOPLE, label=label, linestyle=":", linewidth=0.7, **look)


def name_points(axis: Axes, points: Sequence[Point]) -> None:
    """Writes every name near its point, where it covers no point and no other name and, if there is room, no interval.
    To be called last, when the figure's layout is settled: `Figure.draw_without_rendering`."""
    places = axis.transData.transform([(point.x[0], point.y[0]) for point in points])
    taken = [Bbox.from_extents(*(place - _POINT), *(place + _POINT)) for place in places]
    bars = [bar for point in points for bar in _bars(axis, point)]
    # Those in the thick first: they have the fewest free places.
    crowd = np.exp(-np.linalg.norm(places[:, None] - places[None], axis=2) / 60).sum(1)
    order = [number for number in np.argsort(-crowd, kind="stable").tolist() if points[number].name]
    for number in order:
        point, place = points[number], places[number]
        text = axis.text(0, 0, point.name, color=point.colour, fontsize=_SIZE, ha="center", va="center", zorder=4)
        text.set(in_layout=False, path_effects=[withStroke(linewidth=2, foreground="white")])
        size = np.array(text.get_window_extent().size) + 2 * _APART
        distance, box = _free_place(axis, place, size, taken, bars)
        taken.append(box)
        centre, start, end = axis.transData.inverted().transform(
            [(np.array(box.min) + np.array(box.max)) / 2, place, np.clip(place, box.min, box.max)]
        )
        text.set_position(centre)
        if distance > _LEADER:
            axis.plot(*zip(start, end, strict=True), color=point.colour, linewidth=0.6, alpha=0.7, zorder=2)


def _bars(axis: Axes, point: Point) -> Iterator[Bbox]:
    """The intervals of a point, in pixels."""
    (x, left, right), (y, low, high) = point.x, point.y
    for start, end in (((left, y), (right, y)), ((x, low), (x, high))):
        yield Bbox(axis.transData.transform([start, end])).padded(0.5)


def _free_place(
    axis: Axes, place: Floats, size: Floats, taken: Sequence[Bbox], bars: Sequence[Bbox]
) -> tuple[int, Bbox]:
    """The place for a name of a size: how far from its point it is, and where. It is within the axes and off what is
    taken; where that cannot be, it covers as little as it can."""
    inside = axis.get_window_extent()
    candidates = []
    for distance, box in _around(place, size):
        outside = box.x0 < inside.x0 or box.x1 > inside.x1 or box.y0 < inside.y0 or box.y1 > inside.y1
        covered = box.count_overlaps(taken) + len(taken) * outside
        candidates.append((covered, distance + _AS_BAD * box.count_overlaps(bars), distance, box))
    _, _, distance, box = min(candidates, key=lambda candidate: candidate[:3])
    return distance, box


def _around(place: Floats, size: Floats) -> Iterator[tuple[int, Bbox]]:
    for distance in _DISTANCES:
        for angle in _DIRECTIONS:
            centre = place + np.array([np.cos(angle), np.sin(angle)]) * (distance + size / 2)
            yield distance, Bbox.from_extents(*(centre - size / 2), *(centre + size / 2))
