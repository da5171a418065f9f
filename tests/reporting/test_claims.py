"""Verdicts in every branch, and what is written of them."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from invented_runs import SleRun, SmoothingRun

from seqcap.errors import InputError
from seqcap.reporting import claims, papers
from seqcap.reporting.claims import Claim, Printed, judge, run_claim
from seqcap.reporting.inputs import Run, Scores
from seqcap.reporting.verdicts import FAILS, HOLDS, NOT_RUN, UNSURE


@pytest.mark.parametrize(
    ("difference", "p", "agreeing", "opposed", "seeds", "direction", "verdict"),
    [
        (0.5, 0.01, 3, 0, 3, +1, HOLDS),
        (-0.5, 0.01, 3, 0, 3, -1, HOLDS),
        (-0.5, 0.01, 0, 3, 3, +1, FAILS),
        (0.5, 0.01, 0, 3, 3, -1, FAILS),
        (0.5, 0.05, 3, 0, 3, +1, UNSURE),
        (0.5, None, 3, 0, 3, +1, HOLDS),
        (-0.5, None, 0, 3, 3, +1, FAILS),
        (0.5, None, 2, 1, 3, +1, UNSURE),
        (0.5, None, 2, 0, 2, +1, UNSURE),  # too few seeds
        (0.0, None, 0, 0, 3, +1, UNSURE),
    ],
)
def test_verdicts(difference, p, agreeing, opposed, seeds, direction, verdict):
    assert judge(difference, p, agreeing, opposed, seeds, direction) == verdict


def system(name: str, levels: list[float], seeds: tuple[int, ...] = (1, 2, 3), shift: int = 0) -> list[dict]:
    """Per-image Div2 of a set, the same in every seed."""
    keys = {"variant": name, "decoder": "sample", "rank": None, "metric": "Div2"}
    return [
        keys | {"seed": seed, "item": image + shift, "value": level}
        for seed in seeds
        for image, level in enumerate(levels)
    ]


def corpus(name: str, by_seed: list[float]) -> list[dict]:
    keys = {"variant": name, "decoder": "sample", "rank": None, "metric": "Div2", "item": None}
    return [keys | {"seed": seed, "value": value} for seed, value in enumerate(by_seed, start=1)]


def outcome(rows: list[dict], direction: int = +1, base: str | None = None) -> claims.Result:
    claim = Claim("C0", "a is more than b", "Div2", "sample", "set", "a", "b", direction, base=base)
    return run_claim(claim, of(rows, "a", "b", "base"))


def of(rows: list[dict], *names: str) -> Run:
    """A run with these scores."""
    return Run(SleRun(names=list(names)).config(), papers.load("sle").PAPER, Scores(pd.DataFrame(rows)))


HARD = [0.1, 0.5, 0.9, 0.3, 0.7, 0.2, 0.8, 0.4]


def test_pairing_finds_a_small_difference_between_images_that_vary_much():
    result = outcome([*system("a", [level + 0.01 for level in HARD]), *system("b", HARD)])
    assert result.verdict == HOLDS
    assert result.difference == pytest.approx(0.01)
    assert result.low == pytest.approx(0.01)
    assert result.agreement == "3/3"


def test_an_opposite_difference_does_not_hold():
    result = outcome([*system("a", HARD), *system("b", [level + 0.01 for level in HARD])])
    assert result.verdict == FAILS
    assert result.agreement == "0/3"


def test_a_difference_that_images_disagree_on_is_not_significant():
    mixed = [level + (0.1 if image % 2 else -0.09) for image, level in enumerate(HARD)]
    result = outcome([*system("a", mixed), *system("b", HARD)])
    assert result.verdict == UNSURE
    assert result.p_value is not None
    assert result.p_value > 0.05


def test_equal_systems_are_not_significant():
    result = outcome([*system("a", HARD), *system("b", HARD)])
    assert (result.verdict, result.p_value, result.agreement) == (UNSURE, 1.0, "0/3")


def test_a_corpus_metric_asks_the_seeds():
    result = outcome([*corpus("a", [0.5, 0.6, 0.7]), *corpus("b", [0.4, 0.4, 0.4])])
    assert (result.verdict, result.p_value, result.agreement) == (HOLDS, None, "3/3")
    assert result.difference == pytest.approx(0.2)
    assert (result.low, result.high) == pytest.approx((0.1, 0.3))
    assert result.reason == ""
    assert outcome([*corpus("a", [0.5, 0.6, 0.3]), *corpus("b", [0.4, 0.4, 0.4])]).verdict == UNSURE


@pytest.mark.parametrize(("seeds", "words"), [(1, "1 seed"), (2, "2 seeds")])
def test_a_corpus_metric_of_few_seeds_says_why_it_has_no_verdict(seeds: int, words: str):
    result = outcome([*corpus("a", [0.5, 0.6][:seeds]), *corpus("b", [0.4, 0.4][:seeds])])
    assert (result.verdict, result.agreement) == (UNSURE, f"{seeds}/{seeds}")
    assert result.reason == f"a corpus metric of {words}: too few for a verdict"


def test_a_claim_about_the_size_of_changes():
    base = system("base", HARD)
    less, more = system("b", [level - 0.01 for level in HARD]), system("a", [level - 0.2 for level in HARD])
    result = outcome([*base, *less, *more], base="base")
    assert result.verdict == HOLDS
    assert (result.left, result.right) == pytest.approx((0.2, 0.01))
    assert result.claim.sides() == ("|a - base|", "|b - base|")


def test_only_common_seeds_are_compared():
    result = outcome([*system("a", HARD, seeds=(1, 2)), *system("b", [0.0] * 8, seeds=(2, 3))])
    assert result.seeds == 1
    apart = outcome([*system("a", HARD, seeds=(1,)), *system("b", HARD, seeds=(2,))])
    assert apart.verdict == NOT_RUN
    assert "no seed in common" in apart.reason


def test_a_missing_system_is_not_run():
    result = outcome(system("a", HARD))
    assert result.verdict == NOT_RUN
    assert result.reason == "no scores of variant b"
    gone = run_claim(result.claim, of(system("a", HARD), "a"))
    assert gone.reason == "variant b is not part of this run"


def test_a_corpus_score_against_scores_per_image_is_not_run():
    result = outcome([*system("a", HARD), *corpus("b", [0.1, 0.2, 0.3])])
    assert result.verdict == NOT_RUN
    assert "some variants only" in result.reason


def test_different_items_are_an_error():
    with pytest.raises(InputError, match="different items"):
        outcome([*system("a", HARD), *system("b", HARD, shift=1)])


def compare(printed: Printed | None, metric: str = "CIDEr", decoder: str = "beam", captions="best") -> Claim:
    return Claim("C0", "a beats b", metric, decoder, captions, "a", "b", +1, printed)


@pytest.mark.parametrize(
    ("printed", "scale", "text"),
    [
        (Printed("sle", "table2", "CIDEr", ("SLL-SLE", "SLL")), 100, "+2.2"),
        (Printed("sle", "table1", "Div2", ("SLL", "XE")), 1, "-0.46"),
        (Printed("spider", "table1", "CIDEr-D", ("PG-SPIDEr", "MLE")), 1, "+0.053"),
        (Printed("spider", "fig3", "% not bad", ("PG-BCMR", "MLE")), 100, "+6.71"),
        (Printed("smoothing", "table1", "CIDEr", ("Tok | Glove sim", "MLE"), "with attention"), 100, "+0.70"),
        (None, 1, ""),
    ],
)
def test_a_claim_has_the_scale_and_decimals_of_the_cells_it_compares(printed, scale: float, text: str):
    claim = compare(printed)
    assert (claim.scale, claim.paper_text()) == (scale, text)


def test_a_claim_about_changes_compares_the_published_changes():
    claim = replace(compare(Printed("sle", "table4", "CIDEr", ("SLL-SLE (rs)", "SLL-ME (rs)", "SLL (rs)"))), base="c")
    assert claim.paper_text() == "+0.8"


def test_a_cell_that_is_not_printed_is_an_error():
    with pytest.raises(InputError, match=r"spider_table1\.csv: has 0 numbers for nobody"):
        compare(Printed("spider", "table1", "CIDEr-D", ("nobody", "MLE"))).paper_text()


@pytest.mark.parametrize(
    ("metric", "decoder", "captions", "words"),
    [
        ("CIDEr", "sample", "every", "CIDEr of 3 samples"),
        ("BLEU4", "beam", "best", "BLEU-4 of the best beam caption"),
        ("Div1", "beam", "set", "Div-1 of the beam's 4"),
        ("reward_bcmr", "greedy", "best", "reward bcmr of the greedy caption"),
        # No run of the claim is there: said by the metric.
        ("BLEU", "beam", "best", "sentence BLEU of the best beam translation"),
    ],
)
def test_what_is_compared_in_words(metric, decoder, captions, words):
    config = SleRun(names=["nobody"] if metric == "BLEU" else ["a", "b"], beam=4, samples=3).config()
    run = replace(of(system("a", HARD), "a"), config=config)
    claim = replace(compare(None, metric, decoder, captions), text="a beats b by {samples}")
    assert (claim.what(run), claim.words(run)) == (words, "a beats b by 3")


def test_counts_are_those_of_the_runs_evaluation():
    """Not those of another evaluation of the paper."""
    paper = SmoothingRun(names=["lstm_mle", "de_en_mle", "de_en_tok"], members={})
    config = paper.config()
    wide = config.evaluations["smoothing_de_en"].model_copy(update={"beam": 7})
    config = config.model_copy(update={"evaluations": config.evaluations | {"smoothing_de_en": wide}})
    run = replace(paper.read(), config=config)
    claim = replace(compare(None, "BLEU", "beam", "set"), left="de_en_tok", right="de_en_mle")
    assert claim.what(run) == "sentence BLEU of the beam's 7"
    assert replace(claim, captions="best").what(run) == "sentence BLEU of the best beam translation"


def test_a_record_is_in_the_printed_scale():
    run = SleRun(names=["sll", "xe"]).read()
    printed = Printed("sle", "table1", "CIDEr", ("SLL", "XE"))
    claim = Claim("C1", "SLL beats XE", "CIDEr", "sample", "every", "sll", "xe", +1, printed)
    record = run_claim(claim, run).record(run)
    assert float(record["difference"]) == pytest.approx(40, abs=2)
    words = ("sle", "C1: SLL beats XE", "CIDEr of 5 samples", "sll", "xe", "3/3", HOLDS)
    assert (
        tuple(record[column] for column in ("paper", "claim", "metric", "left", "right", "seeds", "verdict")) == words
    )
    gone = run_claim(replace(claim, left="nobody"), run).record(run)
    assert (gone["difference"], gone["seeds"], gone["verdict"]) == ("", "", NOT_RUN)


def test_the_table_has_labels_and_reasons():
    run = SleRun(names=["sll", "xe"]).read()
    claim = Claim("C1", "SLL beats XE", "CIDEr", "sample", "every", "sll", "xe", +1)
    gone = Claim("C2", "SLL beats XE", "mBleu4", "sample", "set", "sll", "nobody", +1)
    text = "\n".join(claims.claims_table(run, claims.run_claims([claim, gone], run)))
    assert "| SLL 1.09" in text
    assert "| XE 0.69" in text
    assert "- (a) variant nobody is not part of this run" in text
