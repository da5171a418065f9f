"""PSST's figures 3a to 3f and 4, variance and bias of its estimator, and learning curves."""

from collections.abc import Mapping, Sequence
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from seqcap.metrics import registry
from seqcap.papers.psst.estimators import EXACT, OWN_HINGE, Quality, Quantity, qualities_by_rho, read_estimates
from seqcap.papers.psst.methods import (
    NO_FEEDBACK,
    PLACES,
    PSST,
    PSST_75,
    ST,
    by_rho,
    curve,
    curves,
    methods,
    printed_lambda,
)
from seqcap.papers.psst.rows import LANGUAGE, RECALL
from seqcap.report import figures as draw
from seqcap.report.inputs import Run
from seqcap.report.tables import Estimate, Measure
from seqcap.report.tradeoff import Curve, OperatingPoint, Reading, level, nearest, shown

# Method -> colour and line of its curve. PSST's are solid, straight-through's dashed.
_STYLES: Mapping[str, tuple[str, Literal["-", "--", ":"]]] = {
    "mle": (draw.BASELINE, "-"),
    "g_gan": (draw.MUTED, "-"),
    "luo": (draw.ORANGE, "-"),
    "sr_pl": (draw.OLIVE, "-"),
    "frozen_mle": (draw.BASELINE, ":"),
    "frozen_luo": (draw.ORANGE, ":"),
    "reinforce": (draw.SKY, "-"),
    "annealed": (draw.GREY, "--"),
    "st_gumbel": (draw.GREEN, "--"),
    ST: (draw.PINK, "--"),
    "gumbel": (draw.GREEN, "-"),
    PSST: (draw.METHOD, "-"),
    PSST_75: (draw.BLUE, "-"),
}
_MARKERS = "sD^vPX*<>hd"  # a circle: a method with a single run
_RECALL = RECALL["R@10"]


def figure3(run: Run) -> Figure:
    """A panel per language metric, a curve per method, a marker per w."""
    shown_curves = {method: line for method, line in curves(run).items() if method in _STYLES}
    weights = sorted({weight for line in shown_curves.values() for weight in line.weights if weight is not None})
    markers = {weight: _MARKERS[n % len(_MARKERS)] for n, weight in enumerate(weights)}
    figure = Figure(figsize=(10.8, 7.2), layout="constrained")
    panels = list(figure.subplots(2, 3).flat)
    order = ("BLEU4", "CIDEr", "METEOR", "ROUGE_L", "SPICE")
    for letter, metric, axis in zip("abcde", order, panels, strict=False):
        for method, line in shown_curves.items():
            _plot(axis, run, line, _STYLES[method], LANGUAGE[metric], markers)
        scale = run.paper.published.scale(metric)
        axis.set(xlabel=f"{registry.find(metric).label} x{scale:g} (greedy)", ylabel="R@10, own listener, %")
        axis.set_title(letter, loc="left")
    point = PLACES["table2"].point(run)
    if point is not None:
        panels[1].axvline(
            point.value * run.paper.published.scale("CIDEr"), color=draw.MUTED, linewidth=1, linestyle="-."
        )
    _marker_legend(panels[-1], run, shown_curves, markers)
    lines = [
        Line2D([], [], color=_STYLES[one][0], linestyle=_STYLES[one][1], marker="o" if len(line.runs) == 1 else "")
        for one, line in shown_curves.items()
    ]
    labels = [line.label for line in shown_curves.values()]
    figure.legend(lines, labels, loc="outside lower center", ncols=4, frameon=False)
    return figure


def _plot(
    axis: Axes, run: Run, line: Curve, look: tuple[str, str], measure: Measure, markers: Mapping[float, str]
) -> None:
    colour, style = look
    scale = run.paper.published.scale(measure.metric)
    points = [(level(run, name, measure), level(run, name, _RECALL)) for name in line.runs]
    known = [
        (x * scale, y * 100, "o" if weight is None else markers[weight], len(run.by_name[name].seeds) == 1)
        for (x, y), weight, name in zip(points, line.weights, line.runs, strict=True)
        if x is not None and y is not None
    ]
    axis.plot([x for x, *_ in known], [y for _, y, *_ in known], color=colour, linestyle=style, linewidth=1.3, zorder=2)
    for x, y, marker, alone in known:
        fill = "white" if alone else colour
        axis.plot(x, y, color=colour, marker=marker, markerfacecolor=fill, markersize=4.5, zorder=3)


def _marker_legend(axis: Axes, run: Run, shown_curves: Mapping[str, Curve], markers: Mapping[float, str]) -> None:
    axis.set_axis_off()
    handles, labels = [], []
    for weight, marker in markers.items():
        names = [
            name
            for line in shown_curves.values()
            for name, of in zip(line.runs, line.weights, strict=True)
            if of == weight
        ]
        lambdas = sorted({f"{printed_lambda(run, name):.2g}" for name in names}, key=float)
        handles.append(Line2D([], [], color=draw.GREY, marker=marker, linestyle=""))
        labels.append(f"w {weight:g}: lambda {' or '.join(lambdas)}")
    handles += [
        Line2D([], [], color=draw.GREY, marker="o", markerfacecolor=fill, linestyle="") for fill in ("0.33", "w")
    ]
    labels += ["a single run, at a w of its own or none", "hollow, of any shape: one training seed"]
    axis.legend(handles, labels, loc="center", frameon=False, title="marker: the weight of recall")


def figure3f(run: Run) -> Figure | str:
    """R@10 at one CIDEr against rho, with intervals."""
    point = PLACES["fig3f"].point(run)
    lines = {name: rhos for name, rhos in by_rho(run).items() if rhos}
    if point is None or not lines:
        return "This run has no curves of several rho."
    figure = Figure(figsize=(6.2, 4.4), layout="constrained")
    axis = figure.subplots()
    styles = {"Multinomial": (_STYLES[PSST][0], "o"), "Gumbel Softmax": (_STYLES["gumbel"][0], "s")}
    fed_back = {"Multinomial": ST, "Gumbel Softmax": "st_gumbel"}
    for place, (name, rhos) in enumerate(lines.items()):
        colour, marker = styles[name]
        shift = 0.008 * (2 * place - 1)
        label = f"PSST {name}"
        look = {"color": colour, "marker": marker, "capsize": 3}
        recalls = {rho + shift: _recall(run, line, point) for rho, line in rhos.items()}
        draw.plot_estimates(axis, recalls, 100, **look, linestyle="-", label=label)
        printed_st = curve(run, fed_back[name])
        if printed_st.runs and printed_st not in rhos.values():
            words = f"ST {name}, index fed back"
            recalls = {3 * shift: _recall(run, printed_st, point)}
            other = look | {"color": _STYLES[fed_back[name]][0], "marker": "X"}
            draw.plot_estimates(axis, recalls, 100, **other, linestyle="", label=words)
    axis.set(xlabel="rho: probability that a step passes its distribution on", ylabel="R@10, own listener, %")
    axis.set_title(f"at {point.words()}", loc="left")
    draw.legend(figure, [axis], ncols=2)
    return figure


def _recall(run: Run, line: Curve, point: OperatingPoint) -> Estimate:
    return shown(Reading(line, _RECALL, point).drawn(run), "images")


def estimators(run: Run) -> Figure | str:
    """Variance, bias and direction of gradients through the listener: a panel each."""
    found = read_estimates(run)
    if not found:
        return "The gradient's variance and bias are not part of this run, or noise hides them."
    figure = Figure(figsize=(10.0, 6.8), layout="constrained")
    panels = dict(zip(_QUALITIES, figure.subplots(2, 2).flat, strict=True))
    labels = {name: method.label for name, method in methods(run.paper).items()}
    for quality, axis in panels.items():
        for distribution, (psst, st, marker, shift) in _DISTRIBUTIONS.items():
            label = f"{labels[st]}{NO_FEEDBACK}"
            look = {"color": _STYLES[psst][0], "marker": marker, "capsize": 3}
            rhos = qualities_by_rho(found, distribution)
            points = {rho + shift: _estimate(value, quality) for rho, value in rhos.items()}
            draw.plot_estimates(axis, points, 1, **look, label=labels[psst])
            fed_back = {3 * shift: _estimate(found[distribution, 0.0, False], quality)}
            other = look | {"color": _STYLES[st][0], "marker": "X"}
            draw.plot_estimates(axis, fed_back, 1, **other, linestyle="", label=label)
        for key, label, colour in _SCORE_FUNCTIONS:
            level = getattr(found[key], quality)
            if key != EXACT or quality in ("variance", "step"):
                axis.axhspan(*level.interval(), color=colour, alpha=0.15, linewidth=0)
                words = f"{labels['reinforce']}, {label}"
                axis.axhline(level.value, color=colour, linewidth=1.3, linestyle="--", label=words)
        axis.set_title(_QUALITIES[quality], loc="left")
        axis.set_xlabel("rho: probability that a step passes its distribution on")
    panels["variance"].set_yscale("log")
    panels["bias"].set_yscale("symlog", linthresh=1, linscale=2)
    panels["direction"].set_ylim(-0.1, 1.1)
    figure.legend(*panels["variance"].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    return figure


# Field of `Quality` -> its panel's title.
_QUALITIES = {
    "variance": "variance of one estimate / |exact gradient|²",
    "bias": "squared bias / |exact gradient|²",
    "direction": "cosine of the mean estimate with the exact gradient",
    "step": "cosine of one estimate with the exact gradient",
}
# Distribution -> methods with and without gradient through what is fed back, marker, and how far to the side.
_DISTRIBUTIONS = {"multinomial": (PSST, ST, "o", -0.006), "gumbel": ("gumbel", "st_gumbel", "s", 0.006)}
_SCORE_FUNCTIONS = (
    (EXACT, "all hinges of the batch: no bias", draw.BLACK),
    (OWN_HINGE, "its own hinge (Table 2)", _STYLES["reinforce"][0]),
)


def _estimate(quality: Quality, name: str) -> Estimate:
    quantity: Quantity = getattr(quality, name)
    return Estimate(quantity.value, *quantity.interval())


def figure4a(run: Run) -> Figure | str:
    line = curve(run, PSST)
    if not line.runs:
        return f"{line.label} is not part of this run."
    # From the most discriminative on, as in the paper.
    names = list(dict.fromkeys([line.runs[-1], line.runs[len(line.runs) // 2], line.runs[0]]))
    labels = {
        f"PSST l={printed_lambda(run, name):.2g}" if printed_lambda(run, name) is not None else name: name
        for name in names
    }
    return _examples(run, "4a", labels, first=0)


def figure4b(run: Run) -> Figure:
    return _examples(run, "4b", _at(run, "naturalness"), first=3)


def figure4c(run: Run) -> Figure:
    return _examples(run, "4c", _at(run, "table2"), first=6)


def _at(run: Run, place: str) -> dict[str, str]:
    """Label -> run of three methods at an operating point; "" of a method that has none."""
    point = PLACES[place].point(run)
    lines = [curve(run, method) for method in ("reinforce", ST, PSST)]
    return {line.label: nearest(run, line, point) or "" for line in lines}


_CAPTION_WIDTH = 84


def _examples(run: Run, number: str, names: Mapping[str, str], first: int) -> Figure:
    """Three images with a caption, rank and CIDEr of each system, then the paper's; `first` images are skipped."""
    there = {label: name for label, name in names.items() if name}
    of_method = {line.label: _STYLES[method][0] for method, line in curves(run).items() if method in _STYLES}
    colours = {label: of_method.get(label, _STYLES[PSST][0]) for label in names}
    images = draw.choose_images(run.images, first + 3).tail(3)
    heading = "rank of the own picture, CIDEr x1: greedy caption, first seed"

    def captions(item: int) -> dict[str, draw.Line]:
        return {label: _caption(run, name, item) for label, name in there.items()}

    rows = draw.example_rows(run, images, captions, heading, colours, _CAPTION_WIDTH)
    printed = _printed(run, number, list(colours.values()))
    return draw.captions_figure(run, [*rows, printed], [label for label in names if label not in there])


def _caption(run: Run, name: str, item: int) -> draw.Line:
    seed = run.by_name[name].seeds[0]
    numbers = []
    for metric, form in (("own_rank", "{:.0f}"), ("CIDEr", "{:.1f}")):
        scores = run.scores.per_item(name, "greedy", metric, "best")
        known = scores is not None and item in scores.index and seed in scores.columns
        numbers.append(form.format(scores.loc[item, seed]) if scores is not None and known else "–")
    return draw.Line(f"{', '.join(numbers)}: {draw.captions_of(run, name, item, 'greedy')[0] or '(empty)'}")


def _printed(run: Run, number: str, shades: Sequence[str]) -> draw.Row:
    cells = run.paper.published.table("fig4")
    cells = cells[cells["table"] == f"fig{number}"]
    rows = list(dict.fromkeys(cells["row"]))
    colours = dict(zip(rows, shades, strict=False)) if len(shades) == len(rows) else dict.fromkeys(rows, shades[0])
    lines = {}
    images = {f"img{n}": f"image {n}" for n in (1, 2, 3)}
    for row in colours:
        mine = cells[cells["row"] == row]
        each: dict[str, dict[str, str]] = {}
        for block, column, value in zip(mine["block"], mine["column"], mine["printed"], strict=True):
            each.setdefault(block, {})[column] = value or "not legible"
        lines[row] = draw.Line("    ".join(f"{images[of]}: {one['rank']}, {one['CIDEr']}" for of, one in each.items()))
    heading = "rank and CIDEr x1 as printed (COCO); we do not have the captions"
    return draw.systems_row(f"the paper's Figure {number}", None, heading, lines, colours, _CAPTION_WIDTH)


def learning(run: Run) -> Figure:
    """Validation CIDEr and R@10 of each method's run nearest to Table 2's operating point."""
    point = PLACES["table2"].point(run)
    lines = {method: line for method, line in curves(run).items() if method in _STYLES}
    chosen = {method: nearest(run, line, point) or line.runs[0] for method, line in lines.items()}
    entries = {
        method: run.by_name[name].model_copy(update={"label": lines[method].label}) for method, name in chosen.items()
    }
    colours = {name: _STYLES[method][0] for method, name in chosen.items()}
    dashed = [name for method, name in chosen.items() if _STYLES[method][1] != "-"]
    figure = Figure(figsize=(10.4, 4.6), layout="constrained")
    panels = figure.subplots(1, 2)
    for axis, (quantity, title) in zip(panels, _QUANTITIES.items(), strict=True):
        scale = run.paper.published.scale("CIDEr") if quantity == "val_cider" else 100
        mine = run.curves[run.curves["quantity"] == quantity]
        mine = mine.assign(value=scale * mine["value"])
        draw.plot_curves(axis, mine, entries.values(), colours, dashed)
        # A frozen speaker of Luo et al. starts from another run.
        draw.plot_start(axis, mine, [entry for method, entry in entries.items() if method != "frozen_luo"], "MLE")
        axis.set_title(title, loc="left")
        axis.set_xlabel("training step (0: before any)")
    draw.legend(figure, panels, ncols=4)
    return figure


_QUANTITIES = {
    "val_cider": "validation CIDEr x1, greedy captions",
    "val_R@10": "validation R@10, own listener, %",
}

FIGURES = {
    "psst_fig3": figure3,
    "psst_fig3f": figure3f,
    "psst_estimators": estimators,
    "psst_fig4a": figure4a,
    "psst_fig4b": figure4b,
    "psst_fig4c": figure4c,
    "psst_curves": learning,
}
