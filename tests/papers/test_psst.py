"""PSST: its methods as curves, operating points, tables, raters, claims, remarks and figures."""

import numpy as np
import pytest
from invented_papers import judgements, lines, numbers, outcomes, texts, whole
from invented_psst import PsstRun

from seqcap.errors import InputError
from seqcap.papers.psst import claims, figures, methods, raters, rows, tables
from seqcap.papers.psst.methods import FEEDBACK, PLACES
from seqcap.report.claims_file import ClaimsFile
from seqcap.report.colours import colour_of
from seqcap.report.inputs import Results
from seqcap.report.statistics import Missing
from seqcap.report.verdicts import HOLDS, NOT_RUN, UNSURE, UNTESTABLE

TRUE = "true of its scene, %"
PSST, ST, PSST_GUMBEL, ST_GUMBEL = "PSST Multinomial", "ST Multinomial", "PSST Gumbel Softmax", "ST Gumbel Softmax"


def few(**changes: object) -> PsstRun:
    return PsstRun(methods=["psst_mle", "luo", "reinforce", "st", "multinomial"], second=False, **changes)  # type: ignore[arg-type]


# --- Methods


def test_runs_that_differ_in_w_are_a_curve():
    found = methods.curves(whole("psst"))
    assert found["multinomial"].runs == ("multinomial_w1", "multinomial_w2", "multinomial_w4")
    assert (found["multinomial"].label, found["multinomial"].weights) == (PSST, (1.0, 2.0, 4.0))
    assert found["mle"].runs == ("psst_mle",)
    assert found["mle"].weights == (None,)
    assert list(found)[-1] == "multinomial_0"
    assert methods.curves(whole("psst"), "image2")["multinomial"].runs[0] == "multinomial2_w1"
    # The w of a frozen speaker is that of the speaker.
    assert found["frozen_luo"].weights == (1.0, 2.0, 4.0)


def test_a_users_own_run_is_a_curve_of_its_own(monkeypatch: pytest.MonkeyPatch):
    run = few().read()
    mine = run.by_name["multinomial_w2"].model_copy(update={"name": "mine_w2", "label": "Mine"})
    monkeypatch.setitem(vars(run), "trained", [mine, *run.trained])
    found = methods.curves(run)
    assert list(found)[-1] == "mine_w2"
    assert (found["mine_w2"].label, found["mine_w2"].weights) == ("Mine", (2.0,))


def test_without_a_run_whose_index_is_fed_back_the_other_makes_the_row():
    found = methods.curves(PsstRun(methods=["gumbel_0"], second=False).read())
    assert list(found) == ["st_gumbel"]
    assert found["st_gumbel"].runs[0] == "gumbel_0_w1"


def test_two_runs_of_one_method_and_weight_are_an_error(monkeypatch: pytest.MonkeyPatch):
    run = few().read()
    twin = run.by_name["multinomial_w2"].model_copy(update={"name": "multinomial_w9"})
    monkeypatch.setitem(vars(run), "trained", [*run.trained, twin])
    with pytest.raises(InputError, match="multinomial_w2 and multinomial_w9 are both of method multinomial"):
        methods.curves(run)


def test_lambda_has_two_units():
    assert methods.printed_lambda(whole("psst"), "multinomial_w2") == pytest.approx(2 / 1342)
    assert methods.printed_lambda(whole("psst"), "luo_w4") == pytest.approx(0.8)
    assert methods.printed_lambda(whole("psst"), "frozen_luo_w4") == pytest.approx(0.8)
    assert methods.printed_lambda(whole("psst"), "psst_mle") is None


def test_the_ends_of_rho():
    found = methods.by_rho(whole("psst"))
    assert list(found["Multinomial"]) == [0.0, 0.25, 0.75, 1.0]
    assert found["Multinomial"][0.0].label == ST + FEEDBACK
    assert list(found["Gumbel Softmax"]) == [0.0, 0.25, 1.0]
    # Where the gradient through feedback was not trained, rho 0 is Table 2's.
    assert methods.by_rho(few().read())["Multinomial"][0.0].label == ST


# --- Operating points


def test_the_papers_point_where_the_curves_get_there():
    point = PLACES["table2"].point(whole("psst"))
    assert (point.value, point.is_printed) == (1.2, True)
    assert PLACES["table2"].words(whole("psst")) == "The operating point is the paper's, CIDEr 1.200."


def test_elsewhere_ours_is_printed_beside_the_papers():
    run = few(shift=-0.5).read()
    words = PLACES["table2"].words(run)
    assert words.startswith("The paper's operating point is CIDEr 1.200. Ours is CIDEr 0.69")
    made = tables.operating(run)
    cells = {cell.row: cell for cell in made}
    assert cells["Table 2: CIDEr"].printed == "1.2"
    assert cells["Table 2: CIDEr"].short().startswith("0.69")
    assert "PSST Multinomial and most of the methods" in cells["Table 2: CIDEr"].note
    # Nearer to the discriminative end.
    both = [PLACES[name].point(run) for name in ("table3", "table2")]
    assert [point.value for point in both if point] == sorted(point.value for point in both if point)


def test_without_curves_there_is_no_point():
    run = PsstRun(methods=["psst_mle", "frozen_mle"], second=False).read()
    assert PLACES["table2"].words(run).startswith("There is no operating point")
    assert numbers(run, "psst_table3")["Frozen Speaker (MLE)", "R@10"] == pytest.approx(31.4, abs=1)


# --- Tables


def test_table2_reads_the_curves():
    """At CIDEr 1.2 is w 2: recall .4 and the method's skill."""
    cells = numbers(whole("psst"), "psst_table2")
    assert cells[PSST, "R@10"] == pytest.approx(76, abs=2)
    assert cells[PSST, "R@1"] == pytest.approx(cells[PSST, "R@10"] - 20, abs=0.1)
    assert cells["Luo et al. 2018", "R@10"] == pytest.approx(40, abs=2)
    notes = lines(whole("psst"), "psst_table2").set_index("row")["note"]
    assert notes["G-GAN (CIDEr=0.795)"].str.contains("a single run, at its own CIDEr 1.2").all()


def test_rows_of_ours_follow_those_like_them():
    order = list(dict.fromkeys(lines(whole("psst"), "psst_table2")["row"]))
    assert order[order.index(PSST) + 1] == f"{PSST}, rho 0.75"
    assert order[order.index(ST) + 1] == ST + FEEDBACK
    assert f"{PSST}, rho 1" not in order
    assert f"{PSST}, rho 0.75" not in set(lines(whole("psst"), "psst_table3")["row"])


def test_people_are_heard_by_two_listeners_and_truth_stands_beside_recall():
    cells = numbers(whole("psst"), "psst_table3")
    assert cells[rows.PEOPLE_OURS, "R@10"] == pytest.approx(40, abs=1)
    assert cells[rows.PEOPLE_THEIRS, "R@10"] == pytest.approx(52, abs=1)
    assert cells[rows.PEOPLE_OURS, TRUE] == cells[rows.PEOPLE_THEIRS, TRUE] == 100
    assert numbers(whole("psst"), "psst_table2")[PSST, TRUE] == numbers(whole("psst"), "psst_drift")[PSST, TRUE]


def test_table5_is_by_automatic_raters():
    cells = lines(whole("psst"), "psst_table5").set_index(["row", "column"])
    naturalness = "Naturalness_vs_ST_Multinomial"
    assert "by automatic raters, not people" in cells.loc[("PSST Multinomial", "Accuracy"), "note"]
    assert float(cells.loc[("Human", "Accuracy"), "ours"]) == 90
    assert cells.loc[("Human", naturalness), "ours"] == ""
    assert float(cells.loc[(ST, naturalness), "ours"]) == 0
    assert float(cells.loc[(PSST, naturalness), "ours"]) == 100
    assert float(cells.loc[("Luo 2018", naturalness), "ours"]) == -100


def test_figure3fs_numbers():
    cells = numbers(whole("psst"), "psst_fig3f")
    assert cells["rho 0.25", "R@10"].max() > cells["rho 1", "R@10"].max() + 5
    assert not lines(whole("psst"), "psst_fig3f")["note"].str.contains("index is fed back").any()
    notes = lines(few().read(), "psst_fig3f").set_index("row")["note"]
    assert notes["rho 0"].str.contains("the index is fed back, without gradient").all()


def test_drift_is_what_the_own_listener_finds_more():
    cells = numbers(whole("psst"), "psst_drift")
    gap = "own minus judge, R@1"
    assert cells["MLE", gap] == pytest.approx(0, abs=0.1)
    assert cells[PSST, gap] == pytest.approx(10, abs=0.1)
    assert cells[PSST, "bits"] == pytest.approx(5 * 0.75, abs=0.1)
    assert cells["reference grammar", "R@10, judge"] == pytest.approx(50, abs=1)
    assert cells["reference grammar", "of it alone, %"] == 60
    assert cells["reference grammar", "R@10, literal"] == pytest.approx(80, abs=1)


def test_retrievers_are_measured_with_people():
    cells = numbers(whole("psst"), "psst_retrievers")
    assert cells["the judge", "R@10"] == pytest.approx(50, abs=1)
    assert cells["the judge", "R@10 of captions"] == pytest.approx(60, abs=1)
    assert cells["the listeners that runs start from", "R@1 of captions"] == pytest.approx(52, abs=1)
    assert cells["the listeners that runs start from", "mean rank"] == pytest.approx(8, abs=0.1)


# --- Raters


def judged(results: Results, better: str, worse: str) -> float:
    found = raters.Preferred(better, worse).number(results)
    return found.value


def changed(**values: dict[str, float]) -> Results:
    """Two runs whose log-probabilities and unparsed statements are as given, of every caption."""
    made = few()
    rows_of = made.scores("psst_image")
    for row in rows_of:
        if row["metric"] in values.get(str(row["variant"]), {}):
            row["value"] = values[str(row["variant"])][str(row["metric"])]
    return made.of_rows(rows_of)


def test_fewer_unparsed_statements_are_better_whatever_their_probability():
    clean, probable = {"unparsed": 0.0, "xe_log_prob": -3.0}, {"unparsed": 1.0, "xe_log_prob": -1.0}
    run = changed(multinomial_w1=clean, st_w1=probable)
    assert judged(run, "multinomial_w1", "st_w1") == 1
    assert judged(run, "st_w1", "multinomial_w1") == 0


def test_with_as_many_the_more_probable_is_better_and_equals_are_neither():
    low, high = {"unparsed": 1.0, "xe_log_prob": -3.0}, {"unparsed": 1.0, "xe_log_prob": -1.0}
    run = changed(multinomial_w1=low, st_w1=high, luo_w1=low)
    assert judged(run, "st_w1", "multinomial_w1") == 1
    assert judged(run, "multinomial_w1", "luo_w1") == judged(run, "luo_w1", "multinomial_w1") == 0


def test_raters_want_captions_of_both():
    run = few(fewer={"multinomial": (1,), "st": (2, 3)}).read()
    assert raters.Preferred("", "st_w1").number(run) == Missing(
        "a method that is judged is not part of this run", absent=True
    )
    found = raters.Preferred("multinomial_w1", "st_w1").number(run)
    assert isinstance(found, Missing)
    assert found.reason == "multinomial_w1 and st_w1 have no seed in common"


# --- Claims


def test_the_runs_claims_hold_as_it_was_made():
    found, verdicts = outcomes(whole("psst")), judgements(whole("psst"))
    assert set(verdicts) == {stated.id for stated in ClaimsFile.read(whole("psst").paper).claims}
    assert {judged.verdict for judged in verdicts.values()} <= {HOLDS, UNTESTABLE, NOT_RUN}
    assert [len(verdicts[claim].primary) for claim in ("P1", "P2", "P5", "P7", "P10", "P13")] == [3, 3, 1, 6, 2, 3]
    for key in (
        ("P1", "own_R@10", "greedy", PSST, ST),
        ("P1", "own_R@1", "greedy", PSST_GUMBEL, ST_GUMBEL),
        ("P2", "CIDEr", "greedy", PSST, ST),
        ("P1", "own_R@5", "greedy", PSST, "REINFORCE"),
        ("P6", "own_R@10", "greedy", PSST, "Frozen Speaker (Luo)"),
        ("P1", "own_R@1", "greedy", "Gumbel Temperature Annealing", ST_GUMBEL),
        ("P10", "own_R@10", "greedy", PSST, f"{PSST}, rho 1"),
        ("P11a", "own_R@1", "greedy", "PSST Multinomial listener", "the judge"),
        ("P11b", "own_R@1", "sample", rows.PEOPLE_THEIRS, rows.PEOPLE_OURS),
        ("P12c", "better_english", "greedy", "Luo et al. 2018", ST),
        ("P14", "bits", "greedy", PSST, ST),
    ):
        assert (found[key].seeds, found[key].difference * found[key].evidence.sign > 0) == ("3", True), key
    first = found["P1", "own_R@10", "greedy", PSST, ST]
    assert (first.difference, first.printed()) == (pytest.approx(12, abs=1), "+4.5")
    assert first.evidence.what == "R@10 (own listener) at equal CIDEr (Table 2)"


def test_claims_fail_where_the_run_is_made_the_other_way():
    made = PsstRun()
    pairs = (("multinomial", "st"), ("st", "multinomial"))
    swapped = {f"{one}_w{w}": f"{other}_w{w}" for w in (1, 2, 4) for one, other in pairs}
    found = outcomes(
        made.of_rows(
            [row | {"variant": swapped.get(row["variant"], row["variant"])} for row in made.scores("psst_image")]
        )
    )
    for key in (("P1", "own_R@10", "greedy", PSST, ST), ("P12b", "better_english", "greedy", PSST, ST)):
        # Its runs still rise at the end.
        assert (found[key].verdict, found[key].excused) == (UNSURE, True)
        assert found[key].high < 0
    assert found["P5", "own_R@10", "greedy", PSST, "Luo et al. 2018"].verdict == HOLDS


# --- Words


def test_remarks_tell_points_rho_and_drift(tmp_path, monkeypatch):
    # Without the committed page for raters, which is a remark of its own.
    monkeypatch.chdir(tmp_path)
    words = " ".join(claims.remarks(whole("psst"), []))
    assert "Table 2: The operating point is the paper's, CIDEr 1.200." in words
    assert "Table 1: The paper's operating point is R@5 (own listener) 80.0. Ours is R@5 (own listener) 59" in words
    assert "R@10 with rho .25 minus that with rho .75, at CIDEr 1.200: +1.9 [" in words
    assert "MLE +0.0 [" in words
    assert "PSST Multinomial +10.0 [" in words
    assert len(claims.remarks(PsstRun(methods=["psst_mle"], second=False).read(), [])) == 2


# --- Figures


def test_a_row_per_group_of_methods_and_the_others_in_grey():
    figure = figures.figure3(whole("psst"))
    rows = np.array(figure.axes).reshape(4, 5)
    assert [axis.get_xlabel() for axis in rows[-1]] == [
        f"{name} x1 (greedy)" for name in ("BLEU-4", "CIDEr", "METEOR", "ROUGE-L", "SPICE")
    ]
    names = [[text.get_text() for text in row[-1].get_legend().get_texts()] for row in rows]
    assert [of[0] for of in names] == ["MLE"] * 4
    assert sorted(name for of in names for name in of[1:]) == sorted(
        methods.METHODS[name].label for name in figures._STYLES if name != "mle"
    )
    of_psst = [line for line in rows[-1, 2].get_lines() if line.get_color() == colour_of(PSST)]
    curves = [line for line in of_psst if len(line.get_xdata()) > 1]
    assert np.asarray(curves[0].get_xdata(), dtype=float) == pytest.approx([0.254, 0.234, 0.214], abs=0.003)
    assert np.asarray(curves[0].get_ydata(), dtype=float) == pytest.approx([66, 76, 86], abs=1)
    # Every method is in every panel.
    assert all(len([line for line in axis.get_lines() if line.get_marker() == "None"]) == 13 for axis in rows[:, 0])
    assert all(any(line.get_linestyle() == "-." for line in axis.get_lines()) for axis in rows[:, 1])


def test_recall_against_rho_has_intervals():
    figure = figures.figure3f(whole("psst"))
    labels = [container.get_label() for container in figure.axes[0].containers]
    assert labels == [
        "PSST Multinomial",
        "ST Multinomial, index fed back",
        "PSST Gumbel Softmax",
        "ST Gumbel Softmax, index fed back",
    ]
    line = figure.axes[0].containers[0].lines[0]
    assert np.asarray(line.get_xdata(), dtype=float) == pytest.approx([0, 0.25, 0.75, 1], abs=0.01)
    assert np.argmax(np.asarray(line.get_ydata(), dtype=float)) == 1
    empty = figures.figure3f(PsstRun(methods=["psst_mle"], second=False).read())
    assert empty == "This run has no curves of several rho."


def test_examples_have_rank_and_cider(psst):
    read = psst.write()
    shown = texts(figures.FIGURES["psst_fig4c"](read))
    assert shown.count(PSST) == 4
    assert sum(text.startswith("9, 1.2: ") for text in shown) == 3
    assert "image 1: 21, 0.6    image 2: 22, 1.2    image 3: 16, 0.6" in shown
    by_weight = texts(figures.figure4a(read))
    assert by_weight.count("PSST l=0.003") == 3
    assert "PSST l=0.010" in by_weight
    assert "image 1: 4, 2.0    image 2: not legible, 2.0    image 3: 1, 2.0" in by_weight
    pictures = [name for figure in (figures.figure4a, figures.FIGURES["psst_fig4b"]) for name in texts_of(figure(read))]
    assert len(set(pictures)) == 6


def texts_of(figure: figures.Figure) -> list[str]:
    return [text.get_text() for text in figure.texts if text.get_text().startswith("scenes, test")]
