"""WTF-RL: its table, claims and controls, Figure 1's rule, figures and remarks."""

import re

import pytest
from invented_papers import by_heading, lines, numbers, texts, whole
from invented_wtfrl import CHANGES, WtfrlRun
from scenes_languages import thing

from seqcap import papers
from seqcap.papers.wtfrl import figures
from seqcap.papers.wtfrl.claims import claims, remarks, stand_ins
from seqcap.papers.wtfrl.figures import most_hacked
from seqcap.papers.wtfrl.runs import ablations
from seqcap.papers.wtfrl.vocabulary import Vocabulary
from seqcap.report.claims_file import ClaimsFile
from seqcap.report.drawing.figures import draw
from seqcap.report.example import false_of, scenes_of
from seqcap.report.inputs import Results
from seqcap.report.statistics import Missing, Number
from seqcap.report.tables import make_table
from seqcap.world.graph import Scene

PAPER = papers.load("wtfrl")
FILE = ClaimsFile.read(PAPER)
OURS = PAPER.facts.ours["table1"]
PRINTED = [name for row, (name, _) in PAPER.facts.rows["table1"].items() if row not in OURS]
# What an experiment on photographs may hold.
FEW = ["tf", "wtf", "wtf_rl", "rl"]


def few(**changes: object) -> Results:
    return WtfrlRun(names=list(FEW), **changes).read()  # type: ignore[arg-type]


# --- The judge


def test_what_is_exchanged_has_a_row_where_anyone_was_asked():
    cells = numbers(whole("wtfrl"), "wtfrl_exchanged")
    assert cells["colour", "the judge"] == 75
    assert cells["colour", "its twin"] == 25
    assert cells["colour", "the judge, another image"] == 60
    made = lines(whole("wtfrl"), "wtfrl_exchanged")
    assert made["row"].drop_duplicates().tolist() == ["number", "colour"]
    assert made.set_index(["row", "column"]).loc[("number", "its twin"), "ours"] == ""


def test_agreement_is_the_correlation_of_ranks():
    """Judge and twin have one order, and the literal listener the reverse one of TF's captions."""
    made = WtfrlRun()
    places = {"fixed_rank": 1.0, "twin_rank": 7.0, "bits": 3.0}
    rows = made.scores("wtfrl_image")
    rows = [row for row in rows if row["metric"] != "twin_rank"]
    keys = ("run", "seed", "item", "decoder", "rank")
    judged = [row for row in rows if row["metric"] == "fixed_rank" and row["run"] == "tf"]
    rows = [row for row in rows if row["run"] != "tf" or row["metric"] not in places]
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
    made.dataset = "flickr8k"
    columns = lines(made.of_rows(rows), "wtfrl_agreement")["column"]
    assert set(columns) == {"judge and twin"}


def test_truth_is_weighted_to_the_lengths_that_both_have():
    made = WtfrlRun(names=list(FEW))
    rows = made.scores("wtfrl_image")
    # Of 20 images TF has 5 of 7 words, all true, and 15 of 8, a third of them; WTF 10 of 8, half of them, and 10 of 9.
    told = {
        "tf": lambda item: (7, 1) if item < 5 else (8, item < 10),
        "wtf": lambda item: (8, item % 2) if item < 10 else (9, 1),
    }
    for row in rows:
        if row["run"] in told and row["decoder"] == "beam" and row["metric"] in ("words", "true_of_own"):
            row["value"] = float(told[row["run"]](row["item"])[row["metric"] == "true_of_own"])
    cells = numbers(made.of_rows(rows), "wtfrl_length")
    found = [cells["WTF", column] for column in ("in common, %", "its true captions, %", "TF's true captions, %")]
    assert found == pytest.approx([50, 50, 33.3], abs=0.1)
    assert cells["WTF", "difference"] == pytest.approx(16.7, abs=0.1)
    # RL's captions have other lengths.
    assert ("RL", "difference") not in cells


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


def test_without_wtf_rl_there_is_nothing_to_change():
    run = WtfrlRun(names=["tf", "rl", *CHANGES]).read()
    table = make_table(run, "wtfrl_ablations")
    assert (table.cells, table.reading) == ([], "Not measured: run wtf_rl is not part of these results.")
    assert make_table(few(), "wtfrl_ablations").reading == "This run has no ablations."


# --- Claims


def test_a_vocabulary_is_of_all_captions_of_a_seed(wtfrl):
    read = wtfrl.write()
    decoded = read.decoded("rl")
    best = (decoded["decoder"] == "beam") & (decoded["rank"] == 0)
    decoded.loc[best, "text"] = "a dog"
    decoded.loc[best & (decoded["item"] == 3), "text"] = "a red dog"
    decoded.loc[best & (decoded["item"] == 3) & (decoded["seed"] == 2), "text"] = ""
    found = Vocabulary("rl").number(read)
    assert isinstance(found, Number)
    assert found.by_seed == {1: 3, 2: 2, 3: 3}
    assert (found.value, found.items) == (pytest.approx(8 / 3), 20)
    # A word of one item of 20 is in a resample unless that is never drawn.
    assert (found.resampled[:, 0] == 3).mean() == pytest.approx(1 - (19 / 20) ** 20, abs=0.04)
    assert (found.resampled[:, 1] == 2).all()
    gone = Vocabulary("gone").number(read)
    assert isinstance(gone, Missing)
    assert gone.absent


def test_how_it_is_trained_is_a_deviation():
    ((theirs, ours),) = stand_ins(whole("wtfrl"))
    assert "1e-6" in theirs
    assert ours == "rate 0.001, 80 updates; alpha 0.94; tau 0.01"
    assert stand_ins(WtfrlRun(names=["tf", "rl"]).read()) == []


# --- Words


def words(results: Results) -> dict[str, str]:
    return by_heading(remarks(results, []))


def test_a_gain_that_may_be_nothing_has_no_share():
    made = WtfrlRun()
    rows = [
        row | {"value": float(row["item"] % 2)} if row["metric"] == "own_R@10" and row["run"] == "wtf" else row
        for row in made.scores("wtfrl_image")
    ]
    said = words(made.of_rows(rows))["A hacked reward?"]
    (gain,) = [part for part in said.split(": ", 1)[1].split("; ") if part.startswith(("WTF +", "WTF -"))]
    assert "%" not in gain
    # Nor may the judge's be.
    assert "WTF-RL +22.5 [+22.5, +22.6], +11.3 [+11.2, +11.3] (50%)" in said
    rows = [
        row | {"value": float(row["item"] % 2)} if row["metric"] == "fixed_R@10" and row["run"] == "wtf_rl" else row
        for row in rows
    ]
    assert "WTF-RL +22.5 [+22.5, +22.6] (" not in words(made.of_rows(rows))["A hacked reward?"]


def test_a_discriminator_that_takes_shuffled_words_for_peoples_guards_no_grammar(monkeypatch: pytest.MonkeyPatch):
    told = FILE.remarks["blind"]
    assert told not in words(WtfrlRun().read())["What regularisation guards"]
    logged = WtfrlRun._logged

    def blind(self: WtfrlRun, name: str, step: int, learning: bool) -> dict[str, float]:
        found = logged(self, name, step, learning)
        return found | {"shuffled_human": 0.8} if "shuffled_human" in found else found

    monkeypatch.setattr(WtfrlRun, "_logged", blind)
    assert words(WtfrlRun().read())["What regularisation guards"].endswith(told)


def test_shares_of_rewards_are_a_mean_of_five_batches(monkeypatch: pytest.MonkeyPatch):
    """One batch is of few images. WTF-RL's discriminator learns alone for 20 steps."""
    logged = WtfrlRun._logged

    def rising(self: WtfrlRun, name: str, step: int, learning: bool) -> dict[str, float]:
        found = logged(self, name, step, learning)
        return found | {"beam_positive": step / 100} if "beam_positive" in found else found

    monkeypatch.setattr(WtfrlRun, "_logged", rising)
    run = WtfrlRun().read()
    mine = run.curves[(run.curves["run"] == "wtf_rl") & (run.curves["quantity"] == "beam_entropy")]
    steps = sorted(set(mine["step"]))[:5]
    (said,) = re.findall(r"WTF-RL [^;(]*\((\d+)%", words(run)["Seed by seed"])
    assert int(said) == round(sum(steps) / len(steps))
    assert min(steps) > 20


def test_what_print_has_of_rl_and_wtf_rl_stands_beside_ours():
    said = words(WtfrlRun().read())["RL and WTF-RL"]
    assert "(-1.6 of R@10, by what pays)" in said
    assert "(+10.2 of CIDEr)" in said
    assert "RL and WTF-RL" not in words(WtfrlRun(names=["tf", "wtf_rl"]).read())


@pytest.mark.parametrize(("rate", "told"), [(1e-4, False), (2e-5, True)])
def test_policies_of_unlike_rates_are_not_compared(rate: float, told: bool):
    """Cross-entropy may have another rate than a policy."""
    run = WtfrlRun(names=[*FEW, "tf_longer"]).read()
    runs = tuple(entry.model_copy(update={"learning_rate": rate if entry.name == "rl" else 2e-4}) for entry in run.runs)
    unlike = Results(run.config.model_copy(update={"runs": runs}), run.paper, run.scores)
    found = {(claim.left, claim.right): claim.untestable for claim in claims(unlike)}
    said = "RL has a rate of 2e-05, WTF-RL one of 0.0002: how far each has moved would decide"
    assert found["wtf_rl", "rl"] == (said if told else "")
    assert found["rl", "tf"] == found["rl", "tf_longer"] == found["wtf", "tf"] == ""


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


def test_the_seed_that_is_shown_has_the_median_of_truth():
    made = WtfrlRun()
    shares = {1: 0.9, 2: 0.2, 3: 0.4}
    rows = [
        row | {"value": shares[row["seed"]]} if (row["run"], row["metric"]) == ("wtf_rl", "true_of_own") else row
        for row in made.scores("wtfrl_image")
    ]
    assert figures.shown_seed(made.of_rows(rows)) == 3


def test_figure1_shows_ranks_and_what_is_false_above_the_papers(wtfrl):
    wtfrl.set_to = hacked()
    wtfrl.is_peaked = lambda name: name != "rl_alone"
    read = wtfrl.write()
    shown = texts(figures.figure1(read))
    pictures = [text.replace("\n", " ") for text in shown if text.startswith("scenes, test")]
    assert pictures == ["scenes, test image 7", "scenes, test image 4"]
    assert sum(text.startswith("90, 6: a a a") for text in shown) == 1
    of_seed = f"decoder == 'beam' and seed == {figures.shown_seed(read)} and item == 7 and rank == 0"
    beam = read.decoded("rl_alone").query(of_seed)["text"].item()
    assert any(text.replace("\n    ", " ") == f"2, 9: {beam}" for text in shown)
    said = [figures._said(read, name, item) for name in ("rl_alone", "wtf_rl") for item in (7, 4)]
    false = [false_of(text.split(), scenes_of("image")[item]) for text, item in zip(said, (7, 4) * 2, strict=True)]
    assert [text for text in shown if text.startswith("false: ")]
    assert {f"false: {', '.join(of)}" for of in false if of} <= set(shown)
    assert sum(text.strip() == "reward hacking" for text in shown) == 4
    assert "two dogs wearing a christmas hat laying on a porch" in shown


def test_the_colour_of_a_person_is_told_as_that_of_clothes():
    scene = Scene("meadow", (thing("woman", 40, 40, 60, 120, colour="orange"), thing("dog", 140, 100, 60, 60)))
    said = "a small woman in a white dress with a white dog"
    assert false_of(said.split(), scene) == ["small woman", "woman in white", "white dog"]


def test_without_a_hacked_reward_there_is_no_figure(wtfrl):
    wtfrl.names = list(FEW)
    assert figures.figure1(wtfrl.write()) == "By the rule of this figure, no test image has a hacked reward."
    wtfrl.dataset = "flickr8k"
    assert figures.figure1(wtfrl.read()) == "Nothing knows what is true of flickr8k: no reward is seen to be hacked."


# --- Other figures


def test_a_single_ablation_has_its_name_and_several_have_none(monkeypatch):
    """Of photographs there are three panels; without a legend they are in a row."""
    for names, named in ((["wtf_rl_alpha_50"], True), (["wtf_rl_alpha_50", "wtf_rl_tau_5"], False)):
        made = WtfrlRun(names=[*FEW, *names], dataset="flickr8k")
        several = [entry.model_copy(update={"seeds": made.seeds}) for entry in made.entries()]
        monkeypatch.setattr(made, "entries", lambda several=several: several)
        figure = draw(made.read(), "wtfrl_tradeoff")
        panels = [axis for axis in figure.axes if axis.axison]
        assert len(panels) == 3
        assert ("wtf_rl_alpha_50" in {text.get_text() for text in panels[0].texts}) == named
        assert bool(figure.axes[-1].get_legend()) != named
        assert (figure.get_size_inches()[0] > 15) == named
