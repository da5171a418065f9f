"""Verdicts by plain evidence, in every branch and in their order; no run is needed."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from invented_evidence import evidence, side

from seqcap.report.evidence import Changed, Evidence, Gain, Registered, Side
from seqcap.report.judging import claim_p, judge, measure, pilot_of, without
from seqcap.report.outcome import COLUMNS, Judgement
from seqcap.report.verdicts import (
    AS_PRINTED,
    FEW_SEEDS,
    HOLDS,
    LARGER,
    LESS,
    NOT_RUN,
    REVERSED,
    SMALLER,
    UNDECIDABLE,
    UNSURE,
    UNTESTABLE,
    explanation,
    in_words,
    read,
)


def rising(of: Evidence, which: int, points: float = 12.0, level: float = 100.0, of_start: bool = False) -> Evidence:
    """The same where the run of a side had not converged."""
    gain = Gain(points=points, level=level, of_start=of_start)
    sides = [
        one.model_copy(update={"gained": {one.runs[0]: gain}}) if which == n else one for n, one in enumerate(of.sides)
    ]
    return of.model_copy(update={"sides": tuple(sides)})


def alone(**changes: Any) -> Judgement:
    (judged,) = judge([evidence(**changes)])
    return judged


# --- One comparison


def test_q_that_is_below_its_bound_is_not_printed_as_the_bound():
    outcome = alone().first
    shown = {q: replace(outcome, q=q).shown_q for q in (None, 0.0004, 0.049, 0.0498, 0.0501, 0.05)}
    assert [*shown.values()] == ["", "<.001", "0.049", "0.0498", "0.050", "0.050"]


@pytest.mark.parametrize(
    ("changes", "verdict", "size"),
    [
        ({}, HOLDS, ""),
        ({"printed": (60, 50)}, HOLDS, AS_PRINTED),
        ({"printed": (62, 50)}, HOLDS, SMALLER),
        ({"printed": (55, 50)}, HOLDS, LARGER),
        # The paper's recall is among other images.
        ({"printed": (55, 50), "metric": "fixed_R@10"}, HOLDS, ""),
        # In proportion to the right side's level, which is twice the paper's.
        ({"printed": (55, 50), "proportional": True}, HOLDS, AS_PRINTED),
        ({"difference": -10}, REVERSED, ""),
        ({"difference": -10, "sign": -1, "printed": (40, 50)}, HOLDS, AS_PRINTED),
        ({"difference": 10, "sign": -1}, REVERSED, ""),
        # The interval is about 2.5 to either side.
        ({"difference": 1, "scatter": 1, "printed": (60, 50)}, LESS, ""),
        ({"difference": -1, "scatter": 1, "sign": -1, "printed": (40, 50)}, LESS, ""),
        ({"difference": 1, "scatter": 1, "printed": (60, 50), "metric": "fixed_R@10"}, UNSURE, ""),
        ({"difference": 1, "scatter": 1, "printed": (52, 50)}, UNSURE, ""),
        ({"difference": 1, "scatter": 1}, UNSURE, ""),
        # p is .062.
        ({"difference": 2.2, "scatter": 1}, UNSURE, ""),
        # A difference that the paper prints the other way round is none to compare with.
        ({"difference": 1, "scatter": 1, "printed": (40, 50)}, UNSURE, ""),
        ({"seeds": 2, "printed": (60, 50)}, FEW_SEEDS, ""),
        ({"seeds": 1}, FEW_SEEDS, ""),
        ({"untestable": "a listener is dead", "seeds": 2}, UNTESTABLE, ""),
        ({"covariance": ()}, UNTESTABLE, ""),
        ({"sides": (), "covariance": (), "absent": True}, NOT_RUN, ""),
    ],
)
def test_a_verdict(changes, verdict, size):
    judged = alone(**changes)
    assert (judged.verdict, judged.size) == (verdict, size)
    assert judged.judgement.startswith(read(verdict))


def test_no_rounding_hides_why_a_printed_difference_is_excluded():
    """Of an interval that ends at 1 +- 2.484 and a printed 3.49."""
    of = evidence(difference=1, scatter=1, printed=(53.49, 50), printed_decimals=2, decimals=1)
    (judged,) = judge([of])
    assert judged.verdict == LESS
    assert judged.judgement == "no effect found, the printed one excluded (+3.49 at our level)"
    assert judged.first.span == "+1.00 [-1.48, +3.48]"
    (far,) = judge([of.model_copy(update={"printed": (54.0, 50.0)})])
    assert far.first.span == "+1.0 [-1.5, +3.5]"


def test_what_needs_more_seeds_is_said_before_the_run():
    registered = Registered(day="2026-12-01", seeds=5, finds=2.0, needs=12)
    judged = alone(difference=1, scatter=1, registered=registered)
    assert judged.verdict == UNDECIDABLE
    assert judged.judgement == "cannot be decided at this scale (needs 12 seeds)"
    assert alone(registered=registered, seeds=2).verdict == FEW_SEEDS


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, HOLDS),
        ({"difference": -10}, REVERSED),
        ({"difference": 1, "scatter": 1, "printed": (60, 50)}, LESS),
    ],
)
def test_what_was_found_stands_although_it_was_not_expected_to_be(changes, verdict):
    """Needs say what may be missed. They hide nothing that was found."""
    registered = Registered(day="2026-12-01", seeds=5, finds=2.0, needs=12)
    assert alone(registered=registered, **changes).verdict == verdict


def test_what_is_registered_is_not_of_its_own_pilot():
    """The results that it was computed from are judged as they were, the next ones by what was said before them."""
    pilot = evidence(difference=1, scatter=1)
    registered = Registered(day="2026-12-01", seeds=5, finds=2.0, needs=12, pilot=pilot_of(pilot))
    (judged,) = judge([pilot.model_copy(update={"registered": registered})])
    assert judged.verdict == UNSURE
    assert alone(difference=1.1, scatter=1, registered=registered).verdict == UNDECIDABLE
    without = registered.model_copy(update={"needs": 0})
    words = "cannot be decided at this scale (needs more test items, whatever the seeds)"
    assert alone(difference=1.1, scatter=1, registered=without).judgement == words


def test_a_run_is_not_compared_with_itself():
    """Two runs that keep the weights of their common start differ by 0, with no spread: that is no finding."""
    seeds = {1: 100.0, 2: 102.0, 3: 98.0}
    rng = np.random.default_rng(0)
    of_left = np.cov(rng.normal(size=(3, 50)))
    whole = np.block([[of_left, of_left], [of_left, of_left]])
    rows = tuple(tuple(row[: place + 1]) for place, row in enumerate(whole.tolist()))
    changes = {"sides": (side("A", seeds), side("B", seeds)), "covariance": rows, "printed": (110, 100)}
    judged = alone(**changes)
    assert (judged.verdict, judged.first.low, judged.first.q) == (UNTESTABLE, None, None)
    assert judged.first.reason.startswith("equal scores on both sides")
    assert judged.first.span == "+0.00"
    # Equal values of other captions have a spread.
    whole = np.kron(np.eye(2), of_left)
    rows = tuple(tuple(row[: place + 1]) for place, row in enumerate(whole.tolist()))
    assert alone(**changes | {"covariance": rows}).verdict != UNTESTABLE


def test_the_difference_that_could_have_been_found():
    judged = alone(difference=1, scatter=1)
    reach = judged.first.high - judged.first.difference
    assert reach == pytest.approx(4.303 / 3**0.5, rel=1e-3)
    assert judged.first.detectable == pytest.approx((4.303 + 1.061) / 3**0.5, rel=1e-3)
    assert judged.judgement == f"cannot tell (could have found {judged.first.detectable:.2f})"


def test_what_would_be_found_alone_says_what_it_lacks():
    """Among many claims about nothing, p below .05 does not suffice; what was found is more than `detectable`."""
    nothing = [evidence(claim=f"N{number}", difference=0.01, scatter=5) for number in range(9)]
    found = evidence(difference=8, scatter=1.5)
    opposite = found.model_copy(update={"sign": -1})
    for of, way in ((found, ""), (opposite, " against it")):
        first, *_ = judge([of, *nothing])
        assert first.verdict == UNSURE
        assert abs(first.first.difference) > first.first.detectable
        alone = f"alone p {first.first.p:.3f}{way}, but q {first.first.q:.3f}"
        assert first.judgement == f"cannot tell ({alone})"
        # Nor is it hidden where more seeds were wanted.
        registered = Registered(day="2026-12-01", seeds=3, finds=2.0, needs=12)
        first, *_ = judge([of.model_copy(update={"registered": registered}), *nothing])
        assert first.judgement == f"cannot be decided at this scale (needs 12 seeds; {alone})"


def test_a_difference_that_is_told_from_none_alone_excludes_nothing():
    """Its interval is above 0 and below the printed 30, but among many claims about nothing it is not found."""
    nothing = [evidence(claim=f"N{number}", difference=0.01, scatter=5) for number in range(9)]
    first, *_ = judge([evidence(difference=8, scatter=1.5, printed=(80, 50)), *nothing])
    assert 0 < first.first.low < first.first.high < 30
    assert first.verdict == UNSURE


def test_the_seeds_that_the_papers_difference_takes():
    """By Student's t, of a scatter of 2: 4 is found by five, since (3.18 + .98) 2 / 2 > 4 > (2.78 + .94) 2 / 2.24."""
    judged = alone(difference=1, scatter=2, printed=(54, 50))
    assert (judged.verdict, judged.first.seeds_needed) == (UNSURE, 5)
    assert alone(difference=1, scatter=2, printed=(50.1, 50)).first.seeds_needed is None
    assert alone(difference=1, scatter=2).first.seeds_needed is None


@pytest.mark.parametrize(
    ("difference", "scatter", "verdict"),
    [(0, 0.1, HOLDS), (-2, 0.1, HOLDS), (-3, 0.1, UNSURE), (-4, 0.1, REVERSED), (-2, 2, UNSURE)],
)
def test_no_worse_is_against_a_margin(difference, scatter, verdict):
    """Of 3% of a right side of 100; p is that of a difference of the margin's size."""
    judged = alone(difference=difference, scatter=scatter, rule="no worse", printed=(110, 50))
    assert (judged.verdict, judged.size) == (verdict, "")
    beyond = judged.first.low > -3 or judged.first.high < -3
    assert (judged.first.p < 0.05) == beyond == (verdict != UNSURE)


def test_sides_may_have_other_seeds():
    five = evidence(seeds=5)
    right = five.sides[1].only((1, 2, 3))
    rng = np.random.default_rng(0)
    whole = np.cov(rng.normal(size=(8, 50)))
    rows = tuple(tuple(row[: place + 1]) for place, row in enumerate(whole.tolist()))
    uneven = five.model_copy(update={"sides": (five.sides[0], right), "covariance": rows})
    # Seeds that share a start are compared, and no others; the record has all.
    (judged,) = judge([uneven])
    assert (judged.verdict, judged.first.seeds) == (HOLDS, "3")
    assert judged.first.difference == pytest.approx(10 - 0.1)
    assert judged.first.given == uneven
    kept = [0, 1, 2, 5, 6, 7]
    equal = tuple(tuple(whole[row, kept[: place + 1]].tolist()) for place, row in enumerate(kept))
    sides = (five.sides[0].only((1, 2, 3)), right)
    (alike,) = judge([five.model_copy(update={"sides": sides, "covariance": equal})])
    assert (alike.first.low, alike.first.p) == pytest.approx((judged.first.low, judged.first.p))
    # As in Welch's test, all.
    (apart,) = judge([uneven.model_copy(update={"paired": False})])
    assert (apart.first.difference, apart.first.seeds) == (pytest.approx(10), "5 and 3")
    people = Side(label="people", value=100.0)
    (judged,) = judge([five.model_copy(update={"sides": (five.sides[0], people), "covariance": rows[:6]})])
    assert (judged.verdict, judged.first.seeds) == (HOLDS, "5")


def test_a_comparison_without_some_seeds():
    """Equal seeds are paired, so that both sides lose them; without two seeds a side there is nothing to compare."""
    whole = evidence(seeds=4)
    left = without(whole, {whole.sides[0].runs[0]: {2}})
    assert left is not None
    assert [one.seeds for one in left.evidence.sides] == [(1, 3, 4), (1, 3, 4)]
    apart = [np.mean([one.by_seed[seed] for seed in (1, 3, 4)]) for one in whole.sides]
    assert left.difference == pytest.approx(apart[0] - apart[1])
    assert left.low is not None
    assert left.p is None
    each = without(whole, {whole.sides[0].runs[0]: {2}, whole.sides[1].runs[0]: {4}})
    assert each is not None
    assert [one.seeds for one in each.evidence.sides] == [(1, 3), (1, 3)]
    assert without(whole, {"another": {2}}) is None
    assert without(whole, {whole.sides[0].runs[0]: {1, 2, 3}}) is None


def test_a_step_beyond_a_step():
    """(left - base) - (base - right)."""
    of = evidence(difference=10)
    sides = (*of.sides, side("Base", dict.fromkeys((1, 2, 3), 102.0)))
    covariance = tuple((0.0,) * (row + 1) for row in range(9))
    (judged,) = judge([of.model_copy(update={"base": "c", "sides": sides, "covariance": covariance})])
    assert (judged.first.left, judged.first.right, judged.first.difference) == pytest.approx((8, 2, 6))
    assert judged.verdict == HOLDS


# --- Convergence


@pytest.mark.parametrize(
    ("changes", "lags"),
    [
        ({"difference": -10}, 0),
        ({"difference": 10, "sign": -1}, 1),
        # Of what should be low, the side that is claimed to be lower.
        ({"difference": 10, "sign": -1, "better": -1}, 0),
        ({"difference": 1, "scatter": 1, "printed": (60, 50)}, 0),
    ],
)
def test_the_side_that_lags_may_have_been_rising(changes, lags):
    of = evidence(**changes)
    (judged,) = judge([of])
    assert judged.verdict in (REVERSED, LESS)
    (excused,) = judge([rising(of, lags)])
    assert (excused.verdict, excused.judgement[-1]) == (UNSURE, "†")
    assert "the side behind, was still rising" in excused.first.reason
    assert excused.judgement == f"cannot tell ({excused.first.reason}) †"
    (other,) = judge([rising(of, 1 - lags)])
    assert other.judgement == f"{judged.judgement} †"
    assert other.not_converged == (of.sides[1 - lags].runs[0],)


@pytest.mark.parametrize(
    ("gain", "marked", "excuses"),
    [
        # The difference is -10, of 90 against 100, and the other side gained .2.
        ({"points": 11.5}, True, True),
        ({"points": 11.2}, True, False),
        ({"points": 1.3}, True, False),
        ({"points": 0.9, "level": 5.0}, False, False),
        # As large a share of a curve at half the level.
        ({"points": 5.75, "level": 50.0}, True, True),
    ],
)
def test_a_rise_excuses_what_it_could_undo(gain, marked, excuses):
    (judged,) = judge([rising(evidence(difference=-10), 0, **gain)])
    assert judged.verdict == (UNSURE if excuses else REVERSED)
    assert judged.judgement.endswith("†") == marked


def test_both_sides_that_rise_alike_excuse_nothing():
    (judged,) = judge([rising(rising(evidence(difference=-10), 0), 1)])
    assert judged.judgement == "reversed †"


@pytest.mark.parametrize(("points", "verdict"), [(6.5, LESS), (7.0, UNSURE)])
def test_a_rise_to_the_printed_difference_excuses_that_none_was_found(points, verdict):
    """Of an interval that ends at 3.5 and a printed 10, with .2 of the other side."""
    of = rising(evidence(difference=1, scatter=1, printed=(60, 50)), 0, points)
    assert judge([of])[0].verdict == verdict


def test_a_record_of_before_has_points_alone():
    record = side("A", {1: 1.0}).model_dump(mode="json") | {"gained": {"a": 1.5}}
    assert Side.model_validate(record).gained == {"a": Gain(points=1.5)}


def test_only_what_a_claim_measures_excuses_it():
    """No val curve is of diversity: that CIDEr rose says nothing of it."""
    (judged,) = judge([rising(evidence(difference=-10, metric="Div2", decoder="sample"), 0)])
    assert judged.judgement == "reversed †"


def test_what_holds_has_its_dagger_too():
    (judged,) = judge([rising(evidence(), 0)])
    assert judged.judgement == "holds †"


@pytest.mark.parametrize(("points", "verdict"), [(9.0, HOLDS), (11.0, UNSURE)])
def test_what_holds_is_left_open_by_a_rise_that_closes_it(points: float, verdict: str):
    """Of 110 against 100, where the side ahead gained .2."""
    of = rising(evidence(difference=10, printed=(60, 50)), 1, points)
    (judged,) = judge([of])
    assert (judged.verdict, judged.judgement[-1]) == (verdict, "†")
    assert bool(judged.size) == (verdict == HOLDS)
    if verdict == UNSURE:
        assert judged.judgement.startswith(f"cannot tell ({of.sides[1].label}, the side behind, was still rising")


def test_a_start_that_was_still_rising_takes_nothing_from_what_starts_there():
    """Both would rise; so a start is neither what catches up nor what a rise is measured against."""
    (behind,) = judge([rising(evidence(difference=10), 1, of_start=True)])
    assert behind.judgement == "holds †"
    (ahead,) = judge([rising(rising(evidence(difference=-10), 0), 1, of_start=True)])
    assert ahead.verdict == UNSURE


# --- Several comparisons


def several(*differences: float) -> Sequence[Evidence]:
    found = []
    for difference, right in zip(differences, "bcdefg", strict=False):
        of = evidence(difference)
        other = side(right.upper(), dict.fromkeys((1, 2, 3), 100.0))
        found.append(of.model_copy(update={"right": right, "sides": (of.sides[0], other)}))
    return found


def test_several_hold_if_each_does():
    (judged,) = judge(several(10, 8))
    assert judged.verdict == HOLDS
    # The least sure one decides.
    assert judged.deciding.evidence.right == "c"
    assert claim_p(judged.outcomes) == max(outcome.p for outcome in judged.primary)


def test_several_say_which_fails():
    (judged,) = judge(several(10, 0.01))
    assert judged.verdict == UNSURE
    assert judged.judgement == "cannot tell (against C)"
    assert [outcome.verdict for outcome in judged.primary] == [HOLDS, UNSURE]
    (judged,) = judge(several(10, 8, -10))
    assert (judged.verdict, judged.judgement) == (REVERSED, "reversed in part (against D; 2 of 3 hold)")
    assert judged.deciding.difference == pytest.approx(-10)
    metrics = ("CIDEr", "METEOR", "SPICE", "BLEU4")
    apart = [evidence(metric=metric, difference=-10 if metric == "METEOR" else 10) for metric in metrics]
    assert judge(apart)[0].judgement == "reversed in part (METEOR; beam; 3 of 4 hold)"
    apart = [evidence(metric=metric, difference=10 if metric == "METEOR" else 0.01) for metric in metrics]
    assert judge(apart)[0].judgement == "cannot tell (all but METEOR; beam; 1 of 4 holds)"


def test_several_that_are_left_open_say_what_was_found_against_them():
    """Whether more seeds were wanted or not, and whatever the others are called."""
    nothing = [evidence(claim=f"N{number}", difference=0.01, scatter=5) for number in range(9)]
    against, open_ = evidence(difference=-8, scatter=1.5, metric="METEOR"), evidence(difference=0.5, scatter=5)
    registered = Registered(day="2026-12-01", seeds=3, finds=2.0, needs=12)
    for needs in (None, registered):
        of = [one.model_copy(update={"registered": needs}) for one in (open_, against)]
        first, *_ = judge([*of, *nothing])
        assert first.deciding.metric == "METEOR"
        alone = f"1 of 2 against it if taken alone, the surest p {first.deciding.p:.3f}, but q {first.deciding.q:.3f}"
        lacks = "needs 12 seeds; " if needs else ""
        assert first.judgement.endswith(f"({lacks}{alone})")
    # A claim with several metrics says of which one something could have been found.
    first, *_ = judge([open_, open_.model_copy(update={"metric": "METEOR"}), *nothing])
    assert first.judgement == f"cannot tell (could have found {first.deciding.detectable:.2f} {first.deciding.metric})"


def test_the_least_of_several_is_how_much_they_hold():
    one, other = several(10, 8)
    (judged,) = judge(
        [one.model_copy(update={"printed": (60.0, 50.0)}), other.model_copy(update={"printed": (60.0, 50.0)})]
    )
    assert judged.judgement == "holds (smaller: against C)"


def test_one_of_several_that_is_not_run_or_tested_leaves_the_claim_so():
    one, other = several(10, 8)
    absent = other.model_copy(update={"sides": (), "covariance": (), "absent": True})
    assert [of.verdict for of in judge([one, absent])] == [NOT_RUN]
    few = evidence(seeds=2)
    assert [of.verdict for of in judge([one, few])] == [FEW_SEEDS]
    assert [of.verdict for of in judge([several(-10)[0], few])] == [REVERSED]


def test_the_p_of_a_claim_is_no_smaller_than_chance():
    """Of five comparisons of nothing, below .05 in one claim of twenty at most."""
    rng = np.random.default_rng(0)
    p = []
    for _ in range(100):
        left, right = rng.normal(100, 1, (2, 3)), rng.normal(100, 1, (5, 3))
        sides = [side("A", dict(enumerate(left[0], 1)))], [side("B", dict(enumerate(of, 1))) for of in right]
        of = [evidence(right=str(n), sides=(sides[0][0], one)) for n, one in enumerate(sides[1])]
        p.append(claim_p([measure(one) for one in of]))
    assert np.mean(np.array(p) < 0.05) <= 0.07


# --- A paper's claims


def test_q_is_over_a_papers_claims_and_not_over_details():
    weak = evidence(difference=2.5, scatter=1, claim="C1")
    nothing = [evidence(difference=0.1, scatter=1, claim=f"C{n}") for n in range(2, 6)]
    p = measure(weak).p
    assert 0.01 < p < 0.05
    assert judge([weak])[0].verdict == HOLDS
    first, *_ = judge([weak, *nothing])
    assert (first.verdict, first.first.q) == (UNSURE, pytest.approx(5 * p))
    # Those of another paper, details and what is not tested do not count.
    others = [of.model_copy(update={"paper": "psst"}) for of in nothing]
    details = [weak.model_copy(update={"level": "detail"})]
    untested = [of.model_copy(update={"untestable": "why"}) for of in nothing]
    assert judge([weak, *details, *untested, *others])[0].first.q == p


def test_a_detail_has_an_interval_alone():
    (judged,) = judge([evidence(), evidence(level="detail", metric="BLEU4")])
    detail = judged.outcomes[1]
    assert (detail.p, detail.q, detail.detectable, detail.verdict) == (None, None, None, "")
    assert detail.low < 10 < detail.high


# --- Evidence as data


def test_evidence_survives_a_file():
    """With eleven seeds: files sort them as texts."""
    changes = {"covariance": tuple(tuple(0.1 * (row == column) for column in range(row + 1)) for row in range(22))}
    changed = Changed(day="2026-11-25", before="against b alone")
    of = rising(evidence(seeds=11, printed=(60.0, 50.0), changed=changed, **changes), 0)
    record = json.loads(json.dumps(of.model_dump(mode="json"), sort_keys=True))
    again = Evidence.model_validate(record)
    assert again == of
    record = json.loads(json.dumps(again.model_dump(mode="json"), sort_keys=True))
    assert judge([Evidence.model_validate(record)])[0] == judge([of])[0]


def test_a_line_of_the_table_of_claims():
    judged = alone(printed=(60, 50), items=1234, remarks=("as it is",))
    line = judged.first.line()
    assert list(line) == COLUMNS
    known = {"paper": "sle", "claim": "C1", "level": "primary", "difference": "10.00", "verdict": "holds"}
    known |= {"size": "as printed", "seeds": "3", "items": "1234", "printed": "10", "reason": "as it is", "sign": "+1"}
    assert known.items() <= line.items()
    assert float(line["low"]) < 10 < float(line["high"])
    assert float(line["p"]) == pytest.approx(judged.first.p, rel=1e-3)
    gone = alone(sides=(), covariance=(), absent=True).first.line()
    assert (gone["difference"], gone["p"], gone["seeds"], gone["verdict"]) == ("", "", "", NOT_RUN)


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (REVERSED, "own"),
        (LESS, "any"),
        (UNSURE, "any"),
        (UNDECIDABLE, "any"),
        (HOLDS, ""),
        (FEW_SEEDS, ""),
        (UNTESTABLE, ""),
    ],
)
def test_an_explanation_is_given_whatever_a_failure_is_called(verdict, said):
    assert explanation({"reversed": "own", "does not hold": "any"}, verdict) == said


def test_counts_in_words():
    assert in_words({HOLDS: 1, NOT_RUN: 2}) == "of 3 claims, 1 holds, 2 were not run"
    assert (
        in_words({LESS: 1}, "control of ours", "controls of ours") == "of 1 control of ours, 1 is not found as printed"
    )
    assert in_words({REVERSED: 2}, "control of ours", "controls of ours") == "of 2 controls of ours, 2 are reversed"
    assert in_words({}) == "of 0 claims, none has a verdict"
