"""reports/report.md: per paper what ran, which claims hold, every table and figure, and where each row lives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seqcap import artifacts
from seqcap.errors import InputError
from seqcap.reporting import claims, published
from seqcap.reporting.claims import FAILS, HOLDS, NOT_RUN, UNSURE, Result
from seqcap.reporting.figures import FigureKind
from seqcap.reporting.inputs import IMAGE, LIKELIHOOD, REPORTS, ReportConfig, Run, Variant
from seqcap.reporting.tables import best_caption_by_seed, estimate, markdown_table

_LITERATURE_METRICS = ("BLEU1", "BLEU2", "BLEU3", "BLEU4", "METEOR", "CIDEr")

Results = Sequence[tuple[Run, Sequence[Result]]]


def write_report(runs: Sequence[Run]) -> None:
    """Writes reports/report.md and reports/metrics.json."""
    results = [(run, claims.run_claims(run)) for run in runs]
    text = build_report(results)
    with artifacts.atomic(REPORTS / "report.md") as path:
        path.write_text(text, encoding="utf-8")
    artifacts.write_json(REPORTS / "metrics.json", {run.paper.name: metrics(run, of) for run, of in results})


def build_report(results: Results) -> str:
    """The report as markdown; links are relative to the folder it is in.

    Raises:
        InputError: a table or a figure has not been made yet.
    """
    config = results[0][0].config
    names = dict.fromkeys(run.datasets for run, _ in results)
    sections = [
        [f"# seqcap: our numbers beside the published ones ({', '.join(names)})"],
        _overview(results, config),
        _reading(results, config),
        *(section for run, of_paper in results for section in _paper(run, of_paper)),
    ]
    return "\n".join("\n".join(section).rstrip("\n") + "\n" for section in sections if section)


def _overview(results: Results, config: ReportConfig) -> list[str]:
    verdicts = {HOLDS: "hold", FAILS: "do not hold", UNSURE: "not significant", NOT_RUN: "not run"}
    matrix = [["paper", "variants", "comparisons", *verdicts.values()]]
    for run, of_paper in results:
        counts = [sum(result.verdict == verdict for result in of_paper) for verdict in verdicts]
        matrix.append([run.paper.label, *map(str, (len(run.variants), len(of_paper), *counts))])
    return [f"What the papers claim, and how it fares here. Scale: {config.scale}.", "", *markdown_table(matrix)]


def _reading(results: Results, config: ReportConfig) -> list[str]:
    """What holds for every paper."""
    lines = [
        "## How to read this",
        "",
        "Every number of ours comes from this run; every number under *paper* is quoted from the publication.",
        "",
        *claims.READING,
        "",
        "Random samples are one draw with a fixed seed; the intervals take them as given.",
    ]
    images = any(variant.task == IMAGE for run, _ in results for variant in run.variants)
    if images and config.dataset != "coco":
        lines += [
            "",
            f"Levels on {config.dataset} and on COCO cannot be compared: CIDEr depends on the references, their "
            "number and their vocabulary. The order of the objectives can be, and is what the claims test.",
        ]
    return lines


def _paper(run: Run, results: Sequence[Result]) -> list[list[str]]:
    paper = run.paper
    return [
        [f"## {paper.label}: {paper.title}"],
        _what_ran(run),
        _findings(run, results),
        ["### Claims", "", *claims.claims_table(run, results)],
        ["### Tables"],
        *(_table(name) for name in paper.tables if name not in paper.linked),
        *(_link(name, why) for name, why in paper.linked.items()),
        ["### Figures"],
        *(_figure(name, kind) for name, kind in paper.figures.items()),
        _literature(run),
        _stand_ins(run),
        _errors(run),
        _limits(run, results),
        _where(run),
    ]


def _what_ran(run: Run) -> list[str]:
    matrix = [["variant", "label", "captioner", "objective", "settings", "reward", "training seeds"]]
    for variant in run.variants:
        settings = _settings(variant.settings)
        seeds = ", ".join(str(seed) for seed in variant.seeds)
        trained = [variant.captioner, variant.objective, settings or "–", variant.reward or "–", seeds]
        matrix.append([f"`{variant.variant}`", variant.label, *trained])
    tasks = dict.fromkeys(variant.task for variant in run.variants)
    data = "; ".join(run.stand_in(task) for task in tasks)
    return ["### What ran", "", f"Data: {data}.", "", *markdown_table(matrix)]


def _settings(settings: Mapping[str, Any]) -> str:
    """An objective's settings in words; those of its parts in brackets."""
    return ", ".join(
        f"{key} ({_settings(value)})" if isinstance(value, Mapping) else f"{key} {value}"
        for key, value in settings.items()
    )


def _findings(run: Run, results: Sequence[Result]) -> list[str]:
    """Findings in sentences made from the claims' results, and what the paper's package adds to them."""
    labels = {name: variant.label for name, variant in run.scored.items()}
    lines = ["### Findings", "", f"The paper's claims on {run.datasets}: {claims.counted(results)}.", ""]
    for result in results:
        claim = result.claim
        if claim.key not in run.paper.headlines or result.verdict == NOT_RUN:
            continue
        left, right = claim.sides(labels)
        printed = claim.paper_text()
        dataset = run.config.datasets[run.scored[claim.left].task]
        lines.append(
            f"- **{claim.text}: {result.verdict}.** {claim.what[0].upper()}{claim.what[1:]} on {dataset}: "
            f"{result.number(result.left)} ({left}) against {result.number(result.right)} ({right}), "
            f"{result.number(result.difference, '+')} [{result.number(result.low, '+')}, "
            f"{result.number(result.high, '+')}], the claimed sign in {result.agreement} seeds"
            + (f"; the paper's difference: {printed}." if printed else ".")
        )
    for remark in run.paper.remarks(run, results):
        lines += ["", remark]
    return lines


def _table(name: str) -> list[str]:
    """A table that another stage made, its heading two levels down."""
    path = _made(REPORTS / "tables" / f"{name}.md")
    lines = path.read_text(encoding="utf-8").splitlines()
    return ["##" + line if line.startswith("## ") else line for line in lines]


def _link(name: str, why: str) -> list[str]:
    """A table's heading, and a link in place of the rest."""
    heading, *_ = _table(name)
    return [heading, "", f"[`tables/{name}.md`](tables/{name}.md): {why}"]


def _made(path: Path) -> Path:
    if not path.is_file():
        raise InputError(path, "does not exist", "run `dvc repro` to make it")
    return path


def _figure(name: str, kind: FigureKind) -> list[str]:
    _made(REPORTS / "figures" / f"{name}.png")
    return [f"#### {kind.title}", "", f"![{kind.title}](figures/{name}.png)", "", kind.caption]


def _literature(run: Run) -> list[str]:
    """Where the dataset has published results of its own: how far ours are from them."""
    table = published.literature(run.config.dataset)
    if table is None:
        return []
    records = table.to_dict("records")
    metrics = [metric for metric in _LITERATURE_METRICS if any(record["metric"] == metric for record in records)]
    systems = {str(record["system"]): str(record["source"]) for record in records}
    theirs = {(str(record["system"]), str(record["metric"])): float(record["value"]) for record in records}
    ours: dict[tuple[str, str], float] = {}
    variants = [variant for variant in run.variants if variant.task == IMAGE]
    if not variants:
        return []
    for variant in variants:
        for metric in metrics:
            by_seed = best_caption_by_seed(run.scores, variant.variant, "beam", metric)
            if by_seed is not None:
                ours[variant.variant, metric] = float(by_seed.mean()) * 100
    lines = [
        f"### Against the literature on {run.config.dataset}",
        "",
        f"Published results of other systems, quoted, and ours (beam of {run.paper.beam}, best caption, mean over "
        "seeds; x100).",
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
        if variant.objective != LIKELIHOOD:
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
    lines += [f"- {run.scores.why_missing(variants[0].variant, 'beam', m)}." for m in missing]
    return lines


def _or_dash(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _signed(gap: float) -> str:
    return f"{round(gap, 1) + 0.0:+.1f}"  # adding zero turns -0.0 into 0.0


def _stand_ins(run: Run) -> list[str]:
    data = [[published_on, run.stand_in(task)] for task, published_on in run.paper.published_on.items()]
    matrix = [["the paper", "here"], *data, *map(list, run.paper.stand_ins(run))]
    return ["### What stands in for what", "", *markdown_table(matrix)]


def _errors(run: Run) -> list[str]:
    found = [f"- {error}" for error in run.paper.errors()]
    heading = ["### Errors noticed in the paper", "", "Computed from the printed numbers in `published/`.", ""]
    return [*heading, *found] if found else []


def _limits(run: Run, results: Sequence[Result]) -> list[str]:
    single = [variant for variant in run.variants if len(variant.seeds) == 1]
    limits = list(run.paper.limits)
    if single:
        who = "every variant" if len(single) == len(run.variants) else _who(run.variants, single)
        limits.append(f"One training seed: {who}. Their intervals cover the choice of test images, not training.")
    reasons = dict.fromkeys(result.reason for result in results if result.verdict == NOT_RUN)
    if reasons:
        limits.append(f"Not run: {'; '.join(reasons)}.")
    return ["### Limits", "", *(f"- {limit}" for limit in limits)]


def _who(variants: Sequence[Variant], chosen: Sequence[Variant]) -> str:
    """Some variants by their labels, or by their captioner where they are all of its."""
    words: list[str] = []
    for captioner in dict.fromkeys(variant.captioner for variant in chosen):
        its = [variant for variant in variants if variant.captioner == captioner]
        some = [variant.label for variant in its if variant in chosen]
        words += [f"all of captioner `{captioner}`"] if len(some) == len(its) > 1 else some
    return ", ".join(words)


def _where(run: Run) -> list[str]:
    """Which variant, decoder and files make each row of each table."""
    name = run.paper.name
    scores = ", ".join(f"`artifacts/{name}/{file}`" for file in run.paper.score_files(run.variants))
    lines = [
        "### Where each row lives",
        "",
        f"Rows, columns, claims and figures: `src/seqcap/reporting/papers/{name}`; published numbers: "
        f"`src/seqcap/reporting/published`; scores: {scores}.",
        "",
    ]
    matrix = [["published", "row", "decoder", "objective", "captions"]]
    for table, rows in run.paper.rows.items():
        for label, (variant, decoder) in rows.items():
            row = label if isinstance(label, str) else ": ".join(label)
            objective = captions = "not run"
            if variant in run.scored:
                objective = f"`src/seqcap/objectives/{run.scored[variant].objective}.py`"
                captions = f"`{run.by_name[variant].decoded}`" if variant in run.by_name else "–"
            matrix.append([table, row, decoder, objective, captions])
    return [*lines, *markdown_table(matrix)]


def metrics(run: Run, results: Sequence[Result]) -> dict[str, Any]:
    """Numbers for `dvc metrics diff`: per variant the main columns of the tables, and how many claims hold.

    A number that could not be computed is left out.
    """
    numbers: dict[str, Any] = {
        "claims": {
            "hold": sum(result.verdict == HOLDS for result in results),
            "run": sum(result.verdict != NOT_RUN for result in results),
            "total": len(results),
        }
    }
    for variant in run.variants:
        estimates = {
            name: estimate(run.scores, variant.variant, measure.decoder, measure.metric, measure.captions).value
            for name, measure in run.paper.metrics.items()
        }
        numbers[variant.variant] = {name: round(value, 4) for name, value in estimates.items() if value is not None}
    return numbers
