"""The report that people read: a first page over the papers' own pages. Light: all numbers are there already, in files
that git keeps. It depends on nothing else, so that one paper can be run and the others stay as they are."""

import csv
import io
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from seqcap.errors import InputError
from seqcap.files import json_file, writing
from seqcap.first_page.all_papers import Reported
from seqcap.first_page.html import file_of, write_html
from seqcap.first_page.page import TEXTS, first_page
from seqcap.report import REPORTS
from seqcap.report.curves import HEADER
from seqcap.report.outcome import COLUMNS
from seqcap.report.reported import ReportConfig
from seqcap.report.summary import RESULTS, Summary, read_all
from seqcap.report.verdicts import DECIDED, HOLDS, NOT_RUN

FEATURES = "features"  # the folder of what the probes of features found, and of its page


def write_report(config: ReportConfig, folder: Path = REPORTS) -> None:
    """Writes, into a folder that holds one for each paper, what is about all of them: report.md, features/report.md,
    report.html, claims.csv, curves.csv and metrics.json. A paper without results is named."""
    papers = read_all(folder, config.papers)
    if not papers:
        raise InputError(folder, "has no paper's results", "run `seqcap repro` to make them")
    studies = _studies(config.beside, config.papers)
    published, again, faults = _published(config.beside, config.papers, studies)
    probed = _probed(folder, config.pictures)
    report = Reported(config, folder, papers, published, again, studies, faults, probed=any(probed.values()))
    made = {"report": first_page(report), FEATURES: TEXTS.fill("features", probed=probed)}
    for name, text in made.items():
        _write(folder / file_of(name), text)
    pages = {"report": made["report"]}
    for paper in papers:
        names = [name for name in (paper, f"{paper}/details") if (folder / file_of(name)).is_file()]
        pages |= {name: (folder / file_of(name)).read_text(encoding="utf-8") for name in names}
    pages |= _pages_of(published, report)
    for study, summary in report.studies.items():
        if page := report.page(study):
            label = str(summary.said["label"])
            text = (folder / page).read_text(encoding="utf-8")
            pages[page.removesuffix(".md")] = text.replace(f"# {label}", f"# {report.named_study(summary, label)}", 1)
    write_html(pages | {FEATURES: made[FEATURES]}, folder, folder / "report.html")
    _write(folder / "claims.csv", _claims(papers))
    curves = [line for summary in papers.values() for line in summary.curves.splitlines()[1:]]
    _write(folder / "curves.csv", "\n".join([HEADER, *curves, ""]))
    metrics = {paper: {**summary.metrics, **_counts(summary)} for paper, summary in papers.items()}
    json_file.write_json(folder / "metrics.json", metrics)


def _pages_of(published: Mapping[str, Mapping[str, Summary]], report: Reported) -> dict[str, str]:
    """The papers' pages on other data that lie in the report's folder; their titles begin with the data."""
    pages = {}
    for data, papers in published.items():
        again = map(report.page, report.again[data])
        for page in (*(report.page_of(paper, data) for paper in papers), *again):
            if page and (report.folder / page).is_file():
                text = (report.folder / page).read_text(encoding="utf-8")
                pages[page.removesuffix(".md")] = text.replace("# ", f"# {data}, ", 1)
    return pages


def _write(path: Path, text: str) -> None:
    with writing.atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _published(
    beside: Mapping[str, Sequence[str]], papers: Sequence[str], studies: Mapping[Path, Summary]
) -> tuple[dict[str, Mapping[str, Summary]], dict[str, dict[Path, Summary]], list[str]]:
    """Data -> the results that experiments on it have published; the same papers' by other experiments, by their
    folder; and why data are left out."""
    by_data, again = dict[str, dict[str, Summary]](), dict[str, dict[Path, Summary]]()
    for data, folders in beside.items():
        by_data[data], again[data] = {}, {}
        for folder in map(Path, folders):
            for paper, summary in read_all(folder, papers).items():
                if by_data[data].setdefault(paper, summary) is not summary:
                    again[data][folder / paper] = summary
    of_studies = {study.parent for study in studies}
    faults = [
        f"{data} is left out: `{'`, `'.join(folders)}` has no paper's results"
        for data, folders in beside.items()
        if not by_data[data] and of_studies.isdisjoint(map(Path, folders))
    ]
    return {data: summary for data, summary in by_data.items() if summary}, again, faults


def _studies(beside: Mapping[str, Sequence[str]], papers: Sequence[str]) -> dict[Path, Summary]:
    """Folder -> the results of a study of ours, which an experiment has published: it is none of the papers here."""
    studies = {}
    for folder in chain.from_iterable(beside.values()):
        for file in sorted(Path(folder).glob(f"*/{RESULTS}/claims.json")):
            study = file.parents[1]
            if study.name not in papers:
                studies[study] = Summary.read(study)
    return studies


def _probed(folder: Path, tasks: Sequence[str]) -> dict[str, Sequence[Mapping[str, object]]]:
    """Task -> what the features of its images tell, if these are generated and were probed."""
    files = {task: folder / FEATURES / f"{task}.json" for task in tasks}
    return {task: json_file.read_json(file)["groups"] for task, file in files.items() if file.is_file()}


def _claims(papers: Mapping[str, Summary]) -> str:
    """Every comparison as CSV. `rule`: the commit whose rule its verdict is of, if it is not today's."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [*COLUMNS, "rule"], lineterminator="\n")
    writer.writeheader()
    for summary in papers.values():
        for claim in summary.said["claims"]:
            writer.writerows({**line, "rule": summary.rule} for line in summary.lines(claim))
    return text.getvalue()


def _counts(summary: Summary) -> dict[str, int]:
    """How many of a paper's claims hold, fail and are undecided; {} if none has a verdict of today's rule."""
    counts = summary.counts(control=False)
    if not counts:
        return {}
    decided = sum(counts[verdict] for verdict in DECIDED)
    undecided = counts.total() - decided - counts[NOT_RUN]
    return {"hold": counts[HOLDS], "fail": decided - counts[HOLDS], "undecided": undecided}
