"""Whether learning curves that are trained anew count as those that are committed."""

import pytest

from seqcap.report.curves import HEADER
from seqcap.tools.verify import among_seeds, curves_by_seed, same_digits

COMMITTED = [{"val_cider": {0: 0.5, 10: value}, "train_loss": {10: 3.0}} for value in (0.60, 0.62, 0.64)]


def test_curves_of_one_run_by_seed_and_quantity():
    lines = [HEADER, "sle,sll,1,10,val_cider,0.5", "sle,sll,2,10,val_cider,0.6", "sle,sll_sle,1,10,val_cider,0.7"]
    assert curves_by_seed("\n".join(lines), "sll") == {1: {"val_cider": {10: 0.5}}, 2: {"val_cider": {10: 0.6}}}


def test_every_digit_counts_on_the_same_instruction_set():
    lines, fits = same_digits(COMMITTED[0], COMMITTED[0])
    assert fits
    assert lines == ["val_cider: the same digits at 2 points", "train_loss: the same digits at 1 points"]
    lines, fits = same_digits(COMMITTED[1], COMMITTED[0])
    assert not fits
    assert lines[0] == "val_cider: differs at 1 of 2 points, first at step 10: 0.62, committed 0.6"


@pytest.mark.parametrize(("last", "expected"), [(0.62, True), (0.70, True), (0.73, False), (0.53, True), (0.51, False)])
def test_on_another_one_a_seed_may_be_as_far_as_seeds_are(last, expected):
    """Mean .62, deviation .02: a fourth seed lies within t(2) .02 x 1.155 = 4.30 x .0231 = .0994 of it."""
    lines, fits = among_seeds({"val_cider": {0: 9.0, 10: last}, "train_loss": {10: 99.0}}, COMMITTED)
    assert fits == expected
    assert len(lines) == 1
    assert "[0.5206, 0.7194]" in lines[0]


def test_one_seed_of_another_instruction_set_says_nothing():
    lines, fits = among_seeds(COMMITTED[0], COMMITTED[:1])
    assert not fits
    assert "nothing says how far" in lines[0]
