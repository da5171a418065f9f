"""All objectives on one captioner: who takes part and on what terms, fronts, yardsticks, table and figure."""

import re
import shutil
from dataclasses import replace
from itertools import combinations, pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from invented_across import ROOT, AcrossRun, entries
from ruamel.yaml import YAML

from seqcap.files.json_file import write_json
from seqcap.first_page import asides
from seqcap.first_page import page as first_page
from seqcap.first_page.overview import DISTINCT, DIVERSITY, MORE_CIDER, PRECISION, SAMPLES
from seqcap.papers.across.figures import tradeoffs
from seqcap.papers.across.tables import COLUMNS, FILE, OTHERS, PEOPLE_BLOCK, by_paper, over_cross_entropy, told_apart
from seqcap.pipeline.experiment import apply_overlay, set_roots
from seqcap.pipeline.params import read_params
from seqcap.pipeline.project import Project
from seqcap.report.convergence import QUALITY
from seqcap.report.evidence import Gain
from seqcap.report.inputs import HUMAN
from seqcap.report.ranking import rank_correlation
from seqcap.report.statistics import Contrast
from seqcap.report.tables import make_table
from seqcap.training.run import TrainConfig

# Run -> the run of a paper's own file that has its settings.
LIKE = {
    "across_spider": "pg_spider",
    "across_cider": "pg_cider",
    "across_bcmr": "pg_bcmr",
    "across_mixer": "mixer_bcmr",
    "across_wtf_rl": "wtf_rl",
    "across_wtf": "wtf",
    "across_rl": "rl",
    "across_reinforce": "reinforce_w22",
    "across_psst": "multinomial_w67",
    "across_st": "st_w34",
    "across_luo": "luo_w34",
    "across_sll": "sll",
    "across_sll_me": "sll_me",
    "across_sll_sle": "sweep_pairwise_50",
    "across_start": "xe",
    "across_xe": "xe_longer",
    "across_tok": "lstm_tok",
    "across_seq": "lstm_seq_cider_refs",
    "across_tok_seq": "lstm_tok_seq_cider_refs",
}
# Settings that depend on how long a run is trained, or say which of its epochs is kept.
LENGTHS = {"baseline_steps", "pretraining_steps", "epochs_per_stage", "keep"}
STEPS = 160  # of an epoch
# Those whose rate is this table's own: papers/across/runs.yaml says why.
OTHER_RATES = {
    *("across_spider", "across_wtf_rl", "across_wtf", "across_rl"),
    *("across_tok", "across_seq", "across_tok_seq"),
    *("across_sll", "across_sll_me", "across_sll_sle"),
}


@pytest.fixture(scope="module")
def trained():
    params = read_params(ROOT)
    configs = Project(params).configs("train", TrainConfig)
    return params, {run.name: run for config in configs.values() for run in config.runs}


# --- Who takes part


def test_runs_are_the_papers_but_for_start_length_and_pace(trained):
    _, runs = trained
    # A user's own objective may stand beside them.
    assert set(LIKE) <= {name for name, run in runs.items() if run.paper == "across"}
    assert runs["across_xe"].seeds == (1, 2, 3, 4, 5)
    for name, like in LIKE.items():
        run, theirs = runs[name], runs[like]
        assert (run.objective, run.reward) == (theirs.objective, theirs.reward)
        mine, others = (of.settings.model_dump(exclude=LENGTHS) for of in (run, theirs))
        assert mine == others
        same_rate = run.training.learning_rate == theirs.training.learning_rate
        # Without epochs a rate says nothing.
        assert same_rate == (name not in OTHER_RATES) or run.training.epochs == theirs.training.epochs == 0, name
        assert (run.captioner, run.start) == ("lstm", "starts/pretrain/lstm")
        # None has more than cross-entropy, which all are compared with by common seeds.
        assert run.seeds in ((1, 2, 3), (1, 2, 3, 4, 5))
        assert run.reads.get("listener") in (None, "artifacts/mined/reward")


def test_each_run_has_the_epochs_that_are_nearest_to_the_budget(trained):
    params, runs = trained
    budget = FILE.budgets["scenes"]
    assert budget.steps.keys() | budget.longer.keys() == LIKE.keys() - {"across_start"}
    for name, milliseconds in budget.steps.items():
        training = runs[name].training
        assert params.shared.scenes.train == STEPS * training.batch_size
        assert training.epochs == round(1000 * budget.seconds / milliseconds / STEPS), name
    for name, milliseconds in budget.longer.items():
        assert runs[name].training.epochs > round(1000 * budget.seconds / milliseconds / STEPS), name
    steps = budget.steps | budget.longer
    seconds = sum(
        STEPS * runs[name].training.epochs * len(runs[name].seeds) * step / 1000 for name, step in steps.items()
    )
    assert seconds == pytest.approx(87 * 60, abs=30)


@pytest.fixture(scope="module")
def on_photographs(tmp_path_factory):
    """All runs of the experiment on photographs."""
    tmp_path = tmp_path_factory.mktemp("photographs")
    shutil.copy(ROOT / "params.yaml", tmp_path)
    for folder in ("papers", "scales"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    experiment = ROOT / "experiments/flickr8k.yaml"
    overlay = YAML(typ="safe").load(experiment.read_text())
    set_roots(overlay["params.yaml"]["tasks"], tmp_path / "data", experiment)
    apply_overlay(tmp_path, overlay, experiment)
    configs = Project(read_params(tmp_path)).configs("train", TrainConfig)
    return {run.name: run for config in configs.values() for run in config.runs}


def test_on_photographs_they_do_too(on_photographs):
    budget, steps = FILE.budgets["flickr8k"], 6000 / 20
    # A user's own objective may stand beside them.
    trained = {name for name, run in on_photographs.items() if run.paper == "across" and run.training.epochs}
    assert budget.steps.keys() == trained & LIKE.keys()
    for name, milliseconds in budget.steps.items():
        assert on_photographs[name].training.epochs == round(1000 * budget.seconds / milliseconds / steps), name


def test_on_photographs_rates_are_those_of_the_papers_runs_there_but_for_two(on_photographs):
    """As the budget's `rates` says."""
    own = {**LIKE, "across_psst": "multinomial_w07", "across_luo": "luo_w03", "across_sll_sle": "sll_sle"}
    rates = {
        name: [on_photographs[run].training.learning_rate for run in (name, own[name])]
        for name in FILE.budgets["flickr8k"].steps
    }
    assert {name for name, (mine, theirs) in rates.items() if mine != theirs} == {"across_xe", "across_wtf_rl"}
    for name in ("across_wtf_rl", "across_sll_sle"):
        assert on_photographs[name].settings.alpha == on_photographs[own[name]].settings.alpha, name


def test_mixer_loses_its_prefix_on_photographs_within_the_run(on_photographs):
    """And has some epochs without it, as in its own run."""
    for name in ("across_mixer", "mixer_bcmr"):
        run = on_photographs[name]
        stages = -(-19 // run.settings.shrink) - 1  # of a caption of 18 words and its end
        with_prefix = run.settings.epochs_per_stage * stages
        assert 0.3 < with_prefix / run.training.epochs < 0.7, name


# --- Ranks


def test_a_rank_correlation_is_spearmans():
    x = np.array([1, 2, 3, 4, 5, 6, 7, 8], dtype=float)
    each = list("abcdefgh")
    assert rank_correlation(x, np.exp(x), each).value == pytest.approx(1)
    # Two ranks change places: 6 times 2 over 8 times 63 is lost.
    found = rank_correlation(x, np.array([2, 1, 3, 4, 5, 6, 7, 8], dtype=float), each)
    assert found.value == pytest.approx(1 - 12 / 504)
    assert 0.7 < found.low < found.value <= found.high <= 1
    assert found.n == "8 objectives in 8 groups"
    assert rank_correlation(x, np.where(x > 6, np.nan, x), each).n == "6 objectives in 6 groups"
    assert rank_correlation(x[:3], x[:3], each[:3]).value is None
    assert rank_correlation(x, np.ones(8), each).value is None


def test_systems_of_one_group_do_not_make_a_rank_correlation_surer():
    random = np.random.default_rng(0)
    x, y = random.normal(size=(2, 6))
    alone = rank_correlation(x, y, list("abcdef"))
    # Ten times each of them.
    names = list("abcdef")
    many = [np.repeat(values, 10) for values in (x, y)]
    together = rank_correlation(*many, list(np.repeat(names, 10)))
    apart = rank_correlation(*many, [str(number) for number in range(60)])
    assert (together.value, together.low, together.high) == pytest.approx((alone.value, alone.low, alone.high))
    assert apart.high - apart.low < 0.5 * (together.high - together.low)


# --- The report


@pytest.fixture(scope="module")
def run():
    return AcrossRun().read()


def test_shares_of_the_budget_are_of_a_runs_own_steps(run):
    table = make_table(run, "across_budget")
    found = {(cell.row, cell.column): cell.ours.value for cell in table.cells}
    # Its whole gain of .1 is in the first half of its 20 steps.
    assert found["Tok-Seq", "steps"] == 20
    shares = [found["Tok-Seq", f"CIDEr at {share}"] for share in ("0.25", "0.5", "0.75", "1")]
    assert shares == pytest.approx([0.65, 0.7, 0.7, 0.7])
    assert ("cross-entropy (start)", "steps") not in found
    # Only what a retriever pays has its R@10.
    assert found["WTF-RL", "own R@10 at 1"] == found["WTF-RL", "CIDEr at 1"]
    assert found["Tok-Seq", "own R@10 at 1"] is None
    assert found["Tok-Seq", "first kept"] == 0.5
    assert found["WTF-RL", "first kept"] == 1
    assert "| smoothing | Tok-Seq | 20 | 0.50 | 65.0 | 70.0 | 70.0 | 70.0 | – | – | – | – |" in table.markdown()


OF_TRUTH = {"all_true", "precision_true", "recall_true", "literal_R@10"}


def photographs(**fields):
    """The same results, as if they were of photographs, of which nobody knows what is true."""
    return AcrossRun(dataset="flickr8k", missing=OF_TRUTH, **fields).read()


def test_where_the_budget_is_too_short_the_table_says_so(run):
    assert "converged" not in make_table(run, "across").reading
    reading = make_table(photographs(), "across").reading
    budget = FILE.budgets["flickr8k"]
    assert f"the minutes that each used. {budget.short_of} Objectives" in reading
    assert f"and the rates of {budget.rates}. What trades" in reading
    assert f"; WTF-RL alpha 0.9. {budget.chosen} *beam*" in reading
    assert "chosen here, on val" in make_table(run, "across").reading
    assert "chosen here, on val" not in reading


def test_the_table_counts_the_objectives_that_are_left_out():
    names = ["across_start", *FILE.budgets["flickr8k"].steps]
    left_out = FILE.budgets["flickr8k"].left_out
    reading = make_table(photographs(names=names), "across").reading
    assert reading.startswith(f"8 of the 18 objectives of this table on generated scenes. {left_out} All runs go on")
    assert make_table(photographs(), "across").reading.startswith("All runs go on")
    assert make_table(AcrossRun(names=names).read(), "across").reading.startswith("All runs go on")


@pytest.mark.parametrize(("points", "told"), [(1.5, "still rising, by 1.5 of CIDEr"), (0.5, ""), (None, "")])
def test_a_start_that_was_still_rising_is_told(points, told):
    run = AcrossRun(names=["across_start", "across_xe"]).read()
    vars(run)["gained"] = {} if points is None else {"across_start": {QUALITY: Gain(points=points)}}
    reading = make_table(run, "across").reading
    assert told in reading
    assert ("still rising" in reading) == bool(told)


def test_people_who_are_found_less_often_than_cross_entropy_are_explained():
    """And only these."""
    made = AcrossRun(names=["across_start", "across_xe"])
    rows = made.scores("across_image")
    readings = {}
    for level in (0.2, 0.9):
        seen = {"run": HUMAN, "seed": 0, "decoder": "sample", "rank": 0, "metric": "fixed_R@10"}
        people = [row | seen | {"value": level} for row in rows if row["run"] == HUMAN]
        readings[level] = make_table(made.of_rows([*rows, *people]), "across").reading
    assert "The judge finds an image by people's own captions of it less often (20.0) than" in readings[0.2]
    assert "people's own captions" not in readings[0.9]


def test_columns_of_which_nothing_was_measured_are_left_out_and_named(run):
    unknown = photographs(names=[*entries()])
    shown = {name: make_table(unknown, name) for name in ("across_temperatures", "across_yardsticks")}
    assert [*dict.fromkeys(cell.column for cell in shown["across_temperatures"].cells)] == [
        SAMPLES,
        DIVERSITY,
        MORE_CIDER,
    ]
    assert "Not measured of these data: true recall, samples." in shown["across_temperatures"].reading
    assert {cell.column for cell in shown["across_yardsticks"].cells} == {DISTINCT}
    told = "Not measured of these data: true captions; true recall, samples; R@10 by the literal listener."
    assert shown["across_yardsticks"].reading.endswith(told)
    assert "fewer than" not in shown["across_yardsticks"].markdown()
    for name in (*shown, "across"):
        reading = make_table(unknown, name).reading.partition("Not measured")[0]
        assert not re.search(r"true (recall|captions|precision)|scene's facts|false statement", reading), name
    for name in shown:
        assert "Not measured" not in make_table(run, name).reading
    assert "scene's facts" in make_table(run, "across").reading


def test_a_row_that_no_temperature_is_as_diverse_as_says_so():
    table = make_table(AcrossRun(names=[*entries()], images=200).read(), "across").markdown()
    assert re.search(r"\n–: [^\n:]+: no temperature is as diverse with seed 1 and 2 and 3\.\n", table)


def test_what_is_asked_of_cross_entropy_is_not_diluted_by_other_pairs():
    """Of two comparisons with it one is a find at .02; among all the others at .9 it would not be."""
    others = [f"run{number}" for number in range(20)]
    p_values = {("a", "xe"): 0.02, ("xe", "b"): 0.8} | dict.fromkeys(pairwise(others), 0.9)
    assert told_apart(p_values, "xe") == [("a", "xe")]
    assert told_apart(p_values, "") == []
    # Nor does it help them.
    sure = {("a", "xe"): 0.0001, ("b", "xe"): 0.0001, ("c", "d"): 0.04, ("d", "e"): 0.5}
    assert told_apart(sure, "xe") == [("a", "xe"), ("b", "xe")]


def test_samples_are_compared_with_cross_entropys_as_diverse_ones():
    made = AcrossRun(names=[*entries()], images=200)
    run = made.read()
    # A step up in temperature costs .1 of CIDEr and adds .05 to Div-2: twice as much.
    base, quality = (made.levels("across_xe")["sample", *of] for of in (("CIDEr", False), ("Div2", True)))
    found = {(cell.run, cell.column): cell for cell in make_table(run, "across").cells}
    compared = 0
    for name, entry in entries().items():
        if not entry.row:
            assert (name, MORE_CIDER) not in found
            continue
        levels = made.levels(name)
        cell = found[name, MORE_CIDER]
        cheap = base - 2 * (levels["sample", "Div2", True] - quality)
        if name == "across_xe":
            assert (cell.ours.value, cell.ours.low) == (0, None)
        elif cell.ours.value is not None:
            gain = levels["sample", "CIDEr", False] - cheap
            assert cell.ours.value == pytest.approx(gain, abs=0.01), name
            told = found[name, MORE_CIDER].ahead_of == ("across_xe",), name in found["across_xe", MORE_CIDER].ahead_of
            assert told == (gain > 0.02, gain < -0.02), name
            compared += 1
        else:
            assert "no temperature is as diverse with seed" in cell.ours.remarks[0]
    assert 4 < compared < len(entries()) - len(FILE.temperatures)


def test_objectives_at_one_more_temperature_stand_beside_cross_entropys(tmp_path):
    made = AcrossRun(names=[*entries()], images=200)
    run = made.read()
    cells = make_table(run, "across_temperatures").cells
    levels = [cell.ours.value for cell in cells if cell.column == SAMPLES]
    of_likelihood = levels[: len(FILE.temperatures)]
    assert of_likelihood == sorted(of_likelihood, reverse=True)
    assert [cell.row for cell in cells if cell.column == SAMPLES][4] == "cross-entropy"
    found = {cell.row: cell for cell in cells if cell.column == MORE_CIDER}
    assert [found[entries()[name].label].ours.value for name in FILE.temperatures] == [0] * len(FILE.temperatures)
    gains = {name: found[entries()[name].label] for name in FILE.tempered}
    table = make_table(run, "across_temperatures")
    assert "SLL, temperature 2" in table.markdown()
    table.write("across_temperatures", tmp_path)
    told = asides.of_tempered(tmp_path / "across_temperatures.csv")
    assert told["Tok-Seq"].startswith("at 0.5 ")
    assert "cross-entropy" not in told
    assert asides.of_tempered(tmp_path / "none.csv") == {}
    rivals = asides.of_rivals(tmp_path / "across_temperatures.csv").split("; ")
    assert [rival.partition(" at ")[2] for rival in rivals] == ["0.25", "0.5", "0.75", "1.25"]
    first = [cell.ours.value for cell in cells if cell.row == "cross-entropy, temperature 0.5"][:3]
    assert rivals[1] == f"{', '.join(f'{100 * value:.1f}' for value in first)} at 0.5"
    assert asides.of_rivals(tmp_path / "none.csv") == ""
    at_one = {name: over_cross_entropy(run, name.removesuffix("_tempered"), COLUMNS[SAMPLES]) for name in FILE.tempered}
    pairs = [
        (gain.ours.value, before.value)
        for gain, before in zip(gains.values(), at_one.values(), strict=True)
        if gain.ours.value is not None and isinstance(before, Contrast)
    ]
    assert pairs
    # A step of temperature costs an objective what it costs cross-entropy, so that it has as much over that as at 1.
    for gain, before in pairs:
        assert gain == pytest.approx(before, abs=0.01)


def test_without_other_temperatures_nothing_is_said_of_them(run):
    assert MORE_CIDER not in {cell.column for cell in make_table(run, "across").cells}
    assert make_table(run, "across_temperatures").cells == []


def test_a_line_joins_cross_entropys_temperatures_where_samples_are_shown():
    figure = tradeoffs(AcrossRun(names=[*entries()]).read())
    (first, *others, _) = figure.axes
    lines = [
        [line for line in axis.lines if len(line.get_xdata()) == len(FILE.temperatures)] for axis in (first, *others)
    ]
    assert [len(found) for found in lines] == [1, *(0 for _ in others)]
    assert list(lines[0][0].get_xdata()) == sorted(lines[0][0].get_xdata())
    # All of it is inside the panel.
    for values, (low, high) in (
        (lines[0][0].get_xdata(), first.get_xlim()),
        (lines[0][0].get_ydata(), first.get_ylim()),
    ):
        assert low < min(values) <= max(values) < high


def test_an_objective_of_ones_own_is_a_row_below(run):
    own = run.runs[0].model_copy(update={"objective": "minimum_risk"})
    config = run.config.model_copy(update={"runs": (own, *run.runs[1:])})
    changed = type(run)(config, run.paper, run.scores)
    vars(changed)["curves"] = run.curves
    assert own.name in [entry.name for entry in by_paper(changed)[OTHERS]]
    blocks = [cell.block for cell in make_table(changed, "across").cells]
    assert list(dict.fromkeys(blocks))[-2:] == [OTHERS, PEOPLE_BLOCK]


def test_no_name_in_the_figure_covers_another(run):
    figure = tradeoffs(run)
    *panels, _ = figure.axes
    for axis in panels:
        assert {text.get_text() for text in axis.texts} == {entry.label for entry in run.runs}
        boxes = [text.get_window_extent() for text in axis.texts]
        assert not [pair for pair in combinations(boxes, 2) if pair[0].overlaps(pair[1])]


@pytest.mark.parametrize(("data", "lacking"), [("scenes", {PRECISION}), ("flickr8k", set())])
def test_only_what_scenes_can_have_is_missed(run, tmp_path, monkeypatch, data, lacking):
    """On photographs no column of truth is missing: nobody knows it there."""
    table = make_table(run, "across")
    cells = [cell for cell in table.cells if cell.column != PRECISION]
    replace(table, cells=cells).write("across", tmp_path / "across/tables")
    write_json(tmp_path / "across/figures/figures.json", {"order": [], "figures": {}})
    across = SimpleNamespace(said={"datasets": [data]}, provenance={"minutes": {}, "data": []}, claims=[])
    report = SimpleNamespace(papers={"across": across}, folder=tmp_path)
    monkeypatch.setattr(first_page, "uses", lambda *of: {})
    assert set(first_page._across(report, first_page._overview(report), asides.Asides())["lacking"]) == lacking
