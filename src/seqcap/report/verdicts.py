"""The verdicts that a claim may have, and how people read them; docs/claims.md has the rule, `seqcap.report.judging`
follows it."""

from collections.abc import Mapping

UNTESTABLE, NOT_RUN, FEW_SEEDS = "cannot be tested", "not run", "too few seeds"
UNDECIDABLE, HOLDS, REVERSED = "cannot be decided at this scale", "holds", "reversed"
LESS, UNSURE = "smaller than printed", "cannot tell"
DECIDED = (HOLDS, REVERSED, LESS)
AS_PRINTED, SMALLER, LARGER = "as printed", "smaller", "larger"  # by how much a claim holds
LEAST_SEEDS = 3
DAGGER = "†"
IN_PART = "in part"  # of a claim that is reversed by some of its comparisons and not by all
NOT_HELD = "does not hold"  # what an explanation is for that goes with every verdict of these but its own

# Verdict -> what people read, where the name that files have would mislead: zero is inside, so that nothing was found.
_READ = {LESS: "no effect found, the printed one excluded"}
# Verdict -> how one claim has it, and how several have it.
COUNTED = {
    HOLDS: ("holds", "hold"),
    REVERSED: ("is reversed", "are reversed"),
    LESS: ("is not found as printed", "are not found as printed"),
    UNSURE: ("cannot be told", "cannot be told"),
    UNDECIDABLE: ("cannot be decided at this scale", "cannot be decided at this scale"),
    FEW_SEEDS: ("has too few seeds", "have too few seeds"),
    UNTESTABLE: ("cannot be tested", "cannot be tested"),
    NOT_RUN: ("was not run", "were not run"),
}


def decided(words: str) -> str:
    """The verdict that words of a claim begin with, if it decides; else ""."""
    return next((verdict for verdict in DECIDED if words.startswith(read(verdict))), "")


def read(verdict: str) -> str:
    """A verdict as people read it."""
    return _READ.get(verdict, verdict)


def explanation(texts: Mapping[str, str], verdict: str) -> str:
    """What is said of a claim with a verdict, of texts by verdict. What cannot be decided cannot be told, either."""
    named = UNSURE if verdict == UNDECIDABLE else verdict
    failing = named in (REVERSED, LESS, UNSURE)
    return texts.get(named, texts.get(NOT_HELD, "") if failing else "")


def in_words(counts: Mapping[str, int], what: str = "claim", whats: str = "") -> str:
    """Of a number of claims by verdict: "of 3 claims, 1 holds, 2 were not run"; `whats` is the plural of `what`."""
    each = ", ".join(f"{n} {words[n > 1]}" for verdict, words in COUNTED.items() if (n := counts.get(verdict, 0)))
    total = sum(counts.values())
    name = what if total == 1 else whats or f"{what}s"
    return f"of {total} {name}, {each or 'none has a verdict'}"
