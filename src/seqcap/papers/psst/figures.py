"""PSST's figures 3a to 3f and 4, variance and bias of its estimator, and learning curves."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seqcap.metrics import registry
from seqcap.papers.psst.estimators import EXACT, OWN_HINGE, qualities_by_rho, read_estimates
from seqcap.papers.psst.methods import (
    IMAGE,
    METHODS,
    NO_FEEDBACK,
    PLACES,
    PSST,
    PSST_75,
    ST,
    by_rho,
    curve,
    curves,
    printed_lambda,
)
from seqcap.papers.psst.rows import LANGUAGE, RECALL
from seqcap.report.drawing import figures as draw
from seqcap.report.drawing import learning, panels
from seqcap.report.drawing.colours import BLACK, MUTED, colour_of
from seqcap.report.inputs import Results
from seqcap.report.tables import Estimate, Measure, shown
from seqcap.report.tradeoff import Curve, Reading, level

# Method -> colour and line of its curve.
_STYLES = {name: (colour_of(method.label) or MUTED, method.line) for name, method in METHODS.items() if method.line}
_RECALL = RECALL["R@10"]
# Rows of panels, each with some of the methods; the others are grey.
_GROUPS = {
    "a fixed one of the two": ("luo", "frozen_luo", "frozen_mle"),
    "rewards": ("reinforce", "sr_pl", "g_gan"),
    "straight-through": ("st", "st_gumbel", "annealed"),
    "PSST": (PSST, "gumbel", PSST_75),
}
_METRICS = ("BLEU4", "CIDEr", "METEOR", "ROUGE_L", "SPICE")
_OTHERS = "#d0d0d0"


def figure3(results: Results) -> Figure | str:
    """A column per language metric, a row per group of methods, a curve per method, a point per weight."""
    lines = {method: line for method, line in curves(results).items() if method in _STYLES}
    groups = {title: [method for method in methods if method in lines] for title, methods in _GROUPS.items()}
    groups = {title: methods for title, methods in groups.items() if methods}
    if not groups:
        return "This run has no method of Figure 3 but MLE."
    figure = Figure(figsize=(12.4, 2.1 * len(groups) + 0.5), layout="constrained")
    grid = figure.subplots(len(groups), len(_METRICS), squeeze=False, sharex="col", sharey=True)
    for row, (title, methods) in zip(grid, groups.items(), strict=True):
        for axis, metric in zip(row, _METRICS, strict=True):
            for method, line in lines.items():
                shown = method in methods or method == "mle"
                _plot(axis, results, line, _STYLES[method] if shown else (_OTHERS, "-"), LANGUAGE[metric], shown)
        row[0].set_ylabel(f"{title}\nR@10, own listener, %")
        learning.name_lines(row)
    scales = {metric: results.paper.published.scale(metric) for metric in _METRICS}
    for letter, metric, column in zip("abcde", _METRICS, grid.T, strict=True):
        column[-1].set_xlabel(f"{registry.find(metric).label} x{scales[metric]:g} (greedy)")
        column[0].set_title(f"{letter}: {results.dataset(IMAGE)} {results.split(IMAGE)}", loc="left")
    if point := PLACES["table2"].point(results):
        for axis in grid[:, _METRICS.index("CIDEr")]:
            axis.axvline(point.value * scales["CIDEr"], color=MUTED, linewidth=1, linestyle="-.", zorder=0)
    return figure


def _plot(axis: Axes, results: Results, line: Curve, look: tuple[str, str], measure: Measure, shown: bool) -> None:
    """A method's curve with a point per run, hollow for a single seed; without points and name if it is not shown."""
    colour, style = look
    scale = results.paper.published.scale(measure.metric)
    points = [(level(results, name, measure), level(results, name, _RECALL), name) for name in line.runs]
    known = [(x * scale, y * 100, name) for x, y, name in points if x is not None and y is not None]
    x, y = [point[0] for point in known], [point[1] for point in known]
    axis.plot(x, y, color=colour, linestyle=style, linewidth=1.4 if shown else 0.8, zorder=2 if shown else 1)
    if not shown:
        return
    axis.plot([], [], color=colour, linestyle=style, marker="o", markersize=4, label=line.label)
    for x_of, y_of, name in known:
        fill = "white" if len(results.by_name[name].seeds) == 1 else colour
        axis.plot(x_of, y_of, "o", color=colour, markerfacecolor=fill, markersize=4, zorder=3)


# Distribution -> PSST with it (in settings, its name), straight-through with it, marker, and to which side they stand.
_DISTRIBUTIONS = {"Multinomial": (PSST, ST, "o", -1), "Gumbel Softmax": ("gumbel", "st_gumbel", "s", 1)}


def figure3f(results: Results) -> Figure | str:
    """R@10 at one CIDEr against rho, with intervals."""
    point = PLACES["fig3f"].point(results)
    lines = {name: rhos for name, rhos in by_rho(results).items() if len(rhos) > 1}
    if point is None or not lines:
        return "This run has no curves of several rho at one CIDEr."
    figure = Figure(figsize=(7.0, 4.4), layout="constrained")
    axis = figure.subplots()

    def recall(line: Curve) -> Estimate:
        return shown(Reading(line, _RECALL, point).number(results), "images")

    for name, rhos in lines.items():
        st = curve(results, _DISTRIBUTIONS[name][1])
        fed_back = recall(st) if st.runs else None
        recalls = {rho: recall(line) for rho, line in rhos.items()}
        _against_rho(axis, name, recalls, fed_back, ", index fed back", apart=0.008, scale=100)
    axis.set_ylabel("R@10, own listener, %")
    axis.set_title(f"{results.dataset(IMAGE)} {results.split(IMAGE)}, at {point.words()}", loc="left")
    draw.legend(figure, [axis], ncols=2)
    return figure


def _against_rho(
    axis: Axes,
    name: str,
    values: Mapping[float, Estimate],
    fed_back: Estimate | None,
    how: str,
    apart: float,
    scale: float,
) -> None:
    """Values of a distribution by rho, and a cross for the straight-through that feeds the index back."""
    psst, st, marker, side = _DISTRIBUTIONS[name]
    shift = apart * side
    look: dict[str, Any] = {"color": _STYLES[psst][0], "marker": marker, "capsize": 3}
    draw.plot_estimates(
        axis, {rho + shift: estimate for rho, estimate in values.items()}, scale, **look, label=f"PSST {name}"
    )
    cross, look = {} if fed_back is None else {3 * shift: fed_back}, look | {"color": _STYLES[st][0], "marker": "X"}
    draw.plot_estimates(axis, cross, scale, **look, linestyle="", label=f"ST {name}{how}")
    axis.set_xlabel("rho: probability that a step passes its distribution on")


# Field of `Quality` -> its panel's title.
_QUALITIES = {
    "variance": "variance of one estimate / |exact gradient|²",
    "bias": "squared bias / |exact gradient|²",
    "direction": "cosine of the mean estimate with the exact gradient",
    "step": "cosine of one estimate with the exact gradient",
}
_SCORE_FUNCTIONS = (
    (EXACT, "all hinges of the batch: no bias", BLACK),
    (OWN_HINGE, "its own hinge (Table 2)", _STYLES["reinforce"][0]),
)


def estimators(results: Results) -> Figure | str:
    """Variance, bias and direction of gradients through the listener: a panel each."""
    found = read_estimates(results)
    if not found:
        return "The gradient's variance and bias are not part of this run, or noise hides them."
    figure = Figure(figsize=(10.0, 6.8), layout="constrained")
    grid = dict(zip(_QUALITIES, figure.subplots(2, 2).flat, strict=True))
    for quality, axis in grid.items():
        estimates = {key: getattr(value, quality) for key, value in found.items()}
        for name, (distribution, *_) in _DISTRIBUTIONS.items():
            rhos = {rho: getattr(value, quality) for rho, value in qualities_by_rho(found, distribution).items()}
            _against_rho(axis, name, rhos, estimates[distribution, 0.0, False], NO_FEEDBACK, apart=0.006, scale=1)
        for key, label, colour in _SCORE_FUNCTIONS:
            if key != EXACT or quality in ("variance", "step"):
                axis.axhspan(estimates[key].low, estimates[key].high, color=colour, alpha=0.15, linewidth=0)
                words = f"{METHODS['reinforce'].label}, {label}"
                axis.axhline(estimates[key].value, color=colour, linewidth=1.3, linestyle="--", label=words)
        axis.set_title(_QUALITIES[quality], loc="left")
    grid["variance"].set_yscale("log")
    grid["bias"].set_yscale("symlog", linthresh=1, linscale=2)
    grid["direction"].set_ylim(-0.1, 1.1)
    figure.legend(*grid["variance"].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    return figure


# Whose captions Figure 4 shows: a run and one of its training seeds; None: not part of these results.
System = tuple[str, int] | None
_LAMBDAS = (0.01, 0.0025, 0.0005)  # of Figure 4a, from the most discriminative on
_CLOSE = 0.1  # a lambda that differs by less is the printed one: w is rounded


def figure4a(results: Results) -> Figure | str:
    line = curve(results, PSST)
    if not line.runs:
        return f"{line.label} is not part of this run."
    lambdas = {name: printed_lambda(results, name) or 0.0 for name in line.runs}
    systems = dict[str, System]()
    for printed in _LAMBDAS:
        runs = [name for name, value in lambdas.items() if abs(value - printed) < _CLOSE * printed]
        systems[f"PSST l={printed:g}"] = (runs[0], results.by_name[runs[0]].seeds[0]) if runs else None
    return _examples(results, "4a", systems, dict.fromkeys(systems, _STYLES[PSST][0]), first=0)


def figure4(results: Results, number: str, place: str, first: int) -> Figure | str:
    """Three methods at an operating point, each with the run and seed that are nearest to it."""
    systems, colours, at = dict[str, System](), dict[str, str](), PLACES[place]
    point = at.point(results)
    for method in ("reinforce", ST, PSST):
        label, nearest = METHODS[method].label, at.nearest_seed(results, method)
        if nearest and point:
            label = f"{label}, {point.words(nearest[2])}"
        systems[label] = nearest[:2] if nearest else None
        colours[label] = _STYLES[method][0]
    return _examples(results, number, systems, colours, first)


_CAPTION_WIDTH = 84


def _examples(
    results: Results, number: str, systems: Mapping[str, System], colours: Mapping[str, str], first: int
) -> Figure | str:
    """Three images with a caption, rank and CIDEr of each system, then the paper's; `first` images are skipped."""
    there = {label: system for label, system in systems.items() if system}
    images = panels.choose_images(results.images, first + 3).tail(3)
    heading = "rank of the own picture, CIDEr x1: greedy caption"

    def captions(item: int) -> dict[str, panels.Line]:
        return {label: _caption(results, name, seed, item) for label, (name, seed) in there.items()}

    rows = panels.example_rows(results, images, captions, heading, colours, _CAPTION_WIDTH)
    printed = _printed(results, number, list(colours.values()))
    return panels.captions_figure(results, [*rows, printed], [label for label in systems if label not in there])


def _caption(results: Results, name: str, seed: int, item: int) -> panels.Line:
    numbers = []
    for metric, form in (("own_rank", "{:.0f}"), ("CIDEr", "{:.1f}")):
        scores = results.scores.per_item(name, "greedy", metric, "best")
        known = scores is not None and item in scores.index and seed in scores.columns
        numbers.append(form.format(scores.loc[item, seed]) if scores is not None and known else "–")
    caption = panels.captions_of(results, name, item, "greedy", seed)[0]
    return panels.Line(f"{', '.join(numbers)}: {caption or '(empty)'}")


def _printed(results: Results, number: str, shades: Sequence[str]) -> panels.Row:
    cells = results.paper.published.table("fig4")
    cells = cells[cells["table"] == f"fig{number}"].replace({"printed": {"": "not legible"}})
    rows = list(dict.fromkeys(cells["row"]))
    colours = dict(zip(rows, shades, strict=False)) if len(shades) == len(rows) else dict.fromkeys(rows, shades[0])
    lines = {}
    for row in rows:
        each = cells[cells["row"] == row].pivot(index="block", columns="column", values="printed")
        images = zip(each.index.str.removeprefix("img"), each["rank"], each["CIDEr"], strict=True)
        lines[row] = panels.Line("    ".join(f"image {image}: {rank}, {cider}" for image, rank, cider in images))
    heading = "rank and CIDEr x1 as printed (COCO); we do not have the captions"
    return panels.systems_row(f"the paper's Figure {number}", heading, lines, colours, _CAPTION_WIDTH)


def learned(results: Results) -> Figure | str:
    """Each method's run that is nearest to Table 2's operating point, by the method's name."""
    place = PLACES["table2"]
    runs = [
        results.by_name[place.at(results, method) or line.runs[0]].model_copy(update={"label": line.label})
        for method, line in curves(results).items()
    ]
    declared = results.paper.figures["psst_curves"].curves
    assert declared is not None  # figures.yaml has them
    return learning.draw(results, declared, runs)


FIGURES = {
    "psst_fig3": figure3,
    "psst_fig3f": figure3f,
    "psst_estimators": estimators,
    "psst_fig4a": figure4a,
    "psst_fig4b": partial(figure4, number="4b", place="naturalness", first=3),
    "psst_fig4c": partial(figure4, number="4c", place="table2", first=6),
    "psst_curves": learned,
}
