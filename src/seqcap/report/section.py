"""A paper's page: findings, claims, tables and figures; and its details: long tables, settings, files behind rows."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from seqcap.files import json_file, writing
from seqcap.metrics import registry
from seqcap.report import REPORTS, comparison, provenance, published, texts
from seqcap.report.claims import Claim, JudgedClaim, claims_table, run_claims
from seqcap.report.claims_file import ClaimsFile
from seqcap.report.curves import HEADER, curve_lines
from seqcap.report.inputs import Run
from seqcap.report.paper import Rows
from seqcap.report.results import VERSION, Results
from seqcap.report.verdicts import COUNTED, NOT_RUN

# The objective of pretraining.
_LIKELIHOOD = "cross_entropy"
_LITERATURE_METRICS = ("BLEU1", "BLEU2", "BLEU3", "BLEU4", "METEOR", "CIDEr")


def write_section(run: Run, comparisons: Sequence[tuple[str, str]] = ()) -> None:
    """Writes the paper's page, report.md, its details.md and its results; `comparisons` are of two runs each."""
    judged, rows = run_claims(all_claims(run), run), run.paper.find("rows")
    origin = provenance.measure(run.config)
    said = summary(run, judged) | {"version": VERSION, "rule": origin["commit"]}
    folder = REPORTS / run.paper.name
    pages = {
        "report.md": _page(run, said, judged, comparisons, origin),
        "details.md": _details(run, rows.rows(run) if rows else run.paper.facts.rows),
    }
    for name, text in pages.items():
        with writing.atomic(folder / name) as path:
            path.write_text(text, encoding="utf-8")
    metrics = _metrics(run, judged, ClaimsFile.read(run.paper))
    Results(said=said, metrics=metrics, curves=_curves(run), provenance=origin).write(folder)


def _curves(run: Run) -> str:
    """The learning curves of the paper's runs, and of those that they start from, as CSV."""
    folders = {entry.name: Path(entry.weights) for entry in run.trained}
    # Runs of one captioner continue from the same curves.
    starts = {entry.captioner: folders[entry.name] / "start.parquet" for entry in run.trained}
    files = [*(weights / "curves.parquet" for weights in folders.values()), *filter(Path.exists, starts.values())]
    return "\n".join([HEADER, *curve_lines(run.paper.name, files), ""])


def all_claims(run: Run) -> list[Claim]:
    claims = run.paper.find("claims")
    found: list[Claim] = (
        claims.claims(run) if hasattr(claims, "claims") else ClaimsFile.read(run.paper).build(run.paper)
    )
    return found


def _page(
    run: Run,
    said: Mapping[str, Any],
    judged: Sequence[JudgedClaim],
    comparisons: Sequence[tuple[str, str]],
    origin: Mapping[str, Any],
) -> str:
    """The page as markdown; links are relative to reports/<paper>/."""
    claims, file = run.paper.find("claims"), ClaimsFile.read(run.paper)
    stand_ins = [(theirs, run.stand_in(task)) for task, theirs in run.paper.facts.published_on.items()]
    stand_ins += [(theirs, run.fill(here)) for theirs, here in file.stand_ins]
    stand_ins += claims.stand_ins(run) if hasattr(claims, "stand_ins") else []
    return texts.text(
        "page",
        run=run,
        said=said,
        verdicts=_counts(of for of in judged if not of.claim.control),
        controls=_counts(of for of in judged if of.claim.control),
        file=file,
        judged=judged,
        data=[run.stand_in(task) for task in dict.fromkeys(entry.task for entry in run.runs)],
        claims=claims_table(judged),
        comparison=comparison,
        comparisons=comparisons,
        stand_ins=stand_ins,
        one_seed=_one_seed(run),
        reasons=dict.fromkeys(
            outcome.reason for of in judged for outcome in of.judged.outcomes if outcome.verdict == NOT_RUN
        ),
        origin=provenance.in_words(origin),
        origin_of_data=[provenance.data_in_words(data) for data in origin["data"]],
        **_shown(run, details=False),
    )


def _details(run: Run, rows: Mapping[str, Rows]) -> str:
    scores = [file for of in run.config.evaluations.values() for file in (of.scores, *of.retrieval)]
    values = {"literature": _literature(run), "in_words": _settings, "rows": rows, "scores": scores}
    return texts.text("details", run=run, **values, **_shown(run, details=True))


def _shown(run: Run, *, details: bool) -> dict[str, Any]:
    """The tables and figures of a page, and which figures are missing, by the reason."""
    folder = REPORTS / run.paper.name
    names = json_file.read_json(folder / "tables/tables.json")["order"]
    files = [folder / f"tables/{name}.md" for name in names if run.paper.tables[name].details == details]
    tables = [re.sub("^## ", "### ", file.read_text(encoding="utf-8"), flags=re.MULTILINE) for file in files]
    index = json_file.read_json(folder / "figures/figures.json")
    figures = {name: index["figures"][name] for name in index["order"] if run.paper.figures[name].details == details}
    missing: dict[str, list[str]] = {}
    for words in figures.values():
        if "missing" in words:
            missing.setdefault(words["missing"], []).append(words["title"])
    return {"tables": tables, "figures": figures, "missing": missing}


def summary(run: Run, judged: Sequence[JudgedClaim]) -> dict[str, Any]:
    """What the report says of the paper's claims: `levels` are datasets whose CIDEr says nothing of COCO's."""
    tasks, finding = dict.fromkeys(entry.task for entry in run.runs), ClaimsFile.read(run.paper).finding
    claims = run.paper.find("claims")
    others = [run.dataset(task) for task in tasks if run.kind(task).quality == "CIDEr" and run.dataset(task) != "coco"]
    return {
        "label": run.paper.label,
        "title": run.paper.facts.title,
        "datasets": list(dict.fromkeys(run.dataset(task) for task in tasks)),
        "levels": others,
        "finding": finding and finding.model_dump(),
        "remarks": claims.remarks(run, judged) if hasattr(claims, "remarks") else [],
        "claims": [
            {
                "id": of.claim.id,
                "sentence": of.claim.words(run),
                "why": of.claim.why,
                "explained": of.claim.explained,
                "control": of.claim.control,
                "records": [result.record() for result in of.results],
            }
            for of in judged
        ],
    }


def _counts(judged: Iterable[JudgedClaim]) -> dict[str, int]:
    found = Counter(of.judged.verdict for of in judged)
    return {verdict: found[verdict] for verdict in COUNTED}


def _metrics(run: Run, judged: Sequence[JudgedClaim], file: ClaimsFile) -> dict[str, float]:
    """The difference that stands for the paper, and the numbers that its file wants, of runs that are there."""
    numbers: dict[str, float] = {}
    if file.finding:
        first = next(of.judged.first for of in judged if of.claim.id == file.finding.claim)
        numbers |= {"finding": float(first.number(first.difference))} if first.difference is not None else {}
    for name, measured in file.metrics.items():
        values = run.scores.by_seed(measured.run, measured.decoder, measured.metric, measured.captions)
        if values is not None and not values.isna().all():
            metric = registry.find(measured.metric)
            numbers[name] = round(float(values.mean()) * metric.scale, metric.digits(metric.scale))
    return numbers


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


def _literature(run: Run) -> dict[str, Any]:
    """Other systems' published results and ours; {} where there are none."""
    task = run.config.pictures
    table = published.literature(run.dataset(task))
    entries = [entry for entry in run.trained if entry.task == task]
    if table is None or not entries:
        return {}
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
    return {
        "beam": run.beam(entries[0].evaluation),
        "levels": levels,
        "gaps": gaps,
        "notes": {system: "; ".join(filter(None, of["note"].unique())) for system, of in systems.items()},
        "missing": [run.scores.why_missing(entries[0].name, "beam", metric) for metric in absent],
    }


def _or_dash(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.1f}"


def _gap(ours: float, theirs: float) -> str:
    # Adding zero turns -0.0 into 0.0.
    return "–" if math.isnan(ours - theirs) else f"{round(ours - theirs, 1) + 0.0:+.1f}"


def _one_seed(run: Run) -> str:
    """Which variants have a single training seed; "" if none has."""
    single, words = [entry for entry in run.trained if len(entry.seeds) == 1], list[str]()
    several = {entry.label for entry in run.trained if len(entry.seeds) > 1}
    if single == run.trained:
        return "every variant" if single else ""
    for captioner in dict.fromkeys(entry.captioner for entry in single):
        its = [entry for entry in run.trained if entry.captioner == captioner]
        labels = ((entry.label, entry.name) for entry in its if entry in single)
        # A label may be that of a run with more seeds, too.
        some = [f"{label} (as `{name}`)" if label in several else label for label, name in labels]
        words += [f"all of captioner `{captioner}`"] if len(some) == len(its) > 1 else some
    return ", ".join(words)
