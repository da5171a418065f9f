"""All objectives on one captioner: who takes part and on what terms, fronts, yardsticks, table and figure."""

import gzip
import json
from itertools import combinations

import numpy as np
import pytest
from invented_across import ROOT, AcrossRun, entries
from invented_papers import numbers
from PIL import Image

from seqcap.files import json_file
from seqcap.papers.across.figures import tradeoffs
from seqcap.papers.across.tables import AGAINST, FILE, OTHERS, PEOPLE_BLOCK, by_paper
from seqcap.pipeline.configure import resolve
from seqcap.pipeline.params import read_params
from seqcap.report import overview
from seqcap.report.figures import write_figures
from seqcap.report.overview import CIDER, DIVERSITY
from seqcap.report.ranking import pareto_front, rank_correlation
from seqcap.report.section import write_section
from seqcap.report.tables import make_table, people_label, write_tables

# Run -> the run of a paper's own file that has its settings.
LIKE = {
    "across_spider": "pg_spider",
    "across_bcmr": "pg_bcmr",
    "across_mixer": "mixer_bcmr",
    "across_wtf_rl": "wtf_rl",
    "across_wtf": "wtf",
    "across_rl": "rl",
    "across_reinforce": "reinforce_w22",
    "across_psst": "multinomial_w34",
    "across_st": "st_w34",
    "across_luo": "luo_w34",
    "across_sll": "sll",
    "across_sll_me": "sll_me",
    "across_sll_sle": "sll_sle",
    "across_start": "xe",
    "across_xe": "xe",
    "across_tok": "lstm_tok",
    "across_seq": "lstm_seq_cider_refs",
    "across_tok_seq": "lstm_tok_seq_cider_refs",
}
# Settings that depend on how long a run is trained.
LENGTHS = {"baseline_steps", "pretraining_steps", "shrink"}


@pytest.fixture(scope="module")
def trained():
    params = read_params(ROOT)
    stages = resolve(params)
    return params, {run.name: run for config in stages["train"].values() for run in config.runs}


# --- Who takes part


def test_runs_are_the_papers_but_for_start_length_and_pace(trained):
    params, runs = trained
    assert set(LIKE) == {name for name, run in runs.items() if run.paper == "across"}
    for name, like in LIKE.items():
        run, theirs = runs[name], runs[like]
        assert (run.objective, run.reward) == (theirs.objective, theirs.reward)
        mine, others = ({k: v for k, v in of.settings.items() if k not in LENGTHS} for of in (run, theirs))
        assert mine == others
        assert (run.captioner, run.start, run.seeds) == ("lstm", "starts/pretrain/lstm", (1, 2, 3))
        assert run.reads.get("listener") in (None, "artifacts/mined/reward")
    assert params.shared.alpha == runs["across_sll_sle"].settings["alpha"]


def test_captioners_are_updated_equally_often(trained):
    params, runs = trained
    updates = {}
    for name in LIKE.keys() - {"across_start"}:
        run = runs[name]
        steps = run.training.epochs * params.shared.scenes.train // run.training.batch_size
        alone = run.settings.get("pretraining_steps", run.settings.get("baseline_steps", 0))
        updates[name] = (steps - alone) / (2 if run.objective == "joint_reinforce" else 1)
    assert set(updates.values()) == {960}


# --- Fronts and ranks


def test_a_front_is_what_nothing_beats():
    values = np.array([[1, 5], [2, 4], [2, 3], [4, 1], [4, 1], [3, 0], [np.nan, 9]], dtype=float)
    assert pareto_front(values).tolist() == [True, True, False, True, True, False, False]
    random = np.random.default_rng(0).normal(size=(30, 2))
    front = random[pareto_front(random)]
    assert all((one - other).prod() < 0 for one, other in combinations(front, 2))
    assert all((front >= point).all(1).any() for point in random)


def test_a_rank_correlation_is_spearmans():
    x = np.array([1, 2, 3, 4, 5, 6, 7, 8], dtype=float)
    assert rank_correlation(x, np.exp(x)).value == pytest.approx(1)
    # 1 - 6 * (1 + 1) / (8 * 63)
    found = rank_correlation(x, np.array([2, 1, 3, 4, 5, 6, 7, 8], dtype=float))
    assert found.value == pytest.approx(1 - 12 / 504)
    assert 0.7 < found.low < found.value <= found.high <= 1
    assert found.n == "8 objectives"
    assert rank_correlation(x, np.where(x > 6, np.nan, x)).n == "6 objectives"
    assert rank_correlation(x[:3], x[:3]).value is None
    assert rank_correlation(x, np.ones(8)).value is None


# --- The report


@pytest.fixture(scope="module")
def run():
    return AcrossRun().read()


def test_the_table_groups_by_paper_and_tells_rows_apart(run):
    made = make_table(run, "across")
    lines = [dict(zip(overview.FIELDS, cell.record(), strict=True)) for cell in made.cells]
    blocks = dict.fromkeys(line["paper"] for line in lines)
    assert list(blocks) == ["baseline", "smoothing", "SLE", "SPIDEr", "PSST", "WTF-RL", PEOPLE_BLOCK]
    order = list(entries())
    ahead = {(line["column"], line["run"]): line["ahead_of"].split() for line in lines}
    # Quality grows from run to run, diversity falls; noise hides neighbours.
    assert set(ahead[CIDER, order[-1]]) >= set(order[:10])
    assert ahead[CIDER, order[0]] == ahead[overview.WORDS, order[-1]] == []
    assert order[-1] in ahead[DIVERSITY, order[0]]
    of = overview.Overview.of(lines)
    assert of.paired
    assert (of.baseline.run, len(of.objectives)) == ("across_xe", 16)
    assert of.best(CIDER, of.objectives).label == "Tok-Seq"
    people = next(row for row in of.rows if row.run == overview.PEOPLE)
    assert people.label == "reference grammar"
    assert people.levels["true precision, beam"].value == pytest.approx(90, abs=2)
    assert CIDER not in people.levels
    table = of.markdown({"minutes": {order[0]: "12"}})
    assert "12 images x 3 seeds" in table[-1]
    assert next(row for row in table if "| PG-SPIDEr |" in row).endswith("| 12 |")


def test_yardsticks_rank_objectives_without_the_start(run):
    rho = numbers(run, "across_yardsticks")
    assert rho[CIDER, "true captions"] > 0.9
    assert rho["mBLEU-4, samples", "true captions"] < -0.9
    assert rho["Div-2, samples", "true recall, samples"] > 0.8
    assert abs(rho[CIDER, "R@10 by the judge"]) < 0.6
    assert {cell.ours.n for cell in make_table(run, "across_yardsticks").cells} == {"17 objectives"}


def test_an_objective_of_ones_own_is_a_row_below(run):
    own = run.runs[0].model_copy(update={"objective": "minimum_risk"})
    config = run.config.model_copy(update={"runs": (own, *run.runs[1:])})
    changed = type(run)(config, run.paper, run.scores)
    assert [entry.name for entry in by_paper(changed)[OTHERS]] == [own.name]
    blocks = [cell.block for cell in make_table(changed, "across").cells]
    assert list(dict.fromkeys(blocks))[-2:] == [OTHERS, PEOPLE_BLOCK]


def test_no_name_in_the_figure_covers_another(run):
    figure = tradeoffs(run)
    *panels, words = figure.axes
    assert [axis.get_xlabel() for axis in panels] == [f"{column}, x100" for column in AGAINST]
    explained = [text.get_text() for text in words.get_legend().get_texts()]
    assert explained[-1] == people_label(run)
    for axis in panels:
        assert {text.get_text() for text in axis.texts} == {entry.label for entry in run.runs}
        boxes = [text.get_window_extent() for text in axis.texts]
        assert not [pair for pair in combinations(boxes, 2) if pair[0].overlaps(pair[1])]


def test_it_is_reported_like_a_paper_without_claims(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = AcrossRun(seeds=(1,), images=6, missing={"all_true", "recall_true"}).write()
    write_tables(run)
    write_figures(run)
    write_section(run)
    of = overview.Overview.read(tmp_path / "reports/across/tables/across.csv")
    assert not of.has("true captions")
    assert of.has(CIDER)
    assert (tmp_path / "reports/across/figures/across.png").stat().st_size > 10_000
    results = tmp_path / "reports/across/results"
    assert (results / "claims.json").is_file()
    example = json_file.read_json(results / "example.json")
    labels = [run.by_name[name].label for name in FILE.shown]
    assert [of["label"] for of in example["captions"]] == ["reference grammar", *labels]
    # The invented captions are not of these scenes.
    assert all(of["false"] for of in example["captions"][1:])
    with Image.open(results / "example.png") as image:
        assert image.size == (256, 256)
    captions = json.loads(gzip.decompress((results / "captions/across_sll_beam.json.gz").read_bytes()))
    decoded = run.decoded("across_sll")
    first = decoded[(decoded["decoder"] == "beam") & (decoded["rank"] == 0)]
    assert captions == [
        {"image_id": item, "caption": text} for item, text in zip(first["item"], first["text"], strict=True)
    ]
