"""The images of Figure 1: those where the reward is hacked most, chosen by ranks, not by captions."""

from __future__ import annotations

import pandas as pd

from seqcap.papers.wtfrl.runs import ALONE, PEOPLE
from seqcap.report.inputs import HUMAN, Run


def first_ranks(run: Run, name: str, metric: str) -> pd.Series[float] | None:
    """Item -> the image's rank by a run's best caption, first seed, or by people's first; None if not measured."""
    decoder = "sample" if name.startswith(HUMAN) else "beam"
    scores = run.scores.per_item(name, decoder, metric, "best")
    return None if scores is None else scores[scores.columns[0]]


def most_hacked(run: Run, count: int) -> list[int]:
    """Images where only the retriever that pays finds the caption of RL, alpha 1, better than people's first caption.

    The judge, which no objective has seen, ranks the image no better by it. The image that gains most ranks comes
    first; of equal gains the smaller number. All of the first training seed; fewer where the rule finds fewer.
    """
    paid, paid_people = (first_ranks(run, name, "own_rank") for name in (ALONE, PEOPLE))
    judged, judged_people = (first_ranks(run, name, "fixed_rank") for name in (ALONE, HUMAN))
    if ALONE not in run.by_name or paid is None or paid_people is None or judged is None or judged_people is None:
        return []
    gained = (paid_people - paid).rename("gained")
    hacked = gained[(gained > 0) & (judged >= judged_people)]
    ordered = hacked.reset_index().sort_values(["gained", "item"], ascending=[False, True])
    return [int(item) for item in ordered["item"].head(count)]
