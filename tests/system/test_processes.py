"""Processes side by side: results in order, one line if one is killed, and none outlives the one that started it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from small_checkout import wait_until

from seqcap.errors import InputError
from seqcap.system.processes import side_by_side


def slowest_first(number, ended):
    """The first job ends after the second, if another process may do that."""
    if number == 0 and ended is not None:
        wait_until(ended.exists)
    if number == 1 and ended is not None:
        ended.touch()
    return number, os.getpid()


def die(number):
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def wrong(number):
    raise InputError(f"file{number}", "is wrong", "correct it")


def note_and_sleep(folder, seconds):
    Path(folder, str(os.getpid())).touch()
    time.sleep(seconds)


@pytest.mark.parametrize("processes", [1, 2])
def test_results_are_in_the_order_of_the_jobs(tmp_path, processes):
    ended = tmp_path / "ended" if processes > 1 else None
    found = side_by_side(slowest_first, [(number, ended) for number in range(4)], processes)
    assert [number for number, _ in found] == [0, 1, 2, 3]
    assert len({process for _, process in found}) == processes
    assert (os.getpid() in {process for _, process in found}) == (processes == 1)


def test_a_killed_process_is_one_line():
    with pytest.raises(InputError, match="a worker was killed, perhaps because memory ran out; run it again"):
        side_by_side(die, [(number,) for number in range(3)], 2)


def test_an_error_of_a_process_is_that_of_all():
    with pytest.raises(InputError, match="file0: is wrong; correct it"):
        side_by_side(wrong, [(0,), (0,)], 2)


def test_processes_end_with_the_one_that_started_them(tmp_path):
    """One works, and one waits for work."""
    code = (
        "import test_processes as t\n"
        f"jobs = [({str(tmp_path)!r}, seconds) for seconds in (600, 1)]\n"
        "if __name__ == '__main__': t.side_by_side(t.note_and_sleep, jobs, 2)"
    )
    script = tmp_path / "script.py"
    script.write_text(code)
    tests = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    starter = subprocess.Popen([sys.executable, str(script)], env=os.environ | {"PYTHONPATH": tests})
    wait_until(lambda: len(list(tmp_path.iterdir())) == 3)
    started = [int(path.name) for path in tmp_path.iterdir() if path.name.isdigit()]
    assert all(psutil.pid_exists(process) for process in started)
    starter.kill()
    starter.wait()
    wait_until(lambda: not any(alive(process) for process in started), 10)


def alive(process):
    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
