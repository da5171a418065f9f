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
from seqcap.report import REPORTS, caption_files, comparison, example, provenance, published, selection, wording
from seqcap.report.claims import Comparison, JudgedClaim, claims_table, details_table, run_claims
from seqcap.report.claims_file import ClaimsFile
from seqcap.report.curves import HEADER, curve_lines
from seqcap.report.inputs import Results
from seqcap.report.paper import Rows
from seqcap.report.reported import ReportedRun
from seqcap.report.statistics import absent_run
from seqcap.report.summary import RESULTS, VERSION, Summary, foremost
from seqcap.report.texts import Texts
from seqcap.report.verdicts import COUNTED, NOT_RUN, UNTESTABLE

DATA_FILES = "texts/*"  # part of the code of every module that imports this one (`pipeline.code`)
_TEXTS = Texts(Path(__file__).with_name("texts"))
# The objective of pretraining.
_LIKELIHOOD = "cross_entropy"
_MOST_ROWS = 70  # of a table on a page; a longer one is a file beside it
_MOST_NAMED = 12  # runs of claims that are not part of the results; of more the number is said
_LITERATURE_METRICS = ("BLEU1", "BLEU2", "BLEU3", "BLEU4", "METEOR", "CIDEr")


def write_section(results: Results, comparisons: Sequence[tuple[str, str]] = ()) -> None:
    """Writes the paper's page, report.md, its details.md and its results; `comparisons` are of two runs each."""
    judged = run_claims(all_claims(results), results)
    module = results.paper.find("rows")
    rows: Mapping[str, Rows] = module.rows(results) if module else results.paper.facts.rows
    origin = provenance.measure(results.config)
    said = summary(results, judged) | {"version": VERSION, "rule": origin["commit"]}
    folder = REPORTS / results.paper.name
    in_tables = _in_tables(results, rows)
    worded = wording.measure(results, in_tables)
    pages = {
        "report.md": _page(results, said, judged, comparisons, origin, worded),
        "details.md": _details(results, rows, judged, origin["minutes"], has_captions=bool(in_tables)),
    }
    for name, text in pages.items():
        with writing.atomic(folder / name) as path:
            path.write_text(text, encoding="utf-8")
    metrics = _metrics(results, judged, ClaimsFile.of(results))
    Summary(said=said, metrics=metrics, curves=_curves(results), provenance=origin).write(folder)
    caption_files.write(results, in_tables, folder / RESULTS / caption_files.FOLDER)
    wording.write(worded, folder / RESULTS)
    claims = results.paper.find("claims")
    scene = claims.scene(results) if hasattr(claims, "scene") else None
    if scene is not None:
        example.write(scene, folder / RESULTS)


def _in_tables(results: Results, rows: Mapping[str, Rows]) -> list[tuple[str, str]]:
    """Run and decoder of each row of the paper's tables that is there; of a paper without published tables, the beam
    of every run."""
    sources = [source for of_table in rows.values() for source in of_table.values()]
    if not rows:
        sources = [(run.name, "beam") for run in results.trained]
    return [(name, decoder) for name, decoder in sources if name in results.by_name]


def _curves(results: Results) -> str:
    """The learning curves of the paper's runs, and of those that they start from, as CSV."""
    folders = {run.name: Path(run.weights) for run in results.trained}
    # Runs of one captioner continue from the same curves.
    starts = {run.captioner: folders[run.name] / "start.parquet" for run in results.trained}
    files = [*(weights / "curves.parquet" for weights in folders.values()), *filter(Path.exists, starts.values())]
    return "\n".join([HEADER, *curve_lines(results.paper.name, files), ""])


def all_claims(results: Results) -> list[Comparison]:
    claims = results.paper.find("claims")
    comparisons: list[Comparison] = (
        claims.claims(results) if hasattr(claims, "claims") else ClaimsFile.of(results).build(results.paper)
    )
    return comparisons


def _page(
    results: Results,
    said: Mapping[str, Any],
    judged: Sequence[JudgedClaim],
    comparisons: Sequence[tuple[str, str]],
    origin: Mapping[str, Any],
    worded: wording.Measured,
) -> str:
    """The page as markdown; links are relative to reports/<paper>/."""
    claims, file = results.paper.find("claims"), ClaimsFile.of(results)
    labels = {name: run.label for name, run in results.by_name.items()}
    early = selection.kept_early(results)
    early_in_part, early_as_a_whole = selection.in_part(results, early)
    stand_ins = [(theirs, results.stand_in(task)) for task, theirs in results.paper.facts.published_on.items()]
    stand_ins += [(theirs, results.fill(here)) for theirs, here in file.stand_ins]
    stand_ins += claims.stand_ins(results) if hasattr(claims, "stand_ins") else []
    return _TEXTS.fill(
        "page",
        results=results,
        said=said,
        verdicts=_counts(judged_claim for judged_claim in judged if not judged_claim.claim.control),
        controls=_counts(judged_claim for judged_claim in judged if judged_claim.claim.control),
        file=file,
        judged=judged,
        foremost=_foremost(said, judged),
        data=dict.fromkeys(results.stand_in(run.task) for run in results.runs),
        claims=claims_table(judged, planned=results.are_of_scenes),
        early=early,
        early_in_part=early_in_part,
        early_as_a_whole=early_as_a_whole,
        without_early=selection.without_early(judged, early),
        has_details=bool(details_table(judged)),
        comparison=comparison,
        comparisons=comparisons,
        ungrammatical=wording.ungrammatical(worded, labels),
        faulty=wording.faulty(worded, labels),
        distinct=wording.distinct(worded, labels),
        by_people=f"{wording.BY_PEOPLE:.0f}",
        stand_ins=stand_ins,
        one_seed=_one_seed(results),
        reasons=why_not_run(results, judged),
        origin=provenance.in_words(origin),
        origin_of_data=provenance.data_in_words(origin["data"]),
        origin_of_models=provenance.models_in_words(origin),
        **_shown(results, details=False),
    )


def why_not_run(results: Results, judged: Sequence[JudgedClaim]) -> list[str]:
    """Why comparisons were not run; runs that are not there in one list or, if they are many, as a number."""
    outcomes = [outcome for judged_claim in judged for outcome in judged_claim.judged.outcomes]
    reasons = dict.fromkeys(outcome.reason for outcome in outcomes if outcome.verdict == NOT_RUN)
    absent = {reason: run for reason in reasons if (run := absent_run(reason))}
    others = [reason for reason in reasons if reason not in absent]
    if len(absent) > _MOST_NAMED:
        compared = dict[str, bool]()  # a side, by its run or what it is called -> whether a comparison of it was run
        for evidence in (outcome.evidence for outcome in outcomes):
            for name in filter(None, (evidence.left, evidence.right, evidence.base)):
                compared[name] = compared.get(name, name in results.by_name) or not evidence.absent
        number = list(compared.values()).count(False)
        return [f"{number} of the {len(compared)} runs that claims compare", *others]
    return [*([f"runs that are not part of these results: {'; '.join(absent.values())}"] if absent else []), *others]


def _foremost(said: Mapping[str, Any], judged: Sequence[JudgedClaim]) -> list[JudgedClaim]:
    """A control of ours that cannot be tested on these data tells nothing of them."""
    by_id = {
        judged_claim.claim.id: judged_claim
        for judged_claim in judged
        if judged_claim.judged.verdict != NOT_RUN
        and not (judged_claim.claim.control and judged_claim.judged.verdict == UNTESTABLE)
    }
    return [by_id[name] for name in foremost(said["finding"], list(by_id))]


def _details(
    results: Results,
    rows: Mapping[str, Rows],
    judged: Sequence[JudgedClaim],
    minutes: Mapping[str, float],
    *,
    has_captions: bool,
) -> str:
    """`minutes`: of training, of one seed of each run of which they are known. `has_captions`: whether those of any row
    are kept beside it."""
    return _TEXTS.fill(
        "details",
        results=results,
        of_claims=details_table(judged),
        literature=_literature(results),
        runs_alike=runs_alike(results.trained),
        label_of=_label_of,
        in_words=_settings_of,
        took=lambda runs: _took(runs, minutes),
        rows=rows,
        has_captions=has_captions,
        scores=[
            file
            for evaluation in results.config.evaluations.values()
            for file in (evaluation.scores, *evaluation.retrieval)
        ],
        **_shown(results, details=True),
    )


def _of_a_page(file: Path) -> str:
    """A table's text for a page: its rows or, where they are too many to be read there, a link to its own file."""
    text = re.sub("^## ", "### ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    rows = [line for line in text.splitlines() if line.startswith("|")][2:]
    if len(rows) <= _MOST_ROWS:
        return text
    before, _, _ = text.partition("\n|")
    return f"{before}\n[The table]({file.parent.name}/{file.name}) has {len(rows)} rows.\n"


def _shown(results: Results, *, details: bool) -> dict[str, Any]:
    """The tables and figures of a page, and the titles of figures that could not be drawn, by the reason."""
    folder = REPORTS / results.paper.name
    names = json_file.read_json(folder / "tables/tables.json")["order"]
    files = [folder / f"tables/{name}.md" for name in names if results.paper.tables[name].details == details]
    tables = [_of_a_page(file) for file in files]
    index = json_file.read_json(folder / "figures/figures.json")
    figures = {
        name: index["figures"][name] for name in index["order"] if results.paper.figures[name].details == details
    }
    missing: dict[str, list[str]] = {}
    for words in figures.values():
        if "missing" in words:
            missing.setdefault(words["missing"], []).append(words["title"])
    return {"tables": tables, "figures": figures, "missing": missing}


def summary(results: Results, judged: Sequence[JudgedClaim]) -> dict[str, Any]:
    """The content of claims.json. `levels`: the datasets, other than COCO, whose levels of CIDEr cannot be compared
    with the paper's."""
    tasks, finding = dict.fromkeys(run.task for run in results.runs), ClaimsFile.of(results).finding
    claims = results.paper.find("claims")
    others = [
        results.dataset(task)
        for task in tasks
        if results.kind(task).quality == "CIDEr" and results.dataset(task) != "coco"
    ]
    return {
        "label": results.paper.label,
        "title": results.paper.facts.title,
        "datasets": list(dict.fromkeys(results.dataset(task) for task in tasks)),
        "levels": others,
        "captioners": list(results.captioners),
        "likelihood": [run.name for run in _captioners(results) if run.objective == _LIKELIHOOD],
        "finding": finding and finding.model_dump(),
        "remarks": claims.remarks(results, judged) if hasattr(claims, "remarks") else [],
        "claims": [
            {
                "id": judged_claim.claim.id,
                "sentence": judged_claim.claim.words(results),
                "why": judged_claim.claim.why,
                "explained": judged_claim.claim.explained,
                "control": judged_claim.claim.control,
                "about": judged_claim.claim.about,
                "records": [outcome.given.model_dump(mode="json") for outcome in judged_claim.judged.outcomes],
            }
            for judged_claim in judged
        ],
    }


def _counts(judged: Iterable[JudgedClaim]) -> dict[str, int]:
    counts = Counter(judged_claim.judged.verdict for judged_claim in judged)
    return {verdict: counts[verdict] for verdict in COUNTED}


def _metrics(results: Results, judged: Sequence[JudgedClaim], file: ClaimsFile) -> dict[str, float]:
    """The paper's numbers in metrics.json: the difference of its main claim, and those that claims.yaml names, if their
    runs are there."""
    numbers: dict[str, float] = {}
    if file.finding:
        first = next(
            judged_claim.judged.first for judged_claim in judged if judged_claim.claim.id == file.finding.claim
        )
        numbers |= {"finding": float(first.number(first.difference))} if first.difference is not None else {}
    for name, measured in file.metrics.items():
        values = results.scores.by_seed(measured.run, measured.decoder, measured.metric, measured.captions)
        if values is not None and not values.isna().all():
            metric = registry.find(measured.metric)
            numbers[name] = round(float(values.mean()) * metric.scale, metric.digits(metric.scale))
    return numbers


def runs_alike(runs: Sequence[ReportedRun]) -> list[list[ReportedRun]]:
    """Runs one after the other that differ in their names and in one setting alone, the same one for all of them."""
    groups = list[list[ReportedRun]]()
    for run in runs:
        if groups and _are_alike([*groups[-1], run]):
            groups[-1].append(run)
        else:
            groups.append([run])
    return groups


def _are_alike(runs: Sequence[ReportedRun]) -> bool:
    others = {
        (run.captioner, run.objective, run.reward, run.payer, run.epochs, run.learning_rate, run.seeds) for run in runs
    }
    return len(others) == 1 and len(_differing(runs)) == 1


def _differing(runs: Sequence[ReportedRun]) -> list[str]:
    """The settings that are not the same for all runs."""
    keys = dict.fromkeys(key for run in runs for key in run.settings)
    first = runs[0].settings
    return [key for key in keys if any(run.settings.get(key) != first.get(key) for run in runs)]


def _label_of(runs: Sequence[ReportedRun]) -> str:
    """The label of runs that are alike, without what each adds to it after a comma; else all of their labels."""
    heads = {run.label.rpartition(",")[0] for run in runs}
    if len(runs) > 1 and len(heads) == 1 and heads != {""}:
        return heads.pop()
    return "; ".join(run.label for run in runs)


def _settings_of(runs: Sequence[ReportedRun]) -> str:
    """The settings of runs that are alike, with all values of the one that differs."""
    settings = dict(runs[0].settings)
    if runs[0].payer is not None:
        settings = {"retriever": runs[0].payer, **settings}
    for key in _differing(runs):
        settings[key] = " / ".join(_setting(run.settings.get(key)) for run in runs)
    return _settings(settings)


def _took(runs: Sequence[ReportedRun], minutes: Mapping[str, float]) -> str:
    """ "0.4" or "0.4 to 0.7": minutes of training of one seed of runs, as far as they are known; "–" of none."""
    known = [minutes[run.name] for run in runs if run.name in minutes]
    return " to ".join(dict.fromkeys(f"{end:.1f}" for end in (min(known), max(known)))) if known else "–"


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
            return " and ".join(map(_setting, value)) or "none"
    return str(value)


def _literature(results: Results) -> dict[str, Any]:
    """Other systems' published results and ours; {} where there are none."""
    task = results.config.pictures
    table = published.literature(results.dataset(task))
    runs = [run for run in _captioners(results) if run.task == task]
    if table is None or not runs:
        return {}
    systems = {str(system): cells for system, cells in table.groupby("system", sort=False)}
    metrics = [metric for metric in _LITERATURE_METRICS if metric in set(table["metric"])]
    theirs = {system: cells.set_index("metric")["value"].reindex(metrics).tolist() for system, cells in systems.items()}
    ours: dict[str, list[float]] = {}
    for run in runs:
        by_seed = [results.scores.by_seed(run.name, "beam", metric) for metric in metrics]
        ours[run.name] = [math.nan if values is None else float(values.mean()) * 100 for values in by_seed]
    levels = [["system", "source", *metrics]]
    levels += [[system, cells["source"].iloc[0], *map(_or_dash, theirs[system])] for system, cells in systems.items()]
    levels += [[f"{run.label} (ours)", "this run", *map(_or_dash, ours[run.name])] for run in runs]
    gaps = [["ours minus theirs", "", *metrics]]
    for run in runs:
        if run.objective == _LIKELIHOOD:
            gaps += [[run.label, name, *map(_gap, ours[run.name], theirs[name])] for name in systems]
    absent = sorted(metric for metric, *found in zip(metrics, *ours.values(), strict=True) if np.isnan(found).all())
    return {
        "beam": results.beam(runs[0].evaluation),
        "levels": levels,
        "gaps": gaps,
        "notes": {system: "; ".join(filter(None, cells["note"].unique())) for system, cells in systems.items()},
        "missing": [results.scores.why_missing(runs[0].name, "beam", metric) for metric in absent],
    }


def _captioners(results: Results) -> list[ReportedRun]:
    """Trained runs, without those that have the captioner of another one, as it is, and decode it otherwise: whatever
    their objective is called, it has made nothing."""
    weights = {run.weights for run in results.trained}
    return [run for run in results.trained if run.epochs or run.start not in weights]


def _or_dash(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.1f}"


def _gap(ours: float, theirs: float) -> str:
    # Adding zero turns -0.0 into 0.0.
    return "–" if math.isnan(ours - theirs) else f"{round(ours - theirs, 1) + 0.0:+.1f}"


def _one_seed(results: Results) -> str:
    """Which runs have a single training seed; "" if none has."""
    single, words = [run for run in results.trained if len(run.seeds) == 1], list[str]()
    several = {run.label for run in results.trained if len(run.seeds) > 1}
    if single == results.trained:
        return "every run" if single else ""
    for captioner in dict.fromkeys(run.captioner for run in single):
        own = [run for run in results.trained if run.captioner == captioner]
        labels = ((run.label, run.name) for run in own if run in single)
        # A label may be that of a run with more seeds, too.
        some = [f"{label} (as `{name}`)" if label in several else label for label, name in labels]
        words += [f"all of captioner `{captioner}`"] if len(some) == len(own) > 1 else some
    return ", ".join(words)
