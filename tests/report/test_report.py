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
    first, page = (Path(f"reports/{name}").read_text(encoding="utf-8") for name in ("report.md", "spider/report.md"))
    assert page.startswith(f"# {run.paper.label}: {run.paper.facts.title}\n")
    anchors = set(re.findall(r'<a id="(\w+)"></a>', page)) | {"where-this-comes-from"}
    for folder, text in (("reports", first), ("reports/spider", page)):
        links = [link.partition("#") for link in re.findall(r"\]\(([^)]+)\)", text)]
        assert len(links) >= 2
        for link, _, anchor in links:
            assert (Path(folder) / link).is_file(), link
            assert not anchor or anchor in anchors
        assert not re.search(r"\bnan\b|None", text)
    assert "*Rollouts and the baseline.*" in page
    assert "SLE" not in first
    assert Path("reports/report.html").is_file()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(page: str = "report.md") -> str:
    """A page of the report, which is made anew."""
    report.write_report(ReportConfig.read("report"))
    return Path("reports", page).read_text(encoding="utf-8")


def recorded(paper: str, **changes: str) -> dict[str, str]:
    """A line of claims.csv."""
    words = {"paper": paper, "claim": "C1", "kind": "primary", "sentence": "a beats b", "what": "CIDEr of 5 samples"}
    words |= {"metric": "CIDEr", "decoder": "sample", "left": "a", "right": "b", "paper_difference": "2.2"}
    numbers = {"difference": "1.50", "low": "-0.20", "high": "3.10", "verdict": verdicts.UNSURE}
    return dict.fromkeys(verdicts.COLUMNS, "") | words | numbers | changes


def invented_section(paper: str, dataset: str = "scenes", verdict: str = verdicts.HOLDS, explained: str = "") -> None:
    """What the section stage writes, of one claim."""
    folder = Path("artifacts/sections") / paper
    record = recorded(paper, verdict=verdict)
    counts = dict.fromkeys(verdicts.COUNTED, 0) | {verdict: 1}
    levels = [] if dataset == "coco" else [dataset]
    said = {"label": paper.upper(), "datasets": [dataset], "levels": levels, "variants": 3, "verdicts": counts}
    said |= {"controls": dict.fromkeys(verdicts.COUNTED, 0)}
    said |= {"finding": {"sentence": "A is best.", "claim": "C1", "control": ""}}
    said |= {"claims": [{"id": "C1", "sentence": "a beats b", "explained": explained, "records": [record]}]}
    json_file.write_json(folder / "claims.json", said)
    json_file.write_json(folder / "metrics.json", {"claims": {"hold": 1}})
    (folder / "page.md").write_text(f"# {paper.upper()}: a paper\n", encoding="utf-8")
    (folder / "details.md").write_text(f"# {paper.upper()}: details\n", encoding="utf-8")
    (folder / "curves.csv").write_text(f"{report.HEADER}\n{paper},xe,1,0,val_cider,0.4\n", encoding="utf-8")


def test_papers_are_put_together(here: Path):
    for paper in ("b", "a"):
        invented_section(paper)
    write_report_config("b", "a")
    text = written()
    assert text.startswith("# seqcap: 2 captioning papers, reproduced\n\nEvery number")
    assert "**Of 2 claims, 2 hold**." in text
    row = "| A is best. ([C1](b/report.md#c1)) | CIDEr of 5 samples | +2.2 | +1.50 [-0.20, 3.10] | **holds** |"
    assert f"| [B](b/report.md) {row}" in text
    assert "| [C1](a/report.md#c1) | a beats b | CIDEr of 5 samples | +2.2 | +1.50 [-0.20, 3.10] | holds |" in text
    assert Path("reports/b/report.md").read_text(encoding="utf-8").startswith("# B: a paper\n")
    assert text.count("Levels on scenes and on COCO cannot be compared") == 1
    assert text.count("A claim is one sentence of a paper.") == 1
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


def test_claims_stand_beside_those_on_other_data(here: Path):
    """The same claim has other numbers of captions there, and perhaps other words; an old file is named."""
    for paper in ("a", "b"):
        invented_section(paper)
    there = recorded("a", sentence="in other words", what="CIDEr of 3 samples", difference="-0.40")
    others = [recorded("a", left="c"), recorded("b", difference="", low="", high="", verdict=verdicts.NOT_RUN)]
    write_claims("photographs.csv", there, *others)
    write_claims("old.csv", there, columns=verdicts.COLUMNS[:-4])
    write_report_config("a", "b", Photos="photographs.csv", Old="old.csv", Gone="gone.csv")
    page = written()
    ours, there = "+1.50 [-0.20, 3.10]", "-0.40 [-0.20, 3.10] n.s."
    assert f"| a beats b | CIDEr of 5 samples | +2.2 | {ours} | {there} | holds |" in page
    # Nothing of this paper was run there.
    assert f"| [C1](b/report.md#c1) | a beats b | CIDEr of 5 samples | +2.2 | {ours} | holds |" in page
    assert "- Holds on scenes, not significant on Photos: A C1." in page
    assert "Old is left out: `old.csv` is of an older report; its experiment has to run again." in page
    assert "Gone is left out: there is no `gone.csv`." in page


def test_what_did_not_reproduce_is_explained_or_not(here: Path):
    invented_section("a", verdict=verdicts.FAILS, explained="It is too small.")
    invented_section("b", verdict=verdicts.FAILS)
    invented_section("c", verdict=verdicts.ONE_SEED)
    write_report_config("a", "b", "c")
    page = written()
    assert "- A [C1](a/report.md#c1), a beats b. It is too small.\n" in page
    assert "a beats b. No reason was found.\n- One seed: C C1.\n" in page
    write_report_config("a", "b", "c", proves=False)
    page = written()
    assert page.startswith("# seqcap: a trial of a few training steps, whose numbers prove nothing\n")
    assert "did not reproduce" not in page


def test_what_is_measured_is_on_the_pages_and_in_no_hash(here: Path):
    invented_section("a")
    write_report_config("a")
    assert "one core each | not known |" in written()
    hashes = json_file.read_json("reports/pages.json")
    json_file.write_json("artifacts/timing/a.json", {"a_run": 30})
    # Ten epochs of half a minute with two seeds.
    assert "one core each | A 10.0 |" in written()
    assert "took 10.0 minutes" in written("a/report.md")
    assert json_file.read_json("reports/pages.json") == hashes
    write_report_config("a", seeds=(1, 2, 3))
    written()
    assert set(hashes) == {"report", "a", "a/details"}
    assert json_file.read_json("reports/pages.json")["report"] != hashes["report"]


def test_what_the_features_hold_is_shown_where_it_was_probed(here: Path):
    invented_section("a")
    group = {"group": "kind with colour", "mean_average_precision": 0.7149, "labels": 40, "chance": 0.031}
    json_file.write_json("artifacts/sections/probe-image.json", {"groups": [group]})
    json_file.write_json("artifacts/sections/probe-photos.json", {"groups": []})
    write_report_config("a", pictures=("image", "photos"))
    assert "[what they hold](features/report.md)" in written()
    text = Path("reports/features/report.md").read_text(encoding="utf-8")
    assert "| image | kind with colour | 40 | 0.71 | 0.03 |" in text
    assert "| photos |" not in text
    write_report_config("a", pictures=("photos",))
    assert "what they hold" not in written()


def test_verdicts_are_counted_in_words():
    counts = dict.fromkeys(verdicts.COUNTED, 0)
    assert verdicts.in_words(counts) == "of 0 claims, none has a verdict"
    assert verdicts.in_words(counts | {verdicts.ONE_SEED: 2}) == "of 2 claims, 2 have one seed"


def test_a_paper_without_a_section_is_named(here: Path):
    """An experiment may publish one paper after the other."""
    write_report_config("a", "b", "c")
    with pytest.raises(InputError, match=r"artifacts/sections: has no paper's part"):
        written()
    invented_section("b")
    text = written()
    assert "\nNot run here: `a`, `c`.\n\n## Findings\n" in text
    assert set(json_file.read_json("reports/metrics.json")) == {"b"}
    for paper in ("a", "c"):
        invented_section(paper)
    assert "Not run here" not in written()


def test_a_stage_ends_in_one_line(sle):
    sle.names = ["xe"]
    sle.write()
    Path("artifacts/sle/results/sle_image.parquet").write_bytes(b"not parquet")
    done = stage("tables.py", "sle")
    assert done.returncode == 2
    assert re.fullmatch(r"error: artifacts/sle/results/sle_image\.parquet: is not a Parquet file .*\n", done.stderr)


@pytest.mark.parametrize(
    "page", sorted((REPOSITORY / "reports").glob("*/report.md")), ids=lambda page: page.parent.name
)
def test_the_committed_pages_are_short(page: Path):
    first = REPOSITORY / "reports/report.md"
    assert first.stat().st_size <= 25_000
    assert len(first.read_text(encoding="utf-8").splitlines()) <= 200
    if (page.parent / "claims.csv").is_file():
        # What an experiment has published stays as it is until it runs again.
        return
    assert len(page.read_text(encoding="utf-8").splitlines()) <= 500
