"""Verdicts on claims, and the words for them. Light: the report's last stage needs no more of claims.

Verdicts, for a claim "left is higher (or lower) than right":

- **holds**: the difference has the claimed sign, with p < .05 in the paired bootstrap over test items (scores of
  several seeds averaged per item). A corpus metric (BLEU, mBLEU) has no score per item: it holds when the difference
  has the claimed sign in every seed, and there are at least three.
- **does not hold**: the same, with the opposite sign.
- **not significant**: neither.
- **not run**: a number is missing; claims.md says why.
"""

from __future__ import annotations

from collections.abc import Mapping

HOLDS, FAILS, UNSURE, NOT_RUN = ("holds", "does not hold", "not significant", "not run")
# Verdict -> the heading of how many there are.
COUNTED = {HOLDS: "hold", FAILS: "do not hold", UNSURE: "not significant", NOT_RUN: "not run"}

# Columns of claims.csv.
COLUMNS = ["paper", "claim", "metric", "left", "right", "difference", "low", "high", "p_value", "seeds", "verdict"]

READING = [
    "*holds*: the difference has the claimed sign with p < .05 (paired bootstrap over test images, scores averaged "
    "over seeds); for a corpus metric (BLEU, mBLEU) the claimed sign in every one of at least three seeds. *does not "
    "hold*: the same with the opposite sign. *not significant*: neither. *not run*: a number is missing.",
    "",
    "*seeds*: in how many training seeds the difference has the claimed sign. The p-values speak of other test "
    "images, not of other training runs, and are not corrected for the number of comparisons. *paper*: the published "
    "difference, in whose scale all numbers are. METEOR and a translation's BLEU are compared by sentence scores, so "
    "their levels are not the tables' corpus scores.",
]


def in_words(counts: Mapping[str, int]) -> str:
    """How many comparisons have each verdict."""
    words = {HOLDS: "hold", FAILS: "do not hold", UNSURE: "are not significant", NOT_RUN: "were not run"}
    each = ", ".join(f"{counts[verdict]} {word}" for verdict, word in words.items())
    total = sum(counts.values())
    return f"of {total} comparison{'s' if total != 1 else ''}, {each}"
