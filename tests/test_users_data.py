"""What the commands may touch of somebody else's files: the short form of campaigns/users_data.py."""

import pytest
from campaigns.users_data import CASES, allowed, attempt, touched

# What lies in the way of each command, once or twice.
WHAT = {
    *("a link to ../new/x", "what it scores", "other files", "anything"),
    *("a link to the checkout at runs/e", "the checkout's reports"),
}
SHORT = [case for case in CASES if case.what in WHAT]


@pytest.mark.parametrize("case", SHORT, ids=lambda case: f"{case.command.split()[0]}-{case.what}")
def test_nothing_is_touched_but_what_a_command_may(tmp_path, case):
    attempt(case, tmp_path)


def test_every_case_is_known():
    assert {case.what for case in SHORT} == WHAT


def test_the_comparison_sees_what_changes():
    before = {"here/a": (1, "x"), "here/b": (1, "x"), "here/c": (1, "x"), "d": (1, "x")}
    after = {"here/a": (1, "y"), "here/b": (2, "x"), "here/e": (1, "x"), "d": (1, "x")}
    assert touched(before, after) == ["here/a", "here/b", "here/c", "here/e"]
    assert allowed("here/a/b", ("a*",))
    assert not allowed("here/a/b", ("a*", "!a/b"))
    assert not allowed("a", ("a",))
    assert allowed("a", ("../a",))
