"""What the first page needs of a paper: a few small files beside the paper's page, which its own stage writes and git
keeps. The first page reads those of every paper, so that one paper can be run and published alone."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from seqcap.errors import InputError
from seqcap.files import json_file, writing
from seqcap.metrics import registry
from seqcap.metrics.registry import Metric
from seqcap.report.evidence import Evidence
from seqcap.report.judging import judge
from seqcap.report.outcome import COLUMNS, Judgement, Outcome
from seqcap.report.verdicts import LESS, NOT_RUN, REVERSED, UNSURE, explanation

RESULTS = "results"  # the folder of these files, in the paper's
# The version of these files. Verdicts follow from them by today's rule. Those of an earlier version do not hold enough
# for that: they are shown in the words of the paper's own stage, and are not counted.
VERSION = 2

MOST = 6  # claims of a paper that are told before others
_POINTS = 100.0
_DECIMALS = 4  # of metrics that are scores or shares
_DIGITS_OF_UNITS = 2  # of words and the like, on the first page
Record = Mapping[str, Any]  # of a comparison: its evidence or, in version 1, its line of claims.csv
# Column of claims.csv -> what it was called in version 1.
_CALLED = {"level": "kind", "p": "p_value", "q": "q_value", "printed": "paper_difference", "sign": "claimed"}


# In the words for what is measured: the mean over all captions that a beam keeps, not its best one.
_OF_ALL = "of the beam's "


@dataclass(frozen=True)
class Line:
    """A comparison as the first page shows it, its numbers in points; "" and () where there is no number."""

    # What tells comparisons apart, whatever the words for them and the claim that they are part of.
    key: tuple[str, ...]
    primary: bool
    what: str
    printed: str  # the paper's difference
    difference: str
    low: str
    high: str
    verdict: str
    reason: str  # why there is no verdict, or what a reader must know
    seeds: tuple[int, ...]  # of the sides, once where they are alike
    items: int
    metric: str
    detectable: str  # the difference that such a comparison finds four times in five
    sign: int  # that is claimed of the difference
    side: int | None  # of 0 that the interval is on, before rounding: 1, -1 or, if it holds 0, 0; None without one
    q: str = ""  # of its claim; "" without one
    sides: str = ""  # "PG-BCMR against MLE"; "" in version 1
    expected: str = ""  # the paper's difference carried over to our level; "" in version 1

    @property
    def left(self) -> str:
        """The run on the left, or what the paper's rows call it."""
        return self.key[3]

    @classmethod
    def of(cls, line: Mapping[str, str]) -> Self:
        """From a line of claims.csv."""
        captions = f"{line['decoder']}, all" if _OF_ALL in line["what"] else line["decoder"]
        return cls(
            key=(line["paper"], line["metric"], captions, line["left"], line["right"], line["base"]),
            primary=line["level"] == "primary",
            what=line["what"],
            printed=line["printed"],
            difference=line["difference"],
            low=line["low"],
            high=line["high"],
            verdict=line["verdict"],
            reason=line["reason"],
            seeds=tuple(int(number) for number in line["seeds"].split(" and ") if number),
            items=int(line["items"] or 0),
            metric=registry.find(line["metric"]).label,
            detectable=line["detectable"],
            sign=int(line["sign"] or 0),
            side=_side(line["low"], line["high"]),
            q=line["q"],
        )


@dataclass(frozen=True)
class Claim:
    """A claim with its comparisons, the primary ones first."""

    id: str
    sentence: str
    explained: str  # why it does not hold, or what was tried; of one that holds, what limits it
    control: bool  # whether it is a question of ours
    verdict: str
    words: str  # the verdict with what belongs to it
    deciding: Line  # the primary comparison that the verdict is of; its `what` names both sides
    lines: tuple[Line, ...]
    about: str = ""  # of a control: the claim that it asks about, if it is one
    # Whether its comparison is against the claim, and cannot tell because the side that lags was still rising.
    excused: bool = False
    rising: tuple[str, ...] = ()  # the labels of what was still rising, of the sides of its deciding comparison
    changed: bool = False  # whether results were known when it was decided what decides it

    @property
    def primary(self) -> tuple[Line, ...]:
        return tuple(line for line in self.lines if line.primary)


@dataclass(frozen=True)
class Summary:
    """A paper's results.

    Attributes:
        said: claims.json. What the paper claims above all, and each claim with the records of its comparisons, the
            primary one first; and the runs by likelihood alone, in files of older code not.
        metrics: metrics.json. The numbers for `dvc exp show`.
        curves: curves.csv, as text.
        provenance: provenance.json. Where the results come from (`seqcap.report.provenance`).
    """

    said: Mapping[str, Any]
    metrics: Mapping[str, float]
    curves: str
    provenance: Mapping[str, Any]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Reads the results in a paper's folder; an `InputError` if a newer version of the code has written them."""
        results = folder / RESULTS
        said = json_file.read_json(results / "claims.json")
        if said["version"] > VERSION:
            problem = f"has version {said['version']}, and this code knows {VERSION}"
            raise InputError(results / "claims.json", problem, "update the code")
        return cls(
            said=said,
            metrics=json_file.read_json(results / "metrics.json"),
            curves=(results / "curves.csv").read_text(encoding="utf-8"),
            provenance=json_file.read_json(results / "provenance.json"),
        )

    def write(self, folder: Path) -> None:
        """Writes the results into a paper's folder."""
        results = folder / RESULTS
        for name in ("said", "metrics", "provenance"):
            file = "claims" if name == "said" else name
            json_file.write_json(results / f"{file}.json", getattr(self, name))
        with writing.atomic(results / "curves.csv") as path:
            path.write_text(self.curves, encoding="utf-8")

    @property
    def rule(self) -> str:
        """The commit whose rule the verdicts are of, if that is not today's; else ""."""
        return "" if self.said["version"] == VERSION else str(self.said["rule"])[:7]

    @cached_property
    def judged(self) -> Mapping[str, Judgement]:
        """Claim -> what its evidence says by today's rule; {} where there is none."""
        if self.rule:
            return {}
        return {judgement.claim: judgement for judgement in judge(self._evidence)}

    @cached_property
    def in_points(self) -> Mapping[str, Judgement]:
        """The same with all numbers in points."""
        if self.rule:
            return {}
        judgements = judge([points(evidence) for evidence in self._evidence])
        return {judgement.claim: judgement for judgement in judgements}

    @property
    def _evidence(self) -> list[Evidence]:
        return [Evidence.model_validate(record) for claim in self.said["claims"] for record in claim["records"]]

    def lines(self, claim: Mapping[str, Any]) -> list[dict[str, str]]:
        """The lines of claims.csv of a claim, an entry of `said`, in the scale that the paper prints."""
        if self.rule:
            return [_of_version_1(record) for record in claim["records"]]
        return [outcome.line() for outcome in self.judged[claim["id"]].outcomes]

    @cached_property
    def claims(self) -> Sequence[Claim]:
        """The claims with their numbers in points."""
        return [self._judged(claim) if self.in_points else self._of_version_1(claim) for claim in self.said["claims"]]

    def _judged(self, claim: Mapping[str, Any]) -> Claim:
        judged = self.in_points[claim["id"]]
        deciding = _line(judged.deciding)
        return Claim(
            id=claim["id"],
            sentence=claim["sentence"],
            explained=_explained(claim["explained"], judged.verdict),
            control=claim["control"],
            verdict=judged.verdict,
            words=judged.judgement,
            deciding=replace(deciding, what=f"{deciding.what}: {deciding.sides}"),
            lines=tuple(_line(outcome) for outcome in judged.outcomes),
            # Results of older code do not say it.
            about=claim.get("about", ""),
            excused=judged.deciding.excused,
            rising=_rising(judged.deciding.evidence),
            changed=judged.deciding.evidence.changed is not None,
        )

    def _of_version_1(self, claim: Mapping[str, Any]) -> Claim:
        lines = tuple(Line.of(_points_of_version_1(line)) for line in self.lines(claim))
        return Claim(
            id=claim["id"],
            sentence=claim["sentence"],
            explained=claim["explained"],
            control=claim["control"],
            verdict=lines[0].verdict,
            words=lines[0].verdict,
            deciding=lines[0],
            lines=lines,
        )

    def controls_of(self, claim: Claim) -> list[Claim]:
        """Our questions about one of its claims, of those that were run."""
        return [other for other in self.claims if other.about == claim.id and other.verdict != NOT_RUN]

    def measures(self, metric: str) -> bool:
        """Whether a comparison of a metric has a number."""
        return any(line.key[1] == metric and line.difference for claim in self.claims for line in claim.lines)

    def counts(self, *, control: bool) -> Counter[str]:
        """How many of the paper's claims, or of our controls, have each verdict of today's rule."""
        if self.rule:
            return Counter()
        return Counter(claim.verdict for claim in self.claims if claim.control == control)


def _line(outcome: Outcome) -> Line:
    line = Line.of(outcome.line())
    sides = " against ".join(outcome.evidence.side_labels)
    if outcome.low is None or outcome.high is None:
        return replace(line, sides=sides)
    side = (outcome.low > 0) - (outcome.high < 0)
    return replace(line, sides=sides, side=side, expected=outcome.number(outcome.expected, "+"))


def _rising(evidence: Evidence) -> tuple[str, ...]:
    labels = zip(evidence.side_labels, evidence.sides, strict=False)
    return tuple(label for label, side in labels if side.rising)


def _side(low: str, high: str) -> int | None:
    """Of 0 that an interval is on; None without one."""
    return (float(low) > 0) - (float(high) < 0) if low and high else None


def _explained(texts: Mapping[str, str] | str, verdict: str) -> str:
    """What claims.yaml says of a verdict. Results of older code have one text for every verdict that is explained."""
    if isinstance(texts, str):
        return texts if verdict in (REVERSED, LESS, UNSURE) else ""
    return explanation(texts, verdict)


def points(evidence: Evidence) -> Evidence:
    """Evidence in points, with one digit: scores and shares x100, recalls as they are. Words and other units keep their
    scale. So the first page has one scale for a quantity, whatever the papers print."""
    known = registry.find(evidence.metric)
    if known.unit or known.decimals != _DECIMALS:
        return evidence.model_copy(update={"decimals": min(evidence.decimals, _DIGITS_OF_UNITS)})
    scale = _to_points(known, evidence.decimals)
    sides = tuple(
        side.model_copy(
            update={
                "value": scale * side.value,
                "by_seed": {seed: scale * number for seed, number in side.by_seed.items()},
            }
        )
        for side in evidence.sides
    )
    digits = evidence.printed_decimals - 2 if scale == _POINTS else evidence.printed_decimals
    changed = {
        "sides": sides,
        "covariance": tuple(tuple(scale**2 * number for number in row) for row in evidence.covariance),
        "printed": tuple(scale * number for number in evidence.printed),
        "decimals": 1,
        "printed_decimals": max(digits, 0),
    }
    return evidence.model_copy(update=changed)


def _to_points(metric: Metric, decimals: int) -> float:
    """From the scale of numbers with so many decimals: those of `Metric.digits` tell them apart."""
    return _POINTS if decimals == metric.digits(1) else 1.0


def _of_version_1(record: Record) -> dict[str, str]:
    """A line of claims.csv from one of version 1, which counted the seeds that agreed: "3/3"."""
    line = {column: str(record.get(_CALLED.get(column, column), "")) for column in COLUMNS}
    return line | {"seeds": line["seeds"].partition("/")[2]}


def _points_of_version_1(line: Mapping[str, str]) -> dict[str, str]:
    """The same as `points`, of a line."""
    known = registry.find(line["metric"])
    if not line["difference"]:
        return dict(line)
    decimals = len(line["difference"].partition(".")[2])
    other = bool(known.unit) or known.decimals != _DECIMALS
    scale = 1.0 if other else _to_points(known, decimals)
    digits = min(decimals, _DIGITS_OF_UNITS) if other else 1
    # One more where an end of the interval would be printed as 0 and is not.
    digits += any(
        float(line[end]) and not round(scale * float(line[end]), digits) for end in ("low", "high") if line[end]
    )
    shown = ("difference", "low", "high", "detectable")
    numbers = {name: f"{scale * float(line[name]):z.{digits}f}" for name in shown if line[name]}
    if line["printed"]:
        digits = len(line["printed"].partition(".")[2]) - (2 if scale == _POINTS else 0)
        numbers["printed"] = f"{scale * float(line['printed']):.{max(digits, 0)}f}"
    return {**line, **numbers}


def foremost(finding: Mapping[str, Any] | None, claims: Sequence[str]) -> list[str]:
    """The claims, of some by their ids, that are told before others, at most `MOST`: those that claims.yaml names; then
    the main one, the control of that, and the next ones in their order."""
    named = finding or {}
    first = [*named.get("shown", ()), named.get("claim"), named.get("control")]
    order = dict.fromkeys([*filter(None, first), *claims])
    return [name for name in order if name in claims][:MOST]


def read_all(folder: Path, papers: Sequence[str]) -> dict[str, Summary]:
    """The results in a folder of papers; those papers that have none are left out."""
    return {paper: Summary.read(folder / paper) for paper in papers if has_results(folder / paper)}


def has_results(folder: Path) -> bool:
    """Whether a paper's folder has results."""
    return (folder / RESULTS / "claims.json").is_file()
