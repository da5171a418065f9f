"""What the papers' figures share: style, values with intervals, legends; PNG files with reproducible bytes."""

import io
from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

from seqcap.files import json_file, writing
from seqcap.report import REPORTS
from seqcap.report.drawing import learning, panels, tradeoff_figure
from seqcap.report.drawing.colours import PEOPLE
from seqcap.report.drawing.scatter import HOLLOW
from seqcap.report.inputs import Results
from seqcap.report.paper import FigureText, Said
from seqcap.report.statistics import Floats
from seqcap.report.tables import Estimate

_STYLE = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 10}
_DPI, _COLOURS = 105, 256  # of a file, to which a palette is a quarter of the size


def write_figures(results: Results) -> None:
    """Writes <name>.png of every figure, and figures.json. A function with nothing to draw returns a sentence."""
    folder, words = REPORTS / results.paper.name / "figures", {}
    with matplotlib.style.context(["default", _STYLE]):
        for name, text in results.paper.figures.items():
            drawn = draw(results, name)
            if isinstance(drawn, str):
                words[name] = {"title": text.title, "missing": drawn}
            else:
                _save(drawn, folder / f"{name}.png")
                words[name] = {"title": text.title, "caption": caption_of(results, text)}
    # Not as markdown: `dvc plots` looks at every file of the folder, and knows no such kind.
    json_file.write_json(folder / "figures.json", {"order": list(words), "figures": words})


def caption_of(results: Results, text: FigureText) -> str:
    """A figure's caption, without what is said of runs or marks that these results do not have."""
    parts = {key: said.text if _is_of(results, said) else "" for key, said in text.where.items()}
    return results.fill(text.caption, text.evaluation, **parts)


def _is_of(results: Results, said: Said) -> bool:
    runs = [run for run in results.trained if fnmatch(run.name, said.run or "*")]
    if said.one_seed:
        runs = [run for run in runs if len(run.seeds) == 1]
    return bool(runs) and said.exact in (None, results.knows_facts)


def draw(results: Results, name: str) -> Figure | str:
    """A figure by the paper's function for it or, where there is none, as figures.yaml declares it."""
    functions, text = results.paper.functions("figures"), results.paper.figures[name]
    if name in functions:
        drawn: Figure | str = functions[name](results)
        return drawn
    if text.examples is not None:
        return panels.draw(results, text.examples)
    if text.tradeoffs is not None:
        return tradeoff_figure.draw(results, text.tradeoffs)
    assert text.curves is not None  # `papers.check`
    return learning.draw(results, text.curves)


def _save(figure: Figure, path: Path) -> None:
    FigureCanvasAgg(figure)
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=_DPI)
    with writing.atomic(path) as temporary, Image.open(drawn) as image:
        # Octrees keep colours that few pixels have.
        few = image.convert("RGB").quantize(_COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        few.save(temporary, format="PNG", optimize=True)


def spans(estimates: Iterable[Estimate], scale: float) -> tuple[Floats, Floats]:
    """Values [n], and how far their intervals reach below and above them [2, n]: 0 without one, or beside the value."""
    ends = [(ours.value or 0.0, ours.low, ours.high) for ours in estimates]
    values, low, high = np.array(ends, dtype=np.float64).T  # None is NaN
    return scale * values, scale * np.fmax([values - low, high - values], 0)


def plot_estimates(axis: Axes, points: Mapping[float, Estimate], scale: float, **look: Any) -> None:
    """A line through values with error bars, by their places on the x axis; those of one training seed are hollow, with
    dotted bars."""
    known = {x: ours for x, ours in points.items() if ours.value is not None}
    if not known:
        return
    values, errors = spans(known.values(), scale)
    alone = np.array([ours.seeds == 1 for ours in known.values()])
    places = np.array(list(known))
    axis.errorbar(places, values, np.where(alone, np.nan, errors), **look)
    if alone.any():
        of_one: dict[str, Any] = {"color": look["color"], "fmt": look["marker"], "markersize": look.get("markersize")}
        of_one |= {"markerfacecolor": "white", "elinewidth": 0.8, "zorder": 4, "label": HOLLOW}
        bars = axis.errorbar(places[alone], values[alone], errors[:, alone], **of_one)
        bars.lines[2][0].set_linestyle(":")


def legend(figure: Figure, axes: Iterable[Axes], ncols: int, free: Axes | None = None) -> None:
    """One legend below the figure or, if there is one, in a free panel, with every label of some axes once; what hollow
    means comes last."""
    handles = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    if handles.pop(HOLLOW, None):
        handles[HOLLOW] = Line2D([], [], color=PEOPLE, marker="o", markerfacecolor="white", linestyle="")
    if free is not None:
        free.legend(list(handles.values()), list(handles), loc="center left", frameon=False)
        return
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=ncols, frameon=False)
