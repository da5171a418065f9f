"""The papers' invented runs, each in an empty current directory."""

from __future__ import annotations

from pathlib import Path

import pytest
from invented_psst import PsstRun
from invented_runs import SleRun, SmoothingRun, SpiderRun
from invented_wtfrl import WtfrlRun


@pytest.fixture
def sle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SleRun:
    """An empty current directory, and SLE's run to write into it."""
    monkeypatch.chdir(tmp_path)
    return SleRun()


@pytest.fixture
def spider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SpiderRun:
    """PG-SPIDEr's run; with `sle`, in the same directory."""
    monkeypatch.chdir(tmp_path)
    return SpiderRun()


@pytest.fixture
def smoothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmoothingRun:
    """Loss smoothing's run; with `sle`, in the same directory."""
    monkeypatch.chdir(tmp_path)
    return SmoothingRun()


@pytest.fixture
def psst(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PsstRun:
    """PSST's run; with `sle`, in the same directory."""
    monkeypatch.chdir(tmp_path)
    return PsstRun()


@pytest.fixture
def wtfrl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WtfrlRun:
    """WTF-RL's run; with `sle`, in the same directory."""
    monkeypatch.chdir(tmp_path)
    return WtfrlRun()
