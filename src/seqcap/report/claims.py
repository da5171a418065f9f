"""A paper's claims as data, and whether our numbers bear them out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Protocol

import numpy as np

from seqcap.config.report import ReportedRun
from seqcap.metrics import registry
from seqcap.report import statistics
from seqcap.report.inputs import Run
from seqcap.report.markdown import markdown_table
from seqcap.report.paper import Captions
from seqcap.report.published import Printed
from seqcap.report.statistics import Drawn, Floats, Missing
from seqcap.report.verdicts import COLUMNS, FAILS, HOLDS, NOT_RUN, ONE_SEED, UNSURE, UNTESTABLE
from seqcap.tasks import KINDS

SIGNIFICANCE = 0.05


class Side(Protocol):
    """One side of a claim that compares more than two runs' scores: say, a method where it reaches a given quality."""

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs that its number is made from."""

    def drawn(self, run: Run) -> Drawn | Missing:
        """Its number, or why there is none."""


@dataclass(frozen=True)
class Made:
    """The two sides of a claim that compares no two runs; `of`: words that follow the metric, as "at equal CIDEr"."""

    sides: tuple[Side, Side]
    of: str


@dataclass(frozen=True)
class Claim:
    """One comparison of a claim: left is higher (direction +1) or lower (-1) than right."""

    id: str  # of the claim; its comparisons share it
    text: str  # the paper's sentence
    metric: str
    decoder: str
    captions: Captions
    left: str  # a run; with `made`, what the side is called
    right: str  # the same
    direction: int
    printed: Printed | None = None  # the paper's numbers; None where it has none
    base: str | None = None  # if given: left is further above `base` than `base` is above right
    untestable: str = ""  # why this run cannot test it, whatever its numbers are
    made: Made | None = None
    phrase: str = ""  # what is compared, where the metric's label says too little
    primary: bool = True  # whether it decides the claim; else it is a detail of one
    control: bool = False  # whether it is a question of ours, which the paper does not claim
    why: str = ""  # why it is the primary one
    explained: str = ""  # why the claim does not hold, or what was tried

    @property
    def names(self) -> list[str]:
        if self.made is not None:
            return [name for side in self.made.sides for name in side.runs]
        return [self.left, self.right] + ([self.base] if self.base else [])

    @property
    def scale(self) -> float:
        return self.printed.scale if self.printed else registry.find(self.metric).scale

    @property
    def decimals(self) -> int:
        return registry.find(self.metric).digits(self.scale)

    def words(self, run: Run) -> str:
        entry = self.entry(run)
        text = run.fill(self.text, entry.evaluation if entry else "")
        return f"Control: {text}" if self.control else text

    def what(self, run: Run) -> str:
        metric, entry = registry.find(self.metric).label, self.entry(run)
        evaluation = entry.evaluation if entry else ""
        kinds = [run.kind(entry.task)] if entry else [kind for kind in KINDS.values() if kind.quality == self.metric]
        caption = kinds[0].caption if kinds else "caption"
        if self.phrase:
            return self.phrase.format(caption=caption)
        if self.made is not None:
            return f"{metric} {self.made.of}"
        if self.decoder == "sample":
            return f"{metric} of {run.samples(evaluation)} samples"
        if self.captions != "best":
            return f"{metric} of the beam's {run.beam(evaluation)}"
        return f"{metric} of the {'best beam' if self.decoder == 'beam' else self.decoder} {caption}"

    def entry(self, run: Run) -> ReportedRun | None:
        """The first of its runs that is part of this run."""
        return next((run.by_name[name] for name in self.names if name in run.by_name), None)

    def sides(self, run: Run) -> tuple[str, str]:
        """What the sides are called."""
        names = [name for name in (self.left, self.right, self.base) if name]
        left, right, *base = (run.by_name[name].label if name in run.by_name else name for name in names)
        return (f"{left} - {base[0]}", f"{base[0]} - {right}") if base else (left, right)

    def paper_text(self, sign: str = "+") -> str:
        """The paper's difference; "" without one."""
        return f"{_difference(np.array(self.printed.values)):{sign}.{self.printed.decimals}f}" if self.printed else ""


@dataclass(frozen=True)
class Result:
    """A comparison's outcome, with numbers in the printed scale. A detail has no verdict, p, q or `detectable`."""

    claim: Claim
    verdict: str
    left: float | None = None
    right: float | None = None
    difference: float | None = None
    low: float | None = None  # of the 95% interval
    high: float | None = None  # of the 95% interval
    p_value: float | None = None
    q_value: float | None = None
    detectable: float | None = None  # the smallest difference that four of five such runs would find
    agreeing: int = 0  # seeds whose difference has the claimed sign
    opposed: int = 0  # seeds with the opposite sign
    seeds: int = 0
    items: int = 0  # test items
    reason: str = ""  # why there is no verdict, or what a reader must know of the numbers
    absent: bool = False  # something of it is not part of this run

    def number(self, value: float | None, sign: str = "") -> str:
        return "" if value is None else f"{value:{sign}.{self.claim.decimals}f}"

    @property
    def span(self) -> str:
        return f"{self.number(self.difference, '+')} [{self.number(self.low, '+')}, {self.number(self.high, '+')}]"

    @property
    def q(self) -> str:
        if self.q_value is None:
            return ""
        return "<.001" if self.q_value < 0.001 else f"{self.q_value:.3f}"

    @property
    def judgement(self) -> str:
        unsure = self.verdict == UNSURE
        return f"{self.verdict} (could have found {self.number(self.detectable)})" if unsure else self.verdict

    @property
    def agreement(self) -> str:
        return f"{self.agreeing}/{self.seeds}" if self.seeds else ""

    @property
    def explained(self) -> str:
        return self.claim.explained if self.verdict in (FAILS, UNSURE) else ""

    def record(self, run: Run) -> dict[str, str]:
        """Its line of claims.csv."""
        claim = self.claim
        named = [run.paper.name, claim.id, "primary" if claim.primary else "detail", claim.words(run), claim.what(run)]
        named += [claim.metric, claim.decoder, claim.left, claim.right, claim.base or "", f"{claim.direction:+d}"]
        numbers = [claim.paper_text(sign="")]
        numbers += [self.number(value) for value in (self.left, self.right, self.difference, self.low, self.high)]
        tested = ["" if value is None else f"{value:.4f}" for value in (self.p_value, self.q_value)]
        tested += [self.number(self.detectable), self.agreement, str(self.items or "")]
        return dict(zip(COLUMNS, [*named, *numbers, *tested, self.verdict, self.reason], strict=True))


def by_claim(results: Sequence[Result]) -> list[list[Result]]:
    """The comparisons of each claim, the primary one first."""
    return [list(of) for _, of in groupby(results, key=lambda result: result.claim.id)]


def _difference(values: Floats) -> Floats:
    """left - right along the last axis [.., 2], or (left - base) - (base - right) from [.., 3]."""
    left, right, *base = np.moveaxis(values, -1, 0)
    return np.asarray(left - base[0] - (base[0] - right) if base else left - right)


def judge(result: Result) -> str:
    if result.q_value is None or result.difference is None or result.q_value >= SIGNIFICANCE:
        return UNSURE
    sign = result.claim.direction * np.sign(result.difference)
    if sign > 0 and 2 * result.agreeing > result.seeds:
        return HOLDS
    return FAILS if sign < 0 and 2 * result.opposed > result.seeds else UNSURE


def measure(claim: Claim, run: Run) -> Result:
    """Compares a claim's sides, where there are all, on the seeds they have in common; the verdict is still open."""
    if claim.made is not None:
        sides = [side.drawn(run) for side in claim.made.sides]
    else:
        samples = run.paired(claim.names, claim.decoder, claim.metric, claim.captions)
        sides = [samples] if isinstance(samples, Missing) else [Drawn.of(sample) for sample in samples]
    drawn = [side for side in sides if isinstance(side, Drawn)]
    if len(drawn) < len(sides):
        missing = next(side for side in sides if isinstance(side, Missing))
        return Result(claim, NOT_RUN if missing.absent else UNTESTABLE, reason=missing.reason, absent=missing.absent)
    return _result(claim, drawn)


def _result(claim: Claim, drawn: Sequence[Drawn]) -> Result:
    scale = claim.scale
    # A side without training seeds (people) is the same with every seed.
    seeded = [side.by_seed for side in drawn if side.by_seed]
    common = sorted(set.intersection(*map(set, seeded))) if seeded else []
    if not common:
        return Result(claim, UNTESTABLE, reason=f"{claim.left} and {claim.right} have no seed in common")
    differences = _difference(np.array([[side.by_seed.get(seed, side.value) for side in drawn] for seed in common]))
    signs = claim.direction * np.sign(differences)
    resampled = _difference(np.stack([side.resampled for side in drawn], axis=1))
    if np.isnan(resampled).mean() > statistics.TOO_MANY:
        return Result(claim, UNTESTABLE, reason="most of the bootstrap's resamples lack one of the sides")
    sides = np.array([side.value for side in drawn])
    difference = float(_difference(sides))
    if claim.base:
        sides = np.array([sides[0] - sides[2], sides[2] - sides[1]])
    low, high = statistics.interval(resampled)
    found = Result(
        claim=claim,
        verdict=UNSURE if claim.primary else "",
        left=float(sides[0]) * scale,
        right=float(sides[1]) * scale,
        difference=difference * scale,
        low=low * scale,
        high=high * scale,
        agreeing=int((signs > 0).sum()),
        opposed=int((signs < 0).sum()),
        seeds=len(common),
        items=min(side.items for side in drawn),
        reason="; ".join(dict.fromkeys(remark for side in drawn for remark in side.remarks)),
    )
    if claim.untestable or not claim.primary:
        return found
    if found.seeds == 1:
        return replace(found, verdict=ONE_SEED)
    detectable = statistics.detectable(resampled) * scale
    return replace(found, p_value=statistics.p_value(resampled), detectable=detectable)


def run_claims(claims: Sequence[Claim], run: Run) -> list[Result]:
    """The outcomes, with q and a verdict for primary comparisons."""
    results = [measure(claim, run) for claim in claims]
    for place, (claim, result) in enumerate(zip(claims, results, strict=True)):
        if claim.untestable:
            verdict = UNTESTABLE if claim.primary else result.verdict
            results[place] = replace(result, verdict=verdict, reason=claim.untestable)
    tested = [place for place, result in enumerate(results) if result.p_value is not None]
    q_values = statistics.q_values([results[place].p_value or 0.0 for place in tested])
    for place, q in zip(tested, q_values, strict=True):
        adjusted = replace(results[place], q_value=q)
        results[place] = replace(adjusted, verdict=judge(adjusted))
    return results


def claims_table(run: Run, results: Sequence[Result]) -> list[str]:
    """Markdown lines: each claim's sentence with its primary comparison, below it the details; then, in words, why that
    comparison is the primary one and what explains the outcome. What has no runs is one line."""
    header = ["", "claim", "compared", "left", "right", "difference [95%]", "paper", "seeds, items", "q", "verdict"]
    matrix, words, reasons, absent = [header], list[str](), dict[str, dict[str, None]](), list[str]()
    for comparisons in by_claim(results):
        absent += [result.claim.id for result in comparisons if result.absent]
        if all(result.absent for result in comparisons):
            continue
        first = comparisons[0]
        for result in comparisons:
            if result is first or not result.absent:
                matrix.append(_row(run, result))
                if result.reason:
                    reasons.setdefault(result.reason, {})[first.claim.id] = None
        if first.claim.why:
            words.append(f"- {first.claim.id}: {' '.join(filter(None, (first.claim.why, first.explained)))}")
    shared = [f"- {', '.join(ids)}: {reason}." for reason, ids in reasons.items()]
    lines = [*markdown_table(matrix), ""] if len(matrix) > 1 else []
    if words:
        lines += ["What makes a comparison the primary one; then, where a claim does not hold, what explains it:", ""]
    if absent:
        ids = ", ".join(dict.fromkeys(absent))
        shared.append(f"- Not run, for want of their variants: {len(absent)} of {len(results)} comparisons ({ids}).")
    return [*lines, *words, *shared]


def _row(run: Run, result: Result) -> list[str]:
    claim, (left, right) = result.claim, result.claim.sides(run)
    row = [f'<a id="{claim.id.lower()}"></a>{claim.id}', claim.words(run)] if claim.primary else ["", ""]
    if result.difference is None:
        return [*row, claim.what(run), left, right, "–", claim.paper_text() or "–", "–", "–", result.verdict]
    numbers = [f"{left} {result.number(result.left)}", f"{right} {result.number(result.right)}", result.span]
    numbers += [claim.paper_text() or "–", f"{result.agreement}, {result.items:,}", result.q]
    return [*row, claim.what(run), *numbers, result.judgement]
