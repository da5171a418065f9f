"""Quality against diversity, distinctiveness and truth: a point per objective, a colour per paper."""

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from seqcap.papers.across.tables import AGAINST, COLUMNS, FILE, by_paper
from seqcap.report import figures as draw
from seqcap.report.inputs import Results
from seqcap.report.overview import CIDER
from seqcap.report.scatter import Point, draw_points, name_points

_COLOURS = {paper: str(getattr(draw, of.colour)) for paper, of in FILE.papers.items()}


def tradeoffs(results: Results) -> Figure | str:
    found = {name: _points(results, name) for name in AGAINST}
    panels = {name: points for name, points in found.items() if points}
    if not panels:
        return "Nothing was measured."
    figure = Figure(figsize=(4.8 * len(panels), 5.2), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    for axis, (name, points) in zip(axes, panels.items(), strict=True):
        draw_points(axis, points)
        axis.set_xlabel(f"{name}, x100")
    axes[0].set_ylabel(f"{CIDER}, x100")
    handles = [
        Line2D([], [], color=_COLOURS[paper], marker="o", linestyle="", label=paper) for paper in by_paper(results)
    ]
    handles.append(Line2D([], [], color=draw.MUTED, linestyle="--", label="Pareto front"))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)
    figure.draw_without_rendering()
    for axis, points in zip(axes, panels.values(), strict=True):
        name_points(axis, points)
    return figure


def _points(results: Results, name: str) -> list[Point]:
    found = []
    for paper, runs in by_paper(results).items():
        for run in runs:
            ours = [COLUMNS[column].of(results, run.name) for column in (name, CIDER)]
            if all(value.value is not None for value in ours):
                values, (below, above) = draw.spans(ours, 100)
                x, y = zip(values, values - below, values + above, strict=True)
                found.append(Point(run.label, _COLOURS[paper], x, y, hollow=len(run.seeds) == 1))
    return found


FIGURES = {"across": tradeoffs}
