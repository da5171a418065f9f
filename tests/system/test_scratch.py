"""One process at a time in a stage, and what a stage leaves is deleted only when nobody needs it."""

import select
import subprocess
import sys
from pathlib import Path

import pytest
from small_checkout import wait_until

from seqcap.errors import InputError
from seqcap.system.scratch import LOCKS, alone, checkpoints, forget, locked

HOLD = """
import sys
from seqcap.system.scratch import alone
with alone(sys.argv[1]):
    print("in it", flush=True)
    sys.stdin.read()
print("out of it", flush=True)
"""


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RANK", raising=False)


def hold(stage, **environment):
    """A process that stays in a stage until its input ends."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    code = f"import os; os.environ.update({environment!r})\n{HOLD}"
    return subprocess.Popen([sys.executable, "-c", code, stage], text=True, **pipes)


def test_a_second_process_says_so_and_waits():
    first = hold("train-x")
    assert first.stdout.readline() == "in it\n"
    second = hold("train-x")
    assert second.stderr.readline() == f"waiting: process {first.pid} runs stage train-x\n"
    assert not select.select([second.stdout], [], [], 0.5)[0]
    assert first.communicate()[0] == "out of it\n"
    assert second.communicate()[0] == "in it\nout of it\n"


def test_other_stages_and_other_ranks_do_not_wait():
    first = hold("train-x")
    assert first.stdout.readline() == "in it\n"
    for process in (hold("train-y"), hold("train-x", RANK="1")):
        output, errors = process.communicate(timeout=60)
        assert (output, errors) == ("in it\nout of it\n", "")
    first.communicate()


def test_a_killed_process_leaves_no_lock():
    first = hold("train-x")
    assert first.stdout.readline() == "in it\n"
    second = hold("train-x")
    assert second.stderr.readline()
    first.kill()
    assert second.communicate()[0] == "in it\nout of it\n"
    first.communicate()


def write(*names):
    for name in names:
        path = checkpoints("train-x") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")


def left():
    return {str(path) for path in Path("scratch").rglob("*") if path.is_file() and LOCKS not in path.parents}


OURS = (
    "run-0/seed1_rank0.safetensors",
    "run-0/seed1_rank0.lock",
    "run-0/.seed1_rank0.safetensors.7.tmp",
    "f/p.parquet",
)


def test_what_a_stage_left_is_forgotten_and_nothing_else():
    write(*OURS, "run-0/notes.txt", "thesis/chapter.tex")
    (checkpoints("train-x") / "link").symlink_to(Path.cwd())
    other = Path("scratch/train-y/run-0/seed1_rank0.safetensors")
    other.parent.mkdir(parents=True)
    other.write_text("")
    forget(Path(), "train-x")
    assert left() == {"scratch/train-x/run-0/notes.txt", "scratch/train-x/thesis/chapter.tex", str(other)}
    assert (checkpoints("train-x") / "link").is_symlink()


def test_nothing_is_left_where_there_was_nothing_else():
    write(*OURS)
    forget(Path(), "train-x")
    forget(Path(), "train-never_run")
    assert left() == set()
    assert [path.name for path in Path("scratch").iterdir()] == ["locks"]


def test_nothing_is_forgotten_under_a_process():
    write(*OURS)
    process = hold("train-x")
    assert process.stdout.readline() == "in it\n"
    forget(Path(), "train-x")
    assert left() == {f"scratch/train-x/{name}" for name in OURS}
    process.communicate()
    wait_until(lambda: forget(Path(), "train-x") or not left())


def test_a_lock_that_cannot_be_written_is_one_line():
    Path("scratch").write_text("")
    expected = r"scratch/locks/train-x\.rank0: cannot be written \(Not a directory\); make room"
    with pytest.raises(InputError, match=expected), alone("train-x"):
        pytest.fail("came in")
    # What goes wrong inside is not the lock's.
    with pytest.raises(OSError, match="inside"), locked(Path("a.lock"), "runs"):
        raise OSError("inside")
