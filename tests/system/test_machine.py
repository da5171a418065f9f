"""artifacts/machine.json, which stages trust no more than another file."""

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
