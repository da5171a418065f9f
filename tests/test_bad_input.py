"""Damaged files end in one line: the short form of campaigns/bad_input.py."""

import pytest
from campaigns.bad_input import READERS, Reader, attempt, campaign

from seqcap.errors import InputError

TRIES = 12


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_damaged_files_are_accepted_or_one_line(tmp_path, reader):
    result = campaign(reader, tmp_path, range(TRIES), seed=1)
    assert result.faults == {}
    assert result.outcomes.total() == TRIES


def test_faults_are_seen(tmp_path):
    """A reader that raises, hangs, dies, or says several lines."""
    ways = ["1 / 0", "import time; time.sleep(60)", "import os; os._exit(1)", "pass"]
    ways.append("from seqcap.errors import InputError; raise InputError('a', 'b', 'c')")
    outcomes = []
    for way in ways:
        patience = 1 if "sleep" in way else 60
        reader = Reader("any", lambda: None, (), lambda _, way=way: exec(way))
        result = campaign(reader, tmp_path, [0], 0, patience)
        outcomes.append(*result.outcomes)
    assert outcomes == ["traceback", "hang", "traceback", "accepted", "one line"]


def test_an_error_of_several_lines_is_a_fault():
    def read(rng):
        error = InputError("a", "b", "c")
        error.args = ("a\nb",)
        raise error

    assert attempt(Reader("any", lambda: None, (), read), None, None)[0] == "traceback"
