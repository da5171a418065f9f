"""The simulated speed-up of a graph."""

import cores

# Two chains that meet at the end.
GRAPH = {"a": set(), "b": set(), "c": {"b"}, "end": {"a", "c"}}
SECONDS = {"a": 60, "b": 60, "c": 120, "end": 60}


def test_stages_run_side_by_side_the_longest_path_first():
    assert [cores.simulated(GRAPH, SECONDS, number) for number in (1, 2, 4)] == [300, 240, 240]
    # Three that wait for nothing: the long one starts first, beside the two others.
    assert cores.simulated({"x": set(), "y": set(), "z": set()}, {"x": 1, "y": 2, "z": 3}, 2) == 3


def test_the_table_ends_with_the_longest_path():
    assert cores.table(GRAPH, SECONDS)[2:4] == ["| 1 | 5.0 | 1.00 |", "| 2 | 4.0 | 1.25 |"]
    assert cores.table(GRAPH, SECONDS)[-1] == "| the longest path alone | 4.0 | 1.25 |"
