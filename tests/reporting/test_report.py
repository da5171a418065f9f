"""The report end to end, through the stages' own scripts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from seqcap import artifacts
from seqcap.errors import InputError
from seqcap.reporting import figures, report
from seqcap.reporting.inputs import ReportConfig, Scores, read_variants

ROOT = Path(__file__).resolve().parents[2]
STAGES = (["table.py", "sle"], ["figure.py", "sle"], ["claims.py"], ["report.py"])


def stage(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(ROOT / "stages" / script), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)


def report_of(run) -> str:
    run.write()
    for script in STAGES:
        done = stage(*script)
        assert done.returncode == 0, done.stderr
    return Path("reports/report.md").read_text(encoding="utf-8")


def test_report_of_scenes(run):
    text = report_of(run)
    for name in report.TABLE_NAMES["sle"]:
        body = Path(f"reports/tables/{name}.md").read_text(encoding="utf-8")
        assert body.split("\n", 1)[1].strip() in text
    for name in figures.SLE_FIGURES:
        assert f"](figures/{name}.png)" in text
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert (Path("reports") / link).is_file(), link
    assert not re.search(r"\bnan\b|None", text)
    assert str(Path.cwd()) not in text
    for heading in ("What ran", "Findings", "Claims", "Errors noticed in the paper", "Limits", "Where each row lives"):
        assert f"\n## {heading}\n" in text
    assert "Against the literature" not in text
    assert "**SLL raises the CIDEr of random samples over XE: holds.**" in text
    assert "METEOR: Java was not found" in text

    metrics = artifacts.read_json("reports/metrics.json")
    assert metrics["sll"]["CIDEr_samples"] == pytest.approx(1.1, abs=0.05)
    assert set(metrics["sll"]) == {"CIDEr_samples", "CIDEr_beam", "Div1", "Div2", "mBleu4"}
    assert metrics["claims"]["hold"] <= metrics["claims"]["run"] < metrics["claims"]["total"]


def test_where_rows_live_names_files_that_exist(run):
    run.write()
    variants = read_variants("sle")
    lines = "\n".join(report._where("sle", variants))
    for path in set(re.findall(r"`(src/[^`]+)`", lines)):
        assert (ROOT / path).exists(), path


def test_report_of_photographs_compares_with_the_literature(run):
    run.dataset, run.show_images = "flickr8k", False
    run.missing_metrics = {"SPICE": "not computed yet"}
    run.write()
    section = "\n".join(report._literature(Scores.read("sle"), read_variants("sle"), ReportConfig.read()))
    assert "| Soft-Attention | Xu et al. 2015, Table 1 | 67.0 | 44.8 | 29.9 | 19.5 | 18.9 |" in section
    # The invented run has BLEU-1 of .702 and METEOR of .26.
    assert re.search(r"\| XE \| Soft-Attention \| \+3\.2 \|.*\| \+7\.1 \|", section)
    assert "brevity penalty" in section


def test_literature_names_the_metrics_that_are_missing(run):
    run.dataset = "flickr8k"
    run.write()
    section = "\n".join(report._literature(Scores.read("sle"), read_variants("sle"), ReportConfig.read()))
    assert "- METEOR: Java was not found." in section


def test_a_number_that_is_missing_is_left_out_of_the_metrics(run):
    run.missing_metrics |= {"Div1": "not computed"}
    run.write()
    metrics = report.headline_metrics(Scores.read("sle"), read_variants("sle"), [])
    assert "Div1" not in metrics["sll"]
    assert "Div2" in metrics["sll"]


@pytest.mark.parametrize("missing", ["claims.md", "tables/sle_truth.md", "figures/sle_fig3.png"])
def test_what_is_not_made_yet_is_named(run, missing: str):
    run.write()
    for name in ("claims.md", *(f"tables/{name}.md" for name in report.TABLE_NAMES["sle"])):
        path = Path("reports") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("## x\n", encoding="utf-8")
    for name in figures.SLE_FIGURES:
        path = Path(f"reports/figures/{name}.png")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (Path("reports") / missing).unlink()
    with pytest.raises(InputError, match=re.escape(missing)):
        report.write_report("sle", Scores.read("sle"), read_variants("sle"), ReportConfig.read())


def test_a_stage_ends_in_one_line(run):
    run.write()
    Path("artifacts/sle/scores.parquet").write_bytes(b"not parquet")
    done = stage("table.py", "sle")
    assert done.returncode == 2
    assert re.fullmatch(r"error: artifacts/sle/scores\.parquet: is not a Parquet file .*\n", done.stderr)


def test_reporting_does_not_import_torch():
    """Importing torch costs seconds in every one of these stages."""
    code = (
        "import sys; from seqcap.reporting import claims, figures, inputs, published, report, statistics, tables; "
        "sys.exit('torch' in sys.modules)"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False, timeout=120).returncode == 0
