"""WTF-RL's Figure 1 with our captions, and retrieval against quality and truth."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from seqcap.papers.wtfrl.runs import ALONE, PEOPLE, WTF_RL
from seqcap.report.drawing import panels
from seqcap.report.drawing.colours import MUTED, colour_of
from seqcap.report.drawing.colours import PEOPLE as OF_PEOPLE
from seqcap.report.example import false_of, scenes_of
from seqcap.report.inputs import HUMAN, Results, read_captions

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


def shown_seed(results: Results) -> int:
    """The training seed with the median share of WTF-RL's true captions, of those that RL, alpha 1, has, too. Seeds
    differ much, so that the first one says little."""
    shares = results.scores.by_seed(WTF_RL, "beam", "true_of_own")
    seeds = [seed for seed in results.by_name[WTF_RL].seeds if seed in results.by_name[ALONE].seeds]
    if shares is not None:
        seeds.sort(key=lambda seed: float(shares[seed]))
    return seeds[(len(seeds) - 1) // 2]


def _said(results: Results, name: str, item: int) -> str:
    """A run's best caption of the beam, of the shown seed."""
    decoded = results.decoded(name)
    best = decoded[(decoded["decoder"] == "beam") & (decoded["rank"] == 0) & (decoded["item"] == item)]
    return str(best.set_index("seed")["text"][shown_seed(results)]) or "(empty)"


def _ranks(results: Results, name: str, item: int) -> str:
    paid, judged = _firsts(results, PEOPLE if name == HUMAN else name, "own_rank"), _firsts(results, name, "fixed_rank")
    return ", ".join("–" if ranks is None else f"{ranks[item]:.0f}" for ranks in (paid, judged))


def _firsts(results: Results, name: str, metric: str) -> pd.Series[float] | None:
    """Item -> the metric of a run's best caption, of the shown seed, or of people's first, which may depend on no seed;
    None if it was not measured."""
    decoder = "sample" if name.startswith(HUMAN) else "beam"
    scores = results.scores.per_item(name, decoder, metric, "best")
    if scores is None:
        return None
    seed = shown_seed(results)
    return scores[seed if seed in scores.columns else scores.columns[0]]


def most_hacked(results: Results, count: int) -> list[int]:
    """Images that the retriever that pays finds better by the caption of RL, alpha 1, than by people's first caption,
    although the checker finds it false, and of which WTF-RL says something else. Of the shown seed; the image that
    gains most ranks comes first, of equal gains the smaller number."""
    if not {ALONE, WTF_RL} <= results.by_name.keys():
        return []
    paid, true = (_firsts(results, ALONE, metric) for metric in ("own_rank", "true_of_own"))
    paid_people = _firsts(results, PEOPLE, "own_rank")
    if paid is None or true is None or paid_people is None:
        return []
    gained = (paid_people - paid).rename("gained")
    ordered = gained[(gained > 0) & (true == 0)].reset_index().sort_values(["gained", "item"], ascending=[False, True])
    found: list[int] = []
    for item in ordered["item"].tolist():
        if len(found) < count and _said(results, ALONE, item) != _said(results, WTF_RL, item):
            found.append(int(item))
    return found


FIGURES = {"wtfrl_fig1": figure1}
