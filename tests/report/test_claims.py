"""Verdicts in every branch, and what is written of them."""

import re
from dataclasses import dataclass, replace

import numpy as np
import pytest
from invented_runs import SleRun, SmoothingRun, counts_of, scores_of

from seqcap import papers
from seqcap.report import claims, verdicts
from seqcap.report.claims import Claim, Made, Result, judge
from seqcap.report.inputs import Run
from seqcap.report.published import Printed
from seqcap.report.statistics import Drawn
from seqcap.report.verdicts import FAILS, HOLDS, NOT_RUN, ONE_SEED, UNSURE, UNTESTABLE


@pytest.mark.parametrize(
    ("difference", "q", "agreeing", "opposed", "seeds", "direction", "verdict"),
    [
        (0.5, 0.01, 3, 0, 3, +1, HOLDS),
        (-0.5, 0.01, 3, 0, 3, -1, HOLDS),
        (-0.5, 0.01, 0, 3, 3, +1, FAILS),
        (0.5, 0.01, 0, 3, 3, -1, FAILS),
        (0.5, 0.01, 2, 1, 3, +1, HOLDS),
        # No verdict against the majority of the seeds, nor without one.
        (0.5, 0.01, 1, 2, 3, +1, UNSURE),
        (-0.5, 0.01, 2, 1, 3, +1, UNSURE),
        (0.5, 0.01, 1, 1, 2, +1, UNSURE),
        (0.5, 0.05, 3, 0, 3, +1, UNSURE),
        (0.0, 0.01, 0, 0, 3, +1, UNSURE),
    ],
)
def test_verdicts(difference, q, agreeing, opposed, seeds, direction, verdict):
    claim = replace(compare(None), direction=direction)
    numbers = {"difference": difference, "agreeing": agreeing, "opposed": opposed, "seeds": seeds}
    assert judge(Result(claim, UNSURE, **numbers, p_value=0.001, q_value=q)) == verdict


def system(name: str, levels: list[float], seeds: tuple[int, ...] = (1, 2, 3)) -> list[dict]:
    """Per-image Div2 of a set, the same in every seed."""
    keys = {"variant": name, "decoder": "sample", "rank": None, "metric": "Div2"}
    return [
        keys | {"seed": seed, "item": image, "value": level} for seed in seeds for image, level in enumerate(levels)
    ]


def corpus(name: str, by_seed: list[float], levels: list[float]) -> list[dict]:
    """mBLEU-4 by seed, of images whose own is about `levels`."""
    keys = {"variant": name, "decoder": "sample"}
    rows = []
    for seed, value in enumerate(by_seed, start=1):
        rows += counts_of(keys | {"seed": seed}, "mBleu1-4", [value + level for level in levels], slots=2)
        rows.append(keys | {"seed": seed, "item": None, "rank": None, "metric": "mBleu4", "value": value})
    return rows


def outcome(rows: list[dict], direction: int = +1, base: str | None = None, **changes: str) -> claims.Result:
    claim = Claim("C0", "a is more than b", "Div2", "sample", "set", "a", "b", direction, base=base)
    return run_claim(replace(claim, **changes), of(rows, "a", "b", "base"))


def run_claim(claim: Claim, run: Run) -> claims.Result:
    (result,) = claims.run_claims([claim], run)
    return result


def of(rows: list[dict], *names: str) -> Run:
    """A run with these scores."""
    return Run(SleRun(names=list(names)).config(), papers.load("sle"), scores_of(rows))


HARD = [0.1, 0.5, 0.9, 0.3, 0.7, 0.2, 0.8, 0.4]


def test_pairing_finds_a_small_difference_between_images_that_vary_much():
    result = outcome([*system("a", [level + 0.01 for level in HARD]), *system("b", HARD)])
    assert result.verdict == HOLDS
    assert result.difference == pytest.approx(0.01)
    assert result.low == pytest.approx(0.01)
    assert result.agreement == "3/3"
    equal = outcome([*system("a", HARD), *system("b", HARD)])
    assert (equal.verdict, equal.agreement) == (UNSURE, "0/3")


def test_a_corpus_metric_is_tested_like_any_other():
    levels = [(level - 0.5) / 10 for level in HARD]
    result = outcome([*corpus("a", [0.5, 0.6, 0.7], levels), *corpus("b", [0.4, 0.4, 0.4], levels)], metric="mBleu4")
    assert (result.verdict, result.agreement, result.reason) == (HOLDS, "3/3", "")
    assert (result.left, result.difference) == pytest.approx((0.6, 0.2))
    assert 0 < result.p_value < 0.05
    assert 0.08 < result.low < 0.2 < result.high < 0.32
    mixed = outcome([*corpus("a", [0.5, 0.6, 0.3], levels), *corpus("b", [0.4, 0.4, 0.4], levels)], metric="mBleu4")
    assert mixed.verdict == UNSURE


def test_seeds_that_disagree_are_not_significant_however_many_items():
    """Of other test items the difference is sure, of other training runs it is not."""
    far = [row | {"value": row["value"] + 0.2 * (row["seed"] == 1)} for row in system("a", HARD * 20)]
    result = outcome([*far, *system("b", [level + 0.02 for level in HARD * 20])])
    assert result.verdict == UNSURE
    assert result.difference == pytest.approx(0.2 / 3 - 0.02)
    assert result.agreement == "1/3"


def test_one_seed_is_an_estimate_and_no_verdict():
    result = outcome([*system("a", [level + 0.2 for level in HARD], seeds=(1,)), *system("b", HARD)])
    assert (result.verdict, result.seeds, result.agreement) == (ONE_SEED, 1, "1/1")
    assert result.difference == pytest.approx(0.2)
    assert (result.low, result.high) == pytest.approx((0.2, 0.2))
    assert (result.p_value, result.q_value, result.detectable) == (None, None, None)
    assert (result.items, result.reason) == (8, "")


def test_a_detail_has_a_difference_and_its_interval_alone():
    """However sure it is, it does not change what the primary comparison's p becomes among others."""
    rows = [*system("a", [level + 0.2 for level in HARD]), *system("b", HARD)]
    claim = Claim("C0", "a is more than b", "Div2", "sample", "set", "a", "b", +1, explained="why")
    run, detail = of(rows, "a", "b"), replace(claim, primary=False)
    first, second, gone = claims.run_claims([claim, detail, replace(detail, left="nobody")], run)
    assert (first.verdict, first.q_value, first.explained) == (HOLDS, first.p_value, "")
    assert (second.verdict, second.p_value, second.q_value, second.detectable) == ("", None, None, None)
    assert (second.difference, second.low, second.high) == (first.difference, first.low, first.high)
    assert gone.verdict == NOT_RUN
    untested = claims.run_claims([replace(detail, untestable="nothing is left to choose")], run)[0]
    assert (untested.verdict, untested.reason) == ("", "nothing is left to choose")
    against = claims.run_claims([replace(claim, direction=-1)], run)[0]
    assert (against.verdict, against.explained) == (FAILS, "why")


def test_a_claim_that_cannot_be_tested_shows_its_numbers():
    rows = [*system("a", [level + 0.2 for level in HARD]), *system("b", HARD)]
    result = outcome(rows, untestable="nothing is left to choose")
    assert (result.verdict, result.reason) == (UNTESTABLE, "nothing is left to choose")
    assert result.difference == pytest.approx(0.2)
    assert (result.p_value, result.q_value) == (None, None)
    missing = outcome(system("a", HARD), untestable="nothing is left to choose")
    assert (missing.verdict, missing.reason, missing.difference) == (UNTESTABLE, "nothing is left to choose", None)


def test_a_papers_claims_are_judged_together():
    """One p of .03 among many that are large is no find; claims that are not tested do not count."""
    rng = np.random.default_rng(0)
    rows = system("b", [0.0] * 40)
    scatter = [rng.normal(0, 0.1, 40) for _ in range(8)]
    names = [f"a{number}" for number in range(8)]
    for name, noise in zip(names, scatter, strict=True):
        rows += system(name, (noise - noise.mean() + 0.035 * (name == "a0")).tolist())
    run = of(rows, "b", *names)
    tests = [Claim("C0", "", "Div2", "sample", "set", name, "b", +1) for name in names]
    alone, together = claims.run_claims(tests[:1], run)[0], claims.run_claims(tests, run)[0]
    assert alone.p_value == alone.q_value == together.p_value
    assert 0.005 < alone.p_value < 0.05
    assert (alone.verdict, together.verdict) == (HOLDS, UNSURE)
    assert together.q_value == pytest.approx(8 * alone.p_value)
    untested = [replace(test, untestable="why") for test in tests[1:]]
    assert claims.run_claims([tests[0], *untested], run)[0].verdict == HOLDS


def test_what_could_have_been_found_stands_beside_what_was_not():
    """2.8 standard deviations: here of 8 images, .01 apart on average and .1 to either side."""
    mixed = [level + (0.1 if image % 2 else -0.08) for image, level in enumerate(HARD)]
    result = outcome([*system("a", mixed), *system("b", HARD)])
    assert result.detectable == pytest.approx(2.8 * 0.09 / 8**0.5, rel=0.03)
    assert result.judgement == f"not significant (could have found {result.detectable:.4f})"
    surely = outcome([*system("a", [level + 0.2 for level in HARD]), *system("b", HARD)])
    assert surely.judgement == HOLDS


def test_a_claim_about_the_size_of_steps():
    base = system("base", HARD)
    below, above = system("b", [level - 0.01 for level in HARD]), system("a", [level + 0.2 for level in HARD])
    result = outcome([*base, *below, *above], base="base")
    assert result.verdict == HOLDS
    assert (result.left, result.right) == pytest.approx((0.2, 0.01))
    assert result.claim.sides(of(base, "a")) == ("a - base", "base - b")


def test_only_common_seeds_are_compared():
    result = outcome([*system("a", HARD, seeds=(1, 2)), *system("b", [0.0] * 8, seeds=(2, 3))])
    assert result.seeds == 1
    apart = outcome([*system("a", HARD, seeds=(1,)), *system("b", HARD, seeds=(2,))])
    assert apart.verdict == UNTESTABLE
    assert "no seed in common" in apart.reason


def test_a_missing_system_is_not_run_or_not_scored():
    result = outcome(system("a", HARD))
    assert (result.verdict, result.reason) == (UNTESTABLE, "no scores of variant b")
    gone = run_claim(result.claim, of(system("a", HARD), "a"))
    assert gone.verdict == NOT_RUN
    assert gone.reason == "variant b is not part of this run"


@dataclass(frozen=True)
class Invented:
    """A side that is made in no way that claims know."""

    value: float
    seeds: tuple[int, ...] = (1, 2, 3)
    undefined: float = 0.0
    remarks: tuple[str, ...] = ()
    runs: tuple[str, ...] = ("a",)

    def drawn(self, run: Run) -> Drawn:
        resampled = self.value + np.linspace(-0.01, 0.01, 1000)
        resampled[: int(1000 * self.undefined)] = np.nan
        by_seed = {seed: self.value + seed / 1000 for seed in self.seeds}
        return Drawn(self.value, resampled, by_seed, 8, self.remarks)


def made(left: Invented, right: Invented) -> claims.Result:
    claim = Claim("C0", "a beats b", "CIDEr", "greedy", "best", "A", "B", +1, made=Made((left, right), "in a dream"))
    return run_claim(claim, of(system("a", HARD), "a"))


def test_sides_may_be_made_in_any_way():
    result = made(Invented(0.5, remarks=("an a",)), Invented(0.3, remarks=("a b", "an a")))
    assert (result.verdict, result.agreement, result.reason) == (HOLDS, "3/3", "an a; a b")
    assert (result.left, result.right, result.difference) == pytest.approx((50, 30, 20))
    run = of(system("a", HARD), "a")
    assert (result.claim.what(run), result.claim.sides(run)) == ("CIDEr in a dream", ("A", "B"))
    assert (result.claim.names, result.claim.entry(run).task) == (["a", "a"], "image")
    assert made(Invented(0.3), Invented(0.5)).verdict == FAILS
    assert "| A 50.00 | B 30.00 | +20.00" in "\n".join(claims.claims_table(run, [result]))


def test_every_number_of_a_claim_is_in_the_printed_scale():
    claim = Claim("C1", "left is better", "CIDEr", "beam", "best", "left", "right", 1)
    resampled = np.linspace(0.0, 1.0, 1001)
    left = Drawn(0.625, resampled, {1: 0.5, 2: 0.75}, 8)
    right = Drawn(0.25, np.zeros(1001), {1: 0.25, 2: 0.25}, 8)
    found = claims._result(claim, [left, right])
    assert claim.scale == 100
    assert (found.left, found.right, found.difference) == (62.5, 25.0, 37.5)
    np.testing.assert_allclose([found.low, found.high], [2.5, 97.5])
    np.testing.assert_allclose(found.detectable, 2.8 * 100 * resampled.std())


def test_a_made_side_needs_seeds_and_resamples_in_common():
    assert made(Invented(0.5, (1,)), Invented(0.3)).verdict == ONE_SEED
    # People's captions have no training seeds.
    assert made(Invented(0.5), Invented(0.3, ())).agreement == "3/3"
    apart = made(Invented(0.5, (1,)), Invented(0.3, (2,)))
    assert (apart.verdict, apart.reason) == (UNTESTABLE, "A and B have no seed in common")
    assert made(Invented(0.5, undefined=0.4), Invented(0.3)).verdict == HOLDS
    lost = made(Invented(0.5, undefined=0.6), Invented(0.3))
    assert (lost.verdict, lost.difference) == (UNTESTABLE, None)


def printed_in(paper: str, table: str, column: str, left: str, right: str, block: str | None = None) -> Printed:
    return papers.load(paper).published.printed(table, column, left, right, block=block)


def compare(printed: Printed | None, metric: str = "CIDEr", decoder: str = "beam", captions="best") -> Claim:
    return Claim("C0", "a beats b", metric, decoder, captions, "a", "b", +1, printed)


@pytest.mark.parametrize(
    ("printed", "scale", "text"),
    [
        (printed_in("sle", "table2", "CIDEr", "SLL-SLE", "SLL"), 100, "+2.2"),
        (printed_in("sle", "table1", "Div2", "SLL", "XE"), 1, "-0.46"),
        (printed_in("spider", "table1", "CIDEr-D", "PG-SPIDEr", "MLE"), 1, "+0.053"),
        (printed_in("spider", "fig3", "% not bad", "PG-BCMR", "MLE"), 100, "+6.71"),
        (printed_in("smoothing", "table1", "CIDEr", "Tok | Glove sim", "MLE", "with attention"), 100, "+0.70"),
        # Not printed: as in our own tables.
        (None, 100, ""),
    ],
)
def test_a_claim_has_the_scale_and_decimals_of_the_cells_it_compares(printed, scale: float, text: str):
    claim = compare(printed)
    assert (claim.scale, claim.paper_text()) == (scale, text)


def test_a_claim_about_changes_compares_the_published_changes():
    """117.2 - 115.6 - (115.6 - 115.0)."""
    claim = replace(
        compare(papers.load("sle").published.printed("table2", "CIDEr", "SLL-SLE", "SLL", "SLL-ME")), base="c"
    )
    assert claim.paper_text() == "+1.0"


@pytest.mark.parametrize(
    ("metric", "decoder", "captions", "words"),
    [
        ("CIDEr", "sample", "every", "CIDEr of 3 samples"),
        ("BLEU4", "beam", "best", "BLEU-4 of the best beam caption"),
        ("Div1", "beam", "set", "Div-1 of the beam's 4"),
        ("reward_bcmr", "greedy", "best", "reward bcmr of the greedy caption"),
        # No run of the claim is there: said by the metric.
        ("BLEU", "beam", "best", "BLEU of the best beam translation"),
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
    assert claim.what(run) == "BLEU of the beam's 7"
    assert replace(claim, captions="best").what(run) == "BLEU of the best beam translation"


def test_a_record_is_in_the_printed_scale():
    run = SleRun(names=["sll", "xe"]).read()
    printed = printed_in("sle", "table1", "CIDEr", "SLL", "XE")
    claim = Claim("C1", "SLL beats XE", "CIDEr", "sample", "every", "sll", "xe", +1, printed)
    record = run_claim(claim, run).record(run)
    assert float(record["difference"]) == pytest.approx(40, abs=2)
    known = {"paper": "sle", "claim": "C1", "kind": "primary", "sentence": "SLL beats XE", "metric": "CIDEr"}
    known |= {"what": "CIDEr of 5 samples", "decoder": "sample", "left": "sll", "right": "xe", "base": ""}
    known |= {"claimed": "+1", "paper_difference": "40.4", "seeds": "3/3", "items": "12", "verdict": HOLDS}
    assert known.items() <= record.items()
    sides = [float(record[column]) for column in ("ours_left", "ours_right", "difference")]
    assert sides[0] - sides[1] == pytest.approx(sides[2], abs=0.011)
    gone = run_claim(replace(claim, left="nobody"), run).record(run)
    assert list(gone) == verdicts.COLUMNS
    assert (gone["difference"], gone["q_value"], gone["seeds"], gone["verdict"]) == ("", "", "", NOT_RUN)
    assert record["p_value"] == record["q_value"] == "0.0002"
    assert 0 < float(record["detectable"]) < 10


def test_the_table_has_labels_and_reasons():
    run = SleRun(names=["sll", "xe"]).read()
    claim = Claim("C1", "SLL loses to XE", "CIDEr", "sample", "every", "sll", "xe", -1, why="W.", explained="E.")
    detail = replace(claim, metric="Div1", captions="set", primary=False)
    gone = Claim("C2", "SLL beats XE", "mBleu4", "sample", "set", "sll", "nobody", +1)
    lines = claims.claims_table(run, claims.run_claims([claim, detail, replace(detail, left="nobody"), gone], run))
    numbers = r"SLL 109.* \| XE 69.* \| 0/3, 12 \| <.001 \| does not hold"
    assert re.fullmatch(rf"\| <a id=\"c1\"></a>C1 \| SLL loses to XE \| CIDEr of 5 samples \| {numbers} \|", lines[2])
    assert re.fullmatch(r"\|  \|  \| Div-1 of 5 samples \| SLL 0.* \| [0-3]/3, 12 \|  \|  \|", lines[3])
    assert lines[4:] == [
        "",
        "What makes a comparison the primary one; then, where a claim does not hold, what explains it:",
        "",
        "- C1: W. E.",
        "- Not run, for want of their variants: 2 of 4 comparisons (C1, C2).",
    ]


def test_a_reason_that_claims_share_stands_once():
    run = SleRun(names=["sll", "xe"]).read()
    first = Claim("C1", "SLL beats XE", "CIDEr", "sample", "every", "sll", "xe", +1, untestable="both are new")
    results = claims.run_claims([first, replace(first, id="C2"), replace(first, id="C3", untestable="")], run)
    assert claims.claims_table(run, results)[-1] == "- C1, C2: both are new."
