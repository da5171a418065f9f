"""A paper's page: findings, claims, tables and figures; and its details: long tables, settings, files behind rows."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from seqcap.config.report import ReportedRun
from seqcap.files import json_file, writing
from seqcap.metrics import registry
from seqcap.report import REPORTS, SECTIONS, published, texts
from seqcap.report.claims import Claim, Result, by_claim, claims_table, run_claims
from seqcap.report.claims_file import ClaimsFile, Measured
from seqcap.report.comparison import compared, heading, matrix
from seqcap.report.curves import HEADER, curve_lines
from seqcap.report.inputs import Run
from seqcap.report.markdown import markdown_table
from seqcap.report.paper import Rows
from seqcap.report.verdicts import COUNTED, FAILS, HOLDS, NOT_RUN, ONE_SEED, UNSURE, UNTESTABLE, in_words

# The objective of pretraining.
_LIKELIHOOD = "cross_entropy"
_LITERATURE_METRICS = ("BLEU1", "BLEU2", "BLEU3", "BLEU4", "METEOR", "CIDEr")


def write_section(run: Run, comparisons: Sequence[tuple[str, str]] = ()) -> None:
    """Writes page.md, details.md, claims.json, metrics.json and curves.csv; `comparisons` are of two runs each."""
    results, rows = run_claims(all_claims(run), run), run.paper.find("rows")
    folder, said = SECTIONS / run.paper.name, summary(run, results)
    pages = {
        "page.md": _page(run, said, results, comparisons),
        "details.md": _details(run, rows.rows(run) if rows else run.paper.facts.rows),
    }
    for name, sections in pages.items():
        with writing.atomic(folder / name) as path:
            text = "\n".join("\n".join(section).rstrip("\n") + "\n" for section in sections if section)
            path.write_text(text, encoding="utf-8")
    json_file.write_json(folder / "claims.json", said)
    json_file.write_json(folder / "metrics.json", _metrics(run, said, ClaimsFile.read(run.paper).metrics))
    folders = {entry.name: Path(entry.weights) for entry in run.trained}
    # Runs of one captioner continue from the same curves.
    starts = {entry.captioner: folders[entry.name] / "start.parquet" for entry in run.trained}
    files = [*(weights / "curves.parquet" for weights in folders.values()), *filter(Path.exists, starts.values())]
    with writing.atomic(folder / "curves.csv") as path:
        path.write_text("\n".join([HEADER, *curve_lines(run.paper.name, files), ""]), encoding="utf-8")


def all_claims(run: Run) -> list[Claim]:
    claims = run.paper.find("claims")
    found: list[Claim] = (
        claims.claims(run) if hasattr(claims, "claims") else ClaimsFile.read(run.paper).build(run.paper)
    )
    return found


def _page(
    run: Run, said: Mapping[str, Any], results: Sequence[Result], comparisons: Sequence[tuple[str, str]]
) -> list[list[str]]:
    """The sections of the page as markdown; links are relative to reports/<paper>/."""
    claims, file = run.paper.find("claims"), ClaimsFile.read(run.paper)
    stand_ins = [(theirs, run.fill(here)) for theirs, here in file.stand_ins]
    stand_ins += claims.stand_ins(run) if hasattr(claims, "stand_ins") else []
    return [
        _head(run),
        _findings(run, said["finding"], results, said["remarks"]),
        ["## Claims", "", *claims_table(run, results)] if results else [],
        *_tables(run, details=False),
        *_figures(run, details=False),
        _headed("Comparisons beyond the paper", _comparisons(run, comparisons)),
        _stand_ins(run, stand_ins),
        _errors(file.errors),
        _limits(run, results, file.limits),
    ]


def _details(run: Run, rows: Mapping[str, Rows]) -> list[list[str]]:
    return [
        [f"# {run.paper.label}: details", "", "[The paper's page](report.md)."],
        *_tables(run, details=True),
        *_figures(run, details=True),
        _headed(f"Against the literature on {run.dataset(run.config.pictures)}", _literature(run)),
        _headed("Settings of the runs", _runs_table(run)),
        _headed("Where each row lives", _where(run, rows)),
    ]


def _head(run: Run) -> list[str]:
    data = "; ".join(run.stand_in(task) for task in dict.fromkeys(entry.task for entry in run.runs))
    links = "[All papers](../report.md); [details](details.md): long tables, learning curves, settings, files."
    return [f"# {run.paper.label}: {run.paper.facts.title}", "", f"{links} Data: {data}."]


def _headed(title: str, lines: Sequence[str]) -> list[str]:
    return [f"## {title}", "", *lines] if lines else []


def counts(results: Sequence[Result]) -> dict[str, int]:
    """How many claims have each verdict; details have none."""
    results = [result for result in results if result.claim.primary]
    return {verdict: sum(result.verdict == verdict for result in results) for verdict in COUNTED}


def summary(run: Run, results: Sequence[Result]) -> dict[str, Any]:
    """What the report says of the paper's claims: `levels` are datasets whose CIDEr says nothing of COCO's."""
    tasks, finding = dict.fromkeys(entry.task for entry in run.runs), ClaimsFile.read(run.paper).finding
    claims = run.paper.find("claims")
    others = [run.dataset(task) for task in tasks if run.kind(task).quality == "CIDEr" and run.dataset(task) != "coco"]
    return {
        "label": run.paper.label,
        "title": run.paper.facts.title,
        "datasets": list(dict.fromkeys(run.dataset(task) for task in tasks)),
        "levels": others,
        "variants": len(run.trained),
        "verdicts": counts(results),
        "finding": finding and finding.model_dump(),
        "remarks": claims.remarks(run, results) if hasattr(claims, "remarks") else [],
        "claims": [
            {
                "id": first.claim.id,
                "sentence": first.claim.words(run),
                "why": first.claim.why,
                "explained": first.explained,
                "records": [result.record(run) for result in (first, *details)],
            }
            for first, *details in by_claim(results)
        ],
    }


def _metrics(run: Run, said: Mapping[str, Any], wanted: Mapping[str, Measured]) -> dict[str, float]:
    """How many claims hold, fail and are undecided, the difference that stands for the paper, and the numbers that are
    `wanted`, of runs that are there. `said` is the paper's claims.json."""
    verdicts = said["verdicts"]
    numbers: dict[str, float] = {}
    if any(verdicts.values()):
        undecided = verdicts[UNSURE] + verdicts[ONE_SEED]
        numbers = {"hold": verdicts[HOLDS], "fail": verdicts[FAILS], "undecided": undecided}
    if said.get("finding"):
        claims = {claim["id"]: claim["records"][0] for claim in said["claims"]}
        difference = claims[said["finding"]["claim"]]["difference"]
        numbers |= {"finding": float(difference)} if difference else {}
    for name, measured in wanted.items():
        values = run.scores.by_seed(measured.run, measured.decoder, measured.metric, measured.captions)
        if values is not None and not values.isna().all():
            metric = registry.find(measured.metric)
            numbers[name] = round(float(values.mean()) * metric.scale, metric.digits(metric.scale))
    return numbers


def _runs_table(run: Run) -> list[str]:
    header = ["variant", "label", "captioner", "objective", "settings", "reward", "epochs", "learning rate"]
    matrix = [[*header, "training seeds"]]
    for entry in run.trained:
        trained = [entry.captioner, entry.objective, _settings(entry.settings) or "–", entry.reward or "–"]
        # A run without an epoch has the weights that it starts from.
        pace = [str(entry.epochs), f"{entry.learning_rate:g}"] if entry.epochs else ["–", "–"]
        seeds = ", ".join(str(seed) for seed in entry.seeds)
        matrix.append([f"`{entry.name}`", entry.label, *trained, *pace, seeds])
    return markdown_table(matrix)


def _settings(settings: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{key} ({_settings(value)})" if isinstance(value, Mapping) else f"{key} {_setting(value)}"
        for key, value in settings.items()
    )


def _setting(value: Any) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:g}"
        case list():
            return " and ".join(map(_setting, value))
    return str(value)


def _findings(
    run: Run, finding: Mapping[str, str] | None, results: Sequence[Result], remarks: Sequence[str]
) -> list[str]:
    lines = ["## Findings", ""]
    if finding:
        lines += [f"What the paper claims above all: {finding['sentence']} (claim {finding['claim']})", ""]
    if results:
        lines += [f"Its claims on {run.datasets}: {in_words(counts(results))}.", ""]
    lines += [_finding(run, result) for result in results if result.claim.primary and result.difference is not None]
    lines += [line for remark in remarks for line in ("", remark)]
    return lines if lines[2:] else []


def _finding(run: Run, result: Result) -> str:
    claim = result.claim
    left, right = claim.sides(run)
    what = claim.what(run)
    verdict = f"{result.verdict} ({result.reason})" if result.verdict == UNTESTABLE else result.judgement
    parts = [
        f"- **{claim.words(run)}: {verdict}.** {what[0].upper()}{what[1:]} on "
        f"{run.dataset(claim.task(run))}: {result.number(result.left)} ({left}) against "
        f"{result.number(result.right)} ({right}), {result.span}",
        f"q {'<' if result.q_value < 0.001 else '='} {max(result.q_value, 0.001):.3f}" if result.q_value else "",
        "over test items only" if result.seeds == 1 else f"the claimed sign in {result.agreement} seeds",
    ]
    printed = claim.paper_text()
    return ", ".join(filter(None, parts)) + (f"; the paper's difference: {printed}." if printed else ".")


def _comparisons(run: Run, pairs: Sequence[tuple[str, str]]) -> list[str]:
    lines = ["q is corrected over the rows of one comparison."] if pairs else []
    for left, right in pairs:
        found = compared(run, left, right)
        if found:
            rows = markdown_table(matrix(run, left, right, found))
            lines += ["", f"**{heading(run, left, right, found)}**", "", *rows]
        else:
            lines += ["", f"`{left}` and `{right}` have no score in common."]
    return lines


def _tables(run: Run, *, details: bool) -> list[list[str]]:
    folder = REPORTS / run.paper.name / "tables"
    sections = []
    for name in json_file.read_json(folder / "tables.json")["order"]:
        if run.paper.tables[name].details == details:
            lines = (folder / f"{name}.md").read_text(encoding="utf-8").splitlines()
            sections.append(["#" + line if line.startswith("## ") else line for line in lines])
    return [["## Tables"], *sections] if sections else []


def _figures(run: Run, *, details: bool) -> list[list[str]]:
    index = json_file.read_json(REPORTS / run.paper.name / "figures/figures.json")
    sections, missing = list[list[str]](), dict[str, list[str]]()
    for name in index["order"]:
        if run.paper.figures[name].details != details:
            continue
        words = index["figures"][name]
        title = words["title"]
        if "missing" in words:
            missing.setdefault(words["missing"], []).append(title)
        else:
            sections.append([f"### {title}", "", f"![{title}](figures/{name}.png)", "", words.get("caption", "")])
    if missing:
        said = " ".join(f"*{'*, *'.join(titles)}*: {why}" for why, titles in missing.items())
        sections.append([f"No figure: {said}"])
    return [["## Figures"], *sections] if sections else []


def _literature(run: Run) -> list[str]:
    task = run.config.pictures
    table = published.literature(run.dataset(task))
    entries = [entry for entry in run.trained if entry.task == task]
    if table is None or not entries:
        return []
    systems = {str(system): of for system, of in table.groupby("system", sort=False)}
    metrics = [metric for metric in _LITERATURE_METRICS if metric in set(table["metric"])]
    theirs = {system: of.set_index("metric")["value"].reindex(metrics).tolist() for system, of in systems.items()}
    ours: dict[str, list[float]] = {}
    for entry in entries:
        by_seed = [run.scores.by_seed(entry.name, "beam", metric) for metric in metrics]
        ours[entry.name] = [math.nan if values is None else float(values.mean()) * 100 for values in by_seed]
    levels = [["system", "source", *metrics]]
    levels += [[system, of["source"].iloc[0], *map(_or_dash, theirs[system])] for system, of in systems.items()]
    levels += [[f"{entry.label} (ours)", "this run", *map(_or_dash, ours[entry.name])] for entry in entries]
    gaps = [["ours minus theirs", "", *metrics]]
    for entry in entries:
        if entry.objective == _LIKELIHOOD:
            gaps += [[entry.label, name, *map(_gap, ours[entry.name], theirs[name])] for name in systems]
    absent = sorted(metric for metric, *found in zip(metrics, *ours.values(), strict=True) if np.isnan(found).all())
    return texts.lines(
        "literature",
        beam=run.beam(entries[0].evaluation),
        levels=markdown_table(levels),
        gaps=markdown_table(gaps),
        notes={system: "; ".join(filter(None, of["note"].unique())) for system, of in systems.items()},
        missing=[run.scores.why_missing(entries[0].name, "beam", metric) for metric in absent],
    )


def _or_dash(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.1f}"


def _gap(ours: float, theirs: float) -> str:
    # Adding zero turns -0.0 into 0.0.
    return "–" if math.isnan(ours - theirs) else f"{round(ours - theirs, 1) + 0.0:+.1f}"


def _stand_ins(run: Run, others: Sequence[tuple[str, str]]) -> list[str]:
    data = [[published_on, run.stand_in(task)] for task, published_on in run.paper.facts.published_on.items()]
    matrix = [["the paper", "here"], *data, *map(list, others)]
    return _headed("Deviations from the paper", markdown_table(matrix) if matrix[1:] else [])


def _errors(found: Sequence[str]) -> list[str]:
    heading = ["## Errors noticed in the paper", "", "Computed from the printed numbers in `published/`.", ""]
    return [*heading, *(f"- {error}" for error in found)] if found else []


def _limits(run: Run, results: Sequence[Result], known: Sequence[str]) -> list[str]:
    single = [entry for entry in run.trained if len(entry.seeds) == 1]
    limits = list(known)
    if single:
        who = "every variant" if len(single) == len(run.trained) else _who(run.trained, single)
        limits.append(f"One training seed: {who}. Their intervals cover the choice of test items, not training.")
    reasons = dict.fromkeys(result.reason for result in results if result.verdict == NOT_RUN)
    if reasons:
        limits.append(f"Not run: {'; '.join(reasons)}.")
    return ["## Limits", "", *(f"- {limit}" for limit in limits)] if limits else []


def _who(entries: Sequence[ReportedRun], chosen: Sequence[ReportedRun]) -> str:
    words: list[str] = []
    for captioner in dict.fromkeys(entry.captioner for entry in chosen):
        its = [entry for entry in entries if entry.captioner == captioner]
        some = [entry.label for entry in its if entry in chosen]
        words += [f"all of captioner `{captioner}`"] if len(some) == len(its) > 1 else some
    return ", ".join(words)


def _where(run: Run, rows: Mapping[str, Rows]) -> list[str]:
    name = run.paper.name
    evaluations = run.config.evaluations.values()
    scores = ", ".join(f"`{file}`" for evaluation in evaluations for file in (evaluation.scores, *evaluation.retrieval))
    lines = [
        f"Rows, columns, claims and figures: `src/seqcap/papers/{name}`; runs: `papers/{name}.yaml`; "
        f"published numbers: `src/seqcap/papers/{name}/published`; scores: {scores}.",
        "",
    ]
    matrix = [["published", "row", "decoder", "objective", "captions"]]
    for table, table_rows in rows.items():
        for label, (run_name, decoder) in table_rows.items():
            entry = run.by_name.get(run_name)
            files = (
                [f"`src/seqcap/objectives/{entry.objective}.py`", f"`{entry.decoded}`"] if entry else ["not run"] * 2
            )
            matrix.append([table, label if isinstance(label, str) else ": ".join(label), decoder, *files])
    return [*lines, *markdown_table(matrix)]
