"""The report end to end, through the stages' own scripts, and how it is put together."""

import csv
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from invented_evidence import evidence
from invented_runs import write_report_config

from seqcap.config.report import ReportConfig
from seqcap.errors import InputError
from seqcap.files import json_file
from seqcap.report import report, verdicts
from seqcap.report.summary import VERSION, Summary

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
    headings = {heading.lower().replace(" ", "-") for heading in re.findall(r"(?m)^## (.*)$", first + page)}
    anchors = set(re.findall(r'<a id="(\w+)"></a>', page)) | headings
    for folder, text in (("reports", first), ("reports/spider", page)):
        links = [link.partition("#") for link in re.findall(r"\]\(([^)]+)\)", text)]
        assert len(links) >= 2
        for link, _, anchor in links:
            assert not link or (Path(folder) / link).is_file(), link
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


HOLDS, REVERSED, UNSURE = {"difference": 1.5}, {"difference": -1.5}, {"difference": 0.1, "scatter": 1.0}


def recorded(paper: str, **changes: Any) -> dict[str, Any]:
    """A comparison as a paper's results have it."""
    words = {"paper": paper, "what": "CIDEr of 5 samples", "decoder": "sample", "printed": (12.2, 10)}
    return evidence(**(HOLDS | words | {"printed_decimals": 1} | changes)).model_dump(mode="json")


def of_version_1(paper: str, verdict: str) -> dict[str, str]:
    words = {"paper": paper, "claim": "C1", "kind": "primary", "sentence": "a beats b", "what": "CIDEr of 5 samples"}
    words |= {"metric": "CIDEr", "decoder": "sample", "left": "a", "right": "b", "base": "", "paper_difference": "2.2"}
    numbers = {"difference": "1.50", "low": "-0.20", "high": "3.10", "seeds": "3/3", "items": "2000"}
    return words | numbers | {"verdict": verdict, "p_value": "0.1000", "detectable": "", "reason": ""}


def invented_results(
    paper: str,
    dataset: str = "scenes",
    explained: str = "",
    version: int = VERSION,
    folder: str = "reports",
    records: Sequence[dict[str, Any]] = (),
    **origin: object,
) -> None:
    """A paper's page and its results of one claim, with these records or one that holds."""
    claim = {"id": "C1", "sentence": "a beats b", "why": "", "explained": explained, "control": False}
    said = {
        "version": version,
        "rule": "0123456789ab",
        "label": paper.upper(),
        "title": "a paper",
        "datasets": [dataset],
        "levels": [] if dataset == "coco" else [dataset],
        "finding": {"sentence": "A is best.", "claim": "C1", "control": ""},
        "remarks": [],
        "claims": [claim | {"records": list(records) or [recorded(paper)]}],
    }
    data = {"task": "image", "name": dataset, "kind": "images", "sizes": {"val": 30, "train": 1200}, "seeds": [1, 2]}
    provenance = {
        "commit": "0123456789ab",
        "experiment": None,
        "changed": [],
        "day": "2026-01-02",
        "scale": "laptop",
        "processor": "A processor",
        "instructions": "AVX2",
        "cores": 2,
        "versions": {"numpy": "2", "Python": "3"},
        "data": [data],
        "minutes": {},
        "minutes_of_training": 10.04,
        "minutes_of_everything": None,
        "not_timed": [],
    }
    curves = f"{report.HEADER}\n{paper},xe,1,0,val_cider,0.4\n"
    place = Path(folder, paper)
    Summary(said=said, metrics={"cider": 80.1}, curves=curves, provenance=provenance | origin).write(place)
    (place / "report.md").write_text(f"# {paper.upper()}: a paper\n", encoding="utf-8")
    (place / "details.md").write_text(f"# {paper.upper()}: details\n", encoding="utf-8")


def test_papers_are_put_together(here: Path):
    for paper in ("b", "a"):
        invented_results(paper)
    write_report_config("b", "a")
    text = written()
    assert text.startswith("# seqcap: 2 captioning papers, re-tested on generated scenes\n\nNumbers of ours were")
    assert "**Of 2 claims, 2 hold**." in text
    holds = "holds (smaller)"
    # In points with one digit.
    ours = "+1.5 [1.3, 1.7]"
    row = f"| A is best. ([C1](b/report.md#c1)) | CIDEr of 5 samples | +2.2 | {ours} | **{holds}** |"
    assert f"| [B](b/report.md) {row}" in text
    assert f"| [C1](a/report.md#c1) | a beats b | CIDEr of 5 samples | +2.2 | {ours} | {holds} |" in text
    assert text.count("Levels on scenes and on COCO cannot be compared") == 1
    assert text.count("A claim is one sentence of a paper.") == 1
    with Path("reports/claims.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [*verdicts.COLUMNS, "rule"]
    assert [(row["paper"], row["verdict"], row["size"]) for row in rows] == [(of, "holds", "smaller") for of in "ba"]
    numbers = {"cider": 80.1, "hold": 1, "fail": 0, "undecided": 0}
    assert json_file.read_json("reports/metrics.json") == {"a": numbers, "b": numbers}
    assert Path("reports/curves.csv").read_text(encoding="utf-8").splitlines() == [
        "paper,variant,seed,step,quantity,value",
        "b,xe,1,0,val_cider,0.4",
        "a,xe,1,0,val_cider,0.4",
    ]


def test_claims_stand_beside_those_on_other_data(here: Path):
    """The same claim has other numbers of captions there, and perhaps other words; and may be a detail of another. What
    both decide is counted."""
    for paper in ("a", "b", "c", "d"):
        invented_results(paper)
    same = recorded("a", sentence="in other words", what="CIDEr of 3 samples", claim="C2", **REVERSED)
    detail = recorded("a", level="detail", difference=-9)
    invented_results("a", folder="reports/photos", records=[recorded("a", left="c"), detail])
    other = json_file.read_json("reports/photos/a/results/claims.json")
    other["claims"].append(other["claims"][0] | {"id": "C2", "records": [same]})
    json_file.write_json("reports/photos/a/results/claims.json", other)
    gone = recorded("b", sides=(), covariance=(), absent=True)
    invented_results("b", folder="reports/photos", records=[gone])
    invented_results("c", folder="reports/photos", records=[recorded("c", right="another")])
    invented_results("d", folder="reports/photos", records=[recorded("d", **UNSURE)])
    write_report_config("a", "b", "c", "d", Photos="reports/photos", Gone="reports/gone")
    page = written()
    assert re.search(
        r"\| a beats b \| CIDEr of 5 samples \| \+2.2 \| \+1.5 \[[^|]*\] \| holds [^|]*\| -1.5 \[.*\] reversed \|", page
    )
    # Nothing of this paper was run there.
    assert re.search(
        r"\[C1\]\(b/report.md#c1\) \| a beats b \| CIDEr of 5 samples \| \+2.2 \| [^|]* \| holds [^|]*\|\n", page
    )
    assert re.search(r"\[C1\]\(d/report.md#c1\) .* holds .* cannot tell \(could have found .*\) \|", page)
    assert "| verdict | [Photos](photos/a/report.md) |\n" in page
    assert "Photos, A: a paper" in Path("reports/report.html").read_text(encoding="utf-8")
    assert "- Photos (3 training seeds, 1,000 test items): 0 of 1 claims that both decide have one verdict." in page
    assert "- Holds on scenes, reversed on Photos: A C1." in page
    assert "Gone is left out: `reports/gone` has no paper's results." in page
    assert "| [A on Photos](photos/a/report.md) |" in page


def test_a_study_has_a_line_of_its_own_and_is_in_no_count(here: Path):
    """Only an experiment runs it: it is none of the papers here."""
    invented_results("a")
    invented_results("sizes", folder="reports/study", records=[recorded("sizes", sentence="Control: a beats b")])
    write_report_config("a", Sizes="reports/study")
    page = written()
    line = "- **A study: [a paper](study/sizes/report.md).** a beats b: +1.5 [1.3, 1.7], holds (smaller).\n"
    assert page.count(line) == 1
    assert "**Of 1 claim, 1 holds**." in page
    assert "left out" not in page
    assert "| [SIZES](study/sizes/report.md) |" in page
    assert "SIZES: a paper" in Path("reports/report.html").read_text(encoding="utf-8")


def test_a_claim_that_another_comparison_decides_is_not_joined(here: Path):
    for paper in ("a", "b"):
        invented_results(paper)
        right = {"a": "another", "b": "b"}[paper]
        invented_results(paper, folder="reports/photos", records=[recorded(paper, right=right)])
    invented_results("a", records=[recorded("a"), recorded("a", claim="C1", level="detail", metric="BLEU4")])
    write_report_config("a", "b", Photos="reports/photos")
    page = written()
    assert "1 of 1 claims that both decide have one verdict." in page
    claims = page.partition("## Claims")[2]
    assert "another comparison" not in claims
    claim = json_file.read_json("reports/a/results/claims.json")
    claim["claims"].append(claim["claims"][0] | {"id": "C2", "records": [recorded("a", claim="C2", metric="METEOR")]})
    json_file.write_json("reports/a/results/claims.json", claim)
    there = json_file.read_json("reports/photos/a/results/claims.json")
    there["claims"].append(there["claims"][0] | {"id": "C2", "records": [recorded("a", claim="C2", metric="METEOR")]})
    json_file.write_json("reports/photos/a/results/claims.json", there)
    assert re.search(r"\[C1\]\(a/report.md#c1\) .*\| holds .*\| another comparison \|", written())


def test_several_comparisons_decide_a_claim_together(here: Path):
    invented_results("a", records=[recorded("a"), recorded("a", right="c", **UNSURE)])
    write_report_config("a")
    page = written()
    assert "**Of 1 claim, 1 cannot be told**." in page
    assert "- Cannot tell" not in page
    with Path("reports/claims.csv").open(encoding="utf-8", newline="") as file:
        assert [row["verdict"] for row in csv.DictReader(file)] == ["holds", "cannot tell"]


def test_results_of_an_older_version_keep_their_words_and_are_not_counted(here: Path):
    """Their files do not hold what today's rule needs: `rule of <commit>` stands beside them."""
    invented_results("a")
    for paper, folder in (("b", "reports"), ("a", "reports/photos")):
        old = [of_version_1(paper, "does not hold")]
        invented_results(paper, folder=folder, records=old, version=VERSION - 1)
    write_report_config("a", "b", Photos="reports/photos")
    page = written()
    assert "**Of 1 claim of A, 1 holds**." in page
    assert "\nNot counted: B. Their verdicts are by an older rule" in page
    assert "| +1.5 [-0.2, 3.1] | **does not hold** (rule of `0123456`) |  |" in page
    assert "**[B](b/report.md)** on scenes; verdicts by the rule of `0123456`, not counted." in page
    assert "| verdict | [Photos](photos/a/report.md) (rule of `0123456`) |" in page
    assert "have one verdict" not in page
    assert "no claim is decided on both by today's rule" in page
    assert json_file.read_json("reports/metrics.json")["b"] == {"cider": 80.1}
    with Path("reports/claims.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["rule"] for row in rows] == ["", "0123456"]
    assert [rows[1][column] for column in ("level", "printed", "p", "seeds", "verdict")] == [
        *("primary", "2.2", "0.1000", "3", "does not hold")
    ]
    invented_results("b", version=VERSION + 1)
    with pytest.raises(
        InputError, match=r"reports/b/results/claims\.json: has version 3, and this code knows 2; update"
    ):
        written()


def test_the_first_page_has_six_claims_of_a_paper_and_says_what_became_of_the_main_ones(here: Path):
    """The main claim comes first, then those that claims.yaml names, then others in their order."""
    invented_results("a")
    invented_results("b", records=[recorded("b", **REVERSED)], folder="reports")
    invented_results("b", folder="reports/photos")
    path = Path("reports/a/results/claims.json")
    said = json_file.read_json(path)
    (first,) = said["claims"]
    names = [f"C{number}" for number in range(2, 9)]
    said["claims"] = [*(first | {"id": name, "records": [recorded("a", claim=name)]} for name in names), first]
    said["finding"]["shown"] = ["C8"]
    json_file.write_json(path, said)
    captions = [{"label": "A", "text": "a red dog", "false": ["red dog"]}, {"label": "B", "text": "a", "false": []}]
    json_file.write_json("reports/b/results/example.json", {"item": 7, "captions": captions})
    write_report_config("a", "b", Photos="reports/photos")
    page = written()
    assert "![A generated scene, test image 7](b/results/example.png)\n" in page
    assert "| A | a red dog | **red dog** |\n| B | a | nothing |\n\nBy runs of [B](b/report.md)." in page
    claims = page.partition("## Claims")[2]
    assert re.findall(r"(?m)^\| \[(C\d)\]\(a/", claims) == ["C8", "C1", "C2", "C3", "C4", "C5"]
    assert "\n2 more on [its page](a/report.md#claims).\n" in claims
    assert "- **Main claims, on scenes.** A: holds; B: reversed.\n" in page
    assert "- **Main claims, on Photos.** B: holds.\n" in page


def test_numbers_of_the_first_page_are_in_points(here: Path):
    """Of metrics with four digits in one scale and two in the other, whatever a paper prints; words stay words."""
    small = {"decimals": 4, "printed_decimals": 3, "printed": (1.02, 1.0), "difference": 0.015, "scatter": 0.001}
    invented_results("a", records=[recorded("a", metric="CIDEr", **small)])
    old = of_version_1("b", "holds") | {"difference": "0.0150", "low": "-0.0020", "high": "0.0310"}
    old["paper_difference"] = "0.022"
    invented_results("b", records=[old], version=VERSION - 1)
    words = {"metric": "words", "decimals": 4, "printed": ()}
    invented_results("c", records=[recorded("c", **words)])
    invented_results("d", records=[recorded("d", covariance=(), untestable="a seed does not reach the point")])
    write_report_config("a", "b", "c", "d")
    claims = written().partition("## Claims")[2]
    assert re.search(r"a/report.md#c1\) .*\| \+2\.0 \| \+1\.5 \[", claims)
    assert re.search(r"b/report.md#c1\) .*\| \+2\.2 \| \+1\.5 \[-0\.2, 3\.1\] \| holds \|", claims)
    assert re.search(r"c/report.md#c1\) .*\|  \| \+1\.50 \[", claims)
    # Without an interval there are no brackets.
    assert re.search(r"d/report.md#c1\) .*\| \+1\.5 \| cannot be tested \|", claims)
    with Path("reports/claims.csv").open(encoding="utf-8", newline="") as file:
        assert [row["difference"] for row in csv.DictReader(file)] == ["0.0150", "0.0150", "1.5000", "1.50"]


def test_what_did_not_reproduce_is_explained_or_not(here: Path):
    invented_results("a", records=[recorded("a", **REVERSED)], explained="It is too small.")
    invented_results("b", records=[recorded("b", **REVERSED)])
    invented_results("c", records=[recorded("c", seeds=2)])
    write_report_config("a", "b", "c")
    page = written()
    assert "**A**\n\n- [C1](a/report.md#c1) a beats b: *reversed*. It is too small.\n" in page
    assert "**B**\n\n- [C1](b/report.md#c1) a beats b: *reversed*. No reason was found; tried: " in page
    assert "**C**\n\n- [C1](c/report.md#c1) a beats b: *too few seeds*.\n" in page
    write_report_config("a", "b", "c", proves=False)
    page = written()
    assert page.startswith("# seqcap: a trial of a few training steps, whose numbers prove nothing\n")
    assert "did not reproduce" not in page


def test_where_each_paper_comes_from(here: Path):
    """A row for each of its data, the first with what they share; "not recorded" where nothing is known."""
    unknown = {"commit": None, "day": None, "processor": None, "versions": {}, "minutes_of_training": None}
    other = {"task": "de_en", "name": "multi30k", "kind": "sentences", "sizes": {}, "seeds": []}
    invented_results("a")
    invented_results("b", data=[other, other], **unknown)
    write_report_config("a", "b")
    page = written()
    machine = "A processor, 2 cores; instruction set AVX2 | Python 3, numpy 2 | 10.0 | not recorded |"
    data = "scenes (`image`) | 1,200 train, 30 val | 1, 2"
    assert f"\n| [A](a/report.md) | {data} | `0123456789ab` | 2026-01-02 | {machine}\n" in page
    gone = "multi30k, sentences (`de_en`) | not recorded | not recorded"
    assert f"\n| [B](b/report.md) | {gone} |{' not recorded |' * 6}\n|  | {gone} |{'  |' * 6}\n" in page
    assert "commits.**" not in page
    changed = ["src/a", "src/b", "papers/c", "papers/d"]
    invented_results("a", minutes_of_everything=61.26, not_timed=["encoder-image", "pretrain-lstm"])
    invented_results("b", commit="ba9876543210", experiment="experiments/e.yaml", changed=changed)
    page = written()
    assert "| 10.0 | not recorded of 2 stages |" in page
    assert "**Results come from 2 commits.**" in page
    changes = "with experiments/e.yaml, with uncommitted changes in src/a, src/b, papers/c and 1 more"
    assert f"| `ba9876543210`, {changes} |" in page


def test_the_report_of_a_publication_has_no_commands_of_this_checkout(here: Path):
    """`report.py <folder>` makes the first page of what an experiment has published."""
    write_report_config("a", "b")
    invented_results("a", folder="out")
    report.write_report(ReportConfig.read("report"), Path("out"))
    page = Path("out/report.md").read_text(encoding="utf-8")
    assert "| [A](a/report.md) |" in page
    assert "Not run here: `b`." in page
    assert "seqcap repro" not in page
    assert not Path("reports").exists()


def test_what_the_features_hold_is_shown_where_it_was_probed(here: Path):
    invented_results("a")
    group = {"group": "kind with colour", "mean_average_precision": 0.7149, "labels": 40, "chance": 0.031}
    json_file.write_json("reports/features/image.json", {"groups": [group]})
    json_file.write_json("reports/features/photos.json", {"groups": []})
    write_report_config("a", pictures=("image", "photos"))
    assert "[what they hold](features/report.md)" in written()
    text = Path("reports/features/report.md").read_text(encoding="utf-8")
    assert "| image | kind with colour | 40 | 0.71 | 0.03 |" in text
    assert "| photos |" not in text
    write_report_config("a", pictures=("photos",))
    assert "what they hold" not in written()


def test_a_paper_without_results_is_named(here: Path):
    """An experiment may publish one paper after the other."""
    write_report_config("a", "b", "c")
    with pytest.raises(InputError, match=r"reports: has no paper's results; run `seqcap repro`"):
        written()
    invented_results("b")
    text = written()
    assert "\nNot run here: `a`, `c`.\n\n## What was learnt\n" in text
    assert set(json_file.read_json("reports/metrics.json")) == {"b"}
    for paper in ("a", "c"):
        invented_results(paper)
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
    assert first.stat().st_size <= 40_000
    assert len(first.read_text(encoding="utf-8").splitlines()) <= 300
    if (page.parent / "claims.csv").is_file():
        # What an experiment has published stays as it is until it runs again.
        return
    assert len(page.read_text(encoding="utf-8").splitlines()) <= 500
