"""reports/report.md: what ran, which claims hold, every table and figure, and where each row lives in code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seqcap import artifacts
from seqcap.errors import InputError
from seqcap.reporting import claims, figures, published, tables
from seqcap.reporting.claims import HOLDS, NOT_RUN, Result
from seqcap.reporting.inputs import REPORTS, ReportConfig, Scores, Variant
from seqcap.reporting.tables import best_caption_by_seed, estimate, markdown_table

TABLE_NAMES = {"sle": ["sle_table1", "sle_table2", "sle_table4", "sle_truth", "sle_quality", "sle_diversity"]}

TITLES = {"sle": "Better Captioning With Sequence-Level Exploration (Chen and Jin, CVPR 2020)"}

# Claims that the summary repeats: (number, metric, decoder).
HEADLINES = [
    ("C1", "CIDEr", "sample"),
    ("C2", "Div2", "sample"),
    ("C3", "Div2", "sample"),
    ("C4", "CIDEr", "sample"),
    ("C4", "CIDEr", "beam"),
    ("C5", "CIDEr", "beam"),
    ("C10", "precision_true", "sample"),
    ("C10", "recall_true", "sample"),
]

# The claim that exploration raises the CIDEr of random samples.
_EXPLORED = ("C4", "CIDEr", "sample")

# Cross-entropy variants are what the literature's systems are, too: they are compared with these.
_LIKELIHOOD = ("xe", "xe_att")
_CAPTIONERS = "captioners {} of params.yaml on its visual features; rows *: attention over a grid of cells"
_LITERATURE_METRICS = ("BLEU1", "BLEU2", "BLEU3", "BLEU4", "METEOR", "CIDEr")


def build_report(
    paper: str, scores: Scores, variants: Sequence[Variant], config: ReportConfig, results: Sequence[Result]
) -> str:
    """The report as markdown; links are relative to the folder it is in.

    Raises:
        InputError: a table, a figure or the claims have not been made yet.
    """
    sections = [
        [f"# seqcap: our numbers beside the published ones ({config.dataset})"],
        _what_ran(paper, variants, config),
        [*_headlines(results, variants, config), *_why_less_cider(scores, results)],
        _included(REPORTS / "claims.md"),
        ["## Tables", ""],
        *(_included(REPORTS / "tables" / f"{name}.md", deeper=True) for name in TABLE_NAMES[paper]),
        ["## Figures", ""],
        *(_figure(name, kind) for name, kind in figures.PAPERS[paper].items()),
        _literature(scores, variants, config),
        _stand_ins(variants, config),
        _paper_errors(),
        _limits(variants, config, results),
        _where(paper, variants),
    ]
    return "\n".join("\n".join(section).rstrip("\n") + "\n" for section in sections if section)


def _what_ran(paper: str, variants: Sequence[Variant], config: ReportConfig) -> list[str]:
    lines = [
        "## What ran",
        "",
        f"Paper: {TITLES[paper]}. Data: {config.stand_in}. "
        f"Scale: {config.scale}. Balance alpha: {config.alpha:g}. Every number of ours comes from this run; every "
        "number under *paper* is quoted from the publication.",
        "",
    ]
    matrix = [["variant", "label", "captioner", "objective", "training seeds"]]
    for variant in variants:
        seeds = ", ".join(str(seed) for seed in variant.seeds)
        matrix.append([f"`{variant.variant}`", variant.label, variant.captioner, variant.objective, seeds])
    return [*lines, *markdown_table(matrix)]


def _headlines(results: Sequence[Result], variants: Sequence[Variant], config: ReportConfig) -> list[str]:
    """Findings in sentences made from the claims' results."""
    labels = {variant.variant: variant.label for variant in variants}
    lines = ["## Findings", "", f"The paper's claims on {config.dataset}: {claims.counted(results)}.", ""]
    for result in results:
        claim = result.claim
        if (claim.number, claim.metric, claim.decoder) not in HEADLINES or result.verdict == NOT_RUN:
            continue
        sides = claim.sides(labels)
        printed = claim.paper_difference()
        paper = "" if printed is None else f"; the paper's difference: {printed:+.{1 if claim.scale == 100 else 2}f}"
        lines.append(
            f"- **{claim.text}: {result.verdict}.** {claim.what[0].upper()}{claim.what[1:]} on {config.dataset}: "
            f"{result.number(result.left)} ({sides[0]}) against {result.number(result.right)} "
            f"({sides[1]}), {result.number(result.difference, '+')} [{result.number(result.low, '+')}, "
            f"{result.number(result.high, '+')}], the claimed sign in {result.agreement} seeds{paper}."
        )
    return lines


def _why_less_cider(scores: Scores, results: Sequence[Result]) -> list[str]:
    """Where exploration costs the samples CIDEr: how much of it is spread, how much a worse best guess."""
    claim = next((r for r in results if (r.claim.number, r.claim.metric, r.claim.decoder) == _EXPLORED), None)
    if claim is None or claim.verdict in (HOLDS, NOT_RUN):
        return []
    rows = {}
    for name in ("sll_sle", "sll"):
        corpora = [scores.corpus(name, "sample", metric) for metric in ("log_prob_mean", "oracle")]
        greedy = estimate(scores, name, "greedy", "CIDEr", "best").value
        if greedy is None or any(values is None for values in corpora):
            return []
        rows[name] = (greedy, *(float(values.mean()) for values in corpora if values is not None))
    (greedy, log_prob, oracle), (greedy_sll, log_prob_sll, oracle_sll) = rows.values()
    return [
        "",
        "*Why SLL-SLE does not gain CIDEr here.* Its samples are drawn from a flatter policy: -log p(y|x) of a sample "
        f"is {-log_prob:.1f} nats on average, SLL's {-log_prob_sll:.1f} (Figure 3), and a sample away from the mode "
        f"scores less. At the mode, greedy captions, CIDEr is {100 * greedy:.1f} with SLL-SLE and "
        f"{100 * greedy_sll:.1f} with SLL. The objective (eq. 8) asks for this trade: with alpha below 1 it pays for "
        f"distance between samples. The best of five samples (oracle) reaches CIDEr {100 * oracle:.1f} with SLL-SLE "
        f"and {100 * oracle_sll:.1f} with SLL.",
    ]


def _included(path: Path, deeper: bool = False) -> list[str]:
    """A markdown file made by another stage; `deeper` moves its heading one level down."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(path, "does not exist", "run `dvc repro` to make it") from None
    lines = text.splitlines()
    return ["#" + line if deeper and line.startswith("## ") else line for line in lines]


def _figure(name: str, kind: figures.FigureKind) -> list[str]:
    path = REPORTS / "figures" / f"{name}.png"
    if not path.is_file():
        raise InputError(path, "does not exist", "run `dvc repro` to make it")
    return [f"### {kind.title}", "", f"![{kind.title}](figures/{name}.png)", "", kind.caption]


def _literature(scores: Scores, variants: Sequence[Variant], config: ReportConfig) -> list[str]:
    """Where the dataset has published results of its own: how far ours are from them."""
    table = published.literature(config.dataset)
    if table is None:
        return []
    records = table.to_dict("records")
    metrics = [metric for metric in _LITERATURE_METRICS if any(record["metric"] == metric for record in records)]
    systems = {str(record["system"]): str(record["source"]) for record in records}
    theirs = {(str(record["system"]), str(record["metric"])): float(record["value"]) for record in records}
    ours: dict[tuple[str, str], float] = {}
    for variant in variants:
        for metric in metrics:
            by_seed = best_caption_by_seed(scores, variant.variant, "beam", metric)
            if by_seed is not None:
                ours[variant.variant, metric] = float(by_seed.mean()) * 100
    lines = [
        f"## Against the literature on {config.dataset}",
        "",
        "Published results of other systems, quoted, and ours (beam of 5, best caption, mean over seeds; x100).",
        "",
    ]
    matrix = [["system", "source", *metrics]]
    for system, source in systems.items():
        matrix.append([system, source, *(_or_dash(theirs.get((system, metric))) for metric in metrics)])
    for variant in variants:
        matrix.append(
            [f"{variant.label} (ours)", "this run", *(_or_dash(ours.get((variant.variant, m))) for m in metrics)]
        )
    lines += [*markdown_table(matrix), ""]
    matrix = [["ours minus theirs", "", *metrics]]
    for variant in variants:
        if variant.variant not in _LIKELIHOOD:
            continue
        for system in systems:
            gaps = [
                _signed(ours[variant.variant, metric] - theirs[system, metric])
                if (variant.variant, metric) in ours and (system, metric) in theirs
                else "–"
                for metric in metrics
            ]
            matrix.append([variant.label, system, *gaps])
    lines += [
        "Differences are given for our cross-entropy captioners: the systems above maximise likelihood, too.",
        "",
    ]
    lines += markdown_table(matrix)
    lines += ["", "Not quite like with like:", ""]
    for system in systems:
        notes = dict.fromkeys(str(record["note"]) for record in records if record["system"] == system)
        lines.append(f"- {system}: {'; '.join(note for note in notes if note)}.")
    missing = sorted({metric for metric in metrics if not any((v.variant, metric) in ours for v in variants)})
    lines += [f"- {scores.why_missing(variants[0].variant, 'beam', m)}." for m in missing]
    return lines


def _or_dash(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _signed(gap: float) -> str:
    return f"{round(gap, 1) + 0.0:+.1f}"  # adding zero turns -0.0 into 0.0


def _stand_ins(variants: Sequence[Variant], config: ReportConfig) -> list[str]:
    captioners = " and ".join(f"`{captioner}`" for captioner in dict.fromkeys(v.captioner for v in variants))
    matrix = [
        ["the paper", "here"],
        ["COCO captions, Karpathy's split", f"{config.stand_in}"],
        ["LSTM of 512 units on ResNet-152; rows *: attention over bottom-up regions", _CAPTIONERS.format(captioners)],
        [
            "METEOR, CIDEr, SPICE of the official COCO code",
            "METEOR and CIDEr of the official code, computed without Java; SPICE (spaCy) with a parser of its own",
        ],
    ]
    return ["## What stands in for what", "", *markdown_table(matrix)]


def _paper_errors() -> list[str]:
    lines = ["## Errors noticed in the paper", "", "Computed from the printed numbers in `published/`.", ""]
    return [*lines, *(f"- {error}" for error in claims.paper_errors())]


def _limits(variants: Sequence[Variant], config: ReportConfig, results: Sequence[Result]) -> list[str]:
    lines = ["## Limits", ""]
    if config.dataset != "coco":
        lines.append(
            f"- Levels on {config.dataset} and on COCO cannot be compared: CIDEr depends on the references, their "
            "number and their vocabulary. The order of the objectives can be, and is what the claims test."
        )
    single = [variant.label for variant in variants if len(variant.seeds) == 1]
    if single:
        lines.append(
            f"- One training seed: {', '.join(single)}. Their intervals cover the choice of test images, not training."
        )
    lines += [f"- Not run: {r}." for r in dict.fromkeys(r.reason for r in results if r.verdict == NOT_RUN)]
    return [
        *lines,
        "- Alpha and the entropy weight were not tuned again on this dataset.",
        "- Five random samples per image are one draw with a fixed seed; the intervals take them as given.",
        "- The p-values are not corrected for the number of comparisons.",
        "- Table 3 of the paper (TGIF video) is not part of this run.",
    ]


def _where(paper: str, variants: Sequence[Variant]) -> list[str]:
    """Which variant, decoder and files make each row of each table."""
    by_name = {variant.variant: variant for variant in variants}
    lines = [
        "## Where each row lives",
        "",
        "Rows and columns are mapped in `src/seqcap/reporting/tables.py` (`SLE_ROWS`, `SLE_COLUMNS`), claims in "
        "`src/seqcap/reporting/claims.py` (`SLE_CLAIMS`), published numbers in `src/seqcap/reporting/published/`.",
        "",
    ]
    matrix = [["table", "row", "decoder", "objective", "captions"]]
    for table, rows in tables.SLE_ROWS.items():
        for row, (name, decoder) in rows.items():
            objective = f"`src/seqcap/objectives/{by_name[name].objective}.py`" if name in by_name else "not run"
            matrix.append([str(table), row, decoder, objective, f"`artifacts/{paper}/decode/{name}.parquet`"])
    return [*lines, *markdown_table(matrix)]


def headline_metrics(scores: Scores, variants: Sequence[Variant], results: Sequence[Result]) -> dict[str, Any]:
    """Numbers for `dvc metrics diff`: per variant the main columns of the tables, and how many claims hold.

    A number that could not be computed is left out.
    """
    metrics: dict[str, Any] = {
        "claims": {
            "hold": sum(result.verdict == HOLDS for result in results),
            "run": sum(result.verdict != NOT_RUN for result in results),
            "total": len(results),
        }
    }
    for variant in variants:
        numbers = {
            "CIDEr_samples": estimate(scores, variant.variant, "sample", "CIDEr", "every"),
            "CIDEr_beam": estimate(scores, variant.variant, "beam", "CIDEr", "best"),
            "Div1": estimate(scores, variant.variant, "sample", "Div1", "set"),
            "Div2": estimate(scores, variant.variant, "sample", "Div2", "set"),
            "mBleu4": estimate(scores, variant.variant, "sample", "mBleu4", "set"),
        }
        metrics[variant.variant] = {
            name: round(number.value, 4) for name, number in numbers.items() if number.value is not None
        }
    return metrics


def write_report(paper: str, scores: Scores, variants: Sequence[Variant], config: ReportConfig) -> None:
    """Writes reports/report.md and reports/metrics.json."""
    results = claims.run_claims(paper, scores, variants)
    text = build_report(paper, scores, variants, config, results)
    with artifacts.atomic(REPORTS / "report.md") as path:
        path.write_text(text, encoding="utf-8")
    artifacts.write_json(REPORTS / "metrics.json", headline_metrics(scores, variants, results))
