"""Which images Figure 1 shows: those where the reward is hacked most, by a rule that reads ranks and no captions."""

from __future__ import annotations

import pandas as pd

from seqcap.papers.wtfrl.rows import ALONE, PEOPLE
from seqcap.report.inputs import HUMAN, Run

# The rule in words, for the figure's caption.
RULE = (
    "An image is chosen if the judge, which no objective has seen, ranks it no better by the caption of RL, alpha 1, "
    "than by people's first caption, but the retriever that pays ranks it better. Of these, those where it gains most "
    "ranks; of equal gains the smaller number. All of the first training seed; nobody looked at the captions."
)


def first_ranks(run: Run, name: str, metric: str) -> pd.Series[float] | None:
    """Item -> the rank of the image by its best caption, of a run's first seed, or by people's first caption; None
    where it was not measured.

    Args:
        run: ours.
        name: a run, or what people's captions are called in the scores.
        metric: of the retriever.
    """
    decoder = "sample" if name.startswith(HUMAN) else "beam"
    scores = run.scores.per_item(name, decoder, metric, "best")
    return None if scores is None else scores[scores.columns[0]]


def most_hacked(run: Run, count: int) -> list[int]:
    """The images that `RULE` chooses, the most hacked first; fewer, or none, where it does not find as many."""
    paid, paid_people = (first_ranks(run, name, "own_rank") for name in (ALONE, PEOPLE))
    judged, judged_people = (first_ranks(run, name, "fixed_rank") for name in (ALONE, HUMAN))
    if ALONE not in run.by_name or paid is None or paid_people is None or judged is None or judged_people is None:
        return []
    gained = (paid_people - paid).rename("gained")
    hacked = gained[(gained > 0) & (judged >= judged_people)]
    ordered = hacked.reset_index().sort_values(["gained", "item"], ascending=[False, True])
    return [int(item) for item in ordered["item"].head(count)]
