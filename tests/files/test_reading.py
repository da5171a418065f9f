"""What has no end is read up to a limit."""

import io
import os
import threading
from pathlib import Path

import pytest

from seqcap.errors import InputError
from seqcap.files import reading
from seqcap.rating import Key
from seqcap.rating.aggregate import read_answers

ZERO = "/dev/zero"


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(reading, "LONGEST_STREAM", 1000)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.json"
    path.write_text('[{"image_id": 1, "caption": "a dog"}]')
    return path


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "--references", ZERO, "--candidates", "SMALL"),
        ("score", "--references", "SMALL", "--candidates", ZERO),
        ("score", "--references", "-", "--candidates", "SMALL"),
        ("score", "--references", "SMALL", "--candidates", "SMALL", "--metrics", "cider", "--frequencies", ZERO),
        ("rating", "aggregate", ZERO, "answers.csv"),
        ("repro", "--experiment", ZERO, "--publish", "reports"),
    ],
)
def test_a_device_without_an_end_is_one_line(command, small, monkeypatch, arguments):
    with Path(ZERO).open("rb") as device:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(device))
        done = command(*(small if argument == "SMALL" else argument for argument in arguments))
    name = "standard input" if "-" in arguments else ZERO
    problem = f"error: {name}: does not end within 1,000 bytes, the limit of what is no regular file; save it as a file"
    assert (done.returncode, done.stderr) == (2, f"{problem}, and name that\n")


def test_answers_from_a_device_are_one_line():
    with pytest.raises(InputError, match="/dev/zero: does not end within 1,000 bytes"):
        read_answers([Path(ZERO)], Key(kit="a", entries=()))


def test_files_of_any_length_and_pipes_up_to_the_limit_are_read(tmp_path):
    path = tmp_path / "long.txt"
    path.write_text("a" * 2000)
    assert reading.read_text(path) == "a" * 2000
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("b" * 1000,))
    writer.start()
    assert reading.read_text(pipe) == "b" * 1000
    writer.join()
