"""WTF-RL: its table, claims and controls, Figure 1's rule, figures and remarks."""

import re

import numpy as np
import pytest
from invented_papers import by_heading, judgements, lines, numbers, outcomes, texts, whole
from invented_wtfrl import CHANGES, HACKED, LABELS, LOST, WtfrlRun, printed

from seqcap import papers
from seqcap.papers.wtfrl import figures
from seqcap.papers.wtfrl.claims import remarks
from seqcap.papers.wtfrl.figures import most_hacked
from seqcap.papers.wtfrl.runs import ablations
from seqcap.report.claims_file import ClaimsFile
from seqcap.report.colours import colour_of
from seqcap.report.example import false_of, scenes_of
from seqcap.report.inputs import Results
from seqcap.report.scatter import HOLLOW
from seqcap.report.tables import make_table
from seqcap.report.verdicts import HOLDS

PAPER = papers.load("wtfrl")
FILE = ClaimsFile.read(PAPER)
OURS = PAPER.facts.ours["table1"]
PRINTED = [name for row, (name, _) in PAPER.facts.rows["table1"].items() if row not in OURS]
# What an experiment on photographs may hold.
FEW = ["tf", "wtf", "wtf_rl", "rl"]


def few(**changes: object) -> Results:
    return WtfrlRun(names=list(FEW), **changes).read()  # type: ignore[arg-type]


# --- Table 1


def test_ours_is_beside_print_in_its_scale():
    """The invented run has the printed levels, so a column that reads another's metric is seen."""
    ours = numbers(whole("wtfrl"), "wtfrl_table1")
    for name in PRINTED:
        for column in PAPER.published.table("table1")["column"].unique():
            assert ours[LABELS[name], column] == pytest.approx(100 * printed(name, column), abs=1), (name, column)


def test_rows_and_columns_that_are_ours_are_there():
    made = lines(whole("wtfrl"), "wtfrl_table1")
    rows = made["row"].drop_duplicates().tolist()
    for name, of in OURS.items():
        # Nothing printed stands between.
        assert set(rows[rows.index(of.like) + 1 : rows.index(name)]) <= OURS.keys()
        assert rows.index(of.like) < rows.index(name)
    cells = numbers(whole("wtfrl"), "wtfrl_table1")
    assert set(cells[:, "true of its scene, %"]) == {60.0, 80.0, 90.0}
    assert cells["RL, alpha 1", "T2I R@10"] == pytest.approx(cells["RL", "T2I R@10"] + 100 * HACKED, abs=0.1)


# --- Retrieval


def test_retrieval_has_every_row_and_people():
    made = lines(whole("wtfrl"), "wtfrl_retrieval")
    assert made["row"].drop_duplicates().tolist() == [*LABELS.values(), "reference grammar"]
    cells = numbers(whole("wtfrl"), "wtfrl_retrieval")
    for way in ("T2I", "I2T"):
        paid, judged = (cells["RL", f"{way} R@10, {who}"] for who in ("reward's", "judge's"))
        half = 50 * (printed("rl", f"{way} R@10") - printed("tf", f"{way} R@10"))
        assert paid - judged == pytest.approx(half, abs=0.1)
        assert cells["RL", f"{way} R@10, reward's - judge's"] == pytest.approx(paid - judged, abs=0.02)
        assert cells["TF", f"{way} R@10, reward's - judge's"] == pytest.approx(0, abs=0.1)


def test_people_are_heard_by_both_retrievers():
    made = lines(whole("wtfrl"), "wtfrl_retrieval").set_index(["row", "column"])
    people = made.loc["reference grammar"]
    assert float(people.loc["T2I R@10, reward's", "ours"]) == pytest.approx(60, abs=1)
    assert float(people.loc["T2I R@10, judge's", "ours"]) == pytest.approx(50, abs=1)
    assert float(people.loc["I2T R@1, reward's", "ours"]) == pytest.approx(51, abs=1)
    assert float(people.loc["T2I R@10, reward's - judge's", "ours"]) == pytest.approx(10, abs=0.1)
    assert people.loc["T2I R@10, reward's", "n"] == "20 images x 3 seeds"
    assert people.loc["T2I R@10, judge's", "n"] == "20 images"
    # Nobody counts them.
    assert people.loc["words", "ours"] == ""


# --- The judge


def test_what_is_exchanged_has_a_row_where_anyone_was_asked():
    cells = numbers(whole("wtfrl"), "wtfrl_exchanged")
    assert cells["colour", "the judge"] == 75
    assert cells["colour", "its twin"] == 25
    made = lines(whole("wtfrl"), "wtfrl_exchanged")
    assert made["row"].drop_duplicates().tolist() == ["number", "colour"]
    assert made.set_index(["row", "column"]).loc[("number", "its twin"), "ours"] == ""


def test_agreement_is_the_correlation_of_ranks():
    """Judge and twin have one order, and the literal listener the reverse one of TF's captions."""
    made = WtfrlRun()
    places = {"fixed_rank": 1.0, "twin_rank": 7.0, "bits": 3.0}
    rows = made.scores("wtfrl_image")
    rows = [row for row in rows if row["metric"] != "twin_rank"]
    keys = ("variant", "seed", "item", "decoder", "rank")
    judged = [row for row in rows if row["metric"] == "fixed_rank" and row["variant"] == "tf"]
    rows = [row for row in rows if row["variant"] != "tf" or row["metric"] not in places]
    for row in judged:
        for metric, slope in places.items():
            rows.append({key: row[key] for key in row} | {"metric": metric, "value": slope * (1 + row["item"]) ** 2})
    assert set(keys) <= set(judged[0])
    cells = numbers(made.of_rows(rows), "wtfrl_agreement")
    assert cells["TF", "judge and twin"] == 1
    assert cells["TF", "judge and literal"] == cells["TF", "twin and literal"] == -1
    table = make_table(made.of_rows(rows), "wtfrl_agreement").markdown()
    # RL's judge ranks all captions alike, and nobody ranks people's by the twin.
    assert re.search(r"\| RL \| – \|", table)


# --- Ablations


def test_ablations_are_found_by_their_settings():
    found = ablations(whole("wtfrl"))
    assert {what: [entry.name for entry in rows.values()] for what, rows in found.items()} == {
        "alpha": ["wtf_rl_alpha_50", "wtf_rl_alpha_1"],
        "tau": ["wtf_rl_tau_5"],
        "mined images": ["wtf_rl_unmined"],
        "co-training": ["wtf_rl_alone_discriminator"],
    }
    assert list(found["alpha"]) == ["alpha 0.5", "alpha 1"]
    assert list(found["mined images"]) == ["no mined images"]
    assert list(found["tau"]) == ["tau 0.05"]


def test_several_changes_and_none_are_not_lost(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(CHANGES, "wtf_rl_tau_5", {"temperature": 0.05, "alpha": 0.5})
    monkeypatch.setitem(CHANGES, "wtf_rl_unmined", {})  # WTF-RL itself: no row of its own
    monkeypatch.setitem(CHANGES, "wtf_rl_alpha_1", {"alpha": 0.5})
    found = ablations(WtfrlRun().read())
    assert list(found) == ["alpha", "alpha, tau", "co-training"]
    assert list(found["alpha, tau"]) == ["alpha 0.5, tau 0.05"]
    # Two alike have a row each.
    assert list(found["alpha"]) == ["alpha 0.5", "alpha 0.5, wtf_rl_alpha_50"]


def test_ablations_of_one_seed_are_below_all_of_wtf_rl():
    made = lines(whole("wtfrl"), "wtfrl_ablations").set_index(["block", "row", "column"]).sort_index()
    assert len(made) == 6 * 7
    reference = made.loc[("as it is", "WTF-RL", "CIDEr")]
    by_seed = whole("wtfrl").scores.by_seed("wtf_rl", "beam", "CIDEr")
    assert float(reference["ours"]) == pytest.approx(100 * by_seed.mean(), abs=0.006)
    assert reference["note"].endswith("alpha 0.94, tau 0.01, mined images of rank 4 and 5, the discriminator learns on")
    assert float(made.loc[("tau", "tau 0.05", "T2I R@10, reward's"), "ours"]) == pytest.approx(73.68 - 5, abs=1)
    # The latter of Self-BLEU.
    assert set(made.loc["tau", "n"]) == {"20 images x 1 seed", "10 images x 1 seed"}
    assert set(made.loc["as it is", "n"]) == {"20 images x 3 seeds", "10 images x 3 seeds"}
    text = make_table(whole("wtfrl"), "wtfrl_ablations").markdown()
    assert "°: fewer than three training seeds, an estimate" in text
    assert sum(line.startswith("| as it is | WTF-RL |") for line in text.splitlines()) == 1


def test_without_wtf_rl_there_is_nothing_to_change():
    run = WtfrlRun(names=["tf", "rl", *CHANGES]).read()
    table = make_table(run, "wtfrl_ablations")
    assert (table.cells, table.reading) == ([], "Not measured: run wtf_rl is not part of these results.")
    assert make_table(few(), "wtfrl_ablations").reading == "This run has no ablations."


# --- Claims


def test_the_runs_claims_hold_as_it_was_made():
    found = outcomes(whole("wtfrl"))
    assert {judged.verdict for judged in judgements(whole("wtfrl")).values()} == {HOLDS}
    assert {outcome.seeds for outcome in found.values()} == {"3"}
    assert [key[0] for key, outcome in found.items() if outcome.evidence.rule == "no worse" and key[1] == "CIDEr"] == [
        "D2b",
        "D7c",
    ]
    assert found["D1b", "CIDEr", "beam", "rl", "tf"].difference == pytest.approx(-32.94, abs=0.1)
    assert found["D11b", "CIDEr", "beam", "rl_alone", "rl"].difference == pytest.approx(-100 * LOST, abs=0.1)


# --- Words


def words(results: Results) -> dict[str, str]:
    return by_heading(remarks(results, []))


def test_what_the_judge_confirms_is_a_share_of_the_gain():
    said = words(whole("wtfrl"))["A hacked reward?"]
    gains = {part.split(" +")[0]: part for part in said.split(": ", 1)[1].split("; ")}
    assert re.match(r"RL \+24\.2 \[.* and \+12\.1 \[.*\(50%\)$", gains["RL"])
    # 24.16 / 2 of 24.16 + 10.
    assert "(35%)" in gains["RL, alpha 1"]
    assert "TF, as many steps more" in said
    assert "TF" not in gains


def test_a_gain_that_may_be_nothing_has_no_share():
    made = WtfrlRun()
    rows = [
        row | {"value": float(row["item"] % 2)} if row["metric"] == "own_R@10" and row["variant"] == "wtf" else row
        for row in made.scores("wtfrl_image")
    ]
    said = words(made.of_rows(rows))["A hacked reward?"]
    (gain,) = [part for part in said.split(": ", 1)[1].split("; ") if part.startswith(("WTF +", "WTF -"))]
    assert "%" not in gain


def test_recall_is_said_seed_by_seed_beside_the_share_of_rewards_above_zero():
    said = words(whole("wtfrl"))["Seed by seed"]
    recall = whole("wtfrl").scores.by_seed("rl", "beam", "own_R@10")
    assert f"; RL {', '.join(f'{100 * value:.1f}' for value in recall)} (60%, 60%, 60%); " in said
    # Nothing pays TF.
    assert re.search(r"found: TF [\d.]+, [\d.]+, [\d.]+; |: TF [\d.]+, [\d.]+, [\d.]+; ", said)


def test_what_the_discriminator_takes_for_peoples_is_said():
    said = words(whole("wtfrl"))["What regularisation guards"]
    assert "; RL: people's captions 0.80, the beam's 0.20, shuffled ones 0.40; " in said
    assert "SCST - Grammar" not in said


def test_parts_are_weighed_when_the_captioner_begins_to_learn():
    said = words(whole("wtfrl"))["What alpha weighs"]
    # Step 30 is the first after 20 in which the discriminator learns alone: 1.3 times the start.
    assert "WTF-RL: 0.325 and 0.013;" in said
    assert "RL, alpha 1: 0.325 and 0.013;" in said
    # Step 50 of the run whose head is tuned for 40.
    assert "SCST - Grammar: 0.375 and 0.015." in said
    assert "TF" not in said.replace("WTF", "")


def test_steps_are_those_in_which_captioners_learn():
    said = words(whole("wtfrl"))["Steps"]
    assert "the captioner learns: 80: `tf_longer`, `wtf`, `wtf_rl`," in said
    assert "learned alone: 40: `scst_grammar`; 20: `wtf`, `wtf_rl`," in said
    assert "D10 compares equally many steps." in said
    assert "Learning rates differ: 0.001: `tf_longer`, `wtf`, " in said
    assert said.endswith("; 0.0001: `rl`.")


def test_print_tells_among_how_many_images_recall_is():
    said = words(whole("wtfrl"))["Among how many"]
    assert "Recall is among 20 images here." in said
    assert "42 of its 42 recalls are whole numbers of 5,000 images" in said


# --- Figure 1


def hacked() -> dict[tuple[str, str, int], float]:
    """Ranks in which image 7 is hacked most and 4 next; 11 gains more, but its caption is true."""
    columns = [("human:reward", "own_rank"), *(("rl_alone", of) for of in ("own_rank", "fixed_rank", "true_of_own"))]
    ranks = {7: (90, 2, 9, 0), 4: (50, 2, 6, 0), 11: (99, 1, 5, 1), 14: (50, 2, 8, 0)}
    return {
        (*column, item): float(rank) for item, row in ranks.items() for column, rank in zip(columns, row, strict=True)
    }


def test_the_rule_picks_the_image_that_it_says(wtfrl):
    wtfrl.set_to = hacked()
    wtfrl.is_peaked = lambda name: name != "rl_alone"
    run = wtfrl.write()
    said = {name: figures._said(run, name, 7) for name in ("rl_alone", "wtf_rl")}
    assert said["rl_alone"] != said["wtf_rl"]
    # Of equal gains the smaller number is first.
    assert most_hacked(run, 3) == [7, 4, 14]
    assert most_hacked(run, 1) == [7]
    # Where WTF-RL says the same, nothing is seen of what it does.
    run.decoded("wtf_rl").loc[lambda of: of["item"] == 7, "text"] = said["rl_alone"]
    assert most_hacked(run, 3) == [4, 14]


def test_figure1_shows_ranks_and_what_is_false_above_the_papers(wtfrl):
    wtfrl.set_to = hacked()
    wtfrl.is_peaked = lambda name: name != "rl_alone"
    read = wtfrl.write()
    shown = texts(figures.figure1(read))
    pictures = [text.replace("\n", " ") for text in shown if text.startswith("scenes, test")]
    assert pictures == ["scenes, test image 7", "scenes, test image 4"]
    assert sum(text.startswith("90, 6: a a a") for text in shown) == 1
    beam = read.decoded("rl_alone").query("decoder == 'beam' and seed == 1 and item == 7 and rank == 0")["text"].item()
    assert any(text.replace("\n    ", " ") == f"2, 9: {beam}" for text in shown)
    said = [figures._said(read, name, item) for name in ("rl_alone", "wtf_rl") for item in (7, 4)]
    false = [false_of(text.split(), scenes_of("image")[item]) for text, item in zip(said, (7, 4) * 2, strict=True)]
    assert [text for text in shown if text.startswith("false: ")]
    assert {f"false: {', '.join(of)}" for of in false if of} <= set(shown)
    assert sum(text.strip() == "reward hacking" for text in shown) == 4
    assert "two dogs wearing a christmas hat laying on a porch" in shown


def test_without_a_hacked_reward_there_is_no_figure(wtfrl):
    wtfrl.names = list(FEW)
    assert figures.figure1(wtfrl.write()) == "By the rule of this figure, no test image has a hacked reward."
    wtfrl.dataset = "flickr8k"
    assert figures.figure1(wtfrl.read()) == "Nothing knows what is true of flickr8k: no reward is seen to be hacked."


# --- Other figures


def test_recall_against_cider_is_beside_the_papers_on_one_scale():
    figure = figures.tradeoff(whole("wtfrl"))
    axes = dict(zip(("paid", "paper", "judge", "words"), figure.axes, strict=True))
    assert axes["paid"].get_xlim() == axes["paper"].get_xlim()
    assert axes["paid"].get_ylim() == axes["paper"].get_ylim()
    for name, people in (("paid", []), ("judge", ["reference grammar"])):
        assert sorted(text.get_text() for text in axes[name].texts) == sorted([*LABELS.values(), *people])
        hollow = [line for line in axes[name].get_lines() if line.get_markerfacecolor() == "white"]
        assert len(hollow) == len(CHANGES)
    assert axes["judge"].get_xlabel().startswith("true captions")
    points = {
        name: {line.get_color(): line for line in axis.get_lines() if line.get_marker() == "o"}
        for name, axis in axes.items()
    }
    for name, value in (("paid", (76.06, 75.3)), ("judge", (None, (75.3 + 51.14) / 2)), ("paper", (76.06, 75.3))):
        x, y = (np.asarray(of, dtype=float).item() for of in points[name][colour_of("RL")].get_data())
        assert value[0] is None or x == pytest.approx(value[0], abs=1)
        assert y == pytest.approx(value[1], abs=1)
    assert len(points["paper"]) == 7
    words = [text.get_text() for text in axes["words"].get_legend().get_texts()]
    assert words == ["ablations of WTF-RL", HOLLOW]
    # Where nothing knows what is true, the judge's recall is against CIDEr.
    assert figures.tradeoff(few(dataset="flickr8k")).axes[2].get_xlabel().startswith("CIDEr")
