"""Parses kept in a file: parsed once, resumed after a kill, shared, and never trusted blindly."""

from collections.abc import Iterator, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from seqcap.files.parquet import read_table, write_rows
from seqcap.files.schemas import SCENE_GRAPHS
from seqcap.spice.cache import CachedParser
from seqcap.spice.matching import Tuples


class Counting:
    """A parser that says how many captions it was given, and may fail at one of them."""

    def __init__(self, version: str = "1", fails_at: int | None = None) -> None:
        self.version = version
        self.parsed: list[str] = []
        self._fails_at = fails_at

    def parse(self, texts: Sequence[str]) -> Iterator[Tuples]:
        for text in texts:
            if len(self.parsed) == self._fails_at:
                raise KeyboardInterrupt
            self.parsed.append(text)
            yield tuple((word,) for word in text.split())


def cached(path: str | Path | None, **options: Any) -> CachedParser:
    return CachedParser(path, Counting(**options))  # type: ignore[arg-type]


def parsed(parser: CachedParser) -> list[str]:
    return parser.parser.parsed  # type: ignore[attr-defined, no-any-return]


def test_a_caption_is_parsed_once_over_all_runs(tmp_path):
    path = tmp_path / "folder" / "parses.parquet"
    first = cached(path)
    expected = {"a dog": (("a",), ("dog",)), "A  Dog\n": (("a",), ("dog",)), "": (), "\0": ()}
    assert first.parse(expected) == expected
    assert parsed(first) == ["a dog"]
    second = cached(path)
    assert second.parse([*expected, "a cat"]) == {**expected, "a cat": (("a",), ("cat",))}
    assert parsed(second) == ["a cat"]
    before = path.read_bytes()
    third = cached(path)
    assert third.parse(["a cat", "a cat"]) == {"a cat": (("a",), ("cat",))}
    assert parsed(third) == []
    assert path.read_bytes() == before
    # Another version of the parser parses again.
    other = cached(path, version="2")
    other.parse(["a dog"])
    assert parsed(other) == ["a dog"]
    assert read_table(path, SCENE_GRAPHS)["parser"].to_pylist() == ["2"]


def test_what_was_parsed_before_a_kill_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("seqcap.spice.cache.FLUSH", 3)
    path = tmp_path / "parses.parquet"
    texts = [f"dog {number}" for number in range(10)]
    with pytest.raises(KeyboardInterrupt):
        cached(path, fails_at=8).parse(texts)
    resumed = cached(path)
    assert list(resumed.parse(texts)) == texts
    assert parsed(resumed) == texts[6:]
    assert sorted(file.name for file in tmp_path.iterdir()) == [".parses.parquet.lock", "parses.parquet"]


def parse_twenty(path: str | Path, name: str) -> None:
    parser = cached(path)
    for number in range(20):
        parser.parse([f"{name} {number}", f"both {number}"])


def test_many_parses_show_lines_in_a_file(tmp_path, monkeypatch, capsys):
    parser = cached(tmp_path / "parses.parquet")
    parser.parse(["a dog runs"])
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("seqcap.spice.cache.SHOWN", 2)
    parser.parse(["a cat sits", "a bird sings"])
    shown = capsys.readouterr().err
    assert "\r" not in shown
    assert shown.splitlines()[-1].startswith("SPICE (spaCy) parses: 2/2 (100%)")


def test_processes_share_a_file(tmp_path):
    """Neither loses what the other wrote."""
    path, spawn = tmp_path / "parses.parquet", get_context("spawn")
    processes = [spawn.Process(target=parse_twenty, args=(path, name)) for name in ("left", "right")]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=300)
        assert process.exitcode == 0
    texts = read_table(path, SCENE_GRAPHS)["text"].to_pylist()
    assert sorted(texts) == sorted(f"{name} {number}" for name in ("left", "right", "both") for number in range(20))


@pytest.mark.parametrize("tuples", ["truncated", None])
def test_a_damaged_file_is_made_anew(tuples, tmp_path, capsys):
    path = tmp_path / "parses.parquet"
    cached(path).parse(["a dog"])
    if tuples == "truncated":
        path.write_bytes(path.read_bytes()[:-20])
    else:
        write_rows(path, [{"text": "a dog", "parser": "1", "tuples": tuples}], SCENE_GRAPHS)
    for again in (1, 0):
        parser = cached(path)
        assert parser.parse(["a dog"]) == {"a dog": (("a",), ("dog",))}
        assert len(parsed(parser)) == again
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"warning: captions are parsed anew, since the earlier parses cannot be read: {path}: ")


@pytest.mark.parametrize("folder", ["/proc/none", "blocked"])
def test_parses_are_done_without_where_they_cannot_be_kept(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("seqcap.spice.cache.FLUSH", 1)
    (tmp_path / "blocked").touch()
    # Another folder for each test: a warning comes once.
    path = tmp_path / folder / tmp_path.name / "parses.parquet"
    parser = cached(path)
    assert list(parser.parse(["a dog", "a cat"])) == list(parser.parse(["a dog", "a cat"])) == ["a dog", "a cat"]
    assert parsed(parser) == ["a dog", "a cat"] * 2
    unkept = f"warning: {path.parent}: cannot be written to, so nothing is kept there for the next time\n"
    assert capsys.readouterr().err == unkept
