"""PG-SPIDEr's example captions and human judgement beside ours, the gradient's variance, and learning curves."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seqcap.config import Frozen
from seqcap.papers.spider.variance import read_variance
from seqcap.report import figures as draw
from seqcap.report.inputs import HUMAN, Results
from seqcap.report.paper import read_yaml
from seqcap.report.statistics import bootstrap_interval
from seqcap.report.tables import Estimate, Measure, people_label


class Method(Frozen):
    """A run in figures, as methods.yaml explains it."""

    colour: str
    example: str = ""


_METHODS = read_yaml(Path(__file__).with_name("methods.yaml"), dict[str, Method])
_COLOURS = {name: str(getattr(draw, of.colour)) for name, of in _METHODS.items()}
_EXAMPLES = {name: of.example for name, of in _METHODS.items() if of.example}
# The bars of Figure 3.
_JUDGED = ("pg_spider", "pg_bcmr", "mle")

_CAPTION_WIDTH = 92


def table2(results: Results) -> Figure:
    """Four images with each system's best beam caption, first seed; below, the paper's four as printed."""
    colours = {system: _COLOURS[name] for name, system in _EXAMPLES.items()}
    images, seed = draw.choose_images(results.images, 4), min(run.seeds[0] for run in results.trained)
    heading = f"best caption of {results.a_beam()}, seed {seed}"
    there = {name: system for name, system in _EXAMPLES.items() if name in results.by_name}

    def captions(item: int) -> dict[str, draw.Line]:
        return {system: draw.beam_caption(results, name, item) for name, system in there.items()}

    rows = draw.example_rows(results, images, captions, heading, colours, _CAPTION_WIDTH)
    for number, printed in enumerate(results.paper.published.examples("table2").values(), start=1):
        lines = {system: draw.Line(printed[system]) for system in _EXAMPLES.values()}
        title, heading = f"Table 2, image {number}", "as printed in the paper (COCO)" * (number == 1)
        rows.append(draw.systems_row(title, heading, lines, colours, _CAPTION_WIDTH))
    return draw.captions_figure(results, rows, [system for name, system in _EXAMPLES.items() if name not in there])


def figure3(results: Results) -> Figure:
    """Left: the published bars. Right: how often our captions say only what is true, with 95% intervals."""
    figure = Figure(figsize=(10.4, 3.9), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[3, 10])
    labels = [_EXAMPLES[name] for name in _JUDGED]
    printed = [Estimate(results.paper.published.value("fig3", label, "% not bad")) for label in labels]
    _bars(left, range(len(printed)), _JUDGED, labels, printed, scale=1)
    left.set(ylabel="captions judged not bad by people, %")
    left.set_title("the paper's Figure 3, COCO", loc="left")
    task = results.config.pictures
    right.set_title(f"a stand-in, not human judgement ({results.dataset(task)} {results.split(task)})", loc="left")
    if not results.knows_facts:
        words = (
            f"not measured on {results.dataset(task)}:\nonly generated scenes come with every fact that is true of them"
        )
        right.text(0.5, 0.5, words, ha="center", va="center", color=draw.GREY, transform=right.transAxes)
        right.set_axis_off()
        return figure
    # The three of the paper, then the rest, then people: a gap sets each group apart.
    judged = [name for name in _JUDGED if name in results.by_name]
    others = [run.name for run in results.trained if run.name not in _JUDGED]
    names = [*judged, *others, HUMAN]
    places = [place + 0.6 * ((name not in judged) + (name == HUMAN)) for place, name in enumerate(names)]
    beam, people = Measure("beam", "all_true"), Measure("sample", "all_true", "every")
    found = [(people if name == HUMAN else beam).of(results, name) for name in names]
    labels = [people_label(results) if name == HUMAN else results.by_name[name].label for name in names]
    _bars(right, places, names, [label.replace(" ", "\n") for label in labels], found, scale=100)
    right.set(ylabel="best beam captions whose every statement\nis true of the scene (a checker's verdict), %")
    return figure


def _bars(
    axis: Axes,
    places: Sequence[float],
    names: Sequence[str],
    labels: Sequence[str],
    found: Sequence[Estimate],
    scale: float,
) -> None:
    colours = draw.palette(names, _COLOURS | {HUMAN: draw.PEOPLE})
    values, errors = draw.spans(found, scale)
    values[[ours.value is None for ours in found]] = np.nan
    bars = axis.bar(
        places,
        values,
        color=[colours[name] for name in names],
        width=0.8,
        alpha=0.65,  # error bars must show on a black bar
        yerr=errors if errors.any() else None,
        error_kw={"ecolor": draw.BLACK, "elinewidth": 1, "capsize": 3},
    )
    for bar, name, place, ours in zip(bars, names, places, found, strict=True):
        if ours.seeds == 1:
            bar.set(facecolor="white", edgecolor=colours[name])
        if ours.value is None:
            axis.text(place, 0, " no number", rotation=90, ha="center", va="bottom", color=draw.GREY)
    axis.bar_label(bars, fmt="%.1f", padding=3)
    axis.set_xticks(places, [label.replace("-", "-\n", 1) for label in labels], fontsize=8)
    axis.margins(y=0.12)


def variance(results: Results) -> Figure | str:
    """Variance against rollouts, with and without the baseline; on the right the same relative to the signal."""
    settings, signal = read_variance(results)
    if not settings:
        return "The gradient's variance was not measured in this run."
    figure = Figure(figsize=(6.2, 3.7), layout="constrained")
    axes = figure.subplots()
    lines = ((False, "no baseline", draw.BLACK, "o"), (True, "baseline", draw.GREEN, "s"))
    for baseline, label, colour, marker in lines:
        points = {
            float(k): Estimate(float(distances.mean()), *bootstrap_interval(distances))
            for (k, with_baseline), distances in settings.items()
            if with_baseline == baseline
        }
        draw.plot_estimates(axes, points, 1, color=colour, marker=marker, capsize=3, label=label)
    axes.set(xlabel="rollouts per prefix, K", xticks=sorted({k for k, _ in settings}))
    axes.set(ylabel="variance: mean squared distance from the mean", ylim=(0, None))
    axes.legend(frameon=False)
    relative = axes.twinx()
    relative.set_ylim(0, axes.get_ylim()[1] / signal)
    relative.spines["right"].set_visible(True)
    relative.set_ylabel("variance / squared norm of the mean")
    return figure


def curves(results: Results) -> Figure:
    """Validation CIDEr of all runs; then a panel per reward with those that are paid it."""
    rewards = list(dict.fromkeys(run.reward for run in results.trained if run.reward))
    lines = -(-(1 + len(rewards)) // 3)
    colours = draw.palette(results.by_name, _COLOURS)
    figure = Figure(figsize=(10.8, 2.8 * lines), layout="constrained")
    first, *others = figure.subplots(lines, 3, squeeze=False).flat
    draw.curves_panel(
        first, results, "validation CIDEr, greedy captions", ["val_cider"], results.trained, colours, "MLE"
    )
    training = results.curves[results.curves["quantity"] == "train_reward"]
    for axis, reward in zip(others, rewards, strict=False):
        paid = [run for run in results.trained if run.reward == reward]
        # Where the reward is CIDEr itself there is one curve for both.
        own = "val_cider" if reward == "cider" else "val_reward"
        title = f"reward {reward}: validation; dotted: training"
        draw.curves_panel(axis, results, title, [own], paid, colours, "MLE")
        for run in paid:
            mean = training[training["variant"] == run.name].groupby("step")["value"].mean().reset_index()
            line = draw.binned(mean)
            # MIXER has no reward of captions of its own while it is given a prefix: the line has a gap there.
            steps = line["step"].diff()
            for _, stretch in line.groupby((steps > 5 * steps.median()).cumsum()):
                axis.plot(stretch["step"], stretch["value"], color=colours[run.name], linewidth=1, linestyle=":")
    for axis in others[len(rewards) :]:
        axis.set_axis_off()
    draw.legend(figure, [first], ncols=8)
    return figure


FIGURES = {
    "spider_table2": table2,
    "spider_fig3": figure3,
    "spider_variance": variance,
    "spider_curves": curves,
}
