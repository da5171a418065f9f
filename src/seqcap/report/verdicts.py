"""Verdicts on claims, and the words for them; texts/reading.md says when a claim has which. Light: the report's last
stage needs no more of claims."""

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


def in_words(counts: Mapping[str, int], what: str = "claim") -> str:
    """Of a number of claims by verdict: "of 3 claims, 1 holds, 2 were not run"."""
    each = ", ".join(f"{n} {words[n > 1]}" for verdict, words in COUNTED.items() if (n := counts[verdict]))
    total = sum(counts.values())
    return f"of {total} {what}{'s' if total != 1 else ''}, {each or 'none has a verdict'}"
