"""The report that people review, put together from the papers' sections. Light: all numbers are there already."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seqcap.config.report import ReportConfig
from seqcap.errors import InputError
from seqcap.files import json_file, writing
from seqcap.report import REPORTS, SECTIONS
from seqcap.report.curves import HEADER
from seqcap.report.markdown import markdown_table
from seqcap.report.verdicts import COLUMNS, COUNTED, READING

Summaries = Mapping[str, Mapping[str, Any]]  # paper -> its `section.summary`
Records = Mapping[tuple[str, ...], Mapping[str, str]]  # comparison -> its line of claims.csv
# What tells comparisons apart.
_KEY = ("paper", "claim", "metric", "decoder", "left", "right", "base")


def write_report(config: ReportConfig) -> None:
    """Writes report.md, claims.csv, curves.csv and metrics.json. Papers without a section are named."""
    made = [paper for paper in config.papers if (SECTIONS / paper / "claims.json").is_file()]
    if not made:
        raise InputError(SECTIONS, "has no paper's section", "run `dvc repro` to make them")
    papers: Summaries = {paper: json_file.read_json(SECTIONS / paper / "claims.json") for paper in made}
    sections = [_read(paper, "section.md") for paper in made]
    absent = [paper for paper in config.papers if paper not in made]
    parts = [_head(papers, absent, config.scale), _side_by_side(papers, config.beside), _features(config.pictures)]
    _write("report.md", "\n".join([*filter(None, parts), *sections]))
    with writing.atomic(REPORTS / "claims.csv") as path, path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(record for paper in papers.values() for record in _records(paper))
    curves = [line for paper in made for line in _read(paper, "curves.csv").splitlines()[1:]]
    _write("curves.csv", "\n".join([HEADER, *curves, ""]))
    metrics = {paper: json_file.read_json(SECTIONS / paper / "metrics.json") for paper in made}
    json_file.write_json(REPORTS / "metrics.json", metrics)


def _records(paper: Mapping[str, Any]) -> list[dict[str, str]]:
    return [record for claim in paper["claims"] for record in claim["records"]]


def _read(paper: str, name: str) -> str:
    return (SECTIONS / paper / name).read_text(encoding="utf-8")


def _write(name: str, text: str) -> None:
    with writing.atomic(REPORTS / name) as path:
        path.write_text(text, encoding="utf-8")


def _head(papers: Summaries, absent: Sequence[str], scale: str) -> str:
    names = dict.fromkeys(name for paper in papers.values() for name in paper["datasets"])
    matrix = [["paper", "variants", "claims", *COUNTED.values()]]
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
        *([f"Not run here: {', '.join(f'`{paper}`' for paper in absent)}.", ""] if absent else []),
        "## How to read this",
        "",
        "Every number of ours comes from this run; every number under *paper* is quoted from the publication.",
        "",
        *READING,
        "",
        "[ ] holds a 95% interval; where it is a range over seeds, that is said. Random samples are one draw with a "
        "fixed seed; the intervals take them as given.",
    ]
    levels = dict.fromkeys(name for paper in papers.values() for name in paper["levels"])
    if levels:
        lines += [
            "",
            f"Levels on {' or '.join(levels)} and on COCO cannot be compared: CIDEr depends on the references, their "
            "number and their vocabulary. The order of the objectives can be, and is what the claims test.",
        ]
    return "\n".join([*lines, ""])


def _side_by_side(papers: Summaries, files: Mapping[str, str]) -> str:
    if not files:
        return ""
    lines = ["## The claims side by side", ""]
    lines += [
        "Differences (left minus right) in the printed scale, with 95% intervals and verdicts. Other data are "
        "published experiments of this repository, each at its own scale; an empty cell: not run there.",
        "",
    ]
    published: dict[str, Records] = {}
    for name, file in files.items():
        found = _read_claims(Path(file))
        if isinstance(found, str):
            lines += [f"{name} is left out: {found}.", ""]
        else:
            published[name] = found
    for paper in papers.values():
        records = _records(paper)
        keys = [_key(record) for record in records]
        there = [name for name, found in published.items() if any(_difference(found.get(key)) for key in keys)]
        matrix = [["claim", "metric", "left - right", "paper", ", ".join(paper["datasets"]), *there]]
        for key, record in zip(keys, records, strict=True):
            first = record["kind"] == "primary"
            claim = f"{record['claim']}: {record['sentence']}" if first else ""
            row = [claim, record["what"], f"{record['left']} - {record['right']}", record["paper_difference"]]
            others = [_difference(published[name].get(key)) for name in there]
            matrix.append([*row, _difference(record) or record["verdict"], *others])
        lines += [f"**{paper['label']}**", "", *markdown_table(matrix), ""]
    return "\n".join(lines)


def _read_claims(path: Path) -> Records | str:
    if not path.is_file():
        return f"there is no `{path}`"
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != COLUMNS:
            return f"`{path}` has other columns than reports have now; its experiment has to run again"
        return {_key(record): record for record in reader}


def _key(record: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(record[column] for column in _KEY)


def _difference(record: Mapping[str, str] | None) -> str:
    if record is None or not record["difference"]:
        return ""
    numbers = (record[column] for column in ("difference", "low", "high"))
    difference, low, high = (number if number.startswith("-") else f"+{number}" for number in numbers)
    return f"{difference} [{low}, {high}] {record['verdict']}".rstrip()


def _features(tasks: Sequence[str]) -> str:
    lines: list[str] = []
    for task in tasks:
        groups = json_file.read_json(SECTIONS / f"probe-{task}.json")["groups"]
        if groups:
            matrix = [["task", "what", "labels", "mean average precision", "of chance"]]
            for group in groups:
                numbers = [f"{group[name]:.2f}" for name in ("mean_average_precision", "chance")]
                matrix.append([task, group["group"], str(group["labels"]), *numbers])
            lines += [*markdown_table(matrix), ""]
    if not lines:
        return ""
    reading = "A captioner cannot say what its features do not hold. Linear probes, fitted on train, measured on test."
    return "\n".join(["## What the features hold", "", reading, "", *lines])
