"""What the evidence on a claim says, and how that is written. `seqcap.report.judging` makes it."""

from collections.abc import Sequence
from dataclasses import dataclass

from seqcap.metrics import registry
from seqcap.report import statistics
from seqcap.report.evidence import Evidence
from seqcap.report.statistics import SIGNIFICANCE
from seqcap.report.verdicts import DAGGER, FEW_SEEDS, HOLDS, IN_PART, LESS, REVERSED, UNDECIDABLE, UNSURE, read

# Columns of claims.csv: a line per comparison, of each claim the primary ones first.
COLUMNS = [
    *("paper", "claim", "metric", "decoder", "left", "right", "level"),
    *("difference", "low", "high", "p", "q", "seeds", "verdict"),
    *("base", "test", "sign", "printed", "ours_left", "ours_right", "size", "detectable", "items"),
    *("control", "sentence", "what", "not_converged", "reason"),
]

_BOTH = 2  # comparisons


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
    behind: str = ""  # the side that was still rising, because of which it cannot be told

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
        return tuple(dict.fromkeys(run for side in self.evidence.sides for run in side.rising))

    @property
    def of_numbers(self) -> str:
        """Why the numbers bear no verdict, or what a reader must know of them."""
        return "; ".join(filter(None, (self.evidence.untestable, *self.evidence.remarks)))

    @property
    def reason(self) -> str:
        """The same, and what else kept the comparison from a verdict."""
        evidence = self.evidence
        reasons = [self.of_numbers]
        if self.behind:
            reasons.append(f"{self.behind}, the side behind, was still rising")
        if evidence.registered and self.verdict == UNDECIDABLE:
            reasons.append(evidence.registered.lacks)
        return "; ".join(filter(None, reasons))

    @property
    def excused(self) -> bool:
        """Whether what speaks against its claim cannot be told because of the side that was still rising."""
        return bool(self.behind) and self.behind == self.evidence.lagging.label

    @property
    def wanted(self) -> float | None:
        """How far the paper's difference is from the one that p is of; None without one."""
        return None if self.expected is None else self.expected - self.evidence.null

    @property
    def seeds_needed(self) -> int | None:
        """How many seeds would find the paper's difference four times in five; None without one, or if too many."""
        numbers = [len(side.by_seed) for side in self.evidence.sides if side.by_seed]
        if self.wanted is None or not self.evidence.covariance or min(numbers, default=0) < 2:
            return None
        return statistics.seeds_needed(self.evidence.spread, min(numbers), self.wanted)

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
        if self.behind:
            return f"{self.behind}, the side behind, was still rising"
        detectable = "" if self.detectable is None else f"could have found {self.number(self.detectable)}"
        return self._alone or detectable

    @property
    def as_claimed(self) -> bool:
        """Whether the difference has the claimed sign, or is inside the margin of "no worse"."""
        return self.evidence.sign * ((self.difference or 0.0) - self.evidence.null) > 0

    @property
    def found_alone(self) -> bool:
        """Whether it would have been decided if it were the paper's only claim."""
        return self.p is not None and self.p < SIGNIFICANCE

    @property
    def _alone(self) -> str:
        """What would have been found if it were the paper's only claim; "" if nothing."""
        if not self.found_alone:
            return ""
        way = "" if self.as_claimed else " against it"
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
        against = [outcome for outcome in candidates if not outcome.as_claimed]
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
            beside = self._sized or "; ".join(filter(None, (self._which, self._open, self._held)))
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
        against = [outcome for outcome in outcomes if outcome.found_alone and not outcome.as_claimed]
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
        if not alike or len(metrics) == 1 or deciding.behind or deciding.found_alone or deciding.detectable is None:
            return ""
        return f"could have found {deciding.number(deciding.detectable)} {deciding.metric}"

    @property
    def _held(self) -> str:
        """How many of more than two primary comparisons hold, where the claim does not; "" if none does. Of two, what
        is said of the one tells it."""
        held = sum(outcome.verdict == HOLDS for outcome in self.primary)
        several = len(self.primary) > _BOTH
        told = f"{held} of {len(self.primary)} hold{'s' * (held == 1)}"
        return told if held and several and self.verdict != HOLDS else ""

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
