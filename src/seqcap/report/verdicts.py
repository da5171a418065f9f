"""Verdicts on claims by their evidence alone; docs/claims.md has the rule. Light: the last stage judges, too."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from seqcap.metrics import registry
from seqcap.report import statistics
from seqcap.report.convergence import validated_by
from seqcap.report.evidence import Evidence, Side
from seqcap.report.statistics import SIGNIFICANCE, Floats, Spread

UNTESTABLE, NOT_RUN, FEW_SEEDS = "cannot be tested", "not run", "too few seeds"
UNDECIDABLE, HOLDS, REVERSED = "cannot be decided at this scale", "holds", "reversed"
LESS, UNSURE = "smaller than printed", "cannot tell"
DECIDED = (HOLDS, REVERSED, LESS)
AS_PRINTED, SMALLER, LARGER = "as printed", "smaller", "larger"  # by how much a claim holds
LEAST_SEEDS = 3
RISING = 1.0  # points that a run gains in the last quarter of its updates which has not converged
DAGGER = "†"
IN_PART = "in part"  # of a claim that is reversed by some of its comparisons and not by all
NOT_HELD = "does not hold"  # what an explanation is for that goes with every verdict of these but its own

# Verdict -> what people read, where the name that files have would mislead: zero is inside, so that nothing was found.
_READ = {LESS: "no effect found, the printed one excluded"}
# Verdict -> how one claim has it, and how several have it.
COUNTED = {
    HOLDS: ("holds", "hold"),
    REVERSED: ("is reversed", "are reversed"),
    LESS: ("shows no effect", "show no effect"),
    UNSURE: ("cannot be told", "cannot be told"),
    UNDECIDABLE: ("cannot be decided at this scale", "cannot be decided at this scale"),
    FEW_SEEDS: ("has too few seeds", "have too few seeds"),
    UNTESTABLE: ("cannot be tested", "cannot be tested"),
    NOT_RUN: ("was not run", "were not run"),
}

# Columns of claims.csv: a line per comparison, of each claim the primary ones first.
COLUMNS = [
    *("paper", "claim", "metric", "decoder", "left", "right", "level"),
    *("difference", "low", "high", "p", "q", "seeds", "verdict"),
    *("base", "test", "sign", "printed", "ours_left", "ours_right", "size", "detectable", "items"),
    *("control", "sentence", "what", "not_converged", "reason"),
]


@dataclass(frozen=True)
class Outcome:
    """What one comparison's evidence says, in the printed scale. A detail has no p, q, verdict or `detectable`."""

    evidence: Evidence  # of the seeds that its sides are compared on
    given: Evidence  # the same of all seeds
    left: float | None = None  # with a base: of the step from it
    right: float | None = None
    difference: float | None = None
    low: float | None = None  # of the 95% interval
    high: float | None = None
    p: float | None = None  # of no difference; of "no worse", of one as large as the margin
    q: float | None = None
    verdict: str = ""
    size: str = ""  # how much it is where it holds, beside the paper's
    detectable: float | None = None  # the smallest difference that four of five such comparisons find
    excused: bool = False  # whether it cannot be told because the side that lags was still rising

    @property
    def metric(self) -> str:
        """What its metric is called."""
        return registry.find(self.evidence.metric).label

    @property
    def expected(self) -> float | None:
        """The paper's difference carried over to our level; None without one in the claimed direction."""
        evidence = self.evidence
        if not evidence.printed or not evidence.sides:
            return None
        printed = evidence.contrast(evidence.printed)
        if printed * evidence.sign <= 0:
            return None
        level = evidence.sides[1].value / evidence.printed[1] if evidence.proportional else 1.0
        return printed * level

    @property
    def seeds(self) -> str:
        """ "3", or "5 and 3": of the sides that depend on training seeds."""
        numbers = [len(side.by_seed) for side in self.evidence.sides if side.by_seed]
        return " and ".join(map(str, numbers if len(set(numbers)) > 1 else numbers[:1]))

    @property
    def not_converged(self) -> tuple[str, ...]:
        """The runs of either side that were still rising."""
        return tuple(dict.fromkeys(run for side in self.evidence.sides for run in rising(side)))

    @property
    def of_numbers(self) -> str:
        """Why the numbers bear no verdict, or what a reader must know of them."""
        return "; ".join(filter(None, (self.evidence.untestable, *self.evidence.remarks)))

    @property
    def reason(self) -> str:
        """The same, and what else kept the comparison from a verdict."""
        evidence = self.evidence
        reasons = [self.of_numbers]
        if self.excused:
            reasons.append(f"{lagging(evidence).label}, the side behind, was still rising")
        if evidence.registered and self.verdict == UNDECIDABLE:
            reasons.append(evidence.registered.lacks)
        return "; ".join(filter(None, reasons))

    @property
    def wanted(self) -> float | None:
        """How far the paper's difference is from the one that p is of; None without one."""
        return None if self.expected is None else self.expected - _null(self.evidence)

    @property
    def seeds_needed(self) -> int | None:
        """How many seeds would find the paper's difference four times in five; None without one, or if too many."""
        numbers = [len(side.by_seed) for side in self.evidence.sides if side.by_seed]
        if self.wanted is None or not self.evidence.covariance or min(numbers, default=0) < 2:
            return None
        return statistics.seeds_needed(spread_of(self.evidence), min(numbers), self.wanted)

    @property
    def judgement(self) -> str:
        """The verdict with what belongs to it."""
        beside = self.size
        if self.verdict == UNSURE:
            beside = self._why_unsure
        if self.verdict == LESS and self.expected is not None:
            beside = f"{self.number(self.expected, '+')} at our level"
        if self.verdict == FEW_SEEDS:
            beside = self.seeds
        if self.verdict == UNDECIDABLE and self.evidence.registered:
            beside = "; ".join(filter(None, (self.evidence.registered.lacks, self._alone)))
        return f"{read(self.verdict)} ({beside})" if beside else read(self.verdict)

    @property
    def _why_unsure(self) -> str:
        """What keeps a comparison from a verdict. What it could have found says nothing where it has found as much."""
        if self.excused:
            return f"{lagging(self.evidence).label}, the side behind, was still rising"
        detectable = "" if self.detectable is None else f"could have found {self.number(self.detectable)}"
        return self._alone or detectable

    @property
    def found_alone(self) -> bool:
        """Whether it would have been decided if it were the paper's only claim."""
        return self.p is not None and self.p < SIGNIFICANCE

    @property
    def _alone(self) -> str:
        """What would have been found if it were the paper's only claim; "" if nothing."""
        if not self.found_alone:
            return ""
        way = "" if _as_claimed(self) else " against it"
        return f"alone p {self.p:.3f}{way}, but q {self.shown_q}"

    def number(self, value: float | None, sign: str = "") -> str:
        return "" if value is None else f"{round(value, 9):{sign}z.{self.decimals}f}"

    @property
    def decimals(self) -> int:
        """Of its numbers: one more than usual where these would print an end of the interval as 0 that is not, or the
        paper's difference as inside the interval that excludes it."""
        usual = self.evidence.decimals
        if any(end is not None and not round(end, usual) and round(end, usual + 1) for end in (self.low, self.high)):
            return usual + 1
        if self.verdict != LESS or self.expected is None or self.low is None or self.high is None:
            return usual
        end = self.high if self.evidence.sign > 0 else self.low
        return usual + (round(self.expected, usual) == round(end, usual))

    @property
    def span(self) -> str:
        """The difference with its interval, if it has one."""
        if self.low is None:
            return self.number(self.difference, "+")
        return f"{self.number(self.difference, '+')} [{self.number(self.low, '+')}, {self.number(self.high, '+')}]"

    @property
    def shown_q(self) -> str:
        """With a fourth decimal where three would print it as the bound that it is below."""
        if self.q is None:
            return ""
        if self.q < 0.001:
            return "<.001"
        shown = f"{self.q:.3f}"
        return f"{self.q:.4f}" if self.q < SIGNIFICANCE <= float(shown) else shown

    def printed(self, sign: str = "+") -> str:
        """The paper's difference; "" without one."""
        evidence = self.evidence
        if not evidence.printed:
            return ""
        return f"{round(evidence.contrast(evidence.printed), 9):{sign}z.{evidence.printed_decimals}f}"

    def line(self) -> dict[str, str]:
        """Its line of claims.csv."""
        evidence = self.evidence
        values = {name: str(getattr(evidence, name)) for name in COLUMNS if name in Evidence.model_fields}
        values |= {"test": evidence.rule, "sign": f"{evidence.sign:+d}", "control": "yes" if evidence.control else ""}
        numbers = {"difference": self.difference, "low": self.low, "high": self.high, "detectable": self.detectable}
        numbers |= {"ours_left": self.left, "ours_right": self.right}
        values |= {name: self.number(number) for name, number in numbers.items()}
        values |= {name: "" if value is None else f"{value:.4g}" for name, value in (("p", self.p), ("q", self.q))}
        values |= {"printed": self.printed(sign=""), "seeds": self.seeds, "items": str(evidence.items or "")}
        values |= {"verdict": self.verdict, "size": self.size, "reason": self.reason}
        values |= {"not_converged": ", ".join(self.not_converged)}
        return {name: values[name] for name in COLUMNS}


@dataclass(frozen=True)
class Judgement:
    """A claim: what all its primary comparisons say together."""

    outcomes: tuple[Outcome, ...]  # the primary ones first, then details
    verdict: str
    size: str = ""

    @property
    def first(self) -> Outcome:
        return self.outcomes[0]

    @property
    def claim(self) -> str:
        return self.first.evidence.claim

    @property
    def primary(self) -> tuple[Outcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.evidence.level == "primary")

    @property
    def deciding(self) -> Outcome:
        """The primary comparison that the verdict is of. Of several with that verdict the one whose p is the claim's:
        of those against it the surest, else the least sure; without p the first."""
        with_verdict = [outcome for outcome in self.primary if outcome.verdict == self.verdict]
        tested = [outcome for outcome in with_verdict if outcome.p is not None]
        # A claim that is left open is told by what speaks most against it, whatever that is called.
        left_open = self.verdict in (UNSURE, UNDECIDABLE)
        candidates = [outcome for outcome in self.primary if outcome.p is not None] if left_open else tested
        against = [outcome for outcome in candidates if not _as_claimed(outcome)]
        if against:
            return min(against, key=lambda outcome: outcome.p or 0.0)
        return max(tested, key=lambda outcome: outcome.p or 0.0, default=with_verdict[0])

    @property
    def not_converged(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(run for outcome in self.primary for run in outcome.not_converged))

    @property
    def judgement(self) -> str:
        """The verdict with what belongs to it: how much, what fails of several, and a dagger."""
        if len(self.primary) == 1:
            words = self.first.judgement
        else:
            beside = self._sized or "; ".join(filter(None, (self._which, self._open)))
            verdict = read(self.verdict)
            if self.verdict == REVERSED and self._which:
                verdict += f" {IN_PART}"
            words = f"{verdict} ({beside})" if beside else self.deciding.judgement
        return f"{words} {DAGGER}" if self.not_converged else words

    @property
    def _sized(self) -> str:
        """How much it is beside the paper's, and in what, where comparisons differ in it; "" if it does not hold."""
        known = [outcome for outcome in self.primary if outcome.size]
        due = [outcome for outcome in known if outcome.size == self.size]
        return f"{self.size}: {self._names(due)}" if self.size and len(due) < len(known) else self.size

    @property
    def _open(self) -> str:
        """Of several primary comparisons that leave the claim open: what each lacks if all do, and what was found
        against it; if nothing was, what the deciding one could have found, where that is one metric of several."""
        if self.verdict not in (UNSURE, UNDECIDABLE):
            return ""
        outcomes = self.primary
        against = [outcome for outcome in outcomes if outcome.found_alone and not _as_claimed(outcome)]
        if against:
            surest = min(against, key=lambda outcome: outcome.p or 0.0)
            number = f"{len(against)} of {len(outcomes)} against it if taken alone"
            words = f"{number}, the surest p {surest.p:.3f}, but q {surest.shown_q}"
            registered = self.first.evidence.registered
            all_lack = registered is not None and {outcome.verdict for outcome in outcomes} == {UNDECIDABLE}
            return f"{registered.lacks}; {words}" if registered is not None and all_lack else words
        deciding = self.deciding
        metrics = {outcome.metric for outcome in outcomes}
        alike = {outcome.verdict for outcome in outcomes} == {UNSURE}
        if not alike or len(metrics) == 1 or deciding.excused or deciding.found_alone or deciding.detectable is None:
            return ""
        return f"could have found {deciding.number(deciding.detectable)} {deciding.metric}"

    @property
    def _which(self) -> str:
        """Which of several primary comparisons have the claim's verdict, shortly: "CIDEr, BLEU-1; beam", "METEOR
        against SLL; beam", "against SLL, SLL-ME", "all but ROUGE-L; beam"; "" if all have."""
        due = [outcome for outcome in self.primary if outcome.verdict == self.verdict]
        rest = [outcome for outcome in self.primary if outcome.verdict != self.verdict]
        if not rest:
            return ""
        if len(rest) == 1 and len(due) > 2:
            return f"all but {self._names(rest)}"
        return self._names(due)

    def _names(self, outcomes: Sequence[Outcome]) -> str:
        """What tells some of the primary comparisons from the others."""
        metrics = dict[str, list[str]]()  # between which sides -> of which metrics
        for outcome in outcomes:
            metrics.setdefault(between(outcome, self.primary), []).append(outcome.metric)
        if len({outcome.metric for outcome in self.primary}) == 1:
            first, *others = metrics
            named = ", ".join([first, *(sides.removeprefix("by ").removeprefix("against ") for sides in others)])
            # Comparisons with the same sides differ in their decoders.
            return named or ", ".join(dict.fromkeys(outcome.evidence.decoder for outcome in outcomes))
        parts = [f"{', '.join(names)} {sides}".rstrip() for sides, names in metrics.items()]
        return "; ".join([*parts, outcomes[0].evidence.decoder])


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


def between(outcome: Outcome, others: Sequence[Outcome]) -> str:
    """Which sides a comparison of a claim has, where its others have different ones: "by A against B"."""
    evidence = outcome.evidence
    left, right, *_ = [side.label for side in evidence.sides] or [evidence.left, evidence.right]
    parts = []
    if len({other.evidence.left for other in others}) > 1:
        parts.append(f"by {left}")
    if len({other.evidence.right for other in others}) > 1:
        parts.append(f"against {right}")
    return " ".join(parts)


def side_labels(evidence: Evidence) -> tuple[str, str]:
    """What the sides are called."""
    names = [side.label for side in evidence.sides] or [
        name for name in (evidence.left, evidence.right, evidence.base) if name
    ]
    left, right, *base = names
    return (f"{left} - {base[0]}", f"{base[0]} - {right}") if base else (left, right)


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
    spread = spread_of(evidence)
    reach = float(spread.reach())
    outcome = replace(outcome, low=difference - reach, high=difference + reach)
    if evidence.level == "detail" or evidence.untestable or _too_few(evidence):
        return outcome
    return replace(outcome, p=float(spread.p_value(difference - _null(evidence))), detectable=float(spread.detectable))


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
    covariance = _covariance(given)[np.ix_(kept, kept)]
    rows = tuple(tuple(row[: index + 1]) for index, row in enumerate(covariance.tolist()))
    return given.model_copy(update={"sides": tuple(sides), "covariance": rows})


def spread_of(evidence: Evidence) -> Spread:
    """How far a comparison's difference may be from the true one."""
    values = np.array([number for side in evidence.sides for number in side.values])
    seeds = [side.seeds for side in evidence.sides]
    return statistics.spread(values, _covariance(evidence), seeds, evidence.weights, evidence.items, evidence.paired)


def _covariance(evidence: Evidence) -> Floats:
    """The whole matrix [rows, rows] of its triangle."""
    covariance = np.zeros((len(evidence.covariance), len(evidence.covariance)))
    for row, numbers in enumerate(evidence.covariance):
        covariance[row, : row + 1] = covariance[: row + 1, row] = numbers
    return covariance


def _same(evidence: Evidence) -> str:
    """Why a comparison of a run with itself bears no test: its difference is 0 without any spread. Two runs are the
    same where both keep the weights that they start from. "" where the sides differ."""
    left, right = evidence.sides[:2]
    if evidence.base or not left.by_seed or left.by_seed != right.by_seed:
        return ""
    covariance, number = _covariance(evidence), len(left.values)
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
    against = [value for outcome, value in zip(primary, known, strict=True) if not _as_claimed(outcome)]
    return min(against) if against else max(known)


def rising(side: Side) -> tuple[str, ...]:
    """The runs of a side that have not converged: they gained a point or more, and with every seed or nearly so."""
    return tuple(
        run for run, gain in side.gained.items() if gain.points >= RISING and gain.points > (gain.reach or 0.0)
    )


def lagging(evidence: Evidence) -> Side:
    """The side that would have to rise for the claim to hold: the one that is claimed to be better or, where neither is
    better, higher."""
    return evidence.sides[0 if evidence.sign * (evidence.better or 1) > 0 else 1]


def _rise(side: Side) -> float:
    """What a side would gain if its runs' curve rose once more as it did, in the printed scale: as large a share of its
    value as of its curve. 0 of a side that does not rise."""
    shares = [gain.points / gain.level for gain in side.gained.values() if gain.level > 0]
    return max(0.0, *shares) * abs(side.value) if shares else 0.0


def _excused(outcome: Outcome, verdict: str) -> bool:
    """Whether the side that lags was still rising so much that the same again, beyond what the other side gained, would
    undo the verdict."""
    evidence = outcome.evidence
    # Only what a claim measures may excuse it.
    if verdict not in (REVERSED, LESS) or not validated_by(evidence.metric) or not rising(lagging(evidence)):
        return False
    lags = lagging(evidence)
    other = next(side for side in evidence.sides[:2] if side is not lags)
    if verdict == REVERSED:
        lacking = abs((outcome.difference or 0.0) - _null(evidence))
    else:
        end = outcome.high if evidence.sign > 0 else outcome.low
        lacking = abs((outcome.expected or 0.0) - (end or 0.0))
    return _rise(lags) - _rise(other) >= lacking


def _p_of_several(outcome: Outcome, number: int) -> float | None:
    """Of a comparison of a claim that has several: against the claim, any of them may be so by chance."""
    if outcome.p is None or _as_claimed(outcome):
        return outcome.p
    return min(1.0, number * outcome.p)


def _too_few(evidence: Evidence) -> bool:
    return any(0 < len(side.by_seed) < LEAST_SEEDS for side in evidence.sides)


def _undecidable(evidence: Evidence) -> bool:
    return evidence.registered is not None and evidence.registered.needs is not None


def _null(evidence: Evidence) -> float:
    """The difference that p is of."""
    if evidence.rule == "difference":
        return 0.0
    return -evidence.sign * evidence.margin * abs(evidence.sides[1].value)


def _as_claimed(outcome: Outcome) -> bool:
    return outcome.evidence.sign * ((outcome.difference or 0.0) - _null(outcome.evidence)) > 0


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
    excused = _excused(tested, verdict)
    size = _size(tested) if verdict == HOLDS else ""
    return replace(tested, verdict=UNSURE if excused else verdict, size=size, excused=excused)


def _verdict(outcome: Outcome) -> str:
    evidence = outcome.evidence
    if evidence.absent:
        return NOT_RUN
    if evidence.untestable or not evidence.covariance:
        return UNTESTABLE
    if _too_few(evidence):
        return FEW_SEEDS
    if outcome.q is not None and outcome.q < SIGNIFICANCE:
        return HOLDS if _as_claimed(outcome) else REVERSED
    expected = outcome.expected
    if evidence.rule == "difference" and expected is not None and outcome.low is not None and outcome.high is not None:
        beyond = expected > outcome.high if evidence.sign > 0 else expected < outcome.low
        if outcome.low <= 0 <= outcome.high and beyond:
            return LESS
    # What was found anyhow stands. Only what was not is explained by what was too little to find it.
    return UNDECIDABLE if _undecidable(evidence) else UNSURE


def _size(outcome: Outcome) -> str:
    expected = outcome.expected
    if outcome.evidence.rule != "difference" or expected is None or outcome.low is None or outcome.high is None:
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


def in_words(counts: Mapping[str, int], what: str = "claim", whats: str = "") -> str:
    """Of a number of claims by verdict: "of 3 claims, 1 holds, 2 were not run"; `whats` is the plural of `what`."""
    each = ", ".join(f"{n} {words[n > 1]}" for verdict, words in COUNTED.items() if (n := counts.get(verdict, 0)))
    total = sum(counts.values())
    name = what if total == 1 else whats or f"{what}s"
    return f"of {total} {name}, {each or 'none has a verdict'}"
