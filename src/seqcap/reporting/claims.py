"""The papers' claims as data, and whether our numbers bear them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from seqcap.errors import InputError
from seqcap.metrics import registry
from seqcap.reporting import published, statistics
from seqcap.reporting.inputs import Run
from seqcap.reporting.markdown import letters, markdown_table
from seqcap.reporting.papers import Captions
from seqcap.reporting.statistics import Floats
from seqcap.reporting.verdicts import COLUMNS, FAILS, HOLDS, NOT_RUN, UNSURE
from seqcap.tasks import KINDS

SIGNIFICANCE = 0.05
SEEDS_FOR_A_CORPUS_METRIC = 3


@dataclass(frozen=True)
class Printed:
    """Where a paper prints what a claim compares: one column of a table, and a row for each side (and for the base).

    `block` is needed only where several blocks of the table have those rows.
    """

    paper: str
    table: str
    column: str
    rows: tuple[str, ...]
    block: str | None = None


@dataclass(frozen=True)
class Claim:
    """One comparison that a paper makes: left is higher (direction +1) or lower (-1) than right.

    Attributes:
        number: the claim it belongs to; a claim about several metrics is several comparisons.
        text: the claim in words, which `Run.fill` fills in.
        metric, decoder, captions: what is compared (as in the scores).
        left, right: runs.
        direction: +1 or -1.
        printed: the paper's numbers; None where it has none.
        base: where given, the claim is that left differs from `base` by more than right does.
    """

    number: str
    text: str
    metric: str
    decoder: str
    captions: Captions
    left: str
    right: str
    direction: int
    printed: Printed | None = None
    base: str | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        return self.number, self.metric, self.decoder

    @property
    def names(self) -> list[str]:
        """The runs that it needs."""
        return [self.left, self.right] + ([self.base] if self.base else [])

    @cached_property
    def _cells(self) -> list[dict[str, Any]]:
        """The published cells of `names`."""
        if self.printed is None:
            return []
        where = self.printed
        return [
            published.published_cell(where.paper, where.table, row, where.column, where.block) for row in where.rows
        ]

    @property
    def scale(self) -> float:
        """What one unit of our metric is worth in the printed scale."""
        return published.SCALES[self._cells[0]["scale"]] if self._cells else 1.0

    @property
    def decimals(self) -> int:
        return registry.find(self.metric).digits(self.scale)

    def words(self, run: Run) -> str:
        """The claim with this run's numbers of captions."""
        return run.fill(self.text, self._evaluation(run))

    def what(self, run: Run) -> str:
        """The compared quantity in words."""
        metric, evaluation = registry.find(self.metric).label, self._evaluation(run)
        if self.decoder == "sample":
            return f"{metric} of {run.samples(evaluation)} samples"
        if self.captions != "best":
            return f"{metric} of the beam's {run.beam(evaluation)}"
        return f"{metric} of the {'best beam' if self.decoder == 'beam' else self.decoder} {self._caption(run)}"

    def _evaluation(self, run: Run) -> str:
        """The evaluation that its runs are in; "" if this run has none of them."""
        return next((run.by_name[name].evaluation for name in self.names if name in run.by_name), "")

    def _caption(self, run: Run) -> str:
        """What its runs' captions are called; if this run has none of them, what those of such a metric are."""
        tasks = [run.by_name[name].task for name in self.names if name in run.by_name]
        kinds = [run.kind(task) for task in tasks] or [kind for kind in KINDS.values() if kind.quality == self.metric]
        return kinds[0].caption if kinds else "caption"

    def sides(self, labels: dict[str, str] | None = None) -> tuple[str, str]:
        """What is compared: runs, or the labels they have in `labels`."""
        left, right, *base = [(labels or {}).get(name, name) for name in self.names]
        return (f"|{left} - {base[0]}|", f"|{right} - {base[0]}|") if base else (left, right)

    def paper_difference(self) -> float | None:
        """The published difference, in the printed scale."""
        return float(_difference(np.array([cell["value"] for cell in self._cells]))) if self._cells else None

    def paper_text(self) -> str:
        """The published difference with as many decimals as the paper prints, or nothing."""
        difference = self.paper_difference()
        if difference is None:
            return ""
        decimals = max(len(cell["printed"].partition(".")[2]) for cell in self._cells)
        return f"{difference:+.{decimals}f}"


@dataclass(frozen=True)
class Result:
    """A claim's outcome. Numbers are in the paper's printed scale; `reason` says why there is no verdict."""

    claim: Claim
    verdict: str
    left: float | None = None
    right: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    agreeing: int = 0
    seeds: int = 0
    reason: str = ""

    def number(self, value: float | None, sign: str = "") -> str:
        return "" if value is None else f"{value:{sign}.{self.claim.decimals}f}"

    @property
    def span(self) -> str:
        """The difference with its interval."""
        return f"{self.number(self.difference, '+')} [{self.number(self.low, '+')}, {self.number(self.high, '+')}]"

    @property
    def agreement(self) -> str:
        """Seeds with the claimed sign, of all seeds."""
        return f"{self.agreeing}/{self.seeds}" if self.seeds else ""

    def record(self, run: Run) -> dict[str, str]:
        """Its line of claims.csv."""
        claim = self.claim
        named = [run.paper.name, f"{claim.number}: {claim.words(run)}", claim.what(run), *claim.sides()]
        numbers = [self.number(value) for value in (self.difference, self.low, self.high)]
        p = "" if self.p_value is None else f"{self.p_value:.4f}"
        return dict(zip(COLUMNS, [*named, *numbers, p, self.agreement, self.verdict], strict=True))


def _difference(values: Floats) -> Floats:
    """left - right along the last axis [.., 2], or |left - base| - |right - base| from [.., 3]."""
    if values.shape[-1] == 2:
        return np.asarray(values[..., 0] - values[..., 1])
    return np.asarray(np.abs(values[..., 0] - values[..., 2]) - np.abs(values[..., 1] - values[..., 2]))


def judge(difference: float, p: float | None, agreeing: int, opposed: int, seeds: int, direction: int) -> str:
    """The verdict, as `seqcap.reporting.verdicts` defines it.

    Args:
        difference: left minus right.
        p: the paired bootstrap's p-value, or None for a corpus metric.
        agreeing, opposed: seeds whose difference has the claimed sign, and the opposite one.
        seeds: how many there are.
        direction: the claimed sign.
    """
    if p is None:
        if seeds >= SEEDS_FOR_A_CORPUS_METRIC and seeds in (agreeing, opposed):
            return HOLDS if agreeing == seeds else FAILS
        return UNSURE
    if p < SIGNIFICANCE:
        return HOLDS if np.sign(difference) == direction else FAILS
    return UNSURE


def run_claim(claim: Claim, run: Run) -> Result:
    """Compares the claim's runs, where all are there, on the seeds they have in common.

    Raises:
        InputError: the runs were scored on different items.
    """
    names, scores = claim.names, run.scores
    for name in names:
        if name not in run.by_name:
            return Result(claim, NOT_RUN, reason=f"variant {name} is not part of this run")
    items = [scores.per_item(name, claim.decoder, claim.metric, claim.captions) for name in names]
    corpora = [scores.corpus(name, claim.decoder, claim.metric) for name in names]
    for name, item, corpus in zip(names, items, corpora, strict=True):
        if item is None and corpus is None:
            return Result(claim, NOT_RUN, reason=scores.why_missing(name, claim.decoder, claim.metric))

    p: float | None = None
    # One of each run: scores of items x seeds, or only values by seed.
    per_item = [item for item in items if item is not None]
    per_seed = [corpus for corpus in corpora if corpus is not None]
    by_items = len(per_item) == len(names)
    if not by_items and len(per_seed) < len(names):
        return Result(claim, NOT_RUN, reason=f"{claim.metric} is a corpus score for some variants only")
    if by_items and any(not item.index.equals(per_item[0].index) for item in per_item):
        raise InputError(scores.source, f"{', '.join(names)} were scored on different items", "run `dvc repro`")
    sets = [set(item.columns) for item in per_item] if by_items else [set(corpus.index) for corpus in per_seed]
    seeds = sorted(set.intersection(*sets))
    if not seeds:
        return Result(claim, NOT_RUN, reason=f"{' and '.join(names)} have no seed in common")
    if by_items:
        means = np.stack([item[seeds].mean(axis=1).to_numpy(dtype=float) for item in per_item], axis=1)
        means = means[~np.isnan(means).any(axis=1)]
        if len(means) == 0:
            unit = run.kind(run.by_name[claim.left].task).unit
            return Result(claim, NOT_RUN, reason=f"{claim.metric} is undefined for every test {unit}")
        by_seed = np.stack([item[seeds].mean(axis=0).to_numpy(dtype=float) for item in per_item], axis=1)
        resampled = _difference(statistics.resampled_means(means))
        p = statistics.p_value(resampled)
        sides = means.mean(axis=0)
        low, high = statistics.interval(resampled)
    else:
        by_seed = np.stack([corpus[seeds].to_numpy(dtype=float) for corpus in per_seed], axis=1)
        sides = by_seed.mean(axis=0)
        low, high = statistics.bootstrap_interval(_difference(by_seed))
    return _result(claim, sides, (low, high), p, _difference(by_seed))


def _result(claim: Claim, sides: Floats, span: tuple[float, float], p: float | None, by_seed: Floats) -> Result:
    """The outcome of what was measured: the sides [2 or 3], the interval of their difference, it itself by seed."""
    seeds, scale = len(by_seed), claim.scale
    agreeing = statistics.seeds_agreeing(by_seed, claim.direction)
    opposed = statistics.seeds_agreeing(by_seed, -claim.direction)
    difference = float(_difference(sides))
    too_few = p is None and seeds < SEEDS_FOR_A_CORPUS_METRIC
    if claim.base:
        sides = np.abs(sides[:2] - sides[2])
    return Result(
        claim=claim,
        verdict=judge(difference, p, agreeing, opposed, seeds, claim.direction),
        left=float(sides[0]) * scale,
        right=float(sides[1]) * scale,
        difference=difference * scale,
        low=span[0] * scale,
        high=span[1] * scale,
        p_value=p,
        agreeing=agreeing,
        seeds=seeds,
        reason=f"a corpus metric of {seeds} seed{'s' if seeds > 1 else ''}: too few for a verdict" if too_few else "",
    )


def run_claims(claims: Sequence[Claim], run: Run) -> list[Result]:
    """The outcome of every claim, in their order."""
    return [run_claim(claim, run) for claim in claims]


def claims_table(run: Run, results: Sequence[Result]) -> list[str]:
    """Lines of markdown: every comparison with both sides' numbers, the paper's difference and the verdict."""
    labels = {name: entry.label for name, entry in run.by_name.items()}
    matrix = [["", "claim", "metric", "left", "right", "difference [95%]", "p", "seeds", "paper", "verdict"]]
    reasons: dict[str, str] = {}
    for result in results:
        claim = result.claim
        left, right = claim.sides(labels)
        verdict = result.verdict
        if result.reason:
            verdict += f" ({reasons.setdefault(result.reason, letters(len(reasons)))})"
        row = [claim.number, claim.words(run), claim.what(run)]
        if result.difference is None:
            row += [left, right, "–", "–", "–"]
        else:
            row += [f"{left} {result.number(result.left)}", f"{right} {result.number(result.right)}"]
            row += [result.span, _p_text(result.p_value), result.agreement]
        matrix.append([*row, claim.paper_text() or "–", verdict])
    lines = markdown_table(matrix)
    return [*lines, "", *(f"- ({mark}) {reason}" for reason, mark in reasons.items())] if reasons else lines


def _p_text(p: float | None) -> str:
    if p is None:
        return "–"
    return "<.001" if p < 0.001 else f"{p:.3f}"
