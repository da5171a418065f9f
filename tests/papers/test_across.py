"""All objectives on one captioner: who takes part and on what terms, fronts, yardsticks, table and figure."""

from itertools import combinations

import numpy as np
import pytest
from invented_across import ROOT, AcrossRun

from seqcap.papers.across.figures import tradeoffs
from seqcap.papers.across.tables import OTHERS, PEOPLE_BLOCK, by_paper
from seqcap.pipeline.configure import resolve
from seqcap.pipeline.params import read_params
from seqcap.report.ranking import pareto_front, rank_correlation
from seqcap.report.tables import make_table

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
        mine, others = (of.settings.model_dump(exclude=LENGTHS) for of in (run, theirs))
        assert mine == others
        assert (run.captioner, run.start, run.seeds) == ("lstm", "starts/pretrain/lstm", (1, 2, 3))
        assert run.reads.get("listener") in (None, "artifacts/mined/reward")
    assert params.shared.alpha == runs["across_sll_sle"].settings.alpha


def test_captioners_are_updated_equally_often(trained):
    params, runs = trained
    updates = {}
    for name in LIKE.keys() - {"across_start"}:
        run = runs[name]
        steps = run.training.epochs * params.shared.scenes.train // run.training.batch_size
        alone = getattr(run.settings, "pretraining_steps", getattr(run.settings, "baseline_steps", 0))
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
    # Two ranks change places: 6 times 2 over 8 times 63 is lost.
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


def test_an_objective_of_ones_own_is_a_row_below(run):
    own = run.runs[0].model_copy(update={"objective": "minimum_risk"})
    config = run.config.model_copy(update={"runs": (own, *run.runs[1:])})
    changed = type(run)(config, run.paper, run.scores)
    assert [entry.name for entry in by_paper(changed)[OTHERS]] == [own.name]
    blocks = [cell.block for cell in make_table(changed, "across").cells]
    assert list(dict.fromkeys(blocks))[-2:] == [OTHERS, PEOPLE_BLOCK]


def test_no_name_in_the_figure_covers_another(run):
    figure = tradeoffs(run)
    *panels, _ = figure.axes
    for axis in panels:
        assert {text.get_text() for text in axis.texts} == {entry.label for entry in run.runs}
        boxes = [text.get_window_extent() for text in axis.texts]
        assert not [pair for pair in combinations(boxes, 2) if pair[0].overlaps(pair[1])]
