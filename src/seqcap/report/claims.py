"""A paper's claims: what each compares, the evidence on it in a paper's results, and a table of the verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal, Protocol

from seqcap.config.report import ReportedRun
from seqcap.metrics import registry
from seqcap.metrics.registry import Direction
from seqcap.report import statistics, verdicts
from seqcap.report.evidence import MARGIN, Changed, Evidence, Registered, Rule, Side
from seqcap.report.inputs import Results
from seqcap.report.markdown import markdown_table
from seqcap.report.paper import Captions
from seqcap.report.published import Printed
from seqcap.report.statistics import Contrast, Missing, Number
from seqcap.report.verdicts import DAGGER, LESS, REVERSED, UNSURE, Judgement, Outcome
from seqcap.tasks import KINDS

# Metrics whose printed differences are carried over in proportion to the right side's level; others as printed.
_PROPORTIONAL = ("CIDEr", "BLEU", "METEOR", "ROUGE_L", "SPICE", "SPIDEr_sum", "words")
_BETTER: Mapping[Direction, Literal[1, -1, 0]] = {"higher": 1, "lower": -1, "": 0}
_DIGITS = 8  # of numbers in a record
_READING = (
    "What makes a comparison the primary one; then, where a claim does not hold, what explains it. "
    f"{DAGGER}: what a run gained on val in the last quarter of its updates, in points of CIDEr, BLEU or R@10, "
    "whichever gained most:"
)


class Source(Protocol):
    """Where a side's number comes from if it is more than a run's score: say, a method where it reaches a quality."""

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs that the number is made from."""

    def number(self, results: Results) -> Number | Missing:
        """The number, or why there is none."""


@dataclass(frozen=True)
class Claim:
    """One comparison of a claim: left is higher (direction +1) or lower (-1) than right."""

    id: str  # of the claim; its comparisons share it
    text: str  # the paper's sentence
    metric: str
    decoder: str
    captions: Captions
    left: str  # a run; with `sources`, what the side is called
    right: str  # the same
    direction: int
    printed: Printed | None = None  # the paper's numbers; None where it has none
    base: str | None = None  # if given: left is further above `base` than `base` is above right
    untestable: str = ""  # why this run cannot test it, whatever its numbers are
    sources: tuple[Source, Source] | None = None  # of the sides, where they are no two runs
    of: str = ""  # with `sources`, words that follow the metric, as "at equal CIDEr"
    phrase: str = ""  # what is compared, where the metric's label says too little
    primary: bool = True  # whether it decides the claim; else it is a detail of one
    rule: Rule = "difference"
    margin: float = MARGIN
    control: bool = False  # whether it is a question of ours, which the paper does not claim
    why: str = ""  # why it is the primary one
    explained: str = ""  # why the claim does not hold, or what was tried
    registered: Registered | None = None
    changed: Changed | None = None

    @property
    def sides(self) -> list[tuple[str, ...]]:
        """The runs of each side."""
        if self.sources is not None:
            return [source.runs for source in self.sources]
        return [(name,) for name in (self.left, self.right, self.base) if name]

    @property
    def names(self) -> list[str]:
        return [name for side in self.sides for name in side]

    def scale(self, results: Results) -> float:
        """The factor from the metric to the scale of the paper's numbers, whether it prints this one or not."""
        return self.printed.scale if self.printed else results.paper.published.scale(self.metric)

    def words(self, results: Results) -> str:
        run = self.run_in(results)
        text = results.fill(self.text, run.evaluation if run else "")
        return f"Control: {text}" if self.control else text

    def what(self, results: Results) -> str:
        metric, run = registry.find(self.metric).label, self.run_in(results)
        evaluation = run.evaluation if run else ""
        kinds = [results.kind(run.task)] if run else [kind for kind in KINDS.values() if kind.quality == self.metric]
        caption = kinds[0].caption if kinds else "caption"
        if self.phrase:
            return self.phrase.format(caption=caption)
        if self.sources is not None:
            return f"{metric} {self.of}"
        if self.decoder == "sample":
            return f"{metric} of {results.samples(evaluation)} samples"
        if self.captions != "best":
            return f"{metric} of the beam's {results.beam(evaluation)}"
        return f"{metric} of the {'best beam' if self.decoder == 'beam' else self.decoder} {caption}"

    def run_in(self, results: Results) -> ReportedRun | None:
        """The first of its runs that is in the results."""
        return next((results.by_name[name] for name in self.names if name in results.by_name), None)


@dataclass(frozen=True)
class Comparison:
    """One comparison of a claim, and its outcome."""

    claim: Claim
    outcome: Outcome

    def record(self) -> dict[str, Any]:
        """Its evidence as plain data: `Evidence.model_validate` reads it."""
        return self.outcome.evidence.model_dump(mode="json")


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with all its comparisons."""

    comparisons: tuple[Comparison, ...]
    judged: Judgement

    @property
    def claim(self) -> Claim:
        return self.comparisons[0].claim

    @property
    def explained(self) -> str:
        """Why the claim does not hold, or what was tried, if claims.yaml says so."""
        return self.claim.explained if self.judged.verdict in (REVERSED, LESS, UNSURE) else ""


def evidence(claim: Claim, results: Results) -> Evidence:
    """The numbers of a claim's sides, and what the paper says, in the printed scale."""
    printed = claim.printed
    stated = Evidence(
        paper=results.paper.name,
        claim=claim.id,
        sentence=claim.words(results),
        control=claim.control,
        level="primary" if claim.primary else "detail",
        rule=claim.rule,
        margin=claim.margin,
        sign=1 if claim.direction > 0 else -1,
        better=_BETTER[registry.find(claim.metric).direction],
        metric=claim.metric,
        decoder=claim.decoder,
        left=claim.left,
        right=claim.right,
        base=claim.base or "",
        what=claim.what(results),
        decimals=registry.find(claim.metric).digits(claim.scale(results)),
        printed=tuple(printed.values) if printed else (),
        printed_decimals=printed.decimals if printed else 0,
        proportional=claim.metric.startswith(_PROPORTIONAL),
        untestable=claim.untestable,
        registered=claim.registered,
        changed=claim.changed,
    )
    numbers = _numbers(claim, results)
    missing = next((number for number in numbers if isinstance(number, Missing)), None)
    if missing is not None:
        reason = claim.untestable or missing.reason
        return stated.model_copy(update={"untestable": reason, "absent": missing.absent})
    there = tuple(number for number in numbers if isinstance(number, Number))
    return stated.model_copy(
        update=_measured(claim, results, Contrast(there, stated.weights, results.share_start(claim.sides)))
    )


def run_claims(claims: Sequence[Claim], results: Results) -> list[JudgedClaim]:
    """The claims with their outcomes and verdicts."""
    judged = verdicts.judge([evidence(claim, results) for claim in claims])
    of_claims = [tuple(of) for _, of in groupby(claims, key=lambda claim: claim.id)]
    return [
        JudgedClaim(tuple(map(Comparison, of_claim, judgement.outcomes)), judgement)
        for of_claim, judgement in zip(of_claims, judged, strict=True)
    ]


def _numbers(claim: Claim, results: Results) -> list[Number | Missing]:
    if claim.sources is not None:
        return [source.number(results) for source in claim.sources]
    samples = results.matched(claim.names, claim.decoder, claim.metric, claim.captions)
    return [samples] if isinstance(samples, Missing) else [Number.of(sample) for sample in samples]


def _measured(claim: Claim, results: Results, of: Contrast) -> dict[str, Any]:
    """The fields of a comparison's `Evidence` that its numbers give."""
    scale = claim.scale(results)
    names = [claim.left, claim.right, *([claim.base] if claim.base else [])]
    labels = [results.by_name[name].label if name in results.by_name else name for name in names]
    sides = [
        Side(
            label=label,
            value=_short(scale * number.value),
            by_seed={seed: _short(scale * value) for seed, value in number.by_seed.items()},
            runs=its,
            gained={name: round(results.gained[name], 3) for name in its if name in results.gained},
        )
        for label, its, number in zip(labels, claim.sides, of.numbers, strict=True)
    ]
    untestable = claim.untestable or of.untestable
    found: dict[str, Any] = {"sides": tuple(sides), "paired": of.paired, "items": of.items}
    found |= {"untestable": untestable, "remarks": of.remarks}
    if of.items < 2:
        found["untestable"] = untestable or "a single test item has no spread"
    elif not of.untestable:
        covariance = scale**2 * statistics.item_covariance(of.numbers)
        found["covariance"] = tuple(
            tuple(_short(number) for number in row[: place + 1]) for place, row in enumerate(covariance.tolist())
        )
    return found


def _short(number: float) -> float:
    return float(f"{number:.{_DIGITS}g}")


def claims_table(judged: Sequence[JudgedClaim]) -> list[str]:
    """Markdown lines: each claim's sentence with its primary comparisons, below them the details; then, in words, why
    those are the primary ones and what explains the outcome. What has no runs is one line."""
    header = ["", "claim", "compared", "left", "right", "difference [95%]", "paper", "seeds, items", "q", "verdict"]
    matrix, words, reasons, absent = [header], list[str](), dict[str, dict[str, None]](), list[str]()
    for of in judged:
        gone = [outcome.evidence.absent for outcome in of.judged.outcomes]
        absent += [of.claim.id] * sum(gone)
        if all(gone):
            continue
        for place, outcome in enumerate(of.judged.outcomes):
            if place == 0 or not gone[place]:
                matrix.append(_row(of, outcome, first=place == 0))
                if outcome.reason:
                    reasons.setdefault(outcome.reason, {})[of.claim.id] = None
        words += _words(of)
    shared = [f"- {', '.join(ids)}: {reason}." for reason, ids in reasons.items()]
    lines = [*markdown_table(matrix), ""] if len(matrix) > 1 else []
    if words:
        lines += [_READING, ""]
    if absent:
        ids = ", ".join(dict.fromkeys(absent))
        number = sum(len(of.comparisons) for of in judged)
        shared.append(f"- Not run, for want of their runs: {len(absent)} of {number} comparisons ({ids}).")
    return [*lines, *words, *shared]


def _row(of: JudgedClaim, outcome: Outcome, *, first: bool) -> list[str]:
    claim, shown = of.claim, outcome.evidence
    row = [f'<a id="{claim.id.lower()}"></a>{claim.id}', shown.sentence] if first else ["", ""]
    verdict = outcome.judgement
    if first and len(of.judged.primary) > 1:
        verdict = f"all: {of.judged.judgement}; this: {verdict}"
    elif first:
        verdict = of.judged.judgement
    left, right = verdicts.side_labels(shown)
    paper = outcome.printed() or "–"
    if outcome.difference is None:
        return [*row, shown.what, left, right, "–", paper, "–", "–", verdict]
    numbers = [f"{left} {outcome.number(outcome.left)}", f"{right} {outcome.number(outcome.right)}", outcome.span]
    numbers += [paper, f"{outcome.seeds or '–'}, {shown.items:,}", outcome.shown_q]
    return [*row, shown.what, *numbers, verdict]


def _words(of: JudgedClaim) -> list[str]:
    """What is said of a claim below the table."""
    claim, found = of.claim, list[str]()
    if claim.why:
        found.append(claim.why)
    if claim.registered:
        stated = claim.registered
        # Of the results that it was computed from, it is of the next run.
        when = "" if of.judged.first.evidence.registered else " for the next run"
        what = f"{stated.lacks}; {stated.seeds} seeds find" if stated.lacks else f"{stated.seeds} seeds, which find"
        found.append(f"Registered on {stated.day}{when}: {what} {stated.finds:g}.")
    if claim.changed:
        found.append(f"Since {claim.changed.day}; before, {claim.changed.before} was the primary one.")
    if of.judged.not_converged:
        sides = [side for outcome in of.judged.primary for side in outcome.evidence.sides]
        gained = {name: points for side in sides for name, points in side.gained.items()}
        rising = [f"`{name}` (+{gained[name]:.1f})" for name in of.judged.not_converged]
        found.append(f"{DAGGER}: still rising: {', '.join(rising)}.")
    if of.judged.verdict == UNSURE and (needed := of.judged.first.seeds_needed):
        found.append(f"The paper's difference takes {needed} seeds to be found four times in five.")
    if of.explained:
        found.append(of.explained)
    return [f"- {claim.id}: {' '.join(found)}"] if found else []
