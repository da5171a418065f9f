"""The report end to end, through the stages' own scripts, and how it is put together."""

import csv
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from invented_runs import write_report_config

from seqcap.config.report import ReportConfig
from seqcap.errors import InputError
from seqcap.files import json_file
from seqcap.report import report, verdicts

REPOSITORY = Path(__file__).resolve().parents[2]
# Runs a script, and then tells which packages it has imported that take long.
RUN = """
import runpy, sys
try:
    runpy.run_path(sys.argv.pop(1), run_name="__main__")
finally:
    print(*sorted({"torch", "numba", "matplotlib", "pandas"} & set(sys.modules)))
"""


def stage(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", RUN, str(REPOSITORY / "stages" / script), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)


def test_the_stages_make_a_report_and_import_little(spider):
    spider.names, spider.images = ["mle", "pg_cider", "pg_spice"], 4
    run = spider.write()
    write_report_config("spider")
    for script, imported in (
        (("tables.py", "spider"), "pandas"),
        (("figures.py", "spider"), "matplotlib pandas"),
        (("section.py", "spider"), "pandas"),
        (("report.py",), ""),
    ):
        done = stage(*script)
        assert (done.returncode, done.stdout.strip()) == (0, imported), done.stderr
    text = Path("reports/report.md").read_text(encoding="utf-8")
    assert f"## {run.paper.label}: {run.paper.facts.title}\n" in text
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) == 4
    for link in links:
        assert (Path("reports") / link).is_file(), link
    assert not re.search(r"\bnan\b|None", text)
    assert "*Rollouts and the baseline.*" in text
    assert "SLE" not in text


def recorded(paper: str, **changes: str) -> dict[str, str]:
    """A line of claims.csv."""
    words = {"paper": paper, "claim": "C1", "kind": "primary", "sentence": "a beats b", "what": "CIDEr of 5 samples"}
    words |= {"metric": "CIDEr", "decoder": "sample", "left": "a", "right": "b", "paper_difference": "2.2"}
    numbers = {"difference": "1.50", "low": "-0.20", "high": "3.10", "verdict": verdicts.UNSURE}
    return dict.fromkeys(verdicts.COLUMNS, "") | words | numbers | changes


def invented_section(paper: str, dataset: str = "scenes") -> None:
    """What the section stage writes, of one claim."""
    folder = Path("artifacts/sections") / paper
    record = recorded(paper, verdict=verdicts.HOLDS)
    counts = dict.fromkeys(verdicts.COUNTED, 0) | {verdicts.HOLDS: 1}
    levels = [] if dataset == "coco" else [dataset]
    said = {"label": paper.upper(), "datasets": [dataset], "levels": levels, "variants": 3, "verdicts": counts}
    said |= {"claims": [{"id": "C1", "records": [record]}]}
    json_file.write_json(folder / "claims.json", said)
    json_file.write_json(folder / "metrics.json", {"claims": {"hold": 1}})
    (folder / "section.md").write_text(f"## {paper.upper()}: a paper\n", encoding="utf-8")
    (folder / "curves.csv").write_text(f"{report.HEADER}\n{paper},xe,1,0,val_cider,0.4\n", encoding="utf-8")


def test_papers_are_put_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for paper in ("b", "a"):
        invented_section(paper)
    write_report_config("b", "a")
    report.write_report(ReportConfig.read("report"))
    text = Path("reports/report.md").read_text(encoding="utf-8")
    assert text.startswith("# seqcap: our numbers beside the published ones (scenes)\n\nWhat the papers claim")
    assert text.endswith("is what the claims test.\n\n## B: a paper\n\n## A: a paper\n")
    assert "| B | 3 | 1 | 1 | 0 | 0 | 0 | 0 | 0 |\n| A | 3 |" in text
    assert text.count("Levels on scenes and on COCO cannot be compared") == 1
    assert text.count(verdicts.READING[0]) == 1
    with Path("reports/claims.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == verdicts.COLUMNS
    assert [row["paper"] for row in rows] == ["b", "a"]
    assert json_file.read_json("reports/metrics.json") == {paper: {"claims": {"hold": 1}} for paper in ("a", "b")}
    assert Path("reports/curves.csv").read_text(encoding="utf-8").splitlines() == [
        "paper,variant,seed,step,quantity,value",
        "b,xe,1,0,val_cider,0.4",
        "a,xe,1,0,val_cider,0.4",
    ]


def write_claims(path: str, *records: dict[str, str], columns: Sequence[str] = verdicts.COLUMNS) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(records)


def test_claims_stand_beside_those_on_other_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The same claim has other numbers of captions there, and perhaps other words; an old file is named."""
    monkeypatch.chdir(tmp_path)
    for paper in ("a", "b"):
        invented_section(paper)
    there = recorded("a", sentence="in other words", what="CIDEr of 3 samples", difference="-0.40")
    others = [recorded("a", left="c"), recorded("b", difference="", low="", high="", verdict=verdicts.NOT_RUN)]
    write_claims("photographs.csv", there, *others)
    write_claims("old.csv", there, columns=verdicts.COLUMNS[:-4])
    write_report_config("a", "b", Photos="photographs.csv", Old="old.csv", Gone="gone.csv")
    report.write_report(ReportConfig.read("report"))
    text = Path("reports/report.md").read_text(encoding="utf-8")
    page = text[text.index("## The claims side by side") : text.index("## A: a paper")]
    assert "| claim | metric | left - right | paper | scenes | Photos |" in page
    words = "C1: a beats b | CIDEr of 5 samples | a - b"
    ours = "+1.50 [-0.20, +3.10] holds"
    assert f"| {words} | 2.2 | {ours} | -0.40 [-0.20, +3.10] not significant |" in page
    # Nothing of this paper was run there.
    head = "**B**\n\n| claim | metric | left - right | paper | scenes |\n|---|---|---|---|---|\n"
    assert f"{head}| {words} | 2.2 | {ours} |\n" in page
    assert "Old is left out: `old.csv` has other columns than reports have now" in page
    assert "Gone is left out: there is no `gone.csv`." in page


def test_what_the_features_hold_is_shown_where_it_was_probed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    invented_section("a")
    group = {"group": "kind with colour", "mean_average_precision": 0.7149, "labels": 40, "chance": 0.031}
    json_file.write_json("artifacts/sections/probe-image.json", {"groups": [group]})
    json_file.write_json("artifacts/sections/probe-photos.json", {"groups": []})
    write_report_config("a", pictures=("image", "photos"))
    report.write_report(ReportConfig.read("report"))
    text = Path("reports/report.md").read_text(encoding="utf-8")
    assert "## What the features hold\n" in text
    assert "| image | kind with colour | 40 | 0.71 | 0.03 |" in text
    assert "| photos |" not in text
    write_report_config("a", pictures=("photos",))
    report.write_report(ReportConfig.read("report"))
    assert "What the features hold" not in Path("reports/report.md").read_text(encoding="utf-8")


def test_verdicts_are_counted_in_words():
    counts = dict.fromkeys(verdicts.COUNTED, 0)
    assert verdicts.in_words(counts) == "of 0 claims, none has a verdict"
    assert verdicts.in_words(counts | {verdicts.ONE_SEED: 2}) == "of 2 claims, 2 have one seed"


def test_a_paper_without_a_section_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """An experiment may publish one paper after the other."""
    monkeypatch.chdir(tmp_path)
    write_report_config("a", "b", "c")
    with pytest.raises(InputError, match=r"artifacts/sections: has no paper's section"):
        report.write_report(ReportConfig.read("report"))
    invented_section("b")
    report.write_report(ReportConfig.read("report"))
    text = Path("reports/report.md").read_text(encoding="utf-8")
    assert "\nNot run here: `a`, `c`.\n\n## How to read this\n" in text
    assert set(json_file.read_json("reports/metrics.json")) == {"b"}
    for paper in ("a", "c"):
        invented_section(paper)
    report.write_report(ReportConfig.read("report"))
    assert "Not run here" not in Path("reports/report.md").read_text(encoding="utf-8")


def test_a_stage_ends_in_one_line(sle):
    sle.names = ["xe"]
    sle.write()
    Path("artifacts/sle/results/sle_image.parquet").write_bytes(b"not parquet")
    done = stage("tables.py", "sle")
    assert done.returncode == 2
    assert re.fullmatch(r"error: artifacts/sle/results/sle_image\.parquet: is not a Parquet file .*\n", done.stderr)
