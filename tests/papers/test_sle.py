"""SLE: its tables, claims, figures and the contradictions in its own numbers."""

import re
from dataclasses import replace

import numpy as np
import pytest
from invented_papers import by_heading
from invented_runs import EXPLORING, LEVELS, NEARER, SWEEP

from seqcap import papers
from seqcap.errors import InputError
from seqcap.papers.sle import figures
from seqcap.papers.sle.claims import remarks
from seqcap.papers.sle.sweep import chosen_alpha, outside_sweep, sweep
from seqcap.report.by_length import by_length
from seqcap.report.claims import run_claims
from seqcap.report.claims_file import ClaimsFile
from seqcap.report.drawing.figures import draw
from seqcap.report.tables import make_table

PAPER = papers.load("sle")
CLAIMS = ClaimsFile.read(PAPER).build(PAPER)
# Row of ours -> the row that it follows.
OURS = {row: of.like for of_table in PAPER.facts.ours.values() for row, of in of_table.items()}
MULTI_LABEL = "SLL-SLE (multi-reference)"
MULTI_MEANS = PAPER.facts.ours["table2"][MULTI_LABEL].note


# --- Tables


def test_truth_of_clips_is_left_out_where_only_theirs_is_unknown(sle, monkeypatch: pytest.MonkeyPatch):
    run = sle.read()
    tasks = run.config.tasks | {"clip": run.config.tasks["clip"].model_copy(update={"dataset": "tgif"})}
    run = replace(run, config=run.config.model_copy(update={"tasks": tasks}))
    assert run.knows_facts
    assert not run.knows_facts_of("clip")
    assert {cell.block for cell in make_table(run, "sle_truth").cells} == {"lstm", "attention", ""}


# --- Claims


def words(sle, results=()) -> dict[str, str]:
    return by_heading(remarks(sle.read(), list(results)))


def test_a_loss_is_explained_only_where_there_is_one(sle, monkeypatch: pytest.MonkeyPatch):
    results = run_claims(CLAIMS, sle.read())
    assert "What SLL-SLE's samples lose CIDEr by" not in words(sle, results)
    swapped = {"sll": "sll_sle", "sll_sle": "sll"}
    rows = [row | {"run": swapped.get(row["run"], row["run"])} for row in sle.scores("sle_image")]
    level = {"seed": 1, "item": None, "decoder": "sample", "rank": None, "metric": "log_prob_mean"}
    rows += [level | {"run": "sll", "value": -3.0}, level | {"run": "sll_sle", "value": -9.5}]
    scores = sle.scores
    monkeypatch.setattr(sle, "scores", lambda of: rows if of == "sle_image" else scores(of))
    results = run_claims(CLAIMS, sle.read())
    said = words(sle, results)["What SLL-SLE's samples lose CIDEr by"]
    assert "is 9.5 nats on average, SLL's 3.0" in said


def test_what_samples_cost_is_no_lack_of_collapse(sle):
    """In print SLL's samples have a Div-2 of .32 and an mBLEU-4 of .81."""
    said = words(sle)["The regime"]
    assert "no lack of collapse" not in said
    assert re.search(r"less alike than in print: Div-2 is 0\.\d\d here, by the median seed, and 0\.32 in print", said)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(LEVELS, "sll", LEVELS["sll"] | {"Div2": 0.2, "mBleu4": 0.9})
        said = words(sle)["The regime"]
    assert "Div-2 of SLL's samples is 0.20 here, by the median seed, and 0.32 in print, mBLEU-4 0.90 and 0.81" in said
    beams = sle.read().decoded("sll").query("decoder == 'beam'").groupby(["seed", "item"])["log_prob"].max()
    assert f"{np.exp(beams).mean():.0%} of its probability" in said


def test_the_regime_is_told_by_shares_of_the_beam(sle):
    """In print XE's samples have 74.2 of 102.5, SLL's 114.6 of 115.0."""
    results = sle.read()
    ours = []
    for run in ("xe", "sll"):
        best = results.scores.by_seed(run, "beam", "CIDEr").mean()
        ours.append(results.scores.by_seed(run, "sample", "CIDEr", "every").mean() / best)
    said = f"XE's samples have {ours[0]:.0%} and SLL's {ours[1]:.0%}; in print 72% and 100%."
    assert said in words(sle)["The regime"]


def test_policies_are_compared_with_as_many_steps_of_cross_entropy(sle):
    """By each measure of the paper's that was computed."""
    assert "Against cross-entropy of as many updates" not in words(sle)
    sle.missing.clear()
    sle.names.append("xe_longer")
    cider, meteor = words(sle)["Against cross-entropy of as many updates"].split("; ")
    assert "CIDEr +" in cider
    assert meteor.startswith("METEOR ")
    assert [part.count("(SLL-SLE)") for part in (cider, meteor)] == [1, 1]


def test_how_far_policies_fall_at_their_start_is_told(sle, monkeypatch: pytest.MonkeyPatch):
    assert "What the start costs" not in words(sle)
    made = sle.curves
    falling = {"sll": (0.40, 0.30, 0.39, 0.42, 0.43), "sll_sle": (0.40, 0.35, 0.36, 0.37, 0.38)}

    def curves(name: str) -> list[dict[str, object]]:
        rows = made(name)
        if name not in falling:
            return rows
        steps = sorted({row["step"] for row in rows if row["quantity"] == "val_cider"})
        kept = [row for row in rows if row["quantity"] != "val_cider"]
        like = next(row for row in rows if row["quantity"] == "val_cider")
        return kept + [
            like | {"seed": seed, "step": step, "value": falling[name][min(index, 4)]}
            for seed in {row["seed"] for row in rows}
            for index, step in enumerate(steps)
        ]

    monkeypatch.setattr(sle, "curves", curves)
    said = words(sle)["What the start costs"]
    assert re.search(
        r"is 40\.0 before the first update; it falls to 30\.0 at update \d+ \(SLL, back at \d+ of \d+\), ", said
    )
    assert re.search(r"35\.0 at update \d+ \(SLL-SLE, not back\)\.", said)


def test_a_table_of_data_that_were_not_run_is_a_line(sle):
    sle.names = ["xe", "sll", "sll_sle"]
    table = make_table(sle.read(), "sle_table3")
    assert not table.cells
    assert table.reading == "TGIF test (animated GIFs): not part of this run."


def test_of_one_row_that_explores_none_is_nearest(sle):
    sle.names = ["xe", "sll", "sll_sle"]
    assert "At equal exploration" not in words(sle)


def test_print_is_compared_with_the_row_that_explores_as_much(sle):
    """Div-2 rises by .1 with SLL-SLE, .05 (multi-reference) and .02 (alpha .95); in print by .08."""
    said = words(sle)["At equal exploration"]
    assert "gain +0.08 of Div-2" in said
    assert "SLL-SLE is nearest, with +0.1" in said
    assert "own row" not in said
    sle.names.remove("sll_sle")
    sle.names.insert(0, "sweep_multi_50")
    assert f"{MULTI_LABEL} is nearest, with +0.05" in words(sle)["At equal exploration"]
    sle.names.append("sll_sle")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(LEVELS, "sll_sle", LEVELS["sll_sle"] | {"Div2": 0.9})
        said = words(sle)["At equal exploration"]
    assert f"{MULTI_LABEL} is nearest" in said
    beam, samples = (float(said.split(f"{what} ")[1].split()[0]) for what in ("CIDEr changes by", "samples by"))
    assert [beam, samples] == pytest.approx([5, 5], abs=1)
    assert "SLL-SLE's own row has +0.5" in said
    assert "one seed" not in said
    entry = sle.entry

    def once(name):
        found = entry(name)
        return found.model_copy(update={"seeds": (1,)}) if name in ("sll_sle_mr", "sweep_multi_50") else found

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(LEVELS, "sll_sle", LEVELS["sll_sle"] | {"Div2": 0.9})
        patch.setattr(sle, "entry", once)
        said = words(sle)["At equal exploration"]
    assert f"{MULTI_LABEL} is nearest, with +0.05" in said
    assert "(one seed)" in said
    assert "Of those with three seeds or more it is" in said


def test_beams_are_ranked_by_log_p_over_length(sle):
    run = sle.read()
    sample = by_length(run, "sll")
    decoded = run.decoded("sll").query("decoder == 'beam'")
    scores = run.scores.by_rank("sll", "beam", "CIDEr").set_index(["seed", "item", "rank"])["value"]
    changed = set()
    for (seed, item), captions in decoded.groupby(["seed", "item"]):
        best = max(captions.itertuples(), key=lambda row: row.log_prob / (len(row.tokens) + 1))
        place = sample.items.tolist().index(item), sample.seeds.tolist().index(seed)
        assert sample.statistics[place][0] == pytest.approx(scores[seed, item, best.rank])
        changed.add(best.rank)
    assert changed > {0}
    said = words(sle)["Beams ranked by log p / length"]
    gain = float(said.split("SLL-SLE against SLL ")[1].split()[0])
    assert gain == pytest.approx(10, abs=2)
    # With attention one seed: no interval over seeds, but a number.
    assert "SLL-SLE* against SLL*" in said
    sle.names.remove("sll")
    assert "SLL-SLE against SLL " not in words(sle)["Beams ranked by log p / length"]


def test_learning_rates_are_compared_on_val_after_equally_many_epochs(sle, monkeypatch: pytest.MonkeyPatch):
    sle.names += ["rate_sll_low", "rate_sle_low"]
    entry = sle.entry
    objectives = {"rate_sll_low": "self_critical", "rate_sle_low": "sequence_exploration"}

    def slower(name):
        found = entry(name)
        if name in objectives:
            changes = {"objective": objectives[name], "learning_rate": 0.0005, "epochs": 4, "seeds": (1, 2)}
            changes["captioner"] = entry("sll").captioner
            return found.model_copy(update=changes)
        return found

    monkeypatch.setattr(sle, "entry", slower)
    said = words(sle)["Learning rates"]
    # Points of 80, 120 and 160 steps, whatever the run's own epochs.
    first, mean, second = (
        f"{100 * (0.7 + 0.4 * (1 - np.exp(-np.array([80, 120, 160]) / 60)).mean() + seed / 100):.1f}"
        for seed in (1, 1.5, 2)
    )
    each = f"by seed {first}, {second}"
    both = f"{mean} (0.0005; {each}), {mean} (0.001, the tables'; {each})"
    compared = "epochs 2 to 4 of seeds 1, 2"
    assert said.endswith(f" SLL, {compared}: {both}; SLL-SLE, {compared}: {both}.")
    assert [run.name for run in outside_sweep(sle.read())] == [
        name for name in sle.names if name not in (NEARER, *objectives)
    ]
    monkeypatch.undo()
    sle.names = [name for name in sle.names if name not in objectives]
    assert "Learning rates" not in words(sle)


def test_how_long_each_run_learnt(sle):
    assert words(sle)["How long they learnt"].startswith(
        "*How long they learnt*, in updates after cross-entropy: 200: SLL,"
    )


# --- Figures


def test_a_picture_that_is_not_in_the_tar_is_named(sle):
    drawn = sle.write()
    drawn.images["file"] = "images/none.png"
    with pytest.raises(InputError, match=r"no image 'images/none\.png'"):
        draw(drawn, "sle_fig1")


# --- What alpha does


def test_runs_are_found_by_what_they_are_trained_with(sle):
    sle.names += SWEEP
    run = sle.read()
    found = sweep(run)
    assert chosen_alpha(run) == 0.75
    assert list(found) == ["pairwise", "multi_reference"]
    assert list(found["pairwise"]) == [0, 0.25, 0.5, 0.75, 0.95, 1]
    assert list(found["multi_reference"]) == [0, 0.25, 0.5, 0.75, 1]
    for distance, line in found.items():
        assert line[1].name == "sll"
        assert all(EXPLORING[entry.name] == (distance, alpha) for alpha, entry in line.items() if alpha < 1)
    assert [entry.name for entry in outside_sweep(run)] == [name for name in sle.names if name not in (*SWEEP, NEARER)]


def test_alpha_has_a_line_per_distance_and_a_mark_per_seed(sle):
    sle.names += SWEEP
    axes = figures.alpha(sle.read()).axes
    titles = ["CIDEr x100 (dashed: best beam caption)", "Div-2", "mBLEU-4 (low: diverse)", "true precision"]
    assert [axis.get_title("left") for axis in axes] == [*titles, "true recall of all together", ""]
    cider, div2 = axes[:2]
    of_samples = ["pairwise distance", "multi-reference distance"]
    of_beams = [f"{label}, best beam caption" for label in of_samples]
    assert [line.get_label() for line in cider.containers] == of_samples + of_beams
    x, y = (np.asarray(values, dtype=float) for values in div2.containers[0].lines[0].get_data())
    assert x == pytest.approx([0, 0.25, 0.5, 0.75, 0.95, 1], abs=0.01)
    levels = [LEVELS["xe"]["Div2"] * (1 - alpha) + LEVELS["sll"]["Div2"] * alpha for alpha in (0, 0.25, 0.5)]
    trained = [LEVELS[name]["Div2"] for name in ("sll_sle", NEARER, "sll")]
    assert y == pytest.approx([*levels, *trained], abs=0.03)
    marks = [line for line in div2.get_lines() if line.get_marker() == "_" and len(line.get_xdata()) == 3]
    assert len(marks) == 6 + 5
    assert not [line for line in div2.get_lines() if line.get_markerfacecolor() == "white"]
    upright = next(line for line in div2.get_lines() if line.get_linestyle() == "-.")
    assert upright.get_xdata()[0] == 0.75
    xe = next(line for line in div2.get_lines() if line.get_linestyle() == ":")
    assert xe.get_ydata()[0] == pytest.approx(LEVELS["xe"]["Div2"], abs=0.03)


def test_two_alphas_are_no_figure(sle):
    sle.names = ["xe", "sll_sle", "sll", "sll_me"]
    assert figures.alpha(sle.read()) == "Fewer than three values of alpha: the tables have them."
