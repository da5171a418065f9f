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
from seqcap.reporting import claims, report

ROOT = Path(__file__).resolve().parents[2]


def stage(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(ROOT / "stages" / script), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)


def report_of(*papers: str) -> str:
    per_paper = [[script, paper] for paper in papers for script in ("table.py", "figure.py")]
    for script in (*per_paper, ["claims.py"], ["report.py"]):
        done = stage(*script)
        assert done.returncode == 0, done.stderr
    return Path("reports/report.md").read_text(encoding="utf-8")


def section(text: str, heading: str, level: str) -> str:
    """What stands below a heading, up to the next of its level."""
    return re.split(rf"^{level} ", text.split(f"\n{level} {heading}", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def test_report_of_both_papers(run, spider):
    runs = (run.read(), spider.read())
    text = report_of("sle", "spider")
    for read in runs:
        part = section(text, f"{read.paper.label}: {read.paper.title}", "##")
        for name in read.paper.tables:
            body = Path(f"reports/tables/{name}.md").read_text(encoding="utf-8")
            assert body.split("\n", 1)[1].strip() in part
        for name in read.paper.figures:
            assert f"](figures/{name}.png)" in part
        for heading in ("What ran", "Findings", "Claims", "Tables", "Figures", "Limits", "Where each row lives"):
            assert f"\n### {heading}\n" in part, heading
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert (Path("reports") / link).is_file(), link
    assert not re.search(r"\bnan\b|None", text)
    assert str(Path.cwd()) not in text
    assert "Against the literature" not in text
    assert "**SLL raises the CIDEr of random samples over XE: holds.**" in text
    assert "Words of the best beam caption on scenes: " in text
    assert "*Rollouts and the baseline.*" in text
    assert "METEOR: Java was not found" in text
    # Said once, for all papers.
    for words in (*claims.READING, "Levels on scenes and on COCO cannot be compared"):
        assert words == "" or text.count(words) == 1
    for path in set(re.findall(r"`(src/[^`]+)`", section(text, "SLE: ", "##"))):
        assert (ROOT / path).exists(), path

    results = {read.paper.name: claims.run_claims(read) for read in runs}
    counts = [sum(r.verdict == verdict for r in results["spider"]) for verdict in ("holds", "does not hold")]
    assert f"| SPIDEr | 8 | {len(results['spider'])} | {counts[0]} | {counts[1]} |" in text

    metrics = artifacts.read_json("reports/metrics.json")
    assert set(metrics) == {"sle", "spider"}
    assert metrics["sle"]["sll"]["CIDEr_samples"] == pytest.approx(1.1, abs=0.05)
    assert set(metrics["sle"]["sll"]) == {"CIDEr_samples", "CIDEr_beam", "Div1", "Div2", "mBleu4"}
    assert metrics["spider"]["pg_spice"]["words_beam"] == pytest.approx(14, abs=2)
    assert metrics["sle"]["claims"]["hold"] <= metrics["sle"]["claims"]["run"] < metrics["sle"]["claims"]["total"]


def test_report_of_loss_smoothing(smoothing):
    """Three files of scores, entries beside the variants, and a table that is only linked."""
    read = smoothing.read()
    text = report_of("smoothing")
    part = section(text, f"{read.paper.label}: {read.paper.title}", "##")
    for name in set(read.paper.tables) - {"smoothing_timing"}:
        assert Path(f"reports/tables/{name}.md").read_text(encoding="utf-8").split("\n", 1)[1].strip() in part, name
    assert "#### Loss smoothing: time per epoch\n\n[`tables/smoothing_timing.md`](tables/smoothing_timing.md): " in text
    assert "ratio to MLE" not in text
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert (Path("reports") / link).is_file(), link
    assert not re.search(r"\bnan\b|None", text)
    assert str(Path.cwd()) not in text
    for path in set(re.findall(r"`(src/[^`]+)`", part)):
        assert (ROOT / path).exists(), path
    assert "Data: scenes (generated), test split, stands in for COCO Karpathy test; scenes (sentences" in part
    assert "multi30k, stands in for IWSLT'14 De-En" in part
    assert "sequence (samples 5, tau 0.1), token (tau 0.3)" in part
    assert "Sentence BLEU of the best beam translation on multi30k: " in part
    assert "`artifacts/smoothing/translation.parquet`, `artifacts/smoothing/server_scores.parquet`" in part
    assert "| table2 | Ours: Tok-Seq CIDER + | beam | `src/seqcap/objectives/token_sequence_smoothing.py` | – |" in part
    assert "| IWSLT'14 De-En BLEU: MLE | beam | `src/seqcap/objectives/cross_entropy.py` |" in part
    metrics = artifacts.read_json("reports/metrics.json")["smoothing"]
    assert set(metrics["lstm_tok"]) == {"CIDEr_beam", "BLEU1_beam", "BLEU4_beam"}
    assert set(metrics["de_en_tok"]) == {"BLEU_beam"}

    # Times differ from run to run; the report must not.
    artifacts.write_json("artifacts/smoothing/timing/all.json", {"lstm_mle": {"seconds_per_epoch": 7.0}})
    for script in (["table.py", "smoothing"], ["report.py"]):
        assert stage(*script).returncode == 0
    assert "7.000" in Path("reports/tables/smoothing_timing.md").read_text(encoding="utf-8")
    assert Path("reports/report.md").read_text(encoding="utf-8") == text


def test_what_was_not_run_is_one_limit(smoothing):
    smoothing.variants = ["lstm_mle", "lstm_tok"]
    read = smoothing.read()
    limits = report._limits(read, claims.run_claims(read))
    assert sum(line.startswith("- Not run: ") for line in limits) == 1


def test_a_paper_that_is_left_out_is_not_reported(spider):
    spider.write()
    text = report_of("spider")
    assert "\n## SPIDEr: " in text
    assert "SLE" not in text
    assert set(artifacts.read_json("reports/metrics.json")) == {"spider"}
    assert "SLE" not in Path("reports/claims.md").read_text(encoding="utf-8")


def test_settings_and_rewards_are_in_what_ran(run):
    lines = report._what_ran(run.read())
    assert "| `sll` | SLL | lstm | self_critical | samples 5 | cider | 1, 2, 3 |" in lines
    assert "| `xe` | XE | lstm | cross_entropy | – | – | 1, 2, 3 |" in lines


def test_errors_are_a_section_only_where_there_are_some(run, spider):
    assert len(report._errors(run.read())) == 4 + 3
    assert report._errors(spider.read()) == []


def test_report_of_photographs_compares_with_the_literature(run):
    run.dataset, run.show_images = "flickr8k", False
    run.missing_metrics = {"SPICE": "not computed yet"}
    text = "\n".join(report._literature(run.read()))
    assert "| Soft-Attention | Xu et al. 2015, Table 1 | 67.0 | 44.8 | 29.9 | 19.5 | 18.9 |" in text
    # The invented run has BLEU-1 of .702 and METEOR of .26.
    assert re.search(r"\| XE \| Soft-Attention \| \+3\.2 \|.*\| \+7\.1 \|", text)
    assert "| SLL | Soft-Attention |" not in text
    assert "brevity penalty" in text


def test_literature_names_the_metrics_that_are_missing(run):
    run.dataset = "flickr8k"
    assert "- METEOR: Java was not found." in report._literature(run.read())


def test_a_number_that_is_missing_is_left_out_of_the_metrics(run):
    run.missing_metrics |= {"Div1": "not computed"}
    metrics = report.metrics(run.read(), [])
    assert "Div1" not in metrics["sll"]
    assert "Div2" in metrics["sll"]


@pytest.mark.parametrize("missing", ["tables/sle_truth.md", "figures/sle_fig3.png"])
def test_what_is_not_made_yet_is_named(run, missing: str):
    read = run.read()
    for name in (
        *(f"tables/{name}.md" for name in read.paper.tables),
        *(f"figures/{n}.png" for n in read.paper.figures),
    ):
        path = Path("reports") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("## x\n", encoding="utf-8")
    (Path("reports") / missing).unlink()
    with pytest.raises(InputError, match=re.escape(missing)):
        report.write_report([read])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("table.py", "sle"), r"error: artifacts/sle/scores\.parquet: is not a Parquet file .*\n"),
        (("figure.py", "nobody"), r"error: .*: there is no paper 'nobody'; known: sle, smoothing, spider\n"),
    ],
)
def test_a_stage_ends_in_one_line(run, arguments: tuple[str, ...], message: str):
    run.write()
    Path("artifacts/sle/scores.parquet").write_bytes(b"not parquet")
    done = stage(*arguments)
    assert done.returncode == 2
    assert re.fullmatch(message, done.stderr)


def test_reporting_does_not_import_torch():
    """Importing torch costs seconds in every one of these stages."""
    code = (
        "import sys; from seqcap.reporting import papers, report; [papers.find(name) for name in ('sle', 'smoothing', "
        "'spider')]; sys.exit('torch' in sys.modules)"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False, timeout=120).returncode == 0
