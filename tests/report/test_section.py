"""A paper's part of the report."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from parameter_files import ROOT

from seqcap import papers
from seqcap.files import json_file, parquet, schemas
from seqcap.pipeline.params import read_params
from seqcap.report import claims, section, texts
from seqcap.report.claims_file import ClaimsFile, Finding, Measured
from seqcap.report.comparison import compared, matrix
from seqcap.report.figures import draw
from seqcap.report.inputs import Results
from seqcap.report.markdown import markdown_table
from seqcap.report.tables import make_table

REPOSITORY = Path(__file__).resolve().parents[2]


def judged_of(results: Results) -> list[claims.JudgedClaim]:
    return claims.run_claims(section.all_claims(results), results)


def made(results: Results, tables: dict[str, str]) -> None:
    """What the stages before write: some tables, and one figure."""
    folder = Path(f"reports/{results.paper.name}")
    for path in ("tables", "figures"):
        (folder / path).mkdir(parents=True)
    for name, title in tables.items():
        (folder / f"tables/{name}.md").write_text(f"## {title}\n\nHow to read {name}.\n", encoding="utf-8")
    json_file.write_json(folder / "tables/tables.json", {"order": list(tables)})
    words = {f"{results.paper.name}_fig1": {"title": "A (good) figure", "caption": "Its caption."}}
    words[f"{results.paper.name}_curves"] = {"title": "Learning curves", "caption": ""}
    json_file.write_json(folder / "figures/figures.json", {"order": list(words), "figures": words})


def test_the_section_of_loss_smoothing(smoothing):
    """Several evaluations, ensembles beside the runs, rows that the run's labels make."""
    run = smoothing.write()
    names = {"smoothing_table2": "Table z", "smoothing_table1": "Table [a] (old)", "smoothing_quality": "A long table"}
    made(run, names)
    section.write_section(run)
    text = Path("reports/smoothing/report.md").read_text(encoding="utf-8")
    title = f"# {run.paper.label}: {run.paper.facts.title}"
    assert text.startswith(f"{title}\n\n[All papers](../report.md); [details](details.md): ")
    assert "Data: scenes (generated), test " in text
    first, second, _ = names
    tables = f"### Table z\n\nHow to read {first}.\n\n### Table [a] (old)\n\nHow to read {second}.\n"
    assert f"{tables}\n## Figures\n\n" in text
    figure = "### A (good) figure\n\n![A (good) figure](figures/smoothing_fig1.png)"
    assert f"{figure}\n\nIts caption.\n\n## Deviations" in text
    for heading in ("Findings", "Claims", "Limits"):
        assert f"\n## {heading}\n" in text, heading
    details = Path("reports/smoothing/details.md").read_text(encoding="utf-8")
    for heading in ("# A long table", "# Learning curves", " Settings of the runs", " Where each row lives"):
        assert f"\n##{heading}\n" in details, heading
        assert f"\n##{heading}\n" not in text
    text += details
    assert not re.search(r"\bnan\b|None", text)
    assert str(Path.cwd()) not in text
    for path in set(re.findall(r"`(src/[^`]+|papers/[^`]+)`", text)):
        assert (REPOSITORY / path).exists(), path
    assert "multi30k, stands in for IWSLT'14 De-En" in text
    assert "sequence (samples 5, tau 0.1), token (tau 0.3)" in text
    assert "BLEU of the best beam translation, generated sentences, En-Fr, for WMT'14 on scenes: " in text
    assert "`artifacts/smoothing/results/smoothing_image.parquet`, " in text
    assert (
        "Ours: Tok-Seq CIDER + | beam | `src/seqcap/objectives/token_sequence_smoothing.py` | `artifacts/smoo" in text
    )
    assert "| IWSLT'14 De-En BLEU: MLE | beam | `src/seqcap/objectives/cross_entropy.py` |" in text

    lines = Path("reports/smoothing/results/curves.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "paper,variant,seed,step,quantity,value"
    assert lines[1].startswith("smoothing,attention_entropy,1,0,train_loss,2.")
    assert len(lines) == 1 + len(run.curves)
    keys = [(line.split(",")[1], line.split(",")[4], *map(int, line.split(",")[2:4])) for line in lines[1:]]
    assert keys == sorted(keys)


def test_what_the_report_says_of_a_paper(sle):
    run = sle.read()
    judged = judged_of(run)
    said = section.summary(run, judged)
    generated = ["scenes", "clips"]
    assert (said["label"], said["datasets"], said["levels"]) == ("SLE", generated, generated)
    assert len(said["claims"]) == len(judged)
    assert sum(len(claim["records"]) for claim in said["claims"]) == sum(len(of.comparisons) for of in judged)
    assert said["finding"]["claim"] in [claim["id"] for claim in said["claims"]]
    assert all(claim["why"] and claim["records"][0]["level"] == "primary" for claim in said["claims"])


def test_settings_and_rewards_are_in_what_ran(sle):
    text = texts.text("settings", results=sle.read(), in_words=section._settings)
    assert "\n| `sll` | SLL | lstm | self_critical | samples 5 | cider | 4 | 0.001 | 1, 2, 3 |\n" in text
    assert "\n| `xe` | XE | lstm | cross_entropy | – | – | 4 | 0.001 | 1, 2, 3 |\n" in text


def test_settings_are_in_words():
    settings = {
        "cap": None,
        "halve": False,
        "co_training": True,
        "temperature": 1.0,
        "ranks": [4, 5],
        "token": {"tau": 0.3},
    }
    shown = "cap none, halve no, co_training yes, temperature 1, ranks 4 and 5, token (tau 0.3)"
    assert section._settings(settings) == shown


def findings(results: Results, judged: list[claims.JudgedClaim], *remarks: str) -> str:
    words = section.summary(results, judged) | {"finding": None, "remarks": remarks}
    counts = Counter(of.judged.verdict for of in judged)
    return texts.text("findings", results=results, judged=judged, said=words, verdicts=counts, controls=Counter())


def test_findings_tell_what_was_compared(spider):
    run = spider.read()
    text = findings(run, judged_of(run), "A remark.")
    assert "Words of the best beam caption on scenes: " in text
    assert re.search(r"\], 2 training seeds(; the paper's difference: [-+.0-9]+)?\.", text)
    assert text.endswith("\n\nA remark.\n")


def test_a_finding_says_how_sure_it_is(sle):
    """What cannot be told says what could have been found; few seeds and what cannot be tested say so."""
    sle.names = ["sll", "sll_me", "sll_sle_att", "sll_att"]
    run = sle.read()
    same = claims.Claim("C0", "A beats B", "CIDEr", "sample", "every", "sll", "sll_me", +1)
    lone = replace(same, id="C1", left="sll_sle_att", right="sll_att")
    untested = replace(same, id="C2", untestable="both say the same")
    gone = replace(same, id="C3", left="nobody")
    lines = findings(run, claims.run_claims([same, lone, untested, gone], run)).splitlines()
    assert "of 4 claims, 1 cannot be told, 1 has too few seeds, 1 cannot be tested, 1 was not run" in lines[2]
    found = [line for line in lines if line.startswith("- ")]
    assert len(found) == 3
    assert re.search(r"cannot tell \(could have found 0\.\d+\) †\.\*\* .* q \d\.\d+, 3 training seeds\.$", found[0])
    assert "too few seeds †.**" in found[1]
    assert found[1].endswith("1 training seed.")
    assert "cannot be tested †.**" in found[2]
    assert found[2].endswith(" Both say the same.")


def test_of_several_comparisons_the_one_that_cannot_be_tested_says_why(sle):
    first = claims.Claim("C0", "A beats all", "Div1", "sample", "set", "sll_sle", "sll", +1)
    second = replace(first, right="sll_me", untestable="B does not reach the point")
    results = sle.read()
    *_, found = findings(results, claims.run_claims([first, second], results)).strip().splitlines()
    assert "cannot be tested (against SLL-ME)" in found
    assert found.endswith(" training seeds. B does not reach the point.")


def test_photographs_are_compared_with_the_literature(sle):
    sle.dataset, sle.missing, sle.names = "flickr8k", {"SPICE"}, ["xe", "sll"]
    text = texts.text("literature", literature=section._literature(sle.read()))
    assert "and ours (beam of 5, best caption, mean over seeds; x100)" in text
    assert "| Soft-Attention | Xu et al. 2015, Table 1 | 67.0 | 44.8 | 29.9 | 19.5 | 18.9 |" in text
    # The invented run has BLEU-1 of .702 and METEOR of .26.
    assert re.search(r"\| XE \| Soft-Attention \| \+3\.2 \|.*\| \+7\.1 \|", text)
    assert "| SLL | Soft-Attention |" not in text
    assert "brevity penalty" in text
    assert "wrote no" not in text


@pytest.mark.parametrize("paper", ["sle", "spider"])
def test_no_count_of_captions_is_fixed(paper: str, request: pytest.FixtureRequest):
    """With a beam of 4 and 3 samples no text of ours speaks of five."""
    invented = request.getfixturevalue(paper)
    invented.beam, invented.samples, invented.seeds = 4, 3, (1,)
    run = invented.write()
    tables = [make_table(run, name) for name in run.paper.tables]
    words = [table.title + table.reading + table.markdown() for table in tables]
    words += [run.fill(text.caption) for text in run.paper.figures.values()]
    examples = draw(run, {"sle": "sle_fig4", "spider": "spider_table2"}[paper])
    words += [text.get_text() for text in examples.texts]
    words += [claim.words(run) + claim.what(run) for claim in section.all_claims(run)]
    text = "\n".join([*words, *run.paper.find("claims").remarks(run, judged_of(run))])
    found = re.findall(r".{30}(?:beam of 5|5 (?:random )?samples|beam's 5|\b[Ff]ive\b).{9}", text)
    assert found == []
    assert "beam of 4" in text
    assert "3 samples" in text


def test_curves_of_what_runs_continue_from_are_there_once(sle):
    """All runs of a captioner continue from the same weights."""
    run = sle.write()
    made(run, {})
    for entry in run.trained:
        point = {"variant": entry.captioner, "seed": 1, "step": 40, "images": 9, "quantity": "val_cider", "value": 0.5}
        parquet.write_rows(f"{entry.weights}/start.parquet", [point], schemas.CURVES)
    section.write_section(run)
    lines = Path("reports/sle/results/curves.csv").read_text(encoding="utf-8").splitlines()
    for captioner in {entry.captioner for entry in run.trained}:
        assert lines.count(f"sle,{captioner},1,40,val_cider,0.5") == 1


def test_what_the_user_compares_is_in_the_section(sle):
    sle.names = ["xe", "sll", "sll_sle"]
    run = sle.write()
    made(run, {})
    pairs = [("sll_sle", "sll"), ("xe", "sll")]
    section.write_section(run, pairs)
    text = Path("reports/sle/report.md").read_text(encoding="utf-8")
    (part,) = re.findall(r"## Comparisons beyond the paper\n(.*?)\n## ", text, re.DOTALL)
    headings = re.findall(r"\*\*(.* against .*)\*\*\n", part)
    assert headings == [
        "SLL-SLE against SLL: no verdict: 12 items, three seeds; it takes 100 items and three seeds",
        "XE against SLL: no verdict: 12 items, three seeds; it takes 100 items and three seeds",
    ]
    for left, right in pairs:
        table = markdown_table(matrix(run, left, right, compared(run, left, right)))
        assert len(table) > 5
        assert "\n".join(table) in part


WANTED = {
    "cider": Measured(run="sll", metric="CIDEr"),
    "div2": Measured(run="sll", metric="Div2", decoder="sample", captions="set"),
    "gone": Measured(run="none", metric="CIDEr"),
}


def test_a_paper_has_its_finding_and_its_named_numbers(sle):
    sle.names = ["xe", "sll"]
    run = sle.read()
    stands = claims.Claim("C2", "A beats B", "CIDEr", "beam", "best", "sll", "xe", +1)
    judged = claims.run_claims(
        [replace(stands, id="C1"), stands, replace(stands, decoder="greedy", primary=False)], run
    )
    file = ClaimsFile(finding=Finding(sentence="a", claim="C2"), metrics=WANTED)
    numbers = section._metrics(run, judged, file)
    cider = run.scores.by_seed("sll", "beam", "CIDEr")
    assert numbers.pop("cider") == pytest.approx(100 * cider.mean(), abs=0.01)
    assert numbers.pop("div2") == pytest.approx(run.scores.by_seed("sll", "sample", "Div2", "set").mean(), abs=1e-4)
    assert numbers == {"finding": pytest.approx(judged[1].judged.first.difference, abs=0.005)}
    # Of what has not run, and of what makes no claims, there are no numbers.
    gone = claims.run_claims([replace(stands, left="nobody")], run)
    assert section._metrics(run, gone, file.model_copy(update={"metrics": {}})) == {}
    assert section._metrics(run, [], ClaimsFile()) == {}


def test_all_papers_together_have_forty_numbers_at_most():
    """Each of a run that is trained and scored so."""
    params, total = read_params(ROOT), 0
    for name in params.papers:
        file = ClaimsFile.read(papers.load(name))
        assert {measured.run for measured in file.metrics.values()} <= {*params.runs, *params.ensembles}
        assert all(len(metric) <= 8 for metric in file.metrics)
        total += len(file.metrics) + 4 * bool(file.claims)
    assert 20 <= total <= 40
