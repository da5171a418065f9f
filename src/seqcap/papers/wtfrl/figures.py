"""WTF-RL's Figure 1 with our captions, retrieval against quality, and learning curves."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seqcap.papers.wtfrl.runs import ALONE, PEOPLE, TF, WTF_RL, changed, measure, rows_by_run, runs_of_table
from seqcap.report import figures as draw
from seqcap.report.inputs import HUMAN, Results, read_captions
from seqcap.report.paper import read_yaml
from seqcap.report.tables import Measure, people_label

# Run -> its colour and marker.
_FILE = read_yaml(Path(__file__).with_name("methods.yaml"), dict[str, tuple[str, str]])
_STYLES = {name: (str(getattr(draw, colour)), marker) for name, (colour, marker) in _FILE.items()}

# Author of captions -> the paper's name for it, and ours with its colour.
_EXAMPLES = {
    HUMAN: ("generic_gt", "generic ground truth", draw.PEOPLE),
    ALONE: ("reward_hacking", "reward hacking", _STYLES[ALONE][0]),
    WTF_RL: ("WTF-RL", "WTF-RL", _STYLES[WTF_RL][0]),
}
_CAPTION_WIDTH = 84


def figure1(results: Results) -> Figure:
    """As many images as in print with three captions and their ranks each; the paper's examples follow."""
    printed = results.paper.published.examples("fig1")
    chosen = most_hacked(results, len(printed))
    words = "" if chosen else "drawn at random, not by the rule; "
    drawn = draw.choose_images(results.images, len(printed))
    images = results.images.set_index("item").loc[chosen].reset_index() if chosen else drawn
    people = read_captions(results.config.pictures)
    there = {name: label for name, (_, label, _) in _EXAMPLES.items() if name == HUMAN or name in results.by_name}
    colours = {label: colour for _, label, colour in _EXAMPLES.values()}
    checked = ", true or false" if results.knows_facts else ""
    heading = f"{words}rank by what pays, by the judge{checked}: caption"

    def captions(item: int) -> dict[str, draw.Line]:
        said = {name: people[item] if name == HUMAN else draw.beam_caption(results, name, item).text for name in there}
        return {label: draw.Line(f"{_ranks(results, name, item)}: {said[name]}") for name, label in there.items()}

    rows = draw.example_rows(results, images, captions, heading, colours, _CAPTION_WIDTH)
    for number, shown in enumerate(printed.values(), start=1):
        lines = {label: draw.Line(shown[key]) for key, label, _ in _EXAMPLES.values()}
        heading = "as printed in the paper (COCO)" * (number == 1)
        # A longer title would run into the words below it.
        rows.append(draw.systems_row(f"Figure 1, image {number}", heading, lines, colours, _CAPTION_WIDTH))
    return draw.captions_figure(results, rows, [label for label in colours if label not in there.values()])


def _ranks(results: Results, name: str, item: int) -> str:
    paid, judged = _firsts(results, PEOPLE if name == HUMAN else name, "own_rank"), _firsts(results, name, "fixed_rank")
    found = ["–" if ranks is None else f"{ranks[item]:.0f}" for ranks in (paid, judged)]
    true = _firsts(results, name, "true_of_own")
    return ", ".join(found if true is None else [*found, "true" if true[item] else "false"])


def _firsts(results: Results, name: str, metric: str) -> pd.Series[float] | None:
    """Item -> the metric of a run's best caption, first seed, or of people's first; None if it was not measured."""
    decoder = "sample" if name.startswith(HUMAN) else "beam"
    scores = results.scores.per_item(name, decoder, metric, "best")
    return None if scores is None else scores[scores.columns[0]]


def most_hacked(results: Results, count: int) -> list[int]:
    """Images that the retriever that pays finds better by the caption of RL, alpha 1, than by people's first caption,
    although the checker finds it false; where nobody checks, although the judge finds them no better by it. Of the
    first training seed; the image that gains most ranks comes first, of equal gains the smaller number."""
    paid, true, judged = (_firsts(results, ALONE, metric) for metric in ("own_rank", "true_of_own", "fixed_rank"))
    paid_people, judged_people = _firsts(results, PEOPLE, "own_rank"), _firsts(results, HUMAN, "fixed_rank")
    if ALONE not in results.by_name or paid is None or paid_people is None:
        return []
    if true is not None:
        doubted = true == 0
    elif judged is not None and judged_people is not None:
        doubted = judged >= judged_people
    else:
        return []
    gained = (paid_people - paid).rename("gained")
    ordered = gained[(gained > 0) & doubted].reset_index().sort_values(["gained", "item"], ascending=[False, True])
    return [int(item) for item in ordered["item"].head(count)]


_RECALL, _CIDER = "T2I R@10", "CIDEr"
_TRUE = Measure("beam", "true_of_own")


def tradeoff(results: Results) -> Figure:
    """Recall against CIDEr, by the retriever that pays, by the judge and in print; and against the share of true
    captions, where it is known."""
    exact = results.knows_facts
    figure = Figure(figsize=(9.2, 8.2) if exact else (12.0, 4.4), layout="constrained")
    paid, judged, *others = figure.subplots(2, 2).flat if exact else figure.subplots(1, 3)
    paper, task, row_of = others[-1], results.config.pictures, rows_by_run(results.paper)
    by_pay, by_judge = (measure(results, _RECALL, columns) for columns in ("table1", "judge"))
    quality = measure(results, _CIDER)
    panels = [(paid, quality, by_pay, "the reward's retriever"), (judged, quality, by_judge, "the judge")]
    panels += [(others[0], _TRUE, by_judge, "the judge, and how many are true")] * exact
    points = [(run.name, draw.MUTED, ".", "ablations of WTF-RL") for run in changed(results)]
    points += [(run.name, *_STYLES[run.name], row_of[run.name]) for run in runs_of_table(results)]
    for axis, x, y, who in panels:
        for name, *look in points:
            _point(axis, results, name, (x, y), *look)
        axis.set_title(f"ours, {results.dataset(task)} {results.split(task)}: by {who}", loc="left")
        axis.set(xlabel="CIDEr x100, best beam caption", ylabel="text-to-image R@10, %")
        axis.margins(0.12)
    if exact:
        true, recall = (Measure("sample", of.metric, "every") for of in (_TRUE, by_judge))
        _point(others[0], results, HUMAN, (true, recall), draw.PEOPLE, "*", people_label(results))
        others[0].set_xlabel("true captions (literal listener), best of the beam, %")
    for name, row in row_of.items():
        if row not in results.paper.facts.ours["table1"]:
            colour, marker = _STYLES[name]
            printed = [results.paper.published.value("table1", row, column) for column in (_CIDER, _RECALL)]
            paper.plot(*printed, color=colour, marker=marker, linestyle="", label=row)
    paper.set_title("the paper's Table 1, COCO: by CLIP, which pays", loc="left")
    paper.set(xlabel="CIDEr x100, best beam caption", ylabel="text-to-image R@10, %")
    paper.margins(0.12)
    # A run may lack rows of the paper, and the paper lacks rows of ours.
    draw.legend(figure, (paper, paid, others[0]), ncols=4)
    return figure


def _point(
    axis: Axes, results: Results, name: str, measures: tuple[Measure, Measure], colour: str, marker: str, label: str
) -> None:
    ours = [of.of(results, name) for of in measures]
    if all(found.value is not None for found in ours):
        scales = [results.paper.published.scale(of.metric) for of in measures]
        (x, x_error), (y, y_error) = (draw.spans([found], scale) for found, scale in zip(ours, scales, strict=True))
        axis.errorbar(x, y, y_error, x_error, color=colour, marker=marker, elinewidth=0.8, linestyle="", label=label)
        draw.hollow(axis, [(float(x[0]), float(y[0]))] * (ours[0].seeds == 1), colour, marker)


def learning(results: Results) -> Figure:
    """A panel per quantity: rewards, the discriminator's probabilities, the captioner's entropy, validation."""
    runs, colours = runs_of_table(results), {name: colour for name, (colour, _) in _STYLES.items()}
    figure = Figure(figsize=(10.2, 10.0), layout="constrained")
    axes = list(figure.subplots(4, 3).flat)
    for axis, (title, quantities) in zip(axes, results.paper.figures["wtfrl_curves"].panels.items(), strict=True):
        start, scale = (rows_by_run(results.paper)[TF], 100) if title.startswith("validation") else ("", 1)
        draw.curves_panel(axis, results, title, quantities, runs, colours, start, scale)
    draw.legend(figure, axes, ncols=5)
    return figure


FIGURES = {"wtfrl_fig1": figure1, "wtfrl_tradeoff": tradeoff, "wtfrl_curves": learning}
