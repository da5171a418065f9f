"""Curves: where they are read, how sure that is, and where they are compared."""

import numpy as np
import pytest
from invented_runs import Rows, SleRun, scores_of

from seqcap import papers
from seqcap.report.inputs import Results
from seqcap.report.statistics import Contrast, Missing, Number, difference
from seqcap.report.tables import Measure, shown
from seqcap.report.tradeoff import (
    Curve,
    FixedNumber,
    OperatingPoint,
    Reading,
    choose,
    interpolate,
    meeting,
    mixture,
    nearest,
)

X, Y = Measure("greedy", "CIDEr"), Measure("greedy", "own_R@10")
OWN = "own"  # the run whose value a point may be
CURVE = Curve("A", ("a1", "a2", "a3"), (1.0, 2.0, 3.0))


def at(value: float) -> OperatingPoint:
    return OperatingPoint(X, value, value, 1)


def scores(name: str, x: float, y: float, seeds: tuple[int, ...] = (1, 2, 3), noise: float = 0.0) -> Rows:
    """A run with these means over 20 items; seed s has s - 2 times .01 more of y."""
    wave = noise * np.sin(np.arange(20))
    keys = {"run": name, "decoder": "greedy", "rank": 0}
    rows = []
    for seed in seeds:
        for item in range(20):
            of_item = keys | {"seed": seed, "item": item}
            rows.append(of_item | {"metric": "CIDEr", "value": x + float(wave[item])})
            rows.append(of_item | {"metric": "own_R@10", "value": y + 0.01 * (seed - 2) + float(wave[item])})
            rows.append(of_item | {"metric": "own_rank", "value": 10 * (1 - y)})
    return rows


def run_of(*rows: Rows) -> Results:
    made = [row for some in rows for row in some]
    return Results(SleRun(names=["a1"]).config(), papers.load("sle"), scores_of(made))


def three(noise: float = 0.0, **seeds: tuple[int, ...]) -> Results:
    points = {"a1": (1.2, 0.2), "a2": (1.0, 0.4), "a3": (0.8, 0.7)}
    return run_of(*(scores(name, x, y, seeds.get(name, (1, 2, 3)), noise) for name, (x, y) in points.items()))


def number(results: Results, point: OperatingPoint | None, curve: Curve = CURVE, measure: Measure = Y) -> Number:
    found = Reading(curve, measure, point).number(results)
    assert isinstance(found, Number), found
    return found


def reason(results: Results, point: OperatingPoint | None, curve: Curve = CURVE) -> str:
    found = Reading(curve, Y, point).number(results)
    assert isinstance(found, Missing), found
    return found.reason


# --- Interpolation


@pytest.mark.parametrize(
    ("where", "value", "places"),
    [
        (1.1, 15.0, [0.5]),
        (1.2, 10.0, [0.0]),
        (0.8, 50.0, [2.0]),
        # A point of its own is one place, not the end of one way and the start of the next.
        (1.0, 20.0, [1.0]),
        (0.95, 27.5, [1.25]),
    ],
)
def test_between_neighbours_a_curve_is_straight(where: float, value: float, places: list[float]):
    found, where_found = interpolate(np.array([1.2, 1.0, 0.8]), np.array([10.0, 20.0, 50.0]), where)
    assert found == pytest.approx(value)
    assert where_found.tolist() == pytest.approx(places)


@pytest.mark.parametrize("where", [0.79, 1.21])
def test_beyond_the_outermost_points_is_nothing(where: float):
    found, places = interpolate(np.array([1.2, 1.0, 0.8]), np.array([10.0, 20.0, 50.0]), where)
    assert np.isnan(found)
    assert len(places) == 0


@pytest.mark.parametrize(("y", "last"), [((10.0, 20.0, 50.0), 35.0), ((50.0, 20.0, 10.0), 15.0)])
def test_of_several_crossings_the_last_one_counts(y: tuple[float, ...], last: float):
    found, places = interpolate(np.array([1.2, 0.8, 1.2]), np.array(y), 1.0)
    assert (found, places.tolist()) == (last, [0.5, 1.5])


# --- Readings


def test_a_reading_has_value_seeds_and_interval():
    found = number(three(), at(0.9))
    assert found.value == pytest.approx(0.55)
    assert found.by_seed == pytest.approx({1: 0.54, 2: 0.55, 3: 0.56})
    # Items are all alike: what varies is the seeds, .01 apart, the same at all points.
    assert Contrast((found,), (1.0,)).interval() == pytest.approx(
        (0.55 - 0.01 * 4.303 / 3**0.5, 0.55 + 0.01 * 4.303 / 3**0.5), rel=1e-3
    )
    assert (found.items, found.remarks) == (20, ())


def test_every_resample_is_read_on_its_own():
    """x and y go up and down together, so that the curve moves along itself but for its slope."""
    run = three(noise=0.05)
    found = number(run, at(0.95))
    x, y = (
        np.stack([run.scores.sample(name, "greedy", metric, "best").resampled for name in CURVE.runs], axis=2)
        for metric in ("CIDEr", "own_R@10")
    )
    for draw in (0, 1, 7, 999):
        for seed in range(3):
            assert found.resampled[draw, seed] == pytest.approx(interpolate(x[draw, seed], y[draw, seed], 0.95)[0])


def test_a_point_that_is_a_runs_value_is_that_runs_on_resampled_items():
    """All runs have the same hard items, so that a curve goes up and down on other items."""
    run = three(noise=0.05)
    middle, own = (run.scores.sample("a2", "greedy", metric, "best") for metric in ("CIDEr", "own_R@10"))
    there = OperatingPoint(X, float(middle.by_seed.mean()), 9, 1, of_run="a2")
    np.testing.assert_allclose(number(run, there).resampled, own.resampled, atol=1e-6)
    # Near its end a curve does not reach a fixed point on every second resample.
    end = float(run.scores.sample("a1", "greedy", "CIDEr", "best").by_seed.mean()) - 1e-6
    fixed = number(run, at(end))
    assert "of the resamples of test items" in fixed.untestable + "".join(fixed.remarks)
    moving = number(run, OperatingPoint(X, end, 9, 1, of_run="a1"))
    assert (moving.untestable, moving.remarks) == ("", ())


def test_the_place_where_curves_are_compared_knows_whose_it_is():
    run, (main, *others) = pair(m=(0.0, 2.0), a=(0.5, 1.5))
    assert choose(run, main, others, X, 9, 1, of_run="m0").of_run == ""
    run, (main, *others) = pair(own=0.7, m=(0.0, 2.0), a=(0.5, 1.5))
    assert choose(run, main, others, X, 9, 1, of_run=OWN).of_run == OWN
    assert choose(run, main, others, X, 1.25, 1, of_run=OWN).of_run == ""
    assert choose(run, main, others, X, 9, 1).of_run == ""


def test_a_seed_that_does_not_get_there_leaves_no_test():
    """The number is that of the seeds that do, and has no interval."""
    moved = {1: 0.0, 2: 0.0, 3: -0.15}
    rows = [
        row | {"value": row["value"] + (moved[row["seed"]] if row["metric"] == "CIDEr" else 0)}
        for row in [*scores("a1", 1.2, 0.2), *scores("a2", 0.8, 0.4)]
    ]
    run = run_of(rows)
    curve = Curve("A", ("a1", "a2"), (1.0, 2.0))
    found = number(run, at(1.1), curve)
    assert found.untestable == "A does not reach CIDEr 1.100 with seed 3"
    assert set(found.by_seed) == {1, 2}
    assert found.value == pytest.approx(sum(found.by_seed.values()) / 2)
    ours = shown(found, "images")
    assert (ours.value, ours.low, ours.remarks) == (pytest.approx(found.value), None, (found.untestable,))


def test_what_is_not_reached_says_how_far_the_curve_goes():
    assert reason(three(), at(0.7)) == "A does not reach CIDEr 0.700: it goes from 0.800 to 1.200"


def test_resamples_that_do_not_get_there_are_told_or_too_many():
    near = number(three(noise=0.1), at(0.81))
    share = float(np.isnan(near.resampled).any(axis=1).mean())
    assert 0.05 < share < 0.5
    assert near.remarks == (f"A does not reach CIDEr 0.810 in {share:.0%} of the resamples of test items",)
    short = run_of(scores("a1", 1.0, 0.2, noise=0.1), scores("a2", 1.002, 0.4, noise=0.1))
    inside = at(1.001 + 0.1 * float(np.sin(np.arange(20)).mean()))
    few = number(short, inside, Curve("A", ("a1", "a2"), (1.0, 2.0)))
    assert few.untestable.endswith("in most of the resamples of test items")
    assert number(three(noise=0.1), at(0.95)).remarks == ()


def test_several_crossings_are_told():
    """All columns of a row are of the same runs: those beside the last."""
    run = run_of(scores("a1", 1.2, 0.7, seeds=(1,)), scores("a2", 0.8, 0.4), scores("a3", 1.2, 0.2))
    found = number(run, at(1.0))
    assert found.value == pytest.approx(0.3)
    assert list(found.by_seed) == [1, 2, 3]
    assert found.remarks == ("A passes CIDEr 1.000 2 times: it is read at the last",)
    assert mixture(run, CURVE, at(1.0)) == pytest.approx({"a2": 0.5, "a3": 0.5})
    # It is read before where it does not get there again.
    assert number(run_of(scores("a1", 1.2, 0.7), scores("a2", 0.8, 0.4), scores("a3", 0.9, 0.2)), at(1.0)).value > 0.5


def test_seeds_are_those_of_the_runs_beside_the_point():
    run = three(a1=(1,))
    assert list(number(run, at(0.9)).by_seed) == [1, 2, 3]
    assert list(number(run, at(1.1)).by_seed) == [1]
    assert number(run, at(1.1)).value == pytest.approx((0.19 + 0.39) / 2)
    assert reason(three(a1=(1,), a2=(2, 3)), at(1.1)).endswith("have no training seed in common")


def test_a_single_run_stands_where_it_is():
    found = number(run_of(scores("a1", 0.9, 0.3)), at(1.2), Curve("MLE", ("a1",), (None,)))
    assert found.value == pytest.approx(0.3)
    assert found.remarks == ("MLE is a single run, at its own CIDEr 0.900",)
    assert number(run_of(scores("a1", 0.9, 0.3)), None, Curve("MLE", ("a1",), (None,))).remarks == ()


def test_what_is_missing_is_told_apart():
    absent = Reading(Curve("B"), Y, at(1.0)).number(three())
    assert absent == Missing("B is not part of this run", absent=True)
    unscored = Reading(Curve("B", ("b1",), (1.0,)), Y, at(1.0)).number(three())
    assert unscored == Missing("no scores of run b1")
    assert reason(three(), None) == "no operating point: no value is reached"
    assert difference(absent, number(three(), at(1.0))) == absent
    assert difference(number(three(), at(1.0)), absent) == absent


def test_a_difference_has_the_seeds_of_both():
    left, right = number(three(a1=(1, 2)), at(1.1)), number(three(), at(0.9))
    for one, other in ((left, right), (right, left)):
        found = difference(one, other)
        assert found.seeds == (2, 2)
        both = [float(np.mean([side.by_seed[seed] for seed in (1, 2)])) for side in (one, other)]
        assert found.value == pytest.approx(both[0] - both[1])
    assert shown(difference(left, right), "images").n == "20 images x 2 seeds"


def test_people_have_no_training_seeds():
    people = [{"run": "human", "seed": 0, "item": i, "decoder": "sample", "rank": 0} for i in range(4)]
    run = run_of([row | {"metric": "own_R@10", "value": 0.5} for row in people])
    found = FixedNumber("human", Measure("sample", "own_R@10", "every")).number(run)
    assert (found.value, found.by_seed) == (0.5, {})
    assert shown(found, "images").n == "4 images"


def test_a_number_in_a_table():
    ours = shown(number(three(a1=(1,)), at(1.1)), "images", "a note")
    assert ours.n == "20 images x 1 seed"
    assert ours.remarks == ("a note", "one training seed: the interval is over test images alone")
    assert shown(number(three(), at(0.9)), "images").n == "20 images x 3 seeds"
    assert shown(Missing("why", absent=True), "images").absent


# --- Where curves are compared


def pair(own: float | None = None, **spans: tuple[float, float]) -> tuple[Results, list[Curve]]:
    """Curves from one CIDEr to another, and run OWN with a CIDEr of its own."""
    rows = [scores(f"{name}{n}", x, 0.5, seeds=(1, 2)) for name, span in spans.items() for n, x in enumerate(span)]
    run = run_of(*rows, *([] if own is None else [scores(OWN, own, 0.5, seeds=(1, 2))]))
    return run, [Curve(name, (f"{name}0", f"{name}1"), (1.0, 2.0)) for name in spans]


@pytest.mark.parametrize(
    ("spans", "printed", "scale", "own", "value"),
    [
        # The paper's point if the curves get there.
        ({"m": (0.0, 2.0), "a": (0.5, 1.5), "b": (1.4, 1.0)}, 1.25, 1, 0.7, 1.25),
        # Else the middle of what most cover: without its outer tenths, a goes from .6 to 1.4.
        ({"m": (0.0, 2.0), "a": (0.5, 1.5)}, 1.45, 1, None, 1.0),
        ({"m": (0.0, 2.0), "a": (0.5, 1.5)}, 120, 50, 0.7, 0.7),
        # What the main curve does not cover is no place.
        ({"m": (0.0, 1.0), "a": (2.0, 3.0), "b": (2.0, 3.0)}, 2.5, 1, None, 0.5),
    ],
)
def test_where_curves_are_compared(spans, printed: float, scale: float, own: float | None, value: float):
    run, (main, *others) = pair(own, **spans)
    point = choose(run, main, others, X, printed, scale, OWN)
    assert point.value == pytest.approx(value)
    assert point.is_printed == (value * scale == printed)


def test_a_point_that_fewer_than_half_reach_is_refused():
    spans = {"m": (0.0, 1.0), "a": (2.0, 3.0), "b": (2.0, 3.0), "c": (0.4, 0.6)}
    run, (main, *others) = pair(own=0.9, **spans)
    refused = choose(run, main, others, X, 9, 1, of_run=OWN)
    assert refused.refused == "CIDEr 0.900 is refused: 1 of 4 methods reach it"
    assert reason(run, refused, main) == refused.refused
    # A single run is read where it is.
    assert number(run, refused, Curve("One", ("m0",), (None,))).by_seed == pytest.approx({1: 0.49, 2: 0.5})
    run, (main, *others) = pair(own=0.5, **spans)
    assert choose(run, main, others, X, 9, 1, of_run=OWN).refused == ""


def test_each_seed_is_to_reach_the_point_where_half_of_the_curves_then_meet():
    """Seed 1 goes from 0 to 4, seed 2 from 3 to 6: without their outer tenths both have 3.3 to 3.6."""
    spans = {"m0": (0.0, 3.0), "m1": (4.0, 6.0)}
    rows = [scores(name, x, 0.5, seeds=(seed,)) for name, of in spans.items() for seed, x in enumerate(of, 1)]
    rows += [scores(name, x, 0.5, seeds=(1, 2)) for name, x in (("a0", 0.0), ("a1", 7.0), ("b0", 1.0), ("b1", 3.0))]
    run = run_of(*rows)
    main, wide, low = (Curve(name, (f"{name}0", f"{name}1"), (1.0, 2.0)) for name in "mab")
    assert choose(run, main, [wide], X, printed=9, scale=1).value == pytest.approx(3.45)
    # Three of four meet on average alone: the means of m go from 1.5 to 5, and b from 1.2 to 2.8.
    assert choose(run, main, [low, low, low], X, printed=9, scale=1).value == pytest.approx((1.85 + 2.8) / 2)


def test_without_the_main_curve_the_others_count():
    run, others = pair(a=(2.0, 3.0), b=(2.0, 3.0))
    assert choose(run, Curve("absent"), others, X, printed=2.5, scale=1).value == 2.5


def test_runs_with_several_seeds_are_preferred():
    spans = {"a0": (0.0, (1,)), "a1": (1.0, (1, 2)), "a2": (1.4, (1, 2)), "a3": (2.0, (1,))}
    run = run_of(*(scores(name, x, 0.5, seeds=seeds) for name, (x, seeds) in spans.items()))
    curve = Curve("A", tuple(spans), (1.0, 2.0, 3.0, 4.0))
    point = choose(run, curve, [], X, printed=9, scale=1)
    assert point.value == pytest.approx(1.2)


def test_ways_between_runs_of_one_seed_are_left_out_where_others_are():
    """Only from 2.2 to 2.6 have both ends two seeds; with the other ways the means would go from 0 to 5."""
    spans = {"a0": (0.0, (1,)), "a1": (2.0, (1,)), "a2": (2.2, (1, 2)), "a3": (2.6, (1, 2)), "a4": (5.0, (2,))}
    run = run_of(*(scores(name, x, 0.5, seeds=seeds) for name, (x, seeds) in spans.items()))
    curve = Curve("A", tuple(spans), (1.0, 2.0, 3.0, 4.0, 5.0))
    assert choose(run, curve, [], X, printed=9, scale=1).value == pytest.approx(2.4)


def test_single_runs_have_no_operating_point():
    run = run_of(scores("a1", 1.0, 0.5))
    assert choose(run, Curve("A", ("a1",), (None,)), [], X, printed=1, scale=1) is None


def test_the_nearest_run():
    run = three()
    assert nearest(run, CURVE, at(0.95)) == "a2"
    assert nearest(run, CURVE, at(0.2)) == "a3"
    assert nearest(run, CURVE, None) is None
    assert nearest(run, Curve("B"), at(1.0)) is None


def test_points_are_in_the_scale_that_is_printed():
    point = OperatingPoint(Y, 0.8, 80, 100)
    assert (point.words(), point.words(0.5)) == ("R@10 (own listener) 80.0", "R@10 (own listener) 50.0")
    assert point.is_printed


# --- Two curves that do not both get there


def apart() -> tuple[Results, Curve, Curve]:
    """Curve A goes from .8 to 1.2 with seeds 1 and 2, and from .5 to .9 with seed 3; B from .9 to 1.3 with all."""
    rows = []
    for name, x, y in (("a1", 1.2, 0.2), ("a2", 0.8, 0.4)):
        rows += scores(name, x, y, (1, 2)) + scores(name, x - 0.3, y, (3,))
    rows += scores("b1", 1.3, 0.1) + scores("b2", 0.9, 0.5)
    return run_of(rows), Curve("A", ("a1", "a2"), (1.0, 2.0)), Curve("B", ("b1", "b2"), (1.0, 2.0))


def test_a_seed_that_does_not_get_there_is_compared_where_both_do():
    run, one, other = apart()
    # Seed 3 has .54 to .86 of A and .94 to 1.26 of B, without a tenth at either end: nothing in common.
    assert meeting(run, one, other, at(1.1)) == {}
    low = Curve("C", ("c1", "c2"), (1.0, 2.0))
    run = run_of(
        *(
            scores(name, x + (0.0 if seed < 3 else -0.3), y, (seed,))
            for seed in (1, 2, 3)
            for name, x, y in (("a1", 1.2, 0.2), ("a2", 0.8, 0.4))
        ),
        scores("c1", 1.2, 0.3),
        scores("c2", 0.6, 0.6),
    )
    moved = meeting(run, one, low, at(1.1))
    assert moved == pytest.approx({3: 0.86})
    sides = [Reading(curve, Y, at(1.1), moved=moved).number(run) for curve in (one, low)]
    assert [side.untestable for side in sides] == ["", ""]
    # A's y falls by .2 over .4 of CIDEr: .25 at 1.1, and .22 with seed 3, .04 from its end, and .01 of its own.
    assert sides[0].by_seed == pytest.approx({1: 0.24, 2: 0.25, 3: 0.23})
    # C's y falls by .3 over .6: .35 at 1.1, .47 at .86.
    assert sides[1].by_seed == pytest.approx({1: 0.34, 2: 0.35, 3: 0.48})
    said = "read at 0.860 (seed 3), elsewhere at CIDEr 1.100, which not both curves cover there"
    assert said in sides[0].remarks
    assert meeting(run, one, low, None) == {}
    assert meeting(run, one, low, at(0.85)) == {}


def test_a_seed_that_barely_gets_there_is_compared_where_both_do():
    """A's seeds 1 and 2 end at 1.2, and their curve covers 1.16: with other test items it may not get to 1.18."""
    _, one, _ = apart()
    wide = Curve("C", ("c1", "c2"), (1.0, 2.0))
    run = run_of(
        scores("a1", 1.2, 0.2, (1, 2)), scores("a2", 0.8, 0.4, (1, 2)), scores("c1", 2.0, 0.3), scores("c2", 0.0, 0.6)
    )
    assert meeting(run, one, wide, at(1.18)) == pytest.approx({1: 1.16, 2: 1.16})
    assert meeting(run, one, wide, at(1.15)) == {}
