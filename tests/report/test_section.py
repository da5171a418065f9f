"""A paper's part of the report."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from invented_across import AcrossRun
from invented_papers import whole
from parameter_files import ROOT

from seqcap import papers
from seqcap.files import json_file, parquet, schemas
from seqcap.pipeline.params import read_params
from seqcap.report import claims, section
from seqcap.report.claims_file import ClaimsFile, Finding, MainNumber
from seqcap.report.inputs import Results

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


def test_settings_are_in_words():
    settings = {
        "cap": None,
        "halve": False,
        "co_training": True,
        "temperature": 1.0,
        "ranks": [4, 5],
        "mined": [],
        "token": {"tau": 0.3},
    }
    shown = "cap none, halve no, co_training yes, temperature 1, ranks 4 and 5, mined none, token (tau 0.3)"
    assert section._settings(settings) == shown


@pytest.mark.parametrize(("minutes", "told"), [({}, "–"), ({"a": 0.42}, "0.4"), ({"a": 0.42, "b": 1.25}, "0.4 to 1.2")])
def test_runs_have_the_minutes_of_a_seed(minutes, told):
    runs = [SimpleNamespace(name=name) for name in ("a", "b")]
    assert section._took(runs, minutes) == told


def test_photographs_are_compared_with_the_literature(sle):
    sle.dataset, sle.missing, sle.names = "flickr8k", {"SPICE"}, ["xe", "sll"]
    text = section._TEXTS.fill("literature", literature=section._literature(sle.read()))
    assert "and ours (beam of 5, best caption, mean over seeds; x100)" in text
    assert "| Soft-Attention | Xu et al. 2015, Table 1 | 67.0 | 44.8 | 29.9 | 19.5 | 18.9 |" in text
    # The invented run has BLEU-1 of .702 and METEOR of .26.
    assert re.search(r"\| XE \| Soft-Attention \| \+3\.2 \|.*\| \+7\.1 \|", text)
    assert "| SLL | Soft-Attention |" not in text
    assert "brevity penalty" in text
    assert "wrote no" not in text


def test_captioners_of_other_runs_are_none_of_likelihood():
    """Those of another temperature say `cross_entropy`, whatever has trained them."""
    made_up = AcrossRun(names=["across_xe", "across_sll", "across_temperature_10", "across_sll_tempered"])
    run = made_up.read()
    assert len(run.trained) == 4
    assert [of.name for of in section._captioners(run)] == ["across_xe", "across_sll"]
    assert section.summary(run, [])["likelihood"] == ["across_xe"]
    task = run.config.tasks[run.config.pictures].model_copy(update={"dataset": "flickr8k"})
    config = run.config.model_copy(update={"tasks": {run.config.pictures: task}})
    found = section._literature(replace(run, config=config))
    ours = [row[0] for row in found["levels"] if row[1] == "this run"]
    assert ours == ["cross-entropy (ours)", "SLL (ours)"]
    assert {row[0] for row in found["gaps"][1:]} == {"cross-entropy"}


SEEDS_OF_AN_EARLY_RUN = {
    (2,): "seed 2 (25%). Their run's other seeds learnt for longer, so that seeds differ in that, too: SLL.",
    (1, 2, 3): "seed 3 (25%). No later epoch was better on val with any seed: SLL.",
}


@pytest.mark.parametrize(("early", "told"), SEEDS_OF_AN_EARLY_RUN.items())
def test_a_page_says_which_seeds_are_kept_early(sle, monkeypatch, early, told):
    """And of which runs these are all."""
    sle.names = ["xe", "sll"]
    run = sle.write()
    made(run, {})
    monkeypatch.setattr(section.selection, "kept_early", lambda results: {"sll": dict.fromkeys(early, 0.25)})
    section.write_section(run)
    page = Path("reports/sle/report.md").read_text(encoding="utf-8")
    assert "In runs that keep the epoch that is best on val, that of some seeds lies in the first half" in page
    assert f"{told}\n" in page


def test_curves_of_what_runs_continue_from_are_there_once(sle):
    """All runs of a captioner continue from the same weights."""
    run = sle.write()
    made(run, {})
    for entry in run.trained:
        point = {"run": entry.captioner, "seed": 1, "step": 40, "images": 9, "quantity": "val_cider", "value": 0.5}
        parquet.write_rows(f"{entry.weights}/start.parquet", [point], schemas.CURVES)
    section.write_section(run)
    lines = Path("reports/sle/results/curves.csv").read_text(encoding="utf-8").splitlines()
    for captioner in {entry.captioner for entry in run.trained}:
        assert lines.count(f"sle,{captioner},1,40,val_cider,0.5") == 1


WANTED = {
    "cider": MainNumber(run="sll", metric="CIDEr"),
    "div2": MainNumber(run="sll", metric="Div2", decoder="sample", captions="set"),
    "gone": MainNumber(run="none", metric="CIDEr"),
}


def test_a_paper_has_its_finding_and_its_named_numbers(sle):
    sle.names = ["xe", "sll"]
    run = sle.read()
    stands = claims.Comparison("C2", "A beats B", "CIDEr", "beam", "best", "sll", "xe", +1)
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


def test_runs_of_a_sweep_are_one_row_of_settings():
    run = whole("psst").by_name["luo_w1"]
    two = run.model_copy(update={"name": "luo_w2", "settings": dict(run.settings) | {"weight": 2.0}})
    baseline = two.model_copy(update={"settings": dict(two.settings) | {"baseline": "reference"}})
    seeds = two.model_copy(update={"seeds": (1,)})
    assert section.runs_alike([run, two]) == [[run, two]]
    # Two settings at once, or other seeds, make another row.
    assert section.runs_alike([run, baseline, seeds]) == [[run], [baseline], [seeds]]


@pytest.mark.parametrize(("rows", "says"), [(70, "| row 69 |"), (71, "[The table](tables/runs.md) has 71 rows.")])
def test_a_table_of_many_rows_is_linked(tmp_path, rows, says):
    path = tmp_path / "tables/runs.md"
    path.parent.mkdir()
    lines = [
        "## Runs",
        "",
        "What they are.",
        "",
        "| run |",
        "|---|",
        *(f"| row {n} |" for n in range(rows)),
        "",
        "–: none.",
    ]
    path.write_text("\n".join(lines))
    text = section._of_a_page(path)
    assert text.startswith("### Runs\n\nWhat they are.\n")
    assert says in text
    assert ("| row 0 |" in text) == (rows == 70)
