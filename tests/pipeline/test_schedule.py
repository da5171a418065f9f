"""Which stage starts next, and how many run side by side."""

from types import SimpleNamespace

import psutil
import pytest

from seqcap.pipeline import repro, schedule

# Two chains that meet at the end: "b" is short, but what follows it is long.
GRAPH = {"a": set(), "b": set(), "c": {"b"}, "end": {"a", "c"}}
SECONDS = {"a": 50, "b": 1, "c": 60, "end": 2}


def test_a_path_is_as_long_as_its_stages_together():
    assert schedule.path_seconds(GRAPH, SECONDS) == {"a": 52, "b": 63, "c": 62, "end": 2}


def test_stages_that_were_never_measured_are_as_long_as_others_on_average():
    assert schedule.path_seconds(GRAPH, {}) == {"a": 2, "b": 3, "c": 2, "end": 1}
    assert schedule.path_seconds(GRAPH, {"a": 50, "b": 30}) == {"a": 90, "b": 110, "c": 80, "end": 40}


@pytest.mark.parametrize(("seconds", "first"), [(SECONDS, "b"), (SECONDS | {"a": 70}, "a")])
def test_the_longest_path_goes_first(seconds, first):
    begun = []

    def stage(name):
        begun.append(name)
        return name

    repro.run_graph(GRAPH, stage, 1, seconds)
    assert begun[0] == first


def test_the_longest_time_of_a_stage_is_kept(tmp_path):
    assert schedule.read_seconds(tmp_path) == {}
    for stage, seconds in (("a", 4.04), ("b", 1), ("a", 0.2)):
        schedule.note_seconds(tmp_path, stage, seconds)
    assert schedule.read_seconds(tmp_path) == {"a": 4.0, "b": 1}


@pytest.mark.parametrize(("gigabytes", "expected"), [(64, 8), (9, 4), (1, 1)])
def test_memory_limits_how_many_run_side_by_side(monkeypatch, gigabytes, expected):
    monkeypatch.setattr(schedule, "cores", lambda: 8)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=gigabytes << 30))
    assert schedule.jobs_here() == expected
