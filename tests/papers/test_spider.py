"""PG-SPIDEr: its tables, claims, figures, and the variance of its gradient."""

import re

import numpy as np
import pytest
from invented_papers import judgements, lines, outcomes, texts

from seqcap.papers.spider import figures
from seqcap.papers.spider.claims import remarks
from seqcap.papers.spider.variance import in_words
from seqcap.report.figures import draw
from seqcap.report.verdicts import HOLDS, LESS, UNSURE

# --- Tables


def test_table1_has_corpus_values_and_systems_of_others(spider):
    ours = lines(spider.read(), "spider_table1")
    # Figure 3 has it, the table has not.
    assert ours.loc[ours["row"] == "PG-SPICE", "paper"].eq("").all()
    cells = ours.set_index(["row", "column"])
    assert float(cells.loc[("PG-CIDEr", "CIDEr-D"), "ours"]) == pytest.approx(1.05)  # the corpus value, x1
    assert float(cells.loc[("PG-CIDEr", "BLEU-4"), "ours"]) == pytest.approx(1.05 * 0.7 / 4 + 0.0015, abs=1e-4)
    assert (cells.loc["ATT", "ours"] == "").all()
    assert cells.loc["ATT", "note"].str.contains("not re-run").all()


def test_our_tables_have_the_papers_scale(spider):
    """CIDEr x1 is in print, so all quality is x1 in our tables; percentages stay."""
    ours = lines(spider.read(), "spider_quality").set_index(["block", "row", "column"])["ours"].astype(float)
    assert ours["lstm, beam", "PG-CIDEr", "CIDEr"] == pytest.approx(1.05)
    assert spider.read().paper.published.scale("all_true") == 100


def test_rewards_mark_the_one_that_was_paid(spider):
    cells = lines(spider.read(), "spider_rewards")
    assert len(cells) == 2 * 9 * 5
    marked = cells[cells["note"].str.contains("the reward it was trained on")]
    own = set(zip(marked["row"], marked["column"], strict=True))
    of_bcmr = {(row, "bcmr") for row in ("MIXER-BCMR", "MIXER-BCMR-A", "MIXER-BCMR, 5 epochs a stage", "PG-BCMR")}
    others = {("PG-BLEU-4", "bleu4"), ("PG-CIDEr", "cider"), ("PG-SPIDEr", "spider"), ("PG-SPICE", "spice")}
    assert own == of_bcmr | others
    greedy = cells[cells["block"] == "greedy"].set_index(["row", "column"])["ours"].astype(float)
    assert greedy["PG-BCMR", "bcmr"] == pytest.approx(4.8, abs=0.05)
    assert greedy["PG-SPICE", "bcmr"] == pytest.approx(4.0, abs=0.05)


def test_truth_has_human_captions_beside_both_decoders(spider):
    cells = lines(spider.read(), "spider_truth").set_index(["block", "row", "column"])
    assert len(cells) == (2 * 9 + 1) * 4
    people = cells.loc[("human", "reference grammar", "true captions, %")]
    assert float(people["ours"]) == pytest.approx(100 * 10 / 12, abs=0.01)
    assert people["n"] == "12 images"
    assert float(cells.loc[("beam", "PG-SPICE", "precision"), "ours"]) == pytest.approx(0.4, abs=0.05)


def test_style_shows_who_rambles(spider):
    cells = lines(spider.read(), "spider_style").set_index(["row", "column"])
    assert float(cells.loc[("PG-SPICE", "words, beam"), "ours"]) > float(cells.loc[("MLE", "words, beam"), "ours"]) + 3
    assert set(cells["direction"]) == {"", "lower", "higher"}
    assert cells.loc[("MLE", "vocabulary, beam of 5"), "ours"] == "42"
    assert "[ ]: the range over seeds" in cells.loc[("MLE", "bad endings, beam of 5"), "note"]


# --- Claims


def test_the_runs_claims_hold_as_it_was_made(spider):
    spider.images = 100
    spider.seeds = (1, 2, 3)
    run = spider.read()
    found, judged = outcomes(run), judgements(run)
    assert {claim: (of.verdict, len(of.primary)) for claim, of in judged.items()} == {
        "S1": (HOLDS, 1),
        "S2": (HOLDS, 1),
        # In the invented run ROUGE-L is the same, and METEOR, too.
        "S3": (UNSURE, 6),
        "S4a": (LESS, 6),
        "S4b": (LESS, 6),
        "S4c": (LESS, 7),
        "S5": (HOLDS, 2),
        "S6": (HOLDS, 2),
    }
    assert [of.evidence.metric for of in judged["S3"].failing] == ["ROUGE_L"]
    assert [of.evidence.metric for of in judged["S4c"].failing] == ["METEOR", "ROUGE_L"]
    for detail in (
        ("S2", "CIDEr", "beam", "mixer_bcmr", "mle"),
        ("S3", "BLEU4", "beam", "pg_spider", "mle"),
        ("S5", "seq-rep-2", "beam", "pg_spider", "pg_spice"),
    ):
        assert found[detail].seeds == "3", detail


def test_updates_are_those_of_the_curves(spider, monkeypatch: pytest.MonkeyPatch):
    (words,) = remarks(spider.read(), [])
    assert "so many steps of training: 240: PG-BLEU-4, PG-CIDEr, MIXER-BCMR," in words
    assert "MLE;" not in words
    assert "S2 compares PG-BCMR with MIXER-BCMR after equally many updates." in words
    made = spider.curves
    longer = {"mixer_bcmr": 10}
    monkeypatch.setattr(
        spider, "curves", lambda name: [row | {"step": row["step"] * longer.get(name, 1)} for row in made(name)]
    )
    (words,) = remarks(spider.read(), [])
    assert "2,400: MIXER-BCMR; 240: PG-BLEU-4" in words
    assert "after 240 against 2,400." in words


# --- Variance


def test_variance_in_words(spider):
    noisy = {(3, False): np.full(8, 6.0), (1, False): np.full(8, 3.0)}
    assert in_words(noisy) == " K = 3 rollouts leave 2.00 [2.00, 2.00] of K = 1's variance without the baseline."
    noisy[1, False] = np.array([2.0, 4.0] * 8)
    low, high = re.search(r"leave 2\.00 \[([\d.]+), ([\d.]+)\]", in_words(noisy)).groups()
    assert 1.5 < float(low) < 2 < float(high) < 3
    spider.write_variance(spider.variance())
    words = remarks(spider.read(), [])[-1]
    # K rollouts divide six tenths of the variance by K; the baseline takes four fifths of it.
    assert float(words.split("leave ")[1].split()[0]) == pytest.approx(0.6, abs=0.1)
    assert float(words.split("At K = 3 the baseline leaves ")[1].split()[0]) == pytest.approx(0.2, abs=0.04)


def test_variance_falls_with_rollouts_in_the_figure(spider):
    spider.write_variance(spider.variance())
    absolute, relative = figures.variance(spider.read()).axes
    drawn = {of.get_label(): np.asarray(of.lines[0].get_ydata(), dtype=float) for of in absolute.containers}
    assert set(drawn) == {"no baseline", "baseline"}
    assert (np.diff(drawn["no baseline"]) < 0).all()
    assert (drawn["baseline"] < drawn["no baseline"]).all()
    assert relative.get_ylim()[1] == pytest.approx(absolute.get_ylim()[1] / 0.5)


# --- Figures


def test_examples_are_ours_above_the_papers(spider):
    read = spider.write()
    shown = texts(draw(read, "spider_table2"))
    assert shown.count("best caption of a beam of 5, seed 1") == 1
    assert shown.count("as printed in the paper (COCO)") == 1
    assert sum(text.strip() == "PG-SPICE" for text in shown) == 8
    assert "a man sitting at a table with a book ." in shown
    beam = read.decoded("mle").query("decoder == 'beam' and seed == 1 and item == 1 and rank == 0")
    assert any(text.replace("\n    ", " ") == beam["text"].item() for text in shown)


def heights(axis) -> list[float]:
    return [bar.get_height() for bar in axis.patches]


def test_judged_bars_beside_the_stand_in_on_one_scale(spider):
    paper, ours = figures.figure3(spider.read()).axes
    assert heights(paper) == [48.57, 44.72, 38.01]
    assert [text.get_text() for text in ours.get_xticklabels()] == ["PG-SPIDEr", "PG-BCMR", "MLE"]
    assert [bar.get_facecolor() for bar in ours.patches] == [bar.get_facecolor() for bar in paper.patches]
    assert paper.get_ylim() == ours.get_ylim() == (0, 100)
    assert "not human judgement" in ours.get_title("left")


def test_a_short_run_says_so_below_its_bar(spider):
    curves = spider.curves
    spider.curves = lambda name: [row for row in curves(name) if name != "pg_spider" or row["step"] <= 40]
    _, ours = figures.figure3(spider.read()).axes
    assert ours.get_xticklabels()[0].get_text() == "PG-SPIDEr\nonly 40 of\n240 steps"


def test_on_photographs_there_is_no_stand_in(spider):
    spider.dataset = "flickr8k"
    words = "On flickr8k nothing stands in for people: what is true of it is not known."
    assert figures.figure3(spider.read()) == words
