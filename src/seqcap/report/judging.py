"""Judges claims by their evidence alone; docs/claims.md has the rule. Light: the last stage judges, too."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from seqcap.report import statistics
from seqcap.report.convergence import RECALL, validated_by
from seqcap.report.evidence import Evidence
from seqcap.report.outcome import Judgement, Outcome
from seqcap.report.statistics import SIGNIFICANCE
from seqcap.report.verdicts import (
    AS_PRINTED,
    FEW_SEEDS,
    HOLDS,
    LARGER,
    LEAST_SEEDS,
    LESS,
    NOT_RUN,
    REVERSED,
    SMALLER,
    UNDECIDABLE,
    UNSURE,
    UNTESTABLE,
)


def judge(evidences: Sequence[Evidence]) -> list[Judgement]:
    """The verdicts on the claims of one or several papers; q is over the claims of a paper that were tested."""
    judged = []
    for _, of_paper in groupby(evidences, key=lambda evidence: evidence.paper):
        claims = [
            [measure(evidence) for evidence in _unless_pilot(tuple(of_claim))]
            for _, of_claim in groupby(of_paper, key=lambda evidence: evidence.claim)
        ]
        p = [claim_p(outcomes) for outcomes in claims]
        for index, outcomes in enumerate(claims):
            others = [value for value in [*p[:index], *p[index + 1 :]] if value is not None]
            judged.append(_judged([_decided(outcome, outcomes, others) for outcome in outcomes]))
    return judged


def _unless_pilot(of_claim: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    """A claim's comparisons, without what is registered where they are those that it was computed from."""
    registered = of_claim[0].registered
    if registered is None or registered.pilot != pilot_of(of_claim[0]):
        return of_claim
    return tuple(evidence.model_copy(update={"registered": None}) for evidence in of_claim)


def pilot_of(first: Evidence) -> tuple[float, ...]:
    """What tells the results of a claim's first comparison, of all seeds, from those of other runs."""
    return tuple(side.value for side in first.sides)


def measure(given: Evidence) -> Outcome:
    """The numbers of a comparison; those of a primary one that is tested have p."""
    evidence = _compared(given)
    sides = evidence.sides
    if not sides:
        return Outcome(evidence, given)
    values = tuple(side.value for side in sides)
    left, right = (values[0] - values[2], values[2] - values[1]) if evidence.base else values[:2]
    outcome = Outcome(evidence, given, left, right, evidence.contrast(values))
    difference = outcome.difference or 0.0
    if not evidence.covariance:
        return outcome
    if same := _same(evidence):
        return replace(outcome, evidence=evidence.model_copy(update={"untestable": evidence.untestable or same}))
    spread = evidence.spread
    reach = float(spread.reach())
    outcome = replace(outcome, low=difference - reach, high=difference + reach)
    if evidence.level == "detail" or evidence.untestable or _too_few(evidence):
        return outcome
    return replace(outcome, p=float(spread.p_value(difference - evidence.null)), detectable=float(spread.detectable))


def without(given: Evidence, seeds: Mapping[str, Collection[int]]) -> Outcome | None:
    """What a comparison's numbers are, as a detail, without some seeds of its runs; where seeds are paired, all sides
    lose them. None where it has none of them, or where a side would be left with fewer than two."""
    dropped = [{seed for run in side.runs for seed in seeds.get(run, ())} for side in given.sides]
    if given.paired:
        dropped = [set().union(*dropped)] * len(dropped)
    left = [
        tuple(seed for seed in side.seeds if seed not in of_side)
        for side, of_side in zip(given.sides, dropped, strict=True)
    ]
    fewer = [len(of_side) < len(side.seeds) for of_side, side in zip(left, given.sides, strict=True)]
    too_few = any(side.by_seed and len(of_side) < 2 for of_side, side in zip(left, given.sides, strict=True))
    if not any(fewer) or too_few or not given.covariance:
        return None
    return measure(_of_seeds(given, left).model_copy(update={"level": "detail"}))


def _compared(given: Evidence) -> Evidence:
    """A comparison on the seeds that all of its sides have, if these share a start; else on all seeds."""
    common = statistics.common_seeds([side.seeds for side in given.sides]) if given.paired and given.covariance else []
    return _of_seeds(given, [common] * len(given.sides)) if common else given


def _of_seeds(given: Evidence, seeds: Sequence[Sequence[int]]) -> Evidence:
    """A comparison on some seeds of each side; a side without seeds stays as it is."""
    sides = [side.only(of_side) if side.by_seed else side for side, of_side in zip(given.sides, seeds, strict=True)]
    kept = [
        is_kept
        for side, of_side in zip(given.sides, seeds, strict=True)
        for is_kept in ([seed in of_side for seed in side.seeds] or [True])
    ]
    covariance = given.matrix[np.ix_(kept, kept)]
    rows = tuple(tuple(row[: index + 1]) for index, row in enumerate(covariance.tolist()))
    return given.model_copy(update={"sides": tuple(sides), "covariance": rows})


def _same(evidence: Evidence) -> str:
    """Why a comparison of a run with itself bears no test: its difference is 0 without any spread. Two runs are the
    same where both keep the weights that they start from. "" where the sides differ."""
    left, right = evidence.sides[:2]
    if evidence.base or not left.by_seed or left.by_seed != right.by_seed:
        return ""
    covariance, number = evidence.matrix, len(left.values)
    of_left = covariance[:number, :number]
    if not covariance.any():
        return "both sides have one value, on whatever test items"
    others = (covariance[number:, :number], covariance[number:, number:])
    # Numbers of files are rounded.
    alike = all(np.allclose(of_left, other, rtol=1e-4) for other in others)
    return "equal scores on both sides with every seed, on whatever test items, as of the same weights" if alike else ""


def claim_p(outcomes: Sequence[Outcome]) -> float | None:
    """The p of a claim; None where one of its comparisons is not tested. If all differences have the claimed sign, the
    largest; else, of those against it, the smallest times the number of comparisons."""
    primary = [outcome for outcome in outcomes if outcome.evidence.level == "primary"]
    p = [_p_of_several(outcome, len(primary)) for outcome in primary]
    known = [value for value in p if value is not None]
    if len(known) < len(p):
        return None
    against = [value for outcome, value in zip(primary, known, strict=True) if not outcome.as_claimed]
    return min(against) if against else max(known)


def _behind(outcome: Outcome, verdict: str) -> str:
    """The side that is behind by a verdict, if it was still rising so much that the same again, beyond what the other
    side gained, would undo the verdict; else ""."""
    evidence = outcome.evidence
    # Only what a claim measures may leave it open.
    if verdict not in (HOLDS, REVERSED, LESS) or not validated_by(evidence.metric):
        return ""
    behind = evidence.lagging
    ahead = next(side for side in evidence.sides[:2] if side is not behind)
    if verdict == HOLDS:
        behind, ahead = ahead, behind
    if verdict == LESS:
        end = outcome.high if evidence.sign > 0 else outcome.low
        lacking = abs((outcome.expected or 0.0) - (end or 0.0))
    else:
        lacking = abs((outcome.difference or 0.0) - evidence.null)
    return behind.label if behind.rising and behind.rise - ahead.rise >= lacking else ""


def _p_of_several(outcome: Outcome, number: int) -> float | None:
    """Of a comparison of a claim that has several: against the claim, any of them may be so by chance."""
    if outcome.p is None or outcome.as_claimed:
        return outcome.p
    return min(1.0, number * outcome.p)


def _too_few(evidence: Evidence) -> bool:
    return any(0 < len(side.by_seed) < LEAST_SEEDS for side in evidence.sides)


def _decided(outcome: Outcome, outcomes: Sequence[Outcome], others: Sequence[float]) -> Outcome:
    """A comparison with its q among the paper's other claims, and its verdict."""
    evidence = outcome.evidence
    if evidence.level == "detail":
        return replace(outcome, verdict=NOT_RUN if evidence.absent else "")
    number = sum(other.evidence.level == "primary" for other in outcomes)
    p = _p_of_several(outcome, number)
    q = None if p is None else statistics.q_values([p, *others])[0]
    tested = replace(outcome, q=q)
    verdict = _verdict(tested)
    behind = _behind(tested, verdict)
    size = _size(tested) if verdict == HOLDS and not behind else ""
    return replace(tested, verdict=UNSURE if behind else verdict, size=size, behind=behind)


def _verdict(outcome: Outcome) -> str:
    evidence = outcome.evidence
    if evidence.absent:
        return NOT_RUN
    if evidence.untestable or not evidence.covariance:
        return UNTESTABLE
    if _too_few(evidence):
        return FEW_SEEDS
    if outcome.q is not None and outcome.q < SIGNIFICANCE:
        return HOLDS if outcome.as_claimed else REVERSED
    # Among other numbers of images a recall's differences are others, so that no size of print's is excluded.
    expected = None if validated_by(evidence.metric) == RECALL else outcome.expected
    if evidence.rule == "difference" and expected is not None and outcome.low is not None and outcome.high is not None:
        beyond = expected > outcome.high if evidence.sign > 0 else expected < outcome.low
        if outcome.low <= 0 <= outcome.high and beyond:
            return LESS
    # What was found anyhow stands. Only what was not is explained by what was too little to find it.
    return UNDECIDABLE if evidence.undecidable else UNSURE


def _size(outcome: Outcome) -> str:
    expected = outcome.expected
    if outcome.evidence.rule != "difference" or expected is None or outcome.low is None or outcome.high is None:
        return ""
    if validated_by(outcome.evidence.metric) == RECALL:
        return ""
    if outcome.low <= expected <= outcome.high:
        return AS_PRINTED
    return SMALLER if abs(outcome.difference or 0.0) < abs(expected) else LARGER


def _judged(outcomes: Sequence[Outcome]) -> Judgement:
    """Several primary comparisons hold if each does; else the claim is reversed if one is, and has otherwise the first
    verdict in this order that one of them has."""
    primary = [outcome for outcome in outcomes if outcome.evidence.level == "primary"]
    verdicts = {outcome.verdict for outcome in primary}
    order = (REVERSED, NOT_RUN, UNTESTABLE, FEW_SEEDS, UNDECIDABLE, LESS, UNSURE, HOLDS)
    verdict = next(candidate for candidate in order if candidate in verdicts)
    sizes = {outcome.size for outcome in primary} if verdict == HOLDS else set[str]()
    size = next((candidate for candidate in (SMALLER, AS_PRINTED, LARGER) if candidate in sizes), "")
    return Judgement(tuple(outcomes), verdict, size)
