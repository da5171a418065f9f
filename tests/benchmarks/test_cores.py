"""The simulated speed-up of a graph, the measured one beside it, and the time that a restart takes."""

import bound
import cores
import restart

from seqcap.files.json_file import write_json

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


def test_a_bound_run_stands_beside_what_its_stages_foretell(tmp_path):
    for stage, seconds in SECONDS.items():
        write_json(tmp_path / bound.STAGES / f"{stage}.json", {"seconds": seconds})
    found = bound.measured(tmp_path, GRAPH | {"idle": set()})
    assert found == SECONDS | {"idle": 0}
    assert bound.table({1: 320.0, 2: 256.0}, GRAPH, found)[2:] == [
        "| 1 | 320 | 1.00 | 1.00 |",
        "| 2 | 256 | 1.25 | 1.25 |",
    ]
    # 20 seconds more than the four stages took, of which each has a quarter; a stage that was not run has none.
    assert bound.beside(320.0, found) == "beside the own seconds of 4 stages, one core spent 20 s: 5.00 s for each"


def test_the_steps_of_the_killed_training_are_read_from_its_bar():
    bar = "\rsll seed 1:  15%|#4   | 300/2048 [00:00<?, ?step/s]"
    assert restart.steps(bar + bar.replace("300", "307")) == [("sll seed 1", 300), ("sll seed 1", 307)]
    assert restart.steps("decode sll seed 1: 5 of 20") == []
