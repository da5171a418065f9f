"""artifacts/machine.json, which stages trust no more than another file."""

import os
import subprocess
import sys

import pytest

from seqcap.errors import InputError
from seqcap.files.json_file import write_json
from seqcap.system import machine

WHOLE = {"device": "cpu", "workers": 2, "launcher": "python"}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({}, "device: Field required"),
        ([], "content: Input should be a valid dictionary"),
        (None, "content: Input should be a valid dictionary"),
        (WHOLE | {"workers": "many"}, "workers"),
        (WHOLE | {"workers": 0}, "workers"),
        (WHOLE | {"launcher": "torchrun '"}, "launcher: Value error, No closing quotation"),
        (WHOLE | {"launcher": ""}, "launcher: Value error, is no command"),
    ],
)
def test_a_damaged_file_is_one_line(tmp_path, monkeypatch, content, problem):
    monkeypatch.chdir(tmp_path)
    write_json(machine.MACHINE, content)
    for reads in (machine.device, machine.workers, machine.relaunch):
        with pytest.raises(InputError, match=rf"^artifacts/machine\.json: {problem}.*; run `seqcap repro`"):
            reads()


@pytest.fixture
def started(tmp_path, monkeypatch):
    """Commands that this process was replaced by, under a launcher that is given."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["stages/train.py", "train", "group"])
    monkeypatch.delenv(machine.LAUNCHED, raising=False)
    commands: list[list[str]] = []

    def relaunch(launcher: str, device: str = "auto") -> None:
        write_json(machine.MACHINE, WHOLE | {"launcher": launcher, "device": device})
        machine.relaunch()

    def exec_in_place(program: str, arguments: list[str]) -> None:
        assert program == arguments[0]
        commands.append(arguments)

    monkeypatch.setattr("os.execvp", exec_in_place)
    yield relaunch, commands
    os.environ.pop(machine.LAUNCHED, None)


def test_a_launcher_starts_a_process_once(started, monkeypatch):
    """Those that are no torchrun set no rank by which one could tell."""
    relaunch, commands = started
    relaunch("srun --gpus=1 python")
    assert commands == [["srun", "--gpus=1", "python", "stages/train.py", "train", "group"]]
    relaunch("srun --gpus=1 python")
    assert len(commands) == 1
    monkeypatch.setenv("SLURM_NTASKS", "4")
    with pytest.raises(InputError, match="launcher 'srun' starts 4 processes, each of which would train alone; let it"):
        relaunch("srun --ntasks=4 python")


@pytest.mark.parametrize("flag", ["--nproc-per-node=4", "--nproc_per_node 4"])
def test_more_processes_than_gpus_are_one_line(started, monkeypatch, flag):
    relaunch, commands = started
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    with pytest.raises(
        InputError, match="launcher starts 4 processes, but this machine has 2 GPUs; set --nproc-per-node"
    ):
        relaunch(f"torchrun --standalone {flag}")
    assert commands == []
    relaunch(f"torchrun --standalone {flag}", "cpu")
    assert len(commands) == 1


def test_the_threads_of_a_stage_are_shared_by_its_processes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_json(machine.MACHINE, WHOLE | {"workers": 6})
    assert [machine.threads(processes) for processes in (1, 2, 4, 8)] == [6, 3, 1, 1]


def test_a_process_keeps_the_memory_that_it_freed():
    """Where malloc can be told so. The same megabytes then take no further page from the system."""
    code = """
import resource
from seqcap.system.machine import keep_memory
faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
kept = keep_memory()
before = faults()
bytearray(2**26)
first = faults() - before
bytearray(2**26)
print(int(kept), first, faults() - before - first)
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    kept, first, second = map(int, out.split())
    assert not kept or second < first / 10
