"""Verdicts on claims, and the words for them. Light: the report's last stage needs no more of claims.

A claim is one sentence of a paper. Its primary comparison decides it; its details have no verdict. Verdicts, for a
primary comparison "left is higher (or lower) than right":

- **holds**: the difference has the claimed sign, q < .05, and the majority of the training seeds agree. q is the
  p-value of the two-level bootstrap (`seqcap.report.statistics`) after Benjamini and Hochberg, over all primary
  comparisons of the paper that were tested.
- **does not hold**: the same, with the opposite sign.
- **not significant**: neither.
- **one seed**: a single training seed on one side, which says nothing of other training runs: an estimate, no test.
- **cannot be tested**: on this data the claim says nothing; the reason is given.
- **not run**: a number is missing; the reason is given. Details say this, too.
"""

from collections.abc import Mapping

HOLDS, FAILS, UNSURE = ("holds", "does not hold", "not significant")
ONE_SEED, UNTESTABLE, NOT_RUN = ("one seed", "cannot be tested", "not run")
# Verdict -> how one claim has it, and how several have it.
COUNTED = {
    HOLDS: ("holds", "hold"),
    FAILS: ("does not hold", "do not hold"),
    UNSURE: ("is not significant", "are not significant"),
    ONE_SEED: ("has one seed", "have one seed"),
    UNTESTABLE: ("cannot be tested", "cannot be tested"),
    NOT_RUN: ("was not run", "were not run"),
}

# Columns of claims.csv: a line per comparison, of each claim the primary one first.
COLUMNS = [
    *("paper", "claim", "kind", "sentence", "what", "metric", "decoder", "left", "right", "base", "claimed"),
    *("paper_difference", "ours_left", "ours_right", "difference", "low", "high"),
    *("p_value", "q_value", "detectable", "seeds", "items", "verdict", "reason"),
]

READING = [
    "A claim is one sentence of the paper. Its primary comparison decides it, chosen by what the sentence names; other "
    "comparisons are details without a verdict. Intervals and p come from a bootstrap that draws training seeds and "
    "test items with replacement, the same for both sides. q is p after Benjamini and Hochberg, over the paper's "
    "primary comparisons.",
    "",
    "- *holds*: the difference has the claimed sign, q < .05, and most seeds agree; *does not hold*: the same with the "
    "opposite sign.",
    "- *not significant*: neither. The difference that the run could have found, four times in five, stands beside it.",
    "- *one seed*: an estimate; with one seed an interval is over test items only.",
    "- *cannot be tested*, *not run*: the reason is given.",
    "",
    "*seeds*: in how many of them the difference has the claimed sign. *paper*: the published difference, in whose "
    "scale all numbers are.",
]


def in_words(counts: Mapping[str, int]) -> str:
    """Of a number of claims by verdict: "of 3 claims, 1 holds, 2 were not run"."""
    each = ", ".join(f"{n} {words[n > 1]}" for verdict, words in COUNTED.items() if (n := counts[verdict]))
    total = sum(counts.values())
    return f"of {total} claim{'s' if total != 1 else ''}, {each or 'none has a verdict'}"
