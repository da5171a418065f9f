"""A paper's claims: what each compares, the evidence on it in a paper's results, and a table of the verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from seqcap.metrics import registry
from seqcap.metrics.registry import Direction
from seqcap.report import convergence, judging, statistics, verdicts
from seqcap.report.evidence import MARGIN, Changed, Evidence, Gain, Registered, Rule, Side
from seqcap.report.inputs import Results
from seqcap.report.markdown import markdown_table
from seqcap.report.outcome import Judgement, Outcome
from seqcap.report.paper import Captions
from seqcap.report.published import Printed
from seqcap.report.reported import ReportedRun
from seqcap.report.statistics import SIGNIFICANCE, Contrast, Missing, Number
from seqcap.report.verdicts import DAGGER, UNSURE
from seqcap.tasks import KINDS

# Metrics whose printed differences are carried over in proportion to the right side's level; others as printed.
_PROPORTIONAL = ("CIDEr", "BLEU", "METEOR", "ROUGE_L", "SPICE", "SPIDEr_sum", "words")
_BETTER: Mapping[Direction, Literal[1, -1, 0]] = {"higher": 1, "lower": -1, "": 0}
_DIGITS = 8  # of numbers in a record
_READING = "What makes a comparison the primary one; then, where a claim does not hold, what explains it:"
_RISING = (
    f"{DAGGER}: a run of the claim was still rising, by what the claim measures: on val, R@10 of claims of recall and "
    "CIDEr or BLEU of claims of quality; the training reward of claims on the CIDEr of samples. Where a run has no "
    "such curve, by the one of val that rose most; so it is of other claims (diversity, truth), where it excuses "
    "nothing. Points gained from the third quarter of the updates, or the last validation before it, to the last: "
    "{runs}."
)


_EDGE = 0.01  # of q, on either side of its level
_NEAR = (
    "q is from .04 to .06, which a claim more or fewer among those that it is corrected for may put on the other side "
    "of .05, of {claims}."
)


class Source(Protocol):
    """Where a side's number comes from if it is more than a run's score: say, a method where it reaches a quality."""

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs that the number may be made from."""

    def read_from(self, results: Results) -> tuple[str, ...]:
        """The runs that it is made from: of a curve those beside the point where it is read."""

    def number(self, results: Results) -> Number | Missing:
        """The number, or why there is none."""


@dataclass(frozen=True)
class Comparison:
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
    where: str = ""  # with `sources`, words that follow the metric, as "at equal CIDEr"
    phrase: str = ""  # what is compared, where the metric's label says too little
    primary: bool = True  # whether it decides the claim; else it is a detail of one
    rule: Rule = "difference"
    margin: float = MARGIN
    control: bool = False  # whether it is a question of ours, which the paper does not claim
    about: str = ""  # of a control: the claim that it asks about, if it is one
    why: str = ""  # why it is the primary one
    explained: Mapping[str, str] = field(default_factory=dict)  # verdict -> why, what limits it, or what was tried
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
            return f"{metric} {self.where}"
        if self.decoder == "sample":
            return f"{metric} of {results.samples(evaluation)} samples"
        if self.captions != "best":
            return f"{metric} of the beam's {results.beam(evaluation)}"
        return f"{metric} of the {'best beam' if self.decoder == 'beam' else self.decoder} {caption}"

    def run_in(self, results: Results) -> ReportedRun | None:
        """The first of its runs that is in the results."""
        return next((results.by_name[name] for name in self.names if name in results.by_name), None)


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with all its comparisons."""

    claim: Comparison  # its first comparison, which has what they share
    judged: Judgement

    @property
    def explained(self) -> str:
        """Why the claim does not hold, or what was tried, if claims.yaml says so of this verdict."""
        return verdicts.explanation(self.claim.explained, self.judged.verdict)


def evidence(claim: Comparison, results: Results) -> Evidence:
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
    known = tuple(number for number in numbers if isinstance(number, Number))
    return stated.model_copy(
        update=_measured(claim, results, Contrast(known, stated.weights, results.share_start(claim.sides)))
    )


def run_claims(claims: Sequence[Comparison], results: Results) -> list[JudgedClaim]:
    """The claims with their outcomes and verdicts."""
    judged = judging.judge([evidence(claim, results) for claim in claims])
    firsts = {claim.id: claim for claim in reversed(claims)}
    return [JudgedClaim(firsts[judgement.claim], judgement) for judgement in judged]


def _numbers(claim: Comparison, results: Results) -> list[Number | Missing]:
    if claim.sources is not None:
        return [source.number(results) for source in claim.sources]
    samples = results.matched(claim.names, claim.decoder, claim.metric, claim.captions)
    return [samples] if isinstance(samples, Missing) else [Number.of(sample) for sample in samples]


def _measured(claim: Comparison, results: Results, contrast: Contrast) -> dict[str, Any]:
    """The fields of a comparison's `Evidence` that its numbers give."""
    scale = claim.scale(results)
    names = [claim.left, claim.right, *([claim.base] if claim.base else [])]
    read_from = [source.read_from(results) for source in claim.sources] if claim.sources else claim.sides
    labels = [results.by_name[name].label if name in results.by_name else name for name in names]
    sides = [
        Side(
            label=label,
            value=_short(scale * number.value),
            by_seed={seed: _short(scale * value) for seed, value in number.by_seed.items()},
            runs=runs,
            gained=_gained(claim, beside, results),
        )
        for label, runs, beside, number in zip(labels, claim.sides, read_from, contrast.numbers, strict=True)
    ]
    untestable = claim.untestable or contrast.untestable
    fields: dict[str, Any] = {"sides": tuple(sides), "paired": contrast.paired, "items": contrast.items}
    fields |= {"untestable": untestable, "remarks": contrast.remarks}
    if contrast.items < 2:
        fields["untestable"] = untestable or "a single test item has no spread"
    elif not contrast.untestable:
        covariance = scale**2 * statistics.item_covariance(contrast.numbers)
        fields["covariance"] = tuple(
            tuple(_short(number) for number in row[: index + 1]) for index, row in enumerate(covariance.tolist())
        )
    return fields


def _gained(claim: Comparison, runs: Sequence[str], results: Results) -> dict[str, Gain]:
    """Run -> what it gained at the end, in what the claim measures."""
    gained = {}
    for name in runs:
        if name in results.gained:
            # Greedy captions on val say little of samples. A reward that is CIDEr is that of samples.
            sampled = claim.decoder == "sample" and claim.metric == "CIDEr" and results.by_name[name].reward == "cider"
            gain = convergence.gained_in(claim.metric, results.gained[name], sampled)
            rounded = {"points": round(gain.points, 3), "level": round(gain.level, 3)}
            gained[name] = gain.model_copy(update=rounded)
    return gained


def _short(number: float) -> float:
    return float(f"{number:.{_DIGITS}g}")


_HEADER = ["", "claim", "compared", "left", "right", "difference [95%]", "paper (at our level)", "seeds, items"]


def claims_table(judged: Sequence[JudgedClaim], *, planned: bool = True) -> list[str]:
    """Markdown lines: each claim's sentence with its primary comparisons; which runs were still rising; then, in words,
    why those comparisons are the primary ones and what explains the outcome. What has no runs is one line.

    `planned`: whether results like these are what the next run's seeds are computed from. Of others, photographs', how
    many seeds the paper's difference takes is not said."""
    matrix = [[*_HEADER, "q", "verdict"]]
    words = list[str]()
    absent = list[str]()
    for judged_claim in judged:
        absent += [judged_claim.claim.id for outcome in judged_claim.judged.outcomes if outcome.evidence.absent]
        if all(outcome.evidence.absent for outcome in judged_claim.judged.outcomes):
            continue
        primary = judged_claim.judged.primary
        # That the others were not run stands below the table.
        for index, outcome in enumerate([each for each in primary if not each.evidence.absent] or primary[:1]):
            first = index == 0
            name = f'<a id="{judged_claim.claim.id.lower()}"></a>{judged_claim.claim.id}' if first else ""
            sentence = outcome.evidence.sentence if first else ""
            verdict = _verdict(judged_claim.judged, outcome) if first else outcome.judgement
            matrix.append([name, sentence, *_numbers_of(outcome), outcome.shown_q or "–", verdict])
        words += _words(judged_claim, planned=planned)
    shared = _reasons([outcome for judged_claim in judged for outcome in judged_claim.judged.primary])
    lines = [*markdown_table(matrix), ""] if len(matrix) > 1 else []
    if rising := _rising(judged):
        lines += [_RISING.format(runs=", ".join(rising)), ""]
    if near := _near(judged):
        lines += [_NEAR.format(claims=", ".join(near)), ""]
    if words:
        lines += [_READING, ""]
    if absent:
        ids = ", ".join(dict.fromkeys(absent))
        number = sum(len(judged_claim.judged.outcomes) for judged_claim in judged)
        shared.append(f"- Not run, for want of their runs: {len(absent)} of {number} comparisons ({ids}).")
    return [*lines, *words, *shared]


def details_table(judged: Sequence[JudgedClaim]) -> list[str]:
    """Markdown lines: the comparisons that decide no claim, and what a reader must know of them; [] without any."""
    matrix = [_HEADER]
    shown = list[Outcome]()
    for judged_claim in judged:
        details = [
            outcome
            for outcome in judged_claim.judged.outcomes[len(judged_claim.judged.primary) :]
            if not outcome.evidence.absent
        ]
        for index, outcome in enumerate(details):
            first = index == 0
            name = judged_claim.claim.id if first else ""
            sentence = outcome.evidence.sentence if first else ""
            matrix.append([name, sentence, *_numbers_of(outcome)])
        shown += details
    return [*markdown_table(matrix), "", *_reasons(shown)] if shown else []


def _reasons(outcomes: Sequence[Outcome]) -> list[str]:
    """A line for each thing that a reader must know of some numbers."""
    claims = dict[str, dict[str, None]]()  # reason -> its claims, each once
    for outcome in outcomes:
        if outcome.of_numbers and not outcome.evidence.absent:
            claims.setdefault(outcome.of_numbers, {})[outcome.evidence.claim] = None
    return [f"- {', '.join(ids)}: {reason}." for reason, ids in claims.items()]


def _rising(judged: Sequence[JudgedClaim]) -> list[str]:
    """The runs of primary comparisons that had not converged, each with what it gained in what."""
    runs = dict[str, None]()
    for outcome in (outcome for judged_claim in judged for outcome in judged_claim.judged.primary):
        for side in outcome.evidence.sides:
            for run in side.rising:
                measure = _measure(outcome.evidence.metric, side.gained[run])
                runs[f"`{run}` {side.gained[run].points:+.1f} ({measure})"] = None
    return list(runs)


def _near(judged: Sequence[JudgedClaim]) -> list[str]:
    """The claims, controls among them, with a deciding q so near to the level that another number of claims would put
    it on the other side."""
    outcomes = [outcome for judged_claim in judged for outcome in judged_claim.judged.primary]
    return list(
        dict.fromkeys(of.evidence.claim for of in outcomes if of.q is not None and abs(of.q - SIGNIFICANCE) <= _EDGE)
    )


def _measure(metric: str, gain: Gain) -> str:
    """What the curve that rose measures; of a metric without a curve of its kind, that it excuses nothing."""
    kind = convergence.validated_by(metric)
    return (gain.measure or kind) if kind else "other claims"


def _numbers_of(outcome: Outcome) -> list[str]:
    """What is compared, both sides, the difference, the paper's, carried over to our level where that is another, and
    how many seeds and items they are of."""
    shown = outcome.evidence
    left, right = shown.side_labels
    paper = outcome.printed() or "–"
    if outcome.expected is not None and shown.proportional:
        paper += f" ({outcome.number(outcome.expected, '+')})"
    if outcome.difference is None:
        return [shown.what, left, right, "–", paper, "–"]
    sides = [f"{left} {outcome.number(outcome.left)}", f"{right} {outcome.number(outcome.right)}"]
    return [shown.what, *sides, outcome.span, paper, f"{outcome.seeds or '–'}, {shown.items:,}"]


def _verdict(judged: Judgement, first: Outcome) -> str:
    """That of a claim, and of its first comparison if that has another one."""
    if len(judged.primary) == 1:
        return judged.judgement
    own = first.judgement
    return f"all: {judged.judgement}" if own in judged.judgement else f"all: {judged.judgement}; this: {own}"


def _by_greedy(judged: Judgement) -> list[str]:
    """What is left of the difference that decides a claim where no beam is searched; [] where that was not compared."""
    deciding = judged.deciding.evidence
    runs = [side.runs for side in deciding.sides]
    for outcome in judged.outcomes:
        evidence = outcome.evidence
        alike = (evidence.metric, [side.runs for side in evidence.sides]) == (deciding.metric, runs)
        if alike and evidence.decoder == "greedy" != deciding.decoder and outcome.difference is not None:
            return [f"By greedy decoding the difference is {outcome.span}."]
    return []


def _words(judged_claim: JudgedClaim, *, planned: bool) -> list[str]:
    """What is said of a claim below the table."""
    claim = judged_claim.claim
    sentences = list[str]()
    if claim.why:
        sentences.append(claim.why)
    if claim.registered:
        stated = claim.registered
        # Of the results that it was computed from, it is of the next run.
        when = "" if judged_claim.judged.first.evidence.registered else " for the next run"
        what = f"{stated.lacks}; {stated.seeds} seeds find" if stated.lacks else f"{stated.seeds} seeds, which find"
        ran = "" if when else judged_claim.judged.first.seeds
        others = f"; it was run with {ran}" if ran not in ("", str(stated.seeds)) else ""
        sentences.append(f"Registered on {stated.day}{when}: {what} {stated.finds:g}{others}.")
    if claim.changed:
        sentences.append(f"Since {claim.changed.day}; before, {claim.changed.before} was the primary one.")
    if (
        planned
        and judged_claim.judged.verdict == UNSURE
        and not claim.registered
        and (needed := judged_claim.judged.first.seeds_needed)
    ):
        sentences.append(f"The paper's difference takes {needed} seeds to be found four times in five.")
    if judged_claim.explained:
        sentences += [judged_claim.explained, *_by_greedy(judged_claim.judged)]
    return [f"- {claim.id}: {' '.join(sentences)}"] if sentences else []
