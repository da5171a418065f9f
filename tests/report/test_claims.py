"""The evidence on claims in a paper's results, and what is written of their verdicts."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest
from invented_evidence import evidence
from invented_runs import SleRun, SmoothingRun, counts_of, scores_of

from seqcap import papers
from seqcap.files import schemas
from seqcap.report import claims, judging, verdicts
from seqcap.report.claims import Comparison, JudgedClaim
from seqcap.report.convergence import QUALITY, RECALL, SAMPLED, gained_in, gains
from seqcap.report.evidence import Evidence, Gain, Registered
from seqcap.report.inputs import Results
from seqcap.report.outcome import Outcome
from seqcap.report.published import Printed
from seqcap.report.statistics import DRAWS, Number
from seqcap.report.verdicts import FEW_SEEDS, HOLDS, NOT_RUN, REVERSED, UNSURE, UNTESTABLE


def system(name: str, levels: list[float], seeds: tuple[int, ...] = (1, 2, 3)) -> list[dict]:
    """Per-image Div2 of a set, the same in every seed."""
    keys = {"run": name, "decoder": "sample", "rank": None, "metric": "Div2"}
    return [
        keys | {"seed": seed, "item": image, "value": level} for seed in seeds for image, level in enumerate(levels)
    ]


def corpus(name: str, by_seed: list[float], levels: list[float]) -> list[dict]:
    """mBLEU-4 by seed, of images whose own is about `levels`."""
    keys = {"run": name, "decoder": "sample"}
    rows = []
    for seed, value in enumerate(by_seed, start=1):
        rows += counts_of(keys | {"seed": seed}, "mBleu1-4", [value + level for level in levels], slots=2)
        rows.append(keys | {"seed": seed, "item": None, "rank": None, "metric": "mBleu4", "value": value})
    return rows


def outcome(rows: list[dict], direction: int = +1, base: str | None = None, **changes: str) -> Outcome:
    claim = Comparison("C0", "a is more than b", "Div2", "sample", "set", "a", "b", direction, base=base)
    return run_claim(replace(claim, **changes), of(rows, "a", "b", "base"))


def run_claim(claim: Comparison, results: Results) -> Outcome:
    (judged,) = claims.run_claims([claim], results)
    return judged.judged.first


def of(rows: list[dict], *names: str) -> Results:
    """A run with these scores."""
    run = Results(SleRun(names=list(names)).config(), papers.load("sle"), scores_of(rows))
    # In place of the files that it would read.
    vars(run)["curves"] = pd.DataFrame(columns=schemas.CURVES.names)
    return run


HARD = [0.1, 0.5, 0.9, 0.3, 0.7, 0.2, 0.8, 0.4]


def test_pairing_finds_a_small_difference_between_images_that_vary_much():
    result = outcome([*system("a", [level + 0.01 for level in HARD]), *system("b", HARD)])
    assert result.verdict == HOLDS
    assert (result.difference, result.low, result.high) == pytest.approx((0.01, 0.01, 0.01), abs=1e-6)
    equal = outcome([*system("a", HARD), *system("b", HARD)])
    # Without any spread it is one run twice.
    assert (equal.verdict, equal.p) == (UNTESTABLE, None)


def test_a_corpus_metric_is_tested_like_any_other():
    levels = [(level - 0.5) / 10 for level in HARD]
    result = outcome([*corpus("a", [0.59, 0.6, 0.61], levels), *corpus("b", [0.4, 0.4, 0.4], levels)], metric="mBleu4")
    assert (result.verdict, result.seeds, result.reason) == (HOLDS, "3", "")
    assert (result.left, result.difference) == pytest.approx((0.6, 0.2))
    assert (result.low, result.high) == pytest.approx((0.2 - 0.025, 0.2 + 0.025), abs=0.001)
    mixed = outcome([*corpus("a", [0.5, 0.6, 0.3], levels), *corpus("b", [0.4, 0.4, 0.4], levels)], metric="mBleu4")
    assert mixed.verdict == UNSURE


def test_seeds_that_disagree_tell_nothing_however_many_items():
    """Of other test items the difference is sure, of other training runs it is not."""
    far = [row | {"value": row["value"] + 0.2 * (row["seed"] == 1)} for row in system("a", HARD * 20)]
    result = outcome([*far, *system("b", [level + 0.02 for level in HARD * 20])])
    assert result.verdict == UNSURE
    assert result.difference == pytest.approx(0.2 / 3 - 0.02)


def test_one_seed_or_two_are_an_estimate_and_no_verdict():
    left = [level + 0.2 for level in HARD]
    one = outcome([*system("a", left, seeds=(1,)), *system("b", HARD, seeds=(1,))])
    assert (one.verdict, one.seeds, one.evidence.items, one.reason) == (FEW_SEEDS, "1", 8, "")
    two = outcome([*system("a", left, seeds=(1, 2)), *system("b", HARD)])
    assert (two.verdict, two.seeds) == (FEW_SEEDS, "2")
    assert (two.p, two.q, two.detectable) == (None, None, None)
    assert two.difference == pytest.approx(0.2)


def test_a_single_seed_is_compared_with_all_seeds_of_the_other():
    """Its interval holds their scatter."""
    rows = [row | {"value": row["value"] + 0.1 * row["seed"]} for row in system("b", HARD)]
    result = outcome([*system("a", HARD, seeds=(1,)), *rows])
    assert (result.verdict, result.seeds, result.difference) == (FEW_SEEDS, "1 and 3", pytest.approx(-0.2))
    # .1 times the root of 1 + 1/3, with two degrees of freedom.
    assert result.high - result.difference == pytest.approx(0.1 * (4 / 3) ** 0.5 * 4.303, rel=0.01)


def test_seeds_of_runs_that_start_elsewhere_are_not_paired():
    run = of([*system("a", HARD), *system("b", HARD)], "a", "b")
    claim = Comparison("C0", "", "Div2", "sample", "set", "a", "b", +1)
    assert claims.evidence(claim, run).paired
    runs = [entry.model_copy(update={"captioner": entry.name}) for entry in run.runs]
    apart = replace(run, config=run.config.model_copy(update={"runs": tuple(runs)}))
    vars(apart)["curves"] = run.curves
    assert not claims.evidence(claim, apart).paired


def test_a_detail_has_a_difference_and_its_interval_alone():
    rows = [*system("a", [level + 0.2 for level in HARD]), *system("b", HARD)]
    claim = Comparison("C0", "a is more than b", "Div2", "sample", "set", "a", "b", +1, explained={REVERSED: "why"})
    run, detail = of(rows, "a", "b"), replace(claim, primary=False)
    (found,) = claims.run_claims([claim, detail, replace(detail, left="nobody")], run)
    first, second, gone = found.judged.outcomes
    assert (found.judged.verdict, found.explained) == (HOLDS, "")
    assert (second.verdict, second.p, second.q, second.detectable) == ("", None, None, None)
    assert (second.difference, second.low, second.high) == (first.difference, first.low, first.high)
    assert gone.verdict == NOT_RUN
    (against,) = claims.run_claims([replace(claim, direction=-1)], run)
    assert (against.judged.verdict, against.explained) == (REVERSED, "why")


def test_beside_an_explanation_stands_what_is_left_of_the_difference_without_a_beam():
    levels = {"beam": 0.3, "greedy": 0.1}
    rows = [
        row | {"decoder": decoder, "rank": 0, "metric": "CIDEr"}
        for decoder, less in levels.items()
        for row in [*system("a", [level - less for level in HARD]), *system("b", HARD)]
    ]
    beam = Comparison("C0", "a is more than b", "CIDEr", "beam", "best", "a", "b", +1, explained={REVERSED: "Why."})
    greedy = replace(beam, decoder="greedy", primary=False)
    run = of(rows, "a", "b")
    found = claims.claims_table(claims.run_claims([beam, greedy], run))
    assert [line for line in found if line.startswith("- C0: Why.")] == [
        "- C0: Why. By greedy decoding the difference is -10.00 [-10.00, -10.00]."
    ]
    assert "- C0: Why." in claims.claims_table(claims.run_claims([beam, replace(greedy, left="b", right="a")], run))
    assert "- C0: Why." in claims.claims_table(claims.run_claims([beam], run))


def test_a_claim_that_cannot_be_tested_shows_its_numbers():
    rows = [*system("a", [level + 0.2 for level in HARD]), *system("b", HARD)]
    result = outcome(rows, untestable="nothing is left to choose")
    assert (result.verdict, result.reason) == (UNTESTABLE, "nothing is left to choose")
    assert (result.difference, result.p) == (pytest.approx(0.2), None)
    missing = outcome(system("a", HARD), untestable="nothing is left to choose")
    assert (missing.verdict, missing.reason, missing.difference) == (UNTESTABLE, "nothing is left to choose", None)


def test_a_claim_about_the_size_of_steps():
    base = system("base", HARD)
    below, above = system("b", [level - 0.01 for level in HARD]), system("a", [level + 0.2 for level in HARD])
    result = outcome([*base, *below, *above], base="base")
    assert result.verdict == HOLDS
    assert (result.left, result.right) == pytest.approx((0.2, 0.01))
    assert result.evidence.side_labels == ("a - base", "base - b")


def test_a_missing_system_is_not_run_or_not_scored():
    result = outcome(system("a", HARD))
    assert (result.verdict, result.reason) == (UNTESTABLE, "no scores of run b")
    claim = Comparison("C0", "a is more than b", "Div2", "sample", "set", "a", "b", +1)
    gone = run_claim(claim, of(system("a", HARD), "a"))
    assert (gone.verdict, gone.reason) == (NOT_RUN, "run b is not part of these results")
    single = outcome([*system("a", [0.5]), *system("b", [0.4])])
    assert (single.verdict, single.reason) == (UNTESTABLE, "a single test item has no spread")


def test_a_claim_whose_first_comparison_was_not_run_begins_with_the_next_one():
    rows = [*system("a", HARD), *system("b", HARD)]
    sides = [Comparison("C0", "a is more than all", "Div2", "sample", "set", "a", right, +1) for right in ("c", "b")]
    (judged,) = claims.run_claims(sides, of(rows, "a", "b"))
    header, _, *matrix = [line for line in claims.claims_table([judged]) if line.startswith("|")]
    assert header.startswith("|  | claim | compared | left | right |")
    assert len(matrix) == 1
    assert '| <a id="c0"></a>C0 | a is more than all |' in matrix[0]
    assert "| b 0.4875 |" in matrix[0]


@dataclass(frozen=True)
class Invented:
    """A side that is made in no way that claims know."""

    value: float
    seeds: tuple[int, ...] = (1, 2, 3)
    remarks: tuple[str, ...] = ()
    untestable: str = ""
    runs: tuple[str, ...] = ("a",)

    def read_from(self, results: Results) -> tuple[str, ...]:
        return self.runs

    def number(self, results: Results) -> Number:
        by_seed = {seed: self.value + (seed - 2) / 1000 for seed in self.seeds}
        resampled = np.full((DRAWS, max(len(self.seeds), 1)), self.value)
        return Number(self.value, by_seed, resampled, 8, self.remarks, self.untestable)


def made(left: Invented, right: Invented, registered: Registered | None = None) -> JudgedClaim:
    claim = Comparison(
        "C0", "a beats b", "CIDEr", "greedy", "best", "A", "B", +1, sources=(left, right), where="in a dream"
    )
    claim = replace(claim, registered=registered)
    (judged,) = claims.run_claims([claim], of(system("a", HARD), "a"))
    return judged


def test_sides_may_be_made_in_any_way():
    judged = made(Invented(0.5, remarks=("an a",)), Invented(0.3, remarks=("a b", "an a")))
    result, claim, run = judged.judged.first, judged.claim, of(system("a", HARD), "a")
    assert (result.verdict, result.reason) == (HOLDS, "an a; a b")
    assert (result.left, result.right, result.difference) == pytest.approx((50, 30, 20))
    assert (claim.what(run), claim.names, claim.run_in(run).task) == ("CIDEr in a dream", ["a", "a"], "image")
    assert made(Invented(0.3), Invented(0.5)).judged.verdict == REVERSED
    assert "| A 50.00 | B 30.00 | +20.00" in "\n".join(claims.claims_table([judged]))
    # People's captions have no training seeds.
    assert made(Invented(0.5), Invented(0.3, ())).judged.first.seeds == "3"


@pytest.mark.parametrize(
    ("seeds", "pilot", "said"),
    [
        (3, (), ": 3 seeds, which find 2."),
        (6, (), ": 6 seeds, which find 2; it was run with 3."),
        # The pilot itself has the seeds that it has.
        (6, (50.0, 30.0), " for the next run: 6 seeds, which find 2."),
    ],
)
def test_what_was_registered_stands_beside_the_seeds_that_ran(seeds, pilot, said):
    registered = Registered(day="2026-12-01", seeds=seeds, finds=2.0, pilot=pilot)
    (words,) = claims.claims_table([made(Invented(0.5), Invented(0.3), registered)])[-1:]
    assert words == f"- C0: Registered on 2026-12-01{said}"


def test_what_no_seed_reaches_cannot_be_tested():
    lost = made(Invented(0.5, untestable="A does not get there with seed 2"), Invented(0.3)).judged.first
    assert (lost.verdict, lost.reason) == (UNTESTABLE, "A does not get there with seed 2")
    assert (lost.difference, lost.low, lost.span) == (pytest.approx(20), None, "+20.00")


def curve(name: str, *values: float, quantity: str = "val_cider") -> list[dict]:
    """Of two seeds, .2 to either side."""
    return [
        {"run": name, "seed": seed, "step": 10 * step, "images": 0, "quantity": quantity, "value": value + apart}
        for seed, apart in ((1, -0.2), (2, 0.2))
        for step, value in enumerate(values)
    ]


def test_what_a_run_still_gained_at_the_end():
    """In the last quarter of its updates, of each measure, in points."""
    rows = [
        *curve("steady", 0.1, 0.5, 0.7, 0.8, 0.805),
        *curve("rising", 0.1, 0.2, 0.3, 0.4, 0.43),
        *curve("rising", 0.5, 0.5, 0.5, 0.5, 0.44, quantity="val_R@10"),
        *curve("rising", 0.1, 0.2, 0.3, 0.4, 0.9, quantity="val_distinct"),
        *curve("falling", 0.9, 0.8),
        *curve("untrained", 0.5),
        *curve("dead", 0.5, 0.5, 0.5),
    ]
    found = gains(pd.DataFrame(rows))
    assert {name: of[QUALITY].points for name, of in found.items()} == pytest.approx(
        {"steady": 0.5, "rising": 3, "falling": -10, "dead": 0}
    )
    assert found["rising"][RECALL].points == pytest.approx(-6)
    assert found["rising"][QUALITY].level == pytest.approx(43)


def test_quarters_are_compared():
    """Of eight updates the last two with the two before; gains of 2 and 4 points."""
    values = {1: (0.0, 0.1, 0.2, 0.3, 0.4, 0.4, 0.6, 0.42, 0.62), 2: (0.0, 0.1, 0.2, 0.3, 0.4, 0.4, 0.6, 0.44, 0.64)}
    rows = [
        {"run": "a", "seed": seed, "step": step, "images": 0, "quantity": "val_cider", "value": value}
        for seed, of in values.items()
        for step, value in enumerate(of)
    ]
    gain = gains(pd.DataFrame(rows))["a"][QUALITY]
    assert gain.points == pytest.approx(3)
    (alone,) = gains(pd.DataFrame([row for row in rows if row["seed"] == 1]))["a"].values()
    assert alone.points == pytest.approx(2)


@pytest.mark.parametrize(
    ("metric", "gained"),
    [("CIDEr", 3), ("METEOR", 3), ("BLEU4 c5", 3), ("twin_R@10", -6), ("own_text_R@1", -6), ("Div2", 3), ("bits", 3)],
)
def test_a_run_rises_by_what_a_claim_measures(metric, gained):
    """A recall that falls is not excused by CIDEr that rises."""
    quality, reward = Gain(points=3), Gain(points=9)
    assert gained_in(metric, {QUALITY: quality, RECALL: Gain(points=-6), SAMPLED: reward}).points == gained
    assert gained_in(metric, {QUALITY: quality}) == quality


def test_samples_rise_by_their_reward():
    rows = [*curve("a", 0.1, 0.1, 0.3, 0.3), *curve("a", 0.5, 0.1, 0.2, 0.3, quantity="train_reward")]
    found = gains(pd.DataFrame(rows))["a"]
    assert gained_in("CIDEr", found, sampled=True).points == pytest.approx(10)
    assert gained_in("CIDEr", found).points == pytest.approx(0)
    # Not every run is paid for something.
    assert gained_in("CIDEr", {QUALITY: found[QUALITY]}, sampled=True) == found[QUALITY]
    # Of rewards that were noted once nothing is known.
    once = [*curve("a", 0.1, 0.3, 0.3, 0.3), list(curve("a", 0.1, 0.1, 0.1, 0.5, quantity="train_reward"))[-1]]
    assert SAMPLED not in gains(pd.DataFrame(once))["a"]


def test_updates_begin_when_the_captioner_learns():
    """Of 7 validations the last 3 follow a discriminator's own: the last quarter is from the last but one."""
    rows = [
        *curve("late", 0.5, 0.5, 0.5, 0.5, 0.9, 0.91, 0.913),
        *curve("late", 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.204, quantity="val_R@10"),
    ]
    late = gains(pd.DataFrame(rows))["late"]
    assert {measure: gain.points for measure, gain in late.items()} == pytest.approx({QUALITY: 0.3, RECALL: 0.4})
    short = pd.DataFrame(curve("short", 0.5, 0.5, 0.5, 0.5, 0.9, 0.91))
    assert gains(short)["short"][QUALITY].points == pytest.approx(1)


def test_evidence_says_how_far_its_runs_were_trained():
    run = of([*system("a", HARD), *system("b", HARD)], "a", "b")
    vars(run)["curves"] = pd.DataFrame(curve("a", 0.1, 0.5))
    found = claims.evidence(Comparison("C0", "", "Div2", "sample", "set", "a", "b", +1), run)
    assert [{name: gain.points for name, gain in side.gained.items()} for side in found.sides] == [{"a": 40}, {}]
    (judged,) = judging.judge([found])
    assert judged.not_converged == ("a",)


def printed_in(paper: str, table: str, column: str, left: str, right: str, block: str | None = None) -> Printed:
    return papers.load(paper).published.printed(table, column, left, right, block=block)


def compare(printed: Printed | None, metric: str = "CIDEr", decoder: str = "beam", captions="best") -> Comparison:
    return Comparison("C0", "a beats b", metric, decoder, captions, "a", "b", +1, printed)


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
    results = of(system("a", HARD), "a")
    found = claims.evidence(claim, results)
    assert (claim.scale(results), judging.measure(found).printed()) == (scale, text)


def test_a_claim_about_changes_compares_the_published_changes():
    """117.2 - 115.6 - (115.6 - 115.0)."""
    claim = replace(
        compare(papers.load("sle").published.printed("table2", "CIDEr", "SLL-SLE", "SLL", "SLL-ME")), base="c"
    )
    assert judging.measure(claims.evidence(claim, of(system("a", HARD), "a"))).printed() == "+1.0"


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


def test_a_record_is_evidence_in_the_printed_scale():
    run = SleRun(names=["sll", "xe"]).read()
    printed = printed_in("sle", "table1", "CIDEr", "SLL", "XE")
    claim = Comparison("C1", "SLL beats XE", "CIDEr", "sample", "every", "sll", "xe", +1, printed)
    (judged,) = claims.run_claims([claim], run)
    found = Evidence.model_validate(judged.judged.first.evidence.model_dump(mode="json"))
    assert found.what == "CIDEr of 5 samples"
    assert (found.printed, found.proportional, found.items) == ((114.6, 74.2), True, 12)
    assert found.sides[0].value - found.sides[1].value == pytest.approx(40, abs=2)
    assert list(found.sides[0].by_seed) == [1, 2, 3]
    # It alone gives the verdict again.
    (again,) = judging.judge([found])
    assert again.verdict == judged.judged.verdict == HOLDS
    assert (again.first.low, again.first.p) == pytest.approx((judged.judged.first.low, judged.judged.first.p), rel=1e-4)
    recall = replace(claim, metric="own_R@10", printed=None)
    assert not claims.evidence(recall, run).proportional


def test_the_table_says_which_of_several_fails():
    rows = [*system("a", [level + 0.2 for level in HARD]), *system("b", HARD), *system("base", [0.7] * 8)]
    first = Comparison("C0", "a is more than all", "Div2", "sample", "set", "a", "b", +1)
    judged = claims.run_claims([first, replace(first, right="base")], of(rows, "a", "b", "base"))
    lines = claims.claims_table(judged)
    assert lines[2].endswith("| all: cannot tell (against base); this: holds |")
    assert lines[3].startswith("|  |  | Div-2 of 5 samples | a ")


@pytest.mark.parametrize(("q", "named"), [(0.0497, True), (0.053, True), (0.03, False), (0.07, False), (None, False)])
def test_claims_whose_q_is_near_its_level_are_named(q: float | None, named: bool):
    rows = [*system("a", [level + 0.2 for level in HARD]), *system("b", HARD)]
    compared = Comparison("C0", "a is more", "Div2", "sample", "set", "a", "b", +1)
    (judged,) = claims.run_claims([compared], of(rows, "a", "b"))
    outcomes = [replace(outcome, q=q) for outcome in judged.judged.outcomes]
    lines = claims.claims_table([replace(judged, judged=replace(judged.judged, outcomes=outcomes))])
    assert ("of .05, of C0." in "\n".join(lines)) == named


def test_a_run_that_rose_is_named_with_what_its_curve_measures():
    run = SleRun(names=["sll", "xe"]).read()
    samples = Comparison("C1", "SLL beats XE", "CIDEr", "sample", "every", "sll", "xe", +1)
    of_beam = replace(samples, decoder="beam", captions="best")
    diverse = replace(samples, metric="Div2", captions="set")
    for claim, measure in ((samples, SAMPLED), (of_beam, QUALITY), (diverse, "other claims")):
        judged = claims.run_claims([claim], run)
        (line,) = (line for line in claims.claims_table(judged) if line.startswith(verdicts.DAGGER))
        assert line.endswith(f": `sll` +3.3 ({measure}).")
        (record,) = (side.gained["sll"] for side in judged[0].judged.first.evidence.sides if "sll" in side.runs)
        assert record.measure == (QUALITY if measure == "other claims" else measure)
    # Records of before do not say it.
    old = of_curve(judged[0], metric="CIDEr", measure="")
    (line,) = (line for line in claims.claims_table([old]) if line.startswith(verdicts.DAGGER))
    assert line.endswith(f"({QUALITY}).")


def of_curve(judged_claim: JudgedClaim, metric: str, measure: str) -> JudgedClaim:
    """The same of another metric, with curves of a measure."""
    (found,) = judged_claim.judged.outcomes
    sides = [
        side.model_copy(
            update={"gained": {run: gain.model_copy(update={"measure": measure}) for run, gain in side.gained.items()}}
        )
        for side in found.evidence.sides
    ]
    (again,) = judging.judge([found.evidence.model_copy(update={"metric": metric, "sides": tuple(sides)})])
    return replace(judged_claim, judged=again)


def test_a_reason_that_claims_share_stands_once():
    run = SleRun(names=["sll", "xe"]).read()
    first = Comparison("C1", "SLL beats XE", "CIDEr", "sample", "every", "sll", "xe", +1, untestable="both are new")
    found = claims.run_claims([first, replace(first, id="C2"), replace(first, id="C3", untestable="")], run)
    assert claims.claims_table(found)[-1] == "- C1, C2: both are new."


def test_how_many_seeds_a_difference_takes_is_said_where_the_next_run_is_planned():
    (judgement,) = judging.judge([evidence(difference=1, scatter=2, printed=(54, 50))])
    judged = [JudgedClaim(Comparison("C0", "a beats b", "CIDEr", "beam", "best", "a", "b", +1), judgement)]
    takes = "takes 5 seeds to be found four times in five"
    assert takes in "\n".join(claims.claims_table(judged))
    assert takes not in "\n".join(claims.claims_table(judged, planned=False))
