"""What became of the papers' claims: those that did not reproduce."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from seqcap.first_page import own_runs
from seqcap.report.summary import Claim, Line, Summary
from seqcap.report.verdicts import (
    COUNTED,
    DAGGER,
    DECIDED,
    FEW_SEEDS,
    HOLDS,
    IN_PART,
    LESS,
    NOT_RUN,
    REVERSED,
    UNTESTABLE,
    read,
)

# What comparisons are called that have a verdict, one and several, in a count of them.
_COUNTED = {verdict: COUNTED[verdict] for verdict in DECIDED} | {"": ("is undecided", "are undecided")}
_FAILED_BEFORE = "does not hold"  # of an older rule
_ENOUGH = 120  # characters of a reason
_SENTENCE_ENDS = re.compile(r"(?<=[a-z0-9)*]\.) (?=[A-Z*])")
_RECALL, _SIZE = "R@", re.compile(r" \((smaller|as printed|larger)\)")
_MOST_NAMED = 2  # comparisons against a claim that are named beside the one that decides


# Who finds what a claim measures, by the beginning of its metric.
_BY_WHOM = {
    "own_": "by its own listener",
    "fixed_": "by the judge",
    "twin_": "by the twin",
    "better_english": "by automatic raters",
}


@dataclass(frozen=True)
class Failed:
    """A claim that did not reproduce."""

    paper: str
    claim: Claim
    verdict: str  # as people read it
    against: str  # those that are against it, too, by their intervals
    reason: str  # "" if none is known


def reversed_controls(papers: Mapping[str, Summary]) -> list[tuple[str, Claim]]:
    """Our questions to which the answer is the opposite of what was expected, each with its paper."""
    return [
        (paper, claim)
        for paper, summary in papers.items()
        for claim in summary.claims
        if claim.control and claim.verdict == REVERSED
    ]


def by_whom(claim: Claim) -> str:
    """Who finds what a claim measures; "" where no listener or rater is asked."""
    metric = claim.deciding.key[1]
    return next((who for start, who in _BY_WHOM.items() if metric.startswith(start)), "")


def words(claim: Claim) -> str:
    """A claim's verdict in words. Of recall print's size tells nothing: it searches other, mostly more, images."""
    return _SIZE.sub("", claim.words) if _RECALL in claim.deciding.what else claim.words


def failed(papers: Mapping[str, Summary]) -> list[Failed]:
    """Claims that are reversed or not found as printed, or would be so but for a run that was still rising; and each
    paper's main claim, if it does not hold."""
    claims = list[Failed]()
    for paper, summary in papers.items():
        main = (summary.said["finding"] or {}).get("claim")
        # Reason -> the claim that tells it: the main one, whose reason stands beside it, or the first that has it.
        told = {_reason(claim): claim.id for claim in _claims(summary) if claim.id == main}
        for claim in _claims(summary):
            if _did_fail(summary, claim):
                failure = _failed(paper, summary, claim)
                first = told.setdefault(failure.reason, claim.id)
                again = failure.reason and first != claim.id
                reason = f"as {first}" if again else begun(failure.reason)
                claims.append(replace(failure, reason=" ".join(filter(None, [reason, _of_greedy(claim)]))))
    return claims


def _of_greedy(claim: Claim) -> str:
    """ "(Greedy: -1.2 [-2.3, -0.1].)": what is left of a difference where no beam is searched; "" where it was not
    compared."""
    greedy = own_runs.by_greedy(claim)
    return f"(Greedy: {numbers(greedy)}.)" if greedy else ""


def begun(reason: str) -> str:
    """A reason's first sentences, until they say enough; "..." stands for the others, which the claim's page has."""
    said, *others = _SENTENCE_ENDS.split(reason)
    while others and len(said) < _ENOUGH:
        said += f" {others.pop(0)}"
    return f"{said} ..." if others else said


def counted(claim: Claim, what: str = "") -> str:
    """ "of 6, 2 hold (CIDEr, ROUGE-L), 4 are undecided": the comparisons that decide a claim; "" where it is one.
    `what` comes after their number."""
    if len(claim.primary) == 1:
        return ""
    counts = Counter(line.verdict if line.verdict in _COUNTED else "" for line in claim.primary)
    parts = [
        f"{counts[verdict]} {words[counts[verdict] > 1]}" for verdict, words in _COUNTED.items() if counts[verdict]
    ]
    holding = list(dict.fromkeys(line.metric for line in claim.primary if line.verdict == HOLDS))
    if holding and len({line.metric for line in claim.primary}) > 1:
        parts[0] += f" ({', '.join(holding)})"
    return f"of {len(claim.primary)}{what}, {', '.join(parts)}"


def numbers(line: Line) -> str:
    """ "+5.5 [3.2, 7.7]"; "" without a number."""
    if not line.difference:
        return ""
    difference = f"{float(line.difference):+z.{len(line.difference.partition('.')[2])}f}"
    return f"{difference} [{line.low}, {line.high}]" if line.low else difference


def shortly(what: str) -> str:
    """What is measured, as the columns of the table of all objectives say it: "CIDEr, beam"."""
    return what.replace(" of the best beam caption", ", beam")


def in_print(line: Line) -> str:
    """The paper's difference, and what it is at our level where that is another number; "" without one."""
    if not line.printed:
        return ""
    printed = f"{float(line.printed):+g}"
    if not line.expected or abs(float(line.expected) - float(line.printed)) < 0.1:
        return printed
    return f"{printed} ({line.expected} at our level)"


def _claims(summary: Summary) -> list[Claim]:
    return [claim for claim in summary.claims if not claim.control and claim.verdict != NOT_RUN]


def _did_fail(summary: Summary, claim: Claim) -> bool:
    main = claim.id == (summary.said["finding"] or {}).get("claim") and claim.verdict != HOLDS
    return main or claim.excused or claim.verdict in (REVERSED, LESS, _FAILED_BEFORE)


def _failed(paper: str, summary: Summary, claim: Claim) -> Failed:
    deciding = claim.deciding.key
    others = [line for line in claim.primary if line.key != deciding and line.side == -line.sign]
    several = len({line.key[4] for line in claim.primary}) > 1
    against = "; ".join(f"{_measure(line, several)} {numbers(line)}" for line in others[:_MOST_NAMED])
    marks = [mark for mark in (IN_PART, DAGGER) if mark in claim.words]
    verdict = " ".join([read(claim.verdict), *marks])
    reason = _reason(claim)
    if summary.rule:
        # Its texts name others of the page.
        verdict = f"{verdict} (older rule, {summary.rule})"
        reason = f"on [its page]({paper}/report.md#claims)" if reason else ""
    return Failed(paper, claim, verdict, against, reason)


def _reason(claim: Claim) -> str:
    """Why a claim did not reproduce, as far as it is known."""
    if claim.verdict == FEW_SEEDS:
        return "a side has fewer than three seeds"
    if claim.verdict == UNTESTABLE:
        return next((line.reason for line in claim.primary if line.verdict == claim.verdict), "")
    return claim.explained


def _measure(line: Line, several: bool) -> str:
    """What a comparison is of, with its right side where the claim has several."""
    return f"{line.metric} against {line.sides.partition(' against ')[2]}" if several else line.metric


def fared(claims: Iterable[Claim]) -> str:
    """ "1 holds, 9 are reversed, 2 are undecided": claims that were run, without controls, by what became of them."""
    run = [claim for claim in claims if not claim.control and claim.verdict != NOT_RUN]
    number = Counter(claim.verdict if claim.verdict in _COUNTED else "" for claim in run)
    told = [(number[verdict], one, several) for verdict, (one, several) in _COUNTED.items() if number[verdict]]
    return ", ".join(f"{count} {one if count == 1 else several}" for count, one, several in told)


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]
