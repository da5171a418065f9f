"""The report that people review, put together from the papers' sections. Light: all numbers are there already."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from typing import Any

from seqcap import artifacts
from seqcap.config.report import ReportConfig
from seqcap.errors import InputError
from seqcap.reporting import REPORTS, SECTIONS
from seqcap.reporting.curves import HEADER
from seqcap.reporting.markdown import markdown_table
from seqcap.reporting.verdicts import COLUMNS, COUNTED, READING, in_words

# Paper -> what `section.summary` says of it.
Summaries = Mapping[str, Mapping[str, Any]]


def write_report(config: ReportConfig) -> None:
    """Writes report.md, claims.csv (numbers in the printed scale), claims.md, curves.csv and metrics.json.

    Raises:
        InputError: a paper's section has not been made yet.
    """
    papers: Summaries = {paper: artifacts.read_json(SECTIONS / paper / "claims.json") for paper in config.papers}
    sections = [_read(paper, "section.md") for paper in config.papers]
    _write("report.md", "\n".join([_head(papers, config.scale), *sections]))
    _write("claims.md", _claims(papers))
    with artifacts.atomic(REPORTS / "claims.csv") as path, path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(record for paper in papers.values() for record in paper["records"])
    curves = [line for paper in config.papers for line in _read(paper, "curves.csv").splitlines()[1:]]
    _write("curves.csv", "\n".join([HEADER, *curves, ""]))
    metrics = {paper: artifacts.read_json(SECTIONS / paper / "metrics.json") for paper in config.papers}
    artifacts.write_json(REPORTS / "metrics.json", metrics)


def _read(paper: str, name: str) -> str:
    path = SECTIONS / paper / name
    if not path.is_file():
        raise InputError(path, "does not exist", "run `dvc repro` to make it")
    return path.read_text(encoding="utf-8")


def _write(name: str, text: str) -> None:
    with artifacts.atomic(REPORTS / name) as path:
        path.write_text(text, encoding="utf-8")


def _head(papers: Summaries, scale: str) -> str:
    """What is said once, for all papers."""
    names = dict.fromkeys(name for paper in papers.values() for name in paper["datasets"])
    matrix = [["paper", "variants", "comparisons", *COUNTED.values()]]
    for paper in papers.values():
        verdicts = [paper["verdicts"][verdict] for verdict in COUNTED]
        matrix.append([paper["label"], *map(str, (paper["variants"], sum(verdicts), *verdicts))])
    lines = [
        f"# seqcap: our numbers beside the published ones ({', '.join(names)})",
        "",
        f"What the papers claim, and how it fares here. Scale: {scale}.",
        "",
        *markdown_table(matrix),
        "",
        "## How to read this",
        "",
        "Every number of ours comes from this run; every number under *paper* is quoted from the publication.",
        "",
        *READING,
        "",
        "Random samples are one draw with a fixed seed; the intervals take them as given.",
    ]
    levels = dict.fromkeys(name for paper in papers.values() for name in paper["levels"])
    if levels:
        lines += [
            "",
            f"Levels on {' or '.join(levels)} and on COCO cannot be compared: CIDEr depends on the references, their "
            "number and their vocabulary. The order of the objectives can be, and is what the claims test.",
        ]
    return "\n".join([*lines, ""])


def _claims(papers: Summaries) -> str:
    """claims.md: every comparison of every paper."""
    lines = ["# Claims", ""]
    for paper in papers.values():
        lines += [f"**{paper['label']}** on {', '.join(paper['datasets'])}: {in_words(paper['verdicts'])}.", ""]
        lines += [*paper["table"], ""]
    return "\n".join([*lines, *READING, ""])
