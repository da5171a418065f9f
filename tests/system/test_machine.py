"""artifacts/machine.json, which stages trust no more than another file."""

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
