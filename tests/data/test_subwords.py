"""Byte-pair encoding: it undoes itself, merges what is frequent, and survives characters it has not seen."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from seqcap.data.subwords import END, Subwords

TEXT = ["low low low lower lower newest newest widest"] * 3
WORDS = st.lists(st.text("lowernsid", min_size=1, max_size=12), max_size=8)


@given(WORDS, st.integers(1, 40))
@settings(deadline=None, max_examples=50)
def test_joining_undoes_splitting(words: list[str], merges: int) -> None:
    subwords = Subwords.learn([*TEXT, "lowernsid l o w e r n s i d"], merges)
    assert subwords.join(subwords.split(words)) == words


def test_the_most_frequent_pairs_are_merged_first() -> None:
    """By hand: "lo" 15 times, "we" (of "lower" and "newest") 12 times."""
    assert Subwords.learn(TEXT, 2).merges == [("l", "o"), ("w", "e")]
    assert Subwords.learn(TEXT, 2).split(["low", "lower"]) == ["lo", f"w{END}", "lo", "we", f"r{END}"]


def test_fewer_merges_are_the_first_of_more() -> None:
    assert Subwords.learn(TEXT, 9).merges[:4] == Subwords.learn(TEXT, 4).merges


def test_unknown_characters_are_unknown() -> None:
    assert Subwords.learn(TEXT, 3).split(["lowx", "ü"]) == ["lo", "w", "<unk>", "<unk>"]


def test_a_translation_cut_short_keeps_its_last_word() -> None:
    assert Subwords.join([f"a{END}", "lo", "w"]) == ["a", "low"]
    assert Subwords.join([]) == []


def test_written_and_read_again(tmp_path: Path) -> None:
    before = Subwords.learn(TEXT, 5)
    before.write(tmp_path / "subwords.json")
    after = Subwords.read(tmp_path / "subwords.json")
    assert after.merges == before.merges
    assert after.split(["lowest"]) == before.split(["lowest"])
