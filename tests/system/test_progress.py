"""Progress: a bar on a terminal, lines elsewhere."""

import io

import pytest
from tqdm import tqdm

from seqcap.system.progress import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time that tqdm sees, in seconds."""
    now = [0.0]
    monkeypatch.setattr("tqdm.std.time", lambda: now[0])
    return now


def standard_error(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    file = io.StringIO()
    monkeypatch.setattr("sys.stderr", file)
    return file


def test_a_terminal_gets_a_bar(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with progress(total=480, initial=120, desc="sll seed 1", unit="step") as bar:
        bar.set_postfix({"val_cider": "0.908"})
    assert type(bar) is tqdm
    assert "\rsll seed 1:  25%|" in terminal.getvalue()
    assert "val_cider=0.908]" in terminal.getvalue()


def test_a_file_gets_lines(monkeypatch, clock):
    file = standard_error(monkeypatch)
    with progress(total=480, initial=120, desc="sll seed 1", unit="step") as bar:
        for second in range(25):
            clock[0] += 1
            bar.update(10)
            if second == 0:
                bar.set_postfix({"val_cider": "0.908"})
    assert file.getvalue().splitlines() == [
        "sll seed 1: 220/480 (46%), 10.00step/s, 00:26 left, 00:10 so far, val_cider=0.908",
        "sll seed 1: 320/480 (67%), 10.00step/s, 00:16 left, 00:20 so far, val_cider=0.908",
        "sll seed 1: 370/480 (77%), 10.00step/s, 00:11 left, 00:25 so far, val_cider=0.908",
    ]


def test_without_a_total_and_slower_than_one_a_second(monkeypatch, clock):
    file = standard_error(monkeypatch)
    for _ in progress(iter(range(2)), desc="train", unit="pair"):
        clock[0] += 2000
    assert file.getvalue().splitlines()[-1].startswith("train: 2/? (0%), 2000.00s/pair, ")


def test_nothing_where_it_is_disabled_or_counted_nothing(monkeypatch):
    file = standard_error(monkeypatch)
    assert list(progress([1], desc="decode", unit="batch", disable=True)) == [1]
    assert file.getvalue() == ""
    progress(total=0, desc="xe seed 1", unit="step").close()
    progress(total=480, initial=480, desc="sll seed 1", unit="step").close()
    assert file.getvalue() == ""
