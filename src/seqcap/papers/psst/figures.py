"""PSST's figures 3a to 3f and 4, variance and bias of its estimator, and learning curves."""

from collections.abc import Mapping, Sequence
from functools import partial

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from seqcap.metrics import registry
from seqcap.papers.psst.estimators import EXACT, OWN_HINGE, qualities_by_rho, read_estimates
from seqcap.papers.psst.methods import METHODS, NO_FEEDBACK, PLACES, PSST, ST, by_rho, curve, curves, printed_lambda
from seqcap.papers.psst.rows import LANGUAGE, RECALL
from seqcap.report import figures as draw
from seqcap.report.inputs import Results
from seqcap.report.tables import Estimate, Measure, shown
from seqcap.report.tradeoff import Curve, Reading, level

# Method -> colour and line of its curve.
_STYLES = {name: (str(getattr(draw, of.colour)), of.line) for name, of in METHODS.items() if of.colour}
_MARKERS = "sD^vPX*<>hd"  # a circle: a method with a single run
_RECALL = RECALL["R@10"]


def figure3(results: Results) -> Figure:
    """A panel per language metric, a curve per method, a marker per w."""
    shown_curves = {method: line for method, line in curves(results).items() if method in _STYLES}
    weights = sorted({weight for line in shown_curves.values() for weight in line.weights if weight is not None})
    markers = {weight: _MARKERS[n % len(_MARKERS)] for n, weight in enumerate(weights)}
    figure = Figure(figsize=(10.8, 7.2), layout="constrained")
    panels = list(figure.subplots(2, 3).flat)
    order = ("BLEU4", "CIDEr", "METEOR", "ROUGE_L", "SPICE")
    for letter, metric, axis in zip("abcde", order, panels, strict=False):
        for method, line in shown_curves.items():
            _plot(axis, results, line, _STYLES[method], LANGUAGE[metric], markers)
        scale = results.paper.published.scale(metric)
        axis.set(xlabel=f"{registry.find(metric).label} x{scale:g} (greedy)", ylabel="R@10, own listener, %")
        axis.set_title(letter, loc="left")
    if point := PLACES["table2"].point(results):
        where = point.value * results.paper.published.scale("CIDEr")
        panels[1].axvline(where, color=draw.MUTED, linewidth=1, linestyle="-.")
    _marker_legend(panels[-1], results, shown_curves, markers)
    lines = [
        Line2D([], [], color=_STYLES[one][0], linestyle=_STYLES[one][1], marker="o" if len(line.runs) == 1 else "")
        for one, line in shown_curves.items()
    ]
    labels = [line.label for line in shown_curves.values()]
    figure.legend(lines, labels, loc="outside lower center", ncols=4, frameon=False)
    return figure


def _plot(
    axis: Axes, results: Results, line: Curve, look: tuple[str, str], measure: Measure, markers: Mapping[float, str]
) -> None:
    colour, style = look
    scale = results.paper.published.scale(measure.metric)
    points = [(level(results, name, measure), level(results, name, _RECALL)) for name in line.runs]
    known = [
        (x * scale, y * 100, "o" if weight is None else markers[weight], len(results.by_name[name].seeds) == 1)
        for (x, y), weight, name in zip(points, line.weights, line.runs, strict=True)
        if x is not None and y is not None
    ]
    axis.plot([x for x, *_ in known], [y for _, y, *_ in known], color=colour, linestyle=style, linewidth=1.3, zorder=2)
    for x, y, marker, alone in known:
        fill = "white" if alone else colour
        axis.plot(x, y, color=colour, marker=marker, markerfacecolor=fill, markersize=4.5, zorder=3)


def _marker_legend(
    axis: Axes, results: Results, shown_curves: Mapping[str, Curve], markers: Mapping[float, str]
) -> None:
    axis.set_axis_off()
    runs = [pair for line in shown_curves.values() for pair in zip(line.runs, line.weights, strict=True)]
    labels: dict[str, tuple[str, str | None]] = {}
    for weight, marker in markers.items():
        lambdas = sorted({f"{printed_lambda(results, name):.2g}" for name, of in runs if of == weight}, key=float)
        labels[f"w {weight:g}: lambda {' or '.join(lambdas)}"] = (marker, None)
    labels["a single run, at a w of its own or none"] = ("o", "0.33")
    labels["hollow, of any shape: one training seed"] = ("o", "w")
    handles = [
        Line2D([], [], color=draw.GREY, marker=marker, markerfacecolor=fill, linestyle="")
        for marker, fill in labels.values()
    ]
    axis.legend(handles, list(labels), loc="center", frameon=False, title="marker: the weight of recall")


# Distribution -> PSST with it (in settings, its name), straight-through with it, marker, and to which side they stand.
_DISTRIBUTIONS = {"Multinomial": (PSST, ST, "o", -1), "Gumbel Softmax": ("gumbel", "st_gumbel", "s", 1)}


def figure3f(results: Results) -> Figure | str:
    """R@10 at one CIDEr against rho, with intervals."""
    point = PLACES["fig3f"].point(results)
    lines = {name: rhos for name, rhos in by_rho(results).items() if rhos}
    if point is None or not lines:
        return "This run has no curves of several rho."
    figure = Figure(figsize=(6.2, 4.4), layout="constrained")
    axis = figure.subplots()

    def recall(line: Curve) -> Estimate:
        return shown(Reading(line, _RECALL, point).number(results), "images")

    for name, rhos in lines.items():
        st = curve(results, _DISTRIBUTIONS[name][1])
        fed_back = recall(st) if st.runs and st not in rhos.values() else None
        recalls = {rho: recall(line) for rho, line in rhos.items()}
        _against_rho(axis, name, recalls, fed_back, ", index fed back", apart=0.008, scale=100)
    axis.set_ylabel("R@10, own listener, %")
    axis.set_title(f"at {point.words()}", loc="left")
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
    look = {"color": _STYLES[psst][0], "marker": marker, "capsize": 3}
    draw.plot_estimates(axis, {rho + shift: of for rho, of in values.items()}, scale, **look, label=f"PSST {name}")
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
    (EXACT, "all hinges of the batch: no bias", draw.BLACK),
    (OWN_HINGE, "its own hinge (Table 2)", _STYLES["reinforce"][0]),
)


def estimators(results: Results) -> Figure | str:
    """Variance, bias and direction of gradients through the listener: a panel each."""
    found = read_estimates(results)
    if not found:
        return "The gradient's variance and bias are not part of this run, or noise hides them."
    figure = Figure(figsize=(10.0, 6.8), layout="constrained")
    panels = dict(zip(_QUALITIES, figure.subplots(2, 2).flat, strict=True))
    for quality, axis in panels.items():
        of = {key: getattr(value, quality) for key, value in found.items()}
        for name, (distribution, *_) in _DISTRIBUTIONS.items():
            rhos = {rho: getattr(value, quality) for rho, value in qualities_by_rho(found, distribution).items()}
            _against_rho(axis, name, rhos, of[distribution, 0.0, False], NO_FEEDBACK, apart=0.006, scale=1)
        for key, label, colour in _SCORE_FUNCTIONS:
            if key != EXACT or quality in ("variance", "step"):
                axis.axhspan(of[key].low, of[key].high, color=colour, alpha=0.15, linewidth=0)
                words = f"{METHODS['reinforce'].label}, {label}"
                axis.axhline(of[key].value, color=colour, linewidth=1.3, linestyle="--", label=words)
        axis.set_title(_QUALITIES[quality], loc="left")
    panels["variance"].set_yscale("log")
    panels["bias"].set_yscale("symlog", linthresh=1, linscale=2)
    panels["direction"].set_ylim(-0.1, 1.1)
    figure.legend(*panels["variance"].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    return figure


def figure4a(results: Results) -> Figure | str:
    line = curve(results, PSST)
    if not line.runs:
        return f"{line.label} is not part of this run."
    # From the most discriminative on, as in the paper.
    names = dict.fromkeys([line.runs[-1], line.runs[len(line.runs) // 2], line.runs[0]])
    lambdas = {name: printed_lambda(results, name) for name in names}
    labels = {name if of is None else f"PSST l={of:.2g}": name for name, of in lambdas.items()}
    return _examples(results, "4a", labels, first=0)


def figure4(results: Results, number: str, place: str, first: int) -> Figure:
    """Three methods at an operating point."""
    names = {METHODS[method].label: PLACES[place].at(results, method) for method in ("reinforce", ST, PSST)}
    return _examples(results, number, names, first)


_CAPTION_WIDTH = 84


def _examples(results: Results, number: str, names: Mapping[str, str], first: int) -> Figure:
    """Three images with a caption, rank and CIDEr of each system, then the paper's; `first` images are skipped."""
    there = {label: name for label, name in names.items() if name}
    of_method = {line.label: _STYLES[method][0] for method, line in curves(results).items() if method in _STYLES}
    colours = {label: of_method.get(label, _STYLES[PSST][0]) for label in names}
    images = draw.choose_images(results.images, first + 3).tail(3)
    heading = "rank of the own picture, CIDEr x1: greedy caption, first seed"

    def captions(item: int) -> dict[str, draw.Line]:
        return {label: _caption(results, name, item) for label, name in there.items()}

    rows = draw.example_rows(results, images, captions, heading, colours, _CAPTION_WIDTH)
    printed = _printed(results, number, list(colours.values()))
    return draw.captions_figure(results, [*rows, printed], [label for label in names if label not in there])


def _caption(results: Results, name: str, item: int) -> draw.Line:
    seed = results.by_name[name].seeds[0]
    numbers = []
    for metric, form in (("own_rank", "{:.0f}"), ("CIDEr", "{:.1f}")):
        scores = results.scores.per_item(name, "greedy", metric, "best")
        known = scores is not None and item in scores.index and seed in scores.columns
        numbers.append(form.format(scores.loc[item, seed]) if scores is not None and known else "–")
    return draw.Line(f"{', '.join(numbers)}: {draw.captions_of(results, name, item, 'greedy')[0] or '(empty)'}")


def _printed(results: Results, number: str, shades: Sequence[str]) -> draw.Row:
    cells = results.paper.published.table("fig4")
    cells = cells[cells["table"] == f"fig{number}"].replace({"printed": {"": "not legible"}})
    rows = list(dict.fromkeys(cells["row"]))
    colours = dict(zip(rows, shades, strict=False)) if len(shades) == len(rows) else dict.fromkeys(rows, shades[0])
    lines = {}
    for row in rows:
        each = cells[cells["row"] == row].pivot(index="block", columns="column", values="printed")
        images = zip(each.index.str.removeprefix("img"), each["rank"], each["CIDEr"], strict=True)
        lines[row] = draw.Line("    ".join(f"image {image}: {rank}, {cider}" for image, rank, cider in images))
    heading = "rank and CIDEr x1 as printed (COCO); we do not have the captions"
    return draw.systems_row(f"the paper's Figure {number}", heading, lines, colours, _CAPTION_WIDTH)


def learning(results: Results) -> Figure:
    """Validation CIDEr and R@10 of each method's run nearest to Table 2's operating point."""
    place = PLACES["table2"]
    looks = {
        place.at(results, method) or line.runs[0]: (line.label, *_STYLES[method])
        for method, line in curves(results).items()
        if method in _STYLES
    }
    runs = [results.by_name[name].model_copy(update={"label": label}) for name, (label, *_) in looks.items()]
    colours = {name: colour for name, (_, colour, _) in looks.items()}
    dashed = [name for name, (*_, style) in looks.items() if style != "-"]
    figure = Figure(figsize=(10.4, 4.6), layout="constrained")
    panels = figure.subplots(1, 2)
    cider = results.paper.published.scale("CIDEr")
    for axis, quantity, scale, title in (
        (panels[0], "val_cider", cider, "validation CIDEr x1, greedy captions"),
        (panels[1], "val_R@10", 100, "validation R@10, own listener, %"),
    ):
        mine = results.curves[results.curves["quantity"] == quantity]
        mine = mine.assign(value=scale * mine["value"])
        draw.plot_curves(axis, mine, runs, colours, dashed)
        # A frozen speaker of Luo et al. starts from another run.
        draw.plot_start(axis, mine, [run for run in runs if not run.name.startswith("frozen_luo")], "MLE")
        axis.set_title(title, loc="left")
        axis.set_xlabel("training step (0: before any)")
    draw.legend(figure, panels, ncols=4)
    return figure


FIGURES = {
    "psst_fig3": figure3,
    "psst_fig3f": figure3f,
    "psst_estimators": estimators,
    "psst_fig4a": figure4a,
    "psst_fig4b": partial(figure4, number="4b", place="naturalness", first=3),
    "psst_fig4c": partial(figure4, number="4c", place="table2", first=6),
    "psst_curves": learning,
}
