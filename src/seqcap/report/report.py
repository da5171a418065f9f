"""The report that people read: a first page, and a page per paper. Light: all numbers are there already."""

import csv
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seqcap.config.report import ReportConfig
from seqcap.errors import InputError
from seqcap.files import json_file, writing
from seqcap.report import REPORTS, SECTIONS, texts
from seqcap.report.curves import HEADER
from seqcap.report.evidence import Evidence
from seqcap.report.first_page import Record, Reported, first_page, key
from seqcap.report.html import file_of, write_html
from seqcap.report.provenance import Measured, measure
from seqcap.report.verdicts import COLUMNS, judge


def write_report(config: ReportConfig) -> None:
    """Writes report.md, <paper>/{report,details}.md, report.html, claims.csv, curves.csv, metrics.json and pages.json,
    which has a hash of each page without what was measured. A paper without a part is named."""
    made = [paper for paper in config.papers if (SECTIONS / paper / "claims.json").is_file()]
    if not made:
        raise InputError(SECTIONS, "has no paper's part", "run `dvc repro` to make them")
    papers = {paper: judged(json_file.read_json(SECTIONS / paper / "claims.json")) for paper in made}
    report = Reported(config, papers, *_published(config.beside), _features(config.pictures))
    pages = _pages(report, measure(config))
    for name, text in pages.items():
        _write(file_of(name), text)
    write_html(pages, REPORTS, REPORTS / "report.html")
    with writing.atomic(REPORTS / "claims.csv") as path, path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(record for said in papers.values() for claim in said["claims"] for record in claim["records"])
    curves = [line for paper in made for line in _read(paper, "curves.csv").splitlines()[1:]]
    _write("curves.csv", "\n".join([HEADER, *curves, ""]))
    metrics = {paper: json_file.read_json(SECTIONS / paper / "metrics.json") for paper in made}
    json_file.write_json(REPORTS / "metrics.json", metrics)
    hashes = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in _pages(report, None).items()}
    json_file.write_json(REPORTS / "pages.json", hashes)


def judged(said: Mapping[str, Any]) -> dict[str, Any]:
    """A paper's claims.json with the lines of claims.csv in place of its evidence."""
    evidences = [Evidence.model_validate(record) for claim in said["claims"] for record in claim["records"]]
    lines = {of.claim: [outcome.line() for outcome in of.outcomes] for of in judge(evidences)}
    return {**said, "claims": [claim | {"records": lines[claim["id"]]} for claim in said["claims"]]}


def _read(paper: str, name: str) -> str:
    return (SECTIONS / paper / name).read_text(encoding="utf-8")


def _write(name: str, text: str) -> None:
    with writing.atomic(REPORTS / name) as path:
        path.write_text(text, encoding="utf-8")


def _published(files: Mapping[str, str]) -> tuple[dict[str, Mapping[tuple[str, ...], Record]], list[str]]:
    """Data -> the comparisons of a claims.csv; and why files are left out."""
    found: dict[str, Mapping[tuple[str, ...], Record]] = {}
    faults = []
    for data, name in files.items():
        if not Path(name).is_file():
            faults.append(f"{data} is left out: there is no `{name}`")
            continue
        with Path(name).open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            records = list(reader)
        if reader.fieldnames != COLUMNS:
            faults.append(f"{data} is left out: `{name}` is of an older report; its experiment has to run again")
            continue
        # A primary comparison, which has a verdict, comes after one that is a detail of another claim.
        found[data] = {key(line): line for line in sorted(records, key=lambda line: line["level"])}
    return found, faults


def _pages(report: Reported, measured: Measured | None) -> dict[str, str]:
    pages = {"report": first_page(report, measured)}
    for paper in report.papers:
        pages |= {paper: _read(paper, "page.md") + _trained(paper, measured)}
        pages |= {f"{paper}/details": _read(paper, "details.md")}
    return pages | ({"features": report.features} if report.features else {})


def _trained(paper: str, measured: Measured | None) -> str:
    if measured is None or paper not in measured.totals:
        return ""
    minutes = f"The training of all its runs took {measured.totals[paper]:.1f} minutes of one core."
    return f"\n{minutes} Commit, machine and versions are on the [first page](../report.md#where-this-comes-from).\n"


def _features(tasks: Sequence[str]) -> str:
    """What the features of generated images hold; "" if there are none."""
    probed = {task: json_file.read_json(SECTIONS / f"probe-{task}.json")["groups"] for task in tasks}
    return texts.text("features", probed=probed) if any(probed.values()) else ""
