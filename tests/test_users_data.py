"""What the commands may touch of somebody else's files: the short form of campaigns/users_data.py."""

import os

import pytest
from campaigns.users_data import CASES, allowed, attempt, touched

# Those that run no graph.
SHORT = [case for case in CASES if "of 4 stages" not in case.says and "experiment" not in case.steps]


@pytest.mark.parametrize("case", SHORT, ids=lambda case: f"{case.command.split()[0]}-{case.what}")
def test_nothing_is_touched_but_what_a_command_may(tmp_path, case):
    if case.what == "a device" and os.geteuid() != 0:
        pytest.skip("making device nodes takes root")
    attempt(case, tmp_path)


def test_the_comparison_sees_what_changes():
    before = {"here/a": (1, "x"), "here/b": (1, "x"), "here/c": (1, "x"), "d": (1, "x")}
    after = {"here/a": (1, "y"), "here/b": (2, "x"), "here/e": (1, "x"), "d": (1, "x")}
    assert touched(before, after) == ["here/a", "here/b", "here/c", "here/e"]
    assert allowed("here/a/b", ("a*",))
    assert not allowed("here/a/b", ("a*", "!a/b"))
    assert not allowed("a", ("a",))
    assert allowed("a", ("../a",))
