"""The first page: what the papers claim and how it fares here. Its numbers are those of the papers' results and of the
table across papers; texts/ has its words."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from seqcap.files import json_file
from seqcap.first_page import outcomes, own_runs, unknown_words
from seqcap.first_page.advice import advice
from seqcap.first_page.all_papers import GENERATED, Reported, link, span
from seqcap.first_page.asides import (
    JUDGE,
    WTFRL,
    Asides,
    have_one_blind_spot,
    misled,
    misled_in_words,
    true_shares,
    updates,
)
from seqcap.first_page.in_short import in_short
from seqcap.first_page.in_short_smoothing import of_studies
from seqcap.first_page.main_claims import left_out, main_claims
from seqcap.first_page.other_data import on_other_data
from seqcap.first_page.outcomes import in_print, numbers, shortly
from seqcap.first_page.overview import (
    ACROSS,
    AS_DIVERSE,
    DISTINCT,
    LITERAL,
    PEOPLE,
    PRECISION,
    RECALL,
    TWIN,
    Overview,
)
from seqcap.first_page.uses import uses
from seqcap.report import provenance
from seqcap.report.summary import RESULTS, Summary
from seqcap.report.texts import Texts
from seqcap.report.verdicts import COUNTED, DAGGER, DECIDED, HOLDS, IN_PART, LESS, NOT_RUN, REVERSED
from seqcap.report.wording import BY_PEOPLE, FAULTY

DATA_FILES = "texts/*"  # part of the code of every module that imports this one (`pipeline.code`)
TEXTS = Texts(Path(__file__).with_name("texts"))
EXAMPLE = "example.json"  # `seqcap.report.example` writes it; to import that takes seconds
# Columns that results of older code lack.
_WANTED = (DISTINCT, LITERAL, PRECISION, RECALL)
_OF_FACTS = (LITERAL, PRECISION, RECALL)  # of these those that only scenes can have
# Times the usual training time, from which a run is named for it.
_LONGER = 2


def first_page(report: Reported) -> str:
    """The page as markdown; links are relative to the folder of the report."""
    rows = _overview(report)
    asides = Asides.read(report.folder)
    across = _across(report, rows, asides)
    main = main_claims(report, rows)
    compared = {data: on_other_data(report, data) for data in report.published}
    findings = in_short(report, main, across["rows"], compared, asides)
    studies = of_studies(report)
    return TEXTS.fill(
        "page",
        report=report,
        in_short=findings,
        studies=studies,
        has_details=bool(studies) or any(finding.details for finding in findings),
        asides=asides,
        **_misled(report, asides),
        knows_truth=any(summary.measures(of) for summary in report.papers.values() for of in own_runs.TRUTHS),
        people_with_fault=f"{BY_PEOPLE:.0f}",
        has_faults=any(FAULTY in of for of in asides.worded.values()),
        link=link,
        numbers=numbers,
        in_print=in_print,
        shortly=shortly,
        by_whom=outcomes.by_whom,
        counted=outcomes.counted,
        begun=outcomes.begun,
        counts=_counts(report),
        failed=outcomes.failed(report.papers),
        fared=outcomes.fared,
        in_part=IN_PART,
        reversed_controls=outcomes.reversed_controls(report.papers),
        **_example(report),
        words=outcomes.words,
        **across,
        main_claims=main,
        left_out=left_out(report),
        on_other_data=compared,
        **_limits(report),
        **_origins(report),
    )


def _counts(report: Reported) -> dict[str, Any]:
    """How the claims of today's rule fared, all together, and how many of them use a run that was still rising."""
    verdicts, controls = report.total(control=False), report.total(control=True)
    run = verdicts.total() - verdicts[NOT_RUN]
    judged = [(paper, claim) for paper, claim in report.claims() if not report.papers[paper].rule]
    rising = [claim for _, claim in judged if DAGGER in claim.words and not claim.control]
    changed = [claim.id for _, claim in judged if claim.verdict == HOLDS and claim.changed and not claim.control]
    labels = [str(summary.said["label"]) for summary in report.papers.values() if summary.claims and not summary.rule]
    return {
        "claims": run,
        "of": ", ".join(labels),
        "hold": verdicts[HOLDS],
        "reversed": verdicts[REVERSED],
        "changed": len(changed),
        "changed_claims": ", ".join(changed),
        "in_part": sum(IN_PART in claim.words for _, claim in judged if not claim.control),
        "without": verdicts[LESS],
        "open": run - sum(verdicts[name] for name in DECIDED),
        "undecided": _undecided(verdicts),
        "controls": controls.total() - controls[NOT_RUN],
        "controls_hold": controls[HOLDS],
        "rising": len(rising),
        "rising_hold": sum(claim.verdict == HOLDS for claim in rising),
    }


def _undecided(verdicts: Mapping[str, int]) -> str:
    """ " (18 cannot be told, 7 cannot be tested)": how many claims have each verdict that decides nothing."""
    open_ = {name: words for name, words in COUNTED.items() if name not in (*DECIDED, NOT_RUN)}
    told = [f"{number} {words[number > 1]}" for name, words in open_.items() if (number := verdicts[name])]
    return f" ({', '.join(told)})" if told else ""


def _example(report: Reported) -> dict[str, Any]:
    """A scene with captions of it: that of the table across papers or, without one, of the first paper that has one.
    `shares`: label -> how many of all captions are true, in a hundred."""
    for paper in sorted(report.papers, key=lambda name: name != ACROSS):
        path = report.folder / paper / RESULTS / EXAMPLE
        if path.is_file():
            tables = report.folder / paper / "tables"
            shares = true_shares(sorted(tables.glob("*.csv")))
            return {"example": {"paper": paper, **json_file.read_json(path)}, "shares": shares}
    return {"example": None}


def _misled(report: Reported, asides: Asides) -> dict[str, Any]:
    """How often retrievers take a false caption for the true one, in words: each here, and the judge on other data."""
    folders = {data: report.folder_of(WTFRL, data) for data in report.published}
    there = {data: misled(folder).get(JUDGE) for data, folder in folders.items() if folder}
    return {
        "misled": {who: misled_in_words(shares) for who, shares in asides.misled.items()},
        "misled_there": {data: misled_in_words(shares) for data, shares in there.items() if shares},
        "has_one_blind_spot": have_one_blind_spot(asides.misled),
    }


def _worded(asides: Asides) -> dict[str, dict[str, str]]:
    """Columns of how captions are worded: heading -> run -> text."""
    names = dict.fromkeys(name for of in asides.worded.values() for name in of)
    return {name: {run: f"{of[name]:.1f}" for run, of in asides.worded.items() if name in of} for name in names}


def _across(report: Reported, rows: Overview | None, asides: Asides) -> dict[str, Any]:
    """What the table across papers says: its rows, what to use when, and its figure."""
    found: dict[str, Any] = {
        **{"rows": None, "picture": None, "has_judge": False},
        **{"table": [], "advice": [], "lacking": [], "uses": {}},
    }
    if rows is None:
        return found
    across = report.papers[ACROSS]
    on_scenes = across.said["datasets"] == ["scenes"]
    found["on_scenes"] = on_scenes
    found["on"] = "generated scenes" if on_scenes else ", ".join(across.said["datasets"])
    found["trained_on"] = _trained_on(across.provenance["data"])
    figures = json_file.read_json(report.folder / ACROSS / "figures/figures.json")
    drawn = [{"name": name, **figures["figures"][name]} for name in figures["order"]]
    taken, made = across.provenance["minutes"], _updates(report.folder / ACROSS, rows)
    minutes = {row.label: taken[row.run] for row in rows.objectives if row.run in taken}
    if minutes:
        rows = replace(rows, budget=_budget(minutes))
    advised = advice(rows, asides)
    return found | {
        "rows": rows,
        "table": rows.markdown(
            without=[*AS_DIVERSE, PRECISION, *([TWIN] if rows.has(DISTINCT) else [])],
            more={
                **_worded(asides),
                "seeds": {row.run: str(row.seeds) for row in rows.rows if row.seeds},
                "updates": {run: f"{number:,}" for run, number in made.items()},
                "minutes used": {run: f"{number:.1f}" for run, number in taken.items()},
            },
        ),
        "budget": rows.budget,
        "picture": next((figure for figure in drawn if "missing" not in figure), None),
        "advice": advised,
        "has_wide": any("±" in f"{row.take} {row.tied}" for row in advised),
        "uses": uses(report, rows),
        "lacking": [name for name in _WANTED if not rows.has(name) and (on_scenes or name not in _OF_FACTS)],
        "has_people": any(row.run == PEOPLE for row in rows.rows),
        "has_judge": rows.has(DISTINCT),
    }


def _updates(folder: Path, rows: Overview) -> dict[str, int]:
    """Run -> how often it was updated within its budget, of the runs that were."""
    numbers_of = {row.run: updates(folder, row.run) for row in rows.rows}
    return {run: number for run, number in numbers_of.items() if number}


def _trained_on(data: Sequence[Mapping[str, Any]]) -> str:
    """ " (3,200 for training, 456 words)" of one task; "" of several, or where it is not known."""
    if len(data) != 1 or not data[0].get("words"):
        return ""
    return f" ({data[0]['sizes']['train']:,} for training, {data[0]['words']['different']:,} words)"


def _overview(report: Reported) -> Overview | None:
    """The table across papers; None without numbers."""
    path = report.folder / ACROSS / "tables" / f"{ACROSS}.csv"
    if ACROSS not in report.papers or not path.is_file():
        return None
    rows = Overview.read(path)
    return rows if rows.directions else None


def _budget(minutes: Mapping[str, float]) -> str:
    """ "1.0 to 1.3 minutes of training (PG-SPIDEr 4.2)": what the training of one seed took, those named that took
    longer than the others."""
    usual = median(minutes.values())
    longer = {label: taken for label, taken in minutes.items() if taken > _LONGER * usual}
    others = [taken for label, taken in minutes.items() if label not in longer]
    ends = " to ".join(dict.fromkeys(f"{end:.1f}" for end in (min(others), max(others))))
    named = ", ".join(f"{label} {taken:.1f}" for label, taken in longer.items())
    return f"{ends} minutes of training" + (f" ({named})" if named else "")


def _limits(report: Reported) -> dict[str, Any]:
    seeds = {number for _, claim in report.claims() for line in claim.lines for number in line.seeds}
    said = [summary.said for summary in report.papers.values()]
    there = [report.folder_of(paper, data) for data, papers in report.published.items() for paper in papers]
    folders = [*report.studies, *filter(None, there)]
    return {
        "has_unknown_words": any(map(unknown_words.in_words, folders)),
        "generated": any(GENERATED & set(contents["datasets"]) for contents in said),
        "repeated": span(seeds) if seeds else "",
        "levels": list(dict.fromkeys(name for contents in said for name in contents["levels"])),
    }


def _origins(report: Reported) -> dict[str, Any]:
    """Where each paper's results come from, here and on other data: a row for each of the data; and the commits."""
    rows = []
    for paper, summary in report.papers.items():
        rows += _origin(summary, f"[{summary.said['label']}]({paper}/report.md)")
    for data in report.published:
        rows += _origins_on(report, data)
        for folder, summary in report.again[data].items():
            rows += _origin(summary, f"{report.linked(folder, str(summary.said['label']))} on {data}, again")
    for folder, summary in report.studies.items():
        rows += _origin(summary, report.linked(folder, report.named_study(summary, str(summary.said["label"]))))
    _say_once(rows)
    summaries = [*report.papers.values(), *report.studies.values()]
    named = [(str(summary.said["label"]), summary.provenance) for summary in summaries]
    for data, papers in report.published.items():
        named += [(data, summary.provenance) for summary in (*papers.values(), *report.again[data].values())]
    commits = {origin["commit"] for _, origin in named}
    versions = {provenance.in_words(origin)["versions"] for _, origin in named if origin["versions"]}
    return {
        "origins": rows,
        "commits": sorted(commit for commit in commits if commit),
        "lacks_commits": any(origin["commit"] is None for _, origin in named),
        # In words where all are the same.
        "versions": versions.pop() if len(versions) == 1 else "",
    }


def _say_once(rows: Sequence[dict[str, str]]) -> None:
    """Empties what rows have of the nearest ones above: the processor, and the sizes of the same data. That something
    is not recorded is told in words of the commit alone."""
    last = dict[str, str]()
    for row in rows:
        row |= {column: "–" for column, cell in row.items() if cell == provenance.NOT_RECORDED and column != "commit"}
        for column, of_what in (("sizes", row["name"]), ("processor", "")):
            if row[column] and row[column] == last.get(of_what):
                row[column] = ""
            elif row[column]:
                last[of_what] = row[column]


def _origins_on(report: Reported, data: str) -> list[dict[str, str]]:
    """The rows of the papers on other data; those that have one origin share them."""
    papers, rows = report.published[data], list[dict[str, str]]()
    alike = dict[str, list[str]]()
    for paper, summary in papers.items():
        alike.setdefault(repr(_origin(summary, "")), []).append(paper)
    for names in alike.values():
        rows += _origin(papers[names[0]], f"{report.pages_on(data, names)} on {data}")
    return rows


def _origin(summary: Summary, label: str) -> list[dict[str, str]]:
    """The rows of a paper's data. What they share is in the first."""
    shared = provenance.in_words(summary.provenance)
    data = provenance.data_in_words(summary.provenance["data"])
    first, *others = [{**dict.fromkeys(shared, ""), "paper": "", **task} for task in data]
    return [{**first, **shared, "paper": label}, *others]
