"""WTF-RL's Figure 1 with our captions, and retrieval against quality and truth."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from seqcap.papers.wtfrl.runs import ALONE, PEOPLE, WTF_RL, changed, measure, rows_by_run, runs_of_table
from seqcap.report import panels, scatter
from seqcap.report.colours import MUTED, colour_of, palette
from seqcap.report.colours import PEOPLE as OF_PEOPLE
from seqcap.report.example import false_of, scenes_of
from seqcap.report.inputs import HUMAN, Results, read_captions
from seqcap.report.scatter import Point
from seqcap.report.tables import Measure, people_label

# Author of captions -> the paper's name for it, and ours.
_EXAMPLES = {
    HUMAN: ("generic_gt", "generic ground truth"),
    ALONE: ("reward_hacking", "reward hacking"),
    WTF_RL: ("WTF-RL", "WTF-RL"),
}
_COLOURS = {
    "generic ground truth": OF_PEOPLE,
    "reward hacking": colour_of("RL, alpha 1") or MUTED,
    "WTF-RL": colour_of("WTF-RL") or MUTED,
}
_CAPTION_WIDTH = 84


def figure1(results: Results) -> Figure | str:
    """As many images as in print with three captions and their ranks each; the paper's examples follow."""
    if not results.knows_facts:
        return (
            f"Nothing knows what is true of {results.dataset(results.config.pictures)}: no reward is seen to be hacked."
        )
    printed = results.paper.published.examples("fig1")
    chosen = most_hacked(results, len(printed))
    if not chosen:
        return "By the rule of this figure, no test image has a hacked reward."
    images = results.images.set_index("item").loc[chosen].reset_index()
    people, scenes = read_captions(results.config.pictures), scenes_of(results.config.pictures)

    def captions(item: int) -> dict[str, panels.Line]:
        said = {name: people[item] if name == HUMAN else _said(results, name, item) for name in _EXAMPLES}
        false = {name: ", ".join(false_of(text.split(), scenes[item])) for name, text in said.items()}
        return {
            label: panels.Line(f"{_ranks(results, name, item)}: {said[name]}", false=false[name])
            for name, (_, label) in _EXAMPLES.items()
        }

    heading = "rank by what pays, by the judge: caption; red: what of it is false"
    rows = panels.example_rows(results, images, captions, heading, _COLOURS, _CAPTION_WIDTH)
    for number, shown in enumerate(printed.values(), start=1):
        lines = {label: panels.Line(shown[key]) for key, label in _EXAMPLES.values()}
        heading = "as printed in the paper (COCO)" * (number == 1)
        # A longer title would run into the words below it.
        rows.append(panels.systems_row(f"Figure 1, image {number}", heading, lines, _COLOURS, _CAPTION_WIDTH))
    return panels.captions_figure(results, rows)


def _said(results: Results, name: str, item: int) -> str:
    return panels.beam_caption(results, name, item).text


def _ranks(results: Results, name: str, item: int) -> str:
    paid, judged = _firsts(results, PEOPLE if name == HUMAN else name, "own_rank"), _firsts(results, name, "fixed_rank")
    return ", ".join("–" if ranks is None else f"{ranks[item]:.0f}" for ranks in (paid, judged))


def _firsts(results: Results, name: str, metric: str) -> pd.Series[float] | None:
    """Item -> the metric of a run's best caption, first seed, or of people's first; None if it was not measured."""
    decoder = "sample" if name.startswith(HUMAN) else "beam"
    scores = results.scores.per_item(name, decoder, metric, "best")
    return None if scores is None else scores[scores.columns[0]]


def most_hacked(results: Results, count: int) -> list[int]:
    """Images that the retriever that pays finds better by the caption of RL, alpha 1, than by people's first caption,
    although the checker finds it false, and of which WTF-RL says something else. Of the first training seed; the image
    that gains most ranks comes first, of equal gains the smaller number."""
    paid, true = (_firsts(results, ALONE, metric) for metric in ("own_rank", "true_of_own"))
    paid_people = _firsts(results, PEOPLE, "own_rank")
    if not {ALONE, WTF_RL} <= results.by_name.keys() or paid is None or true is None or paid_people is None:
        return []
    gained = (paid_people - paid).rename("gained")
    ordered = gained[(gained > 0) & (true == 0)].reset_index().sort_values(["gained", "item"], ascending=[False, True])
    found: list[int] = []
    for item in ordered["item"].tolist():
        if len(found) < count and _said(results, ALONE, item) != _said(results, WTF_RL, item):
            found.append(int(item))
    return found


_RECALL, _CIDER = "T2I R@10", "CIDEr"
_TRUE = Measure("beam", "true_of_own")
_RECALL_LABEL, _CIDER_LABEL = "text-to-image R@10, %", "CIDEr x100, best beam caption"


def tradeoff(results: Results) -> Figure:
    """Recall by the retriever that pays against CIDEr, beside the paper's on the same scale; and by the judge, against
    the share of true captions where it is known."""
    figure = Figure(figsize=(10.4, 8.8), layout="constrained")
    axes = figure.subplot_mosaic([["paid", "paper"], ["judge", "words"]])
    data = f"{results.dataset(results.config.pictures)} {results.split(results.config.pictures)}"
    by_pay, by_judge = (measure(results, _RECALL, columns) for columns in ("table1", "judge"))
    quality = measure(results, _CIDER)
    points = {
        "paid": _points(results, quality, by_pay),
        "paper": _printed(results),
        "judge": _points(results, _TRUE if results.knows_facts else quality, by_judge),
    }
    titles = {
        "paid": f"{data}: by the reward's retriever",
        "paper": "the paper's Table 1, COCO: by CLIP, which pays",
        "judge": f"{data}: by the judge",
    }
    for name, title in titles.items():
        axes[name].set(xlabel=_CIDER_LABEL, ylabel=_RECALL_LABEL)
        axes[name].set_title(title, loc="left")
    if results.knows_facts:
        axes["judge"].set(xlabel="true captions (literal listener), best of the beam, %")
        true, recall = (Measure("sample", of.metric, "every") for of in (_TRUE, by_judge))
        people = _point(results, HUMAN, people_label(results), (true, recall), OF_PEOPLE)
        points["judge"] += people
    for name, of in points.items():
        scatter.draw_points(axes[name], of)
    # Both sides of the pair on one scale.
    scatter.frame([axes["paid"], axes["paper"]], [*points["paid"], *points["paper"]])
    scatter.frame([axes["judge"]], points["judge"])
    axes["words"].set_axis_off()
    alone = any(point.hollow for of in points.values() for point in of)
    scatter.explain(axes["words"], {MUTED: "ablations of WTF-RL"} if changed(results) else {}, hollow=alone)
    figure.draw_without_rendering()
    for name, of in points.items():
        scatter.name_points(axes[name], of)
    return figure


def _points(results: Results, x: Measure, y: Measure) -> list[Point]:
    """The runs of the table with their names, and ablations, too many to be named."""
    row_of = rows_by_run(results.paper)
    colours = palette(row_of.values())
    found = [point for run in changed(results) for point in _point(results, run.name, "", (x, y), MUTED)]
    for run in runs_of_table(results):
        label = row_of[run.name]
        found.extend(_point(results, run.name, label, (x, y), colours[label]))
    return found


def _point(results: Results, name: str, label: str, measures: tuple[Measure, Measure], colour: str) -> Sequence[Point]:
    """One point; none where one of its numbers was not measured."""
    ours = [of.of(results, name) for of in measures]
    scales = [results.paper.published.scale(of.metric) for of in measures]
    return scatter.measured(label, colour, ours, scales)


def _printed(results: Results) -> list[Point]:
    row_of = rows_by_run(results.paper)
    colours = palette(row_of.values())
    found: list[Point] = []
    for row in row_of.values():
        if row not in results.paper.facts.ours["table1"]:
            x, y = (results.paper.published.value("table1", row, column) for column in (_CIDER, _RECALL))
            found.append(Point(row, colours[row], (x, x, x), (y, y, y)))
    return found


FIGURES = {"wtfrl_fig1": figure1, "wtfrl_tradeoff": tradeoff}
