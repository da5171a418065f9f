"""The papers' claims as data, and whether our numbers bear them out.

Verdicts, for a claim "left is higher (or lower) than right":

- **holds**: the difference has the claimed sign, with p < .05 in the paired bootstrap over test images (scores
  of several seeds averaged per image). A corpus metric (BLEU, mBLEU) has no score per image: it holds when the
  difference has the claimed sign in every seed, and there are at least three.
- **does not hold**: the same, with the opposite sign.
- **not significant**: neither.
- **not run**: a number is missing; claims.md says why.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from seqcap import artifacts
from seqcap.errors import InputError
from seqcap.reporting import published, statistics
from seqcap.reporting.inputs import REPORTS, Captions, Run, Scores
from seqcap.reporting.statistics import Floats
from seqcap.reporting.tables import letters, markdown_table

COLUMNS = ["paper", "claim", "metric", "left", "right", "difference", "low", "high", "p_value", "seeds", "verdict"]
HOLDS, FAILS, UNSURE, NOT_RUN = ("holds", "does not hold", "not significant", "not run")

SIGNIFICANCE = 0.05
SEEDS_FOR_A_CORPUS_METRIC = 3

# The metric of translations.
_TRANSLATION = "BLEU"
_NAMES = {
    "BLEU1": "BLEU-1",
    "BLEU2": "BLEU-2",
    "BLEU3": "BLEU-3",
    "BLEU4": "BLEU-4",
    "ROUGE_L": "ROUGE-L",
    "Div1": "Div-1",
    "Div2": "Div-2",
    "mBleu4": "mBLEU-4",
    "precision_true": "true precision",
    "recall_true": "true recall",
    "all_true": "only-true rate",
    _TRANSLATION: "sentence BLEU",
}


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
        text: the claim in words.
        metric, decoder, captions: what is compared (as in scores.parquet).
        left, right: variants.
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
        """The variants that it needs."""
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
        return 2 if self.scale == 100 else 4

    @property
    def what(self) -> str:
        """The compared quantity in words."""
        metric = _NAMES.get(self.metric, self.metric.replace("reward_", "reward "))
        if self.decoder == "sample":
            return f"{metric} of 5 samples"
        if self.captions == "best":
            text = "translation" if self.metric == _TRANSLATION else "caption"
            return f"{metric} of the {'best beam' if self.decoder == 'beam' else self.decoder} {text}"
        return f"{metric} of the beam's 5"

    def sides(self, labels: dict[str, str] | None = None) -> tuple[str, str]:
        """What is compared: variants, or the labels they have in `labels`."""
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
    def agreement(self) -> str:
        """Seeds with the claimed sign, of all seeds."""
        return f"{self.agreeing}/{self.seeds}" if self.seeds else ""


def _difference(values: Floats) -> Floats:
    """left - right along the last axis [.., 2], or |left - base| - |right - base| from [.., 3]."""
    if values.shape[-1] == 2:
        return np.asarray(values[..., 0] - values[..., 1])
    return np.asarray(np.abs(values[..., 0] - values[..., 2]) - np.abs(values[..., 1] - values[..., 2]))


def judge(difference: float, p: float | None, agreeing: int, opposed: int, seeds: int, direction: int) -> str:
    """The verdict, as defined at the head of this module.

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


def run_claim(claim: Claim, scores: Scores, present: Collection[str]) -> Result:
    """Compares the claim's variants, where all are `present`, on the seeds they have in common.

    Raises:
        InputError: the variants were scored on different images.
    """
    names = claim.names
    for name in names:
        if name not in present:
            return Result(claim, NOT_RUN, reason=f"variant {name} is not in params.yaml")
    images = [scores.per_image(name, claim.decoder, claim.metric, claim.captions) for name in names]
    corpora = [scores.corpus(name, claim.decoder, claim.metric) for name in names]
    for name, image, corpus in zip(names, images, corpora, strict=True):
        if image is None and corpus is None:
            return Result(claim, NOT_RUN, reason=scores.why_missing(name, claim.decoder, claim.metric))

    p: float | None = None
    per_image = [image for image in images if image is not None]
    if len(per_image) == len(names):
        if any(not image.index.equals(per_image[0].index) for image in per_image):
            raise InputError(scores.source, f"{', '.join(names)} were scored on different images", "run `dvc repro`")
        seeds = sorted(set.intersection(*(set(image.columns) for image in per_image)))
        if not seeds:
            return Result(claim, NOT_RUN, reason=f"{' and '.join(names)} have no seed in common")
        means = np.stack([image[seeds].mean(axis=1).to_numpy(dtype=float) for image in per_image], axis=1)
        means = means[~np.isnan(means).any(axis=1)]
        if len(means) == 0:
            return Result(claim, NOT_RUN, reason=f"{claim.metric} is undefined for every test image")
        by_seed = np.stack([image[seeds].mean(axis=0).to_numpy(dtype=float) for image in per_image], axis=1)
        resampled = _difference(statistics.resampled_means(means))
        p = statistics.p_value(resampled)
        sides = means.mean(axis=0)
        low, high = statistics.interval(resampled)
    else:
        per_seed = [corpus for corpus in corpora if corpus is not None]
        if len(per_seed) < len(names):
            return Result(claim, NOT_RUN, reason=f"{claim.metric} is a corpus score for some variants only")
        seeds = sorted(set.intersection(*(set(corpus.index) for corpus in per_seed)))
        if not seeds:
            return Result(claim, NOT_RUN, reason=f"{' and '.join(names)} have no seed in common")
        by_seed = np.stack([corpus[seeds].to_numpy(dtype=float) for corpus in per_seed], axis=1)
        sides = by_seed.mean(axis=0)
        low, high = statistics.bootstrap_interval(_difference(by_seed))

    by_seed_difference = _difference(by_seed)
    agreeing = statistics.seeds_agreeing(by_seed_difference, claim.direction)
    opposed = statistics.seeds_agreeing(by_seed_difference, -claim.direction)
    difference = float(_difference(sides))
    too_few = p is None and len(seeds) < SEEDS_FOR_A_CORPUS_METRIC
    if claim.base:
        sides = np.abs(sides[:2] - sides[2])
    return Result(
        claim=claim,
        verdict=judge(difference, p, agreeing, opposed, len(seeds), claim.direction),
        left=float(sides[0]) * claim.scale,
        right=float(sides[1]) * claim.scale,
        difference=difference * claim.scale,
        low=low * claim.scale,
        high=high * claim.scale,
        p_value=p,
        agreeing=agreeing,
        seeds=len(seeds),
        reason=f"a corpus metric of {len(seeds)} seeds: too few for a verdict" if too_few else "",
    )


def run_claims(run: Run) -> list[Result]:
    """Every claim of a paper, in the order of its list."""
    return [run_claim(claim, run.scores, run.scored) for claim in run.paper.claims]


def counted(results: Sequence[Result]) -> str:
    """How many comparisons hold, do not hold, are not significant and were not run, in words."""
    words = {HOLDS: "hold", FAILS: "do not hold", UNSURE: "are not significant", NOT_RUN: "were not run"}
    counts = [f"{sum(r.verdict == verdict for r in results)} {word}" for verdict, word in words.items()]
    return f"of {len(results)} comparisons, {', '.join(counts)}"


def write_claims(results: Sequence[tuple[Run, Sequence[Result]]], folder: Path = REPORTS) -> None:
    """Writes claims.csv (numbers in the printed scale) and claims.md from each paper's results."""
    with artifacts.atomic(folder / "claims.csv") as path, path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for run, outcomes in results:
            for outcome in outcomes:
                claim = outcome.claim
                p = "" if outcome.p_value is None else f"{outcome.p_value:.4f}"
                numbers = [outcome.number(value) for value in (outcome.difference, outcome.low, outcome.high)]
                named = [run.paper.name, f"{claim.number}: {claim.text}", claim.what, *claim.sides()]
                writer.writerow([*named, *numbers, p, outcome.agreement, outcome.verdict])
    lines = ["# Claims", ""]
    for run, outcomes in results:
        lines += [f"**{run.paper.label}** on {run.datasets}: {counted(outcomes)}.", ""]
        lines += [*claims_table(run, outcomes), ""]
    with artifacts.atomic(folder / "claims.md") as path:
        path.write_text("\n".join([*lines, *READING, ""]), encoding="utf-8")


def claims_table(run: Run, results: Sequence[Result]) -> list[str]:
    """Lines of markdown: every comparison with both sides' numbers, the paper's difference and the verdict."""
    labels = {name: variant.label for name, variant in run.scored.items()}
    matrix = [["", "claim", "metric", "left", "right", "difference [95%]", "p", "seeds", "paper", "verdict"]]
    reasons: dict[str, str] = {}
    for result in results:
        claim = result.claim
        left, right = claim.sides(labels)
        verdict = result.verdict
        if result.reason:
            verdict += f" ({reasons.setdefault(result.reason, letters(len(reasons)))})"
        row = [claim.number, claim.text, claim.what]
        if result.difference is None:
            row += [left, right, "–", "–", "–"]
        else:
            span = f"[{result.number(result.low, '+')}, {result.number(result.high, '+')}]"
            row += [
                f"{left} {result.number(result.left)}",
                f"{right} {result.number(result.right)}",
                f"{result.number(result.difference, '+')} {span}",
                _p_text(result.p_value),
                result.agreement,
            ]
        matrix.append([*row, claim.paper_text() or "–", verdict])
    lines = markdown_table(matrix)
    return [*lines, "", *(f"- ({mark}) {reason}" for reason, mark in reasons.items())] if reasons else lines


READING = [
    "*holds*: the difference has the claimed sign with p < .05 (paired bootstrap over test images, scores averaged "
    "over seeds); for a corpus metric (BLEU, mBLEU) the claimed sign in every one of at least three seeds. *does not "
    "hold*: the same with the opposite sign. *not significant*: neither. *not run*: a number is missing.",
    "",
    "*seeds*: in how many training seeds the difference has the claimed sign. The p-values speak of other test "
    "images, not of other training runs, and are not corrected for the number of comparisons. *paper*: the published "
    "difference, in whose scale all numbers are. METEOR and a translation's BLEU are compared by sentence scores, so "
    "their levels are not the tables' corpus scores.",
]


def _p_text(p: float | None) -> str:
    if p is None:
        return "–"
    return "<.001" if p < 0.001 else f"{p:.3f}"
