"""The papers' claims as data, and whether our numbers bear them out.

Verdicts, for a claim "left is higher (or lower) than right":

- **holds**: the difference has the claimed sign, with p < .05 in the paired bootstrap over test images (scores
  of several seeds averaged per image). A corpus metric (mBLEU-4) has no score per image: it holds when the
  difference has the claimed sign in every seed, and there are at least three.
- **does not hold**: the same, with the opposite sign.
- **not significant**: neither.
- **not run**: a number is missing; claims.md says why.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from seqcap import artifacts
from seqcap.errors import InputError
from seqcap.reporting import published, statistics
from seqcap.reporting.inputs import REPORTS, Captions, ReportConfig, Scores, Variant
from seqcap.reporting.statistics import Floats
from seqcap.reporting.tables import BEST_CAPTION, SET_OF_FIVE, SLE_ROWS, markdown_table

COLUMNS = ["paper", "claim", "metric", "left", "right", "difference", "low", "high", "p_value", "seeds", "verdict"]
HOLDS, FAILS, UNSURE, NOT_RUN = ("holds", "does not hold", "not significant", "not run")

SIGNIFICANCE = 0.05
SEEDS_FOR_A_CORPUS_METRIC = 3

# Metrics that papers print times a hundred; the others are ratios.
_TIMES_100 = ("CIDEr", "METEOR", "SPICE")

_NAMES = {
    "Div1": "Div-1",
    "Div2": "Div-2",
    "mBleu4": "mBLEU-4",
    "precision_true": "true precision",
    "recall_true": "true recall",
}

# The sign of a difference that means "more diverse".
_DIVERSE = {"Div1": +1, "Div2": +1, "mBleu4": -1}


@dataclass(frozen=True)
class Claim:
    """One comparison that a paper makes: left is higher (direction +1) or lower (-1) than right.

    Attributes:
        number: the claim it belongs to; a claim about several metrics is several comparisons.
        text: the claim in words.
        metric, decoder, captions: what is compared (as in scores.parquet).
        left, right: variants.
        direction: +1 or -1.
        table: the paper's table that prints the two numbers; None where the paper has none.
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
    table: int | None
    base: str | None = None

    @property
    def scale(self) -> float:
        return 100.0 if self.metric in _TIMES_100 else 1.0

    @property
    def decimals(self) -> int:
        return 2 if self.scale == 100 else 4

    @property
    def what(self) -> str:
        """The compared quantity in words."""
        metric = _NAMES.get(self.metric, self.metric)
        if self.decoder == "sample":
            return f"{metric} of 5 samples"
        return f"{metric} of the best beam caption" if self.captions == "best" else f"{metric} of the beam's 5"

    def sides(self, labels: dict[str, str] | None = None) -> tuple[str, str]:
        """What is compared: variants, or the labels they have in `labels`."""
        names = labels or {}
        left, right = names.get(self.left, self.left), names.get(self.right, self.right)
        if self.base is None:
            return left, right
        base = names.get(self.base, self.base)
        return f"|{left} - {base}|", f"|{right} - {base}|"

    def paper_difference(self) -> float | None:
        """The published difference, in the printed scale."""
        if self.table is None:
            return None
        rows = {source: row for row, source in SLE_ROWS[self.table].items()}
        names = [self.left, self.right] + ([self.base] if self.base else [])
        cells = [published.published_value("sle", self.table, rows[name, self.decoder], self.metric) for name in names]
        return float(_difference(np.array(cells)))


def _set(number: str, text: str, metric: str, decoder: str, left: str, right: str, sign: int, base: str = "") -> Claim:
    """A claim about the five captions of Table 4."""
    captions = SET_OF_FIVE[metric][1]
    return Claim(number, text, metric, decoder, captions, left, right, sign, 4, base or None)


def _best(number: str, text: str, metric: str, left: str, right: str) -> Claim:
    """A claim about the best caption of a beam of 5, Table 2: left is higher."""
    return Claim(number, text, metric, "beam", BEST_CAPTION[metric][1], left, right, +1, 2)


SLE_CLAIMS = [
    _set("C1", "SLL raises the CIDEr of random samples over XE", "CIDEr", "sample", "sll", "xe", +1),
    *(
        _set("C2", "SLL makes random samples less diverse than XE", metric, "sample", "sll", "xe", -sign)
        for metric, sign in _DIVERSE.items()
    ),
    *(
        _set("C3", "SLL-SLE makes random samples more diverse than SLL", metric, "sample", "sll_sle", "sll", sign)
        for metric, sign in _DIVERSE.items()
    ),
    _set("C4", "SLL-SLE also raises CIDEr over SLL", "CIDEr", "sample", "sll_sle", "sll", +1),
    _best("C4", "SLL-SLE also raises CIDEr over SLL", "CIDEr", "sll_sle", "sll"),
    _set("C5", "SLL-SLE beats SLL-ME", "CIDEr", "sample", "sll_sle", "sll_me", +1),
    _best("C5", "SLL-SLE beats SLL-ME", "CIDEr", "sll_sle", "sll_me"),
    *(
        _set("C5", "SLL-SLE beats SLL-ME", metric, "sample", "sll_sle", "sll_me", sign)
        for metric, sign in _DIVERSE.items()
    ),
    *(
        _set("C6", "SLL-ME changes SLL by less than SLL-SLE does", metric, "sample", "sll_sle", "sll_me", +1, "sll")
        for metric in ("CIDEr", *_DIVERSE)
    ),
    *(
        _best("C7", "With attention too, SLL-SLE beats SLL and SLL-ME", metric, "sll_sle_att", other)
        for metric in ("CIDEr", "METEOR", "SPICE")
        for other in ("sll_att", "sll_me_att")
    ),
    *(
        _set("C8", "SLL-SLE makes the beam's captions more diverse than SLL", metric, "beam", "sll_sle", "sll", sign)
        for metric, sign in _DIVERSE.items()
    ),
    *(
        _best("C9", "SLL-SLE beats SLL and SLL-ME on METEOR and SPICE", metric, "sll_sle", other)
        for metric in ("METEOR", "SPICE")
        for other in ("sll", "sll_me")
    ),
    # The paper explains its results by precision and recall, which it cannot measure. Generated scenes can.
    Claim("C10", "SLL raises true precision over XE", "precision_true", "sample", "every", "sll", "xe", +1, None),
    Claim("C10", "SLL lowers the true recall of 5 samples", "recall_true", "sample", "set", "sll", "xe", -1, None),
    Claim("C10", "SLL-SLE regains true recall over SLL", "recall_true", "sample", "set", "sll_sle", "sll", +1, None),
]

PAPERS = {"sle": SLE_CLAIMS}


@dataclass(frozen=True)
class Result:
    """A claim's outcome. Numbers are in the paper's printed scale; `reason` says why a claim was not run."""

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


def run_claim(claim: Claim, scores: Scores, variants: Sequence[Variant]) -> Result:
    """Compares the claim's variants on the seeds they have in common.

    Raises:
        InputError: the variants were scored on different images.
    """
    names = [claim.left, claim.right] + ([claim.base] if claim.base else [])
    present = {variant.variant for variant in variants}
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
    )


def run_claims(paper: str, scores: Scores, variants: Sequence[Variant]) -> list[Result]:
    """Every claim of a paper, in the order of its list."""
    return [run_claim(claim, scores, variants) for claim in PAPERS[paper]]


def counted(results: Sequence[Result]) -> str:
    """How many comparisons hold, do not hold, are not significant and were not run, in words."""
    words = {HOLDS: "hold", FAILS: "do not hold", UNSURE: "are not significant", NOT_RUN: "were not run"}
    counts = [f"{sum(r.verdict == verdict for r in results)} {word}" for verdict, word in words.items()]
    return f"of {len(results)} comparisons, {', '.join(counts)}"


def write_claims(
    results: dict[str, list[Result]], variants: Sequence[Variant], config: ReportConfig, folder: Path = REPORTS
) -> None:
    """Writes claims.csv (numbers in the printed scale) and claims.md from paper -> results."""
    with artifacts.atomic(folder / "claims.csv") as path, path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for paper, outcomes in results.items():
            for outcome in outcomes:
                claim = outcome.claim
                p = "" if outcome.p_value is None else f"{outcome.p_value:.4f}"
                numbers = [outcome.number(value) for value in (outcome.difference, outcome.low, outcome.high)]
                named = [paper, f"{claim.number}: {claim.text}", claim.what, *claim.sides()]
                writer.writerow([*named, *numbers, p, outcome.agreement, outcome.verdict])
    with artifacts.atomic(folder / "claims.md") as path:
        path.write_text(claims_markdown(results, variants, config), encoding="utf-8")


def claims_markdown(results: dict[str, list[Result]], variants: Sequence[Variant], config: ReportConfig) -> str:
    """The claims with both sides' numbers, the paper's difference, and the verdicts counted."""
    labels = {variant.variant: variant.label for variant in variants}
    lines = ["## Claims", ""]
    for paper, outcomes in results.items():
        lines += [f"**{paper.upper()}** on {config.dataset}: {counted(outcomes)}.", ""]
        matrix = [["", "claim", "metric", "left", "right", "difference [95%]", "p", "seeds", "paper", "verdict"]]
        reasons: dict[str, str] = {}
        for outcome in outcomes:
            claim = outcome.claim
            printed = claim.paper_difference()
            paper_text = "–" if printed is None else f"{printed:+.{1 if claim.scale == 100 else 2}f}"
            sides = claim.sides(labels)
            row = [claim.number, claim.text, claim.what]
            if outcome.difference is None:
                mark = reasons.setdefault(outcome.reason, chr(ord("a") + len(reasons)))
                row += [sides[0], sides[1], "–", "–", "–", paper_text, f"{outcome.verdict} ({mark})"]
            else:
                span = f"[{outcome.number(outcome.low, '+')}, {outcome.number(outcome.high, '+')}]"
                row += [
                    f"{sides[0]} {outcome.number(outcome.left)}",
                    f"{sides[1]} {outcome.number(outcome.right)}",
                    f"{outcome.number(outcome.difference, '+')} {span}",
                    _p_text(outcome.p_value),
                    outcome.agreement,
                    paper_text,
                    outcome.verdict,
                ]
            matrix.append(row)
        lines += [*markdown_table(matrix), ""]
        lines += [f"- ({mark}) {reason}" for reason, mark in reasons.items()]
    lines += ["", *READING, ""]
    return "\n".join(lines)


READING = [
    "*holds*: the difference has the claimed sign with p < .05 (paired bootstrap over test images, scores averaged "
    "over seeds); for mBLEU-4, a corpus metric, the claimed sign in every one of at least three seeds. *does not "
    "hold*: the same with the opposite sign. *not significant*: neither. *not run*: a number is missing.",
    "",
    "*seeds*: in how many training seeds the difference has the claimed sign. The p-values speak of other test "
    "images, not of other training runs, and are not corrected for the number of comparisons. *paper*: the published "
    "difference. CIDEr and METEOR are x100; METEOR is compared by sentence scores, so its levels differ a little from "
    "Table 2's corpus scores.",
]


def _p_text(p: float | None) -> str:
    if p is None:
        return "–"
    return "<.001" if p < 0.001 else f"{p:.3f}"


def paper_errors() -> list[str]:
    """Contradictions inside the SLE paper, found by computing with its own printed numbers."""
    found = []
    text = published.text_claims("sle")
    for section, table, blocks in (("5.2", 2, {"": "mean-pooled", "*": "attention"}), ("5.3", 3, {"": "TGIF"})):
        claim = text[f"text{section}"]
        columns = claim["column"].removesuffix(" gain").split("/")
        stated = [float(number) for number in claim["value"].split("/")]
        left, right = claim["row"].replace("SLE minus", "SLL-SLE minus").split(" minus ")
        printed = {label: _gains(table, left + star, right + star, columns) for star, label in blocks.items()}
        wrong = [
            column
            for index, column in enumerate(columns)
            if all(round(gains[index], 1) != stated[index] for gains in printed.values())
        ]
        if not wrong:
            continue
        shown = "; ".join(f"{label} {_slashes(gains)}" for label, gains in printed.items())
        said = f"Section {section} says that {left} gains {_slashes(stated)} {'/'.join(columns)} over {right}"
        if right != "SLL-ME" and [round(gain, 1) for gain in _gains(table, left, "SLL-ME", columns)] == stated:
            verdict = (
                f"The stated gains equal {left} minus the row printed as SLL-ME: the rows {right} and SLL-ME are "
                "probably swapped in print. We keep the printed values"
            )
        else:
            verdict = f"No printed pair of rows gives the stated {', '.join(wrong)}"
        found.append(f"{said}; Table {table} gives {shown}. {verdict}.")
    table2, table4 = published.published_table("sle", 2), published.published_table("sle", 4)
    best = {row["row"]: row["value"] for row in table2.to_dict("records") if row["column"] == "CIDEr"}
    beams = table4[(table4["block"] == "bs") & (table4["column"] == "CIDEr")]
    same = [
        row["row"] for row in beams.to_dict("records") if best.get(row["row"].removesuffix(" (bs)")) == row["value"]
    ]
    if same:
        found.append(
            f"Table 4's CIDEr of {', '.join(same)}, beside the diversity of a beam's five captions, is exactly Table "
            "2's CIDEr of the single best caption. Our Table 4 gives the mean over the five, as in its (rs) rows, and "
            "notes our value for the best caption."
        )
    return found


def _gains(table: int, left: str, right: str, columns: Sequence[str]) -> list[float]:
    return [
        published.published_value("sle", table, left, column) - published.published_value("sle", table, right, column)
        for column in columns
    ]


def _slashes(numbers: Sequence[float]) -> str:
    return "/".join(f"{number:.1f}" for number in numbers)
