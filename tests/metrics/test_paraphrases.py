"""METEOR's paraphrases for scoring: those of the captions at hand, from a file that is made once."""

import gzip
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from seqcap.errors import InputError
from seqcap.files.json_file import read_json
from seqcap.metrics import paraphrases, stems
from seqcap.metrics.paraphrases import NUMBERED, lexicon_of, numbered
from seqcap.metrics.quality import FIRST_ID, Coder
from seqcap.metrics.stems import STEMS, kept_stems

PAIRS = [
    ("a cat", "the cats"),
    ("a cat", "kitty"),
    ("cat", "kitty"),
    ("kitty", "a cat"),
    ("kitty .", "us"),
    ("zebra", "cat"),
]


def packed(folder: Path, pairs: list[tuple[str, str]]) -> Path:
    """METEOR's table of these pairs."""
    path = folder / "paraphrase.gz"
    with gzip.open(path, "wt") as file:
        file.writelines(f"0.5\n{left}\n{right}\n" for left, right in pairs)
    return path


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = packed(tmp_path, PAIRS)
    monkeypatch.setattr(paraphrases, "meteor_file", lambda _: path)
    return path


def kept(folder: Path) -> list[Path]:
    return sorted(folder.glob("meteor_phrases_*.arrow"))


@pytest.mark.usefixtures("source")
def test_every_pair_is_kept_in_numbers(tmp_path):
    table = numbered(None)
    names = table["phrase"].to_pylist()
    pairs = [(names[row], names[other]) for row, others in enumerate(table["right"].to_pylist()) for other in others]
    assert pairs == PAIRS
    assert numbered(tmp_path).equals(table)
    with pa.memory_map(str(kept(tmp_path)[0])) as file:
        assert pa.ipc.open_file(file).read_all().equals(table)


def test_the_file_is_made_once_and_again_for_another_table(source, tmp_path, monkeypatch):
    table = numbered(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(paraphrases, "_number", lambda _: pytest.fail("is made again"))
        assert numbered(tmp_path).equals(table)
    packed(source.parent, PAIRS[:1])
    assert numbered(tmp_path)["phrase"].to_pylist() == ["a cat", "the cats"]
    assert len(kept(tmp_path)) == 2


@pytest.mark.usefixtures("source")
def test_processes_wait_for_the_one_that_makes_it(tmp_path, monkeypatch):
    made = []
    number = paraphrases._number

    def slowly(source: Path) -> pa.Table:
        made.append(source)
        time.sleep(0.3)
        return number(source)

    monkeypatch.setattr(paraphrases, "_number", slowly)
    with ThreadPoolExecutor(3) as threads:
        first, *others = threads.map(numbered, [tmp_path] * 3)
    assert len(made) == 1
    assert all(other.equals(first) for other in others)


def test_only_pairs_of_phrases_in_captions_stay(tmp_path, source):
    def pairs(*captions: str) -> int:
        coder = Coder()
        cooked = coder.cook([[caption.split()] for caption in captions])
        lexicon = lexicon_of([""] * FIRST_ID + coder.words, cooked.tokens, cooked.captions, None)
        return int(np.count_nonzero(lexicon.words.pairs))

    assert source.exists()
    # "a cat" and "kitty" are one pair in both directions.
    assert pairs("a cat", "kitty") == 2
    # No phrase reaches over the end of a caption.
    assert pairs("a", "cat", "kitty") == 1
    assert pairs("a small cat", "kitties") == 0
    # As METEOR splits words: a period stays with its word before a small letter.
    assert (pairs("the kitty.", "us"), pairs("kitty. men", "us")) == (1, 0)


@pytest.mark.usefixtures("source")
def test_scoring_does_without_a_folder_to_write_in(tmp_path, capsys):
    blocked = tmp_path / "file"
    blocked.touch()
    for _ in range(2):
        assert numbered(blocked).equals(numbered(None))
    unkept = f"warning: {blocked}: cannot be written to, so nothing is kept there for the next time\n"
    assert capsys.readouterr().err == unkept


@pytest.mark.usefixtures("source")
def test_a_damaged_file_is_made_anew(tmp_path, capsys):
    expected = numbered(tmp_path)
    (path,) = kept(tmp_path)
    whole = path.read_bytes()
    other = tmp_path / "other.arrow"
    for table, problem in (
        (pa.table([["a", "b"], [3, 4], [[1], [2]]], schema=NUMBERED), "has a phrase in row 2 of 2"),
        (pa.table({"phrase": ["a"]}), "has other columns"),
        (None, "is damaged"),
    ):
        other.write_bytes(b"ARROW1")
        if table is not None:
            with pa.ipc.new_file(str(other), table.schema) as file:
                file.write_table(table)
        # Never into the file itself, which this process may have mapped.
        other.replace(path)
        assert numbered(tmp_path).equals(expected)
        assert path.read_bytes() == whole
        [line] = capsys.readouterr().err.splitlines()
        start = "warning: METEOR's phrases are numbered anew, since those that were kept cannot be read: "
        assert line.startswith(f"{start}{path}: {problem}")


def test_stems_are_kept_and_a_damaged_file_is_made_anew(tmp_path, monkeypatch, capsys):
    assert kept_stems(["added", "riding"], None) == ["ad", "ride"]
    assert kept_stems(["riding"], tmp_path) == ["ride"]
    with monkeypatch.context() as patch:
        patch.setattr(stems, "stems_of", lambda words: [f"stem of {word}" for word in words])
        assert kept_stems(["added", "riding"], tmp_path) == ["stem of added", "ride"]
    for content in ("[", '["ride"]', '{"riding": 1}'):
        (tmp_path / STEMS).write_text(content)
        assert kept_stems(["riding"], tmp_path) == ["ride"]
        assert read_json(tmp_path / STEMS) == {"riding": "ride"}
    # Each warning is told once.
    assert capsys.readouterr().err == f"warning: {tmp_path / STEMS}: is damaged, and made anew\n"


def test_wrong_files_are_named(source, tmp_path):
    packed(source.parent, [("a", "b"), ("c", "d"), ("a", "d")])
    with pytest.raises(InputError, match=r"paraphrase\.gz.*two places"):
        numbered(None)
    source.write_bytes(b"no gzip file")
    with pytest.raises(InputError, match=r"paraphrase\.gz.*cannot be read"):
        numbered(None)
