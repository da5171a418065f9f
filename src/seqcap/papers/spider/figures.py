"""PG-SPIDEr's human judgement beside ours, and the gradient's variance."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seqcap.papers.spider.variance import read_variance
from seqcap.report.drawing import figures as draw
from seqcap.report.drawing.colours import BLACK, palette
from seqcap.report.inputs import HUMAN, Results
from seqcap.report.statistics import bootstrap_interval
from seqcap.report.tables import Estimate, Measure, people_label

# The bars of Figure 3.
_JUDGED = {"pg_spider": "PG-SPIDEr", "pg_bcmr": "PG-BCMR", "mle": "MLE"}
_LONG = 0.5  # a run with fewer updates than this share of the longest one's, of these bars, is marked


def figure3(results: Results) -> Figure | str:
    """Left: the published bars. Right, on the same scale: F1 of what our captions say truly, with 95% intervals."""
    dataset = results.dataset(results.config.pictures)
    if not results.knows_facts:
        return f"On {dataset} nothing stands in for people: what is true of it is not known."
    figure = Figure(figsize=(8.6, 3.9), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[3, 4], sharey=True)
    labels = list(_JUDGED.values())
    printed = [Estimate(results.paper.published.value("fig3", label, "% not bad")) for label in labels]
    _bars(left, labels, printed, scale=1, below={})
    left.set(ylabel="captions judged not bad by people, %", ylim=(0, 100))
    left.set_title("the paper's Figure 3, COCO", loc="left")
    measures = {"pg_spider": _F1, "pg_bcmr": _F1, "mle": _F1, HUMAN: _F1_OF_PEOPLE}
    found = {name: measure.of(results, name) for name, measure in measures.items()}
    there = {name: ours for name, ours in found.items() if ours.value is not None}
    if not there:
        return "Whether captions are true was not measured in this run."
    people = people_label(results)
    names = [people if name == HUMAN else _JUDGED[name] for name in there]
    _bars(right, names, list(there.values()), scale=100, below=_short(results))
    split = results.split(results.config.pictures)
    right.set_title(f"a checker, not human judgement: {dataset} {split}", loc="left")
    right.set(ylabel="F1 of what a caption says of the scene, %")
    right.tick_params(labelleft=True)
    return figure


_F1, _F1_OF_PEOPLE = Measure("beam", "f1_true"), Measure("sample", "f1_true", "every")


def _short(results: Results) -> dict[str, str]:
    """Label -> what is said below it: a run with far fewer updates than the longest of the bars has its number."""
    steps = {label: results.steps[name] for name, label in _JUDGED.items() if name in results.steps}
    longest = max(steps.values(), default=0)
    return {label: f"only {n} of\n{longest} steps" for label, n in steps.items() if n < _LONG * longest}


def _bars(axis: Axes, labels: Sequence[str], found: Sequence[Estimate], scale: float, below: dict[str, str]) -> None:
    colours = palette(labels)
    values, errors = draw.spans(found, scale)
    bars = axis.bar(
        range(len(labels)),
        values,
        color=[colours[label] for label in labels],
        width=0.7,
        alpha=0.65,  # error bars must show on a black bar
        yerr=errors if errors.any() else None,
        error_kw={"ecolor": BLACK, "elinewidth": 1, "capsize": 3},
    )
    for bar, label, ours in zip(bars, labels, found, strict=True):
        if ours.seeds == 1:
            bar.set(facecolor="white", edgecolor=colours[label])
    axis.bar_label(bars, fmt="%.1f", padding=3)
    # A name of several words would run into the next one.
    names = [label.replace(" ", "\n") for label in labels]
    words = [f"{name}\n{below.get(label, '')}".rstrip() for name, label in zip(names, labels, strict=True)]
    axis.set_xticks(range(len(labels)), words)


def variance(results: Results) -> Figure | str:
    """Variance against rollouts, with and without the baseline; on the right the same relative to the signal."""
    settings, signal = read_variance(results)
    if not settings:
        return "The gradient's variance was not measured in this run."
    figure = Figure(figsize=(6.2, 3.7), layout="constrained")
    axes = figure.subplots()
    lines = ((False, "no baseline", BLACK, "o"), (True, "baseline", "#009E73", "s"))
    for baseline, label, colour, marker in lines:
        points = {
            float(k): Estimate(float(distances.mean()), *bootstrap_interval(distances))
            for (k, with_baseline), distances in settings.items()
            if with_baseline == baseline
        }
        draw.plot_estimates(axes, points, 1, color=colour, marker=marker, capsize=3, label=label)
    axes.set(xlabel="rollouts per prefix, K", xticks=sorted({k for k, _ in settings}))
    axes.set(ylabel="variance: mean squared distance from the mean", ylim=(0, None))
    axes.set_title(f"{results.dataset(results.config.pictures)} train", loc="left")
    axes.legend(frameon=False)
    relative = axes.twinx()
    relative.set_ylim(0, axes.get_ylim()[1] / signal)
    relative.spines["right"].set_visible(True)
    relative.set_ylabel("variance / squared norm of the mean")
    return figure


FIGURES = {"spider_fig3": figure3, "spider_variance": variance}
