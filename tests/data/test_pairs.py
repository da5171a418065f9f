"""Parallel text: every layout, what is left out, what never leaks, and the one line that a bad file gets."""

import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from small_task import corpus_config

from seqcap.data.pairs import write_pairs
from seqcap.data.subwords import Subwords
from seqcap.data.vocabulary import SPECIALS, Vocabulary
from seqcap.errors import InputError
from seqcap.files.parquet import read_table
from seqcap.files.schemas import PAIRS, SOURCE_SUBWORDS, SUBWORDS

TEXT = {
    "train.de": "ein hund rennt\nein hund sitzt\nder hund\n",
    "train.en": "a dog runs\na dog sits\nthe dog\n",
    "val.de": "eine katze\n",
    "val.en": "a cat\n",
    "test.de": "ein vogel rennt\n",
    "test.en": "a bird runs\n",
}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    root = tmp_path / "corpus"
    root.mkdir()
    for name, text in TEXT.items():
        (root / name).write_text(text, encoding="utf-8")
    return root


def prepared(root: Path, **changes: Any) -> tuple[list[dict[str, Any]], Path]:
    folder = root.parent / "out"
    write_pairs(root, corpus_config(**({"max_length": 10} | changes)), folder)
    return read_table(folder / "pairs.parquet", PAIRS).to_pylist(), folder


def test_pairs_are_the_same_lines_of_both_files(corpus):
    rows, folder = prepared(corpus)
    assert [row["split"] for row in rows] == ["train"] * 3 + ["val", "test"]
    assert rows[1]["source"] == ["ein", "hund", "sitzt"]
    assert rows[1]["target"] == rows[1]["reference"] == ["a", "dog", "sits"]
    assert len({row["item"] for row in rows}) == len(rows)
    assert not (folder / SUBWORDS).exists()


@pytest.mark.parametrize(
    ("cut", "source", "target"),
    [
        ({}, {"hund", "ein", "der", "rennt", "sitzt"}, {"dog", "a", "runs", "sits", "the"}),
        ({"min_count": 2}, {"hund", "ein"}, {"dog", "a"}),
        ({"max_words": 1}, {"hund"}, {"dog"}),
    ],
)
def test_vocabularies_hold_words_of_the_training_text_alone(corpus, cut, source, target):
    _, folder = prepared(corpus, **cut)
    assert set(Vocabulary.read(folder / "vocabulary.json").words) == {*SPECIALS, *target}
    assert set(Vocabulary.read(folder / "source_vocabulary.json").words) == {*SPECIALS, *source}


def test_subwords_are_learnt_on_the_training_text_alone_and_join_to_the_reference(corpus):
    before, folder = prepared(corpus, subwords=6)
    learnt = (folder / SUBWORDS).read_bytes(), (folder / SOURCE_SUBWORDS).read_bytes()
    words = (folder / "vocabulary.json").read_bytes()
    for row in before[:3]:
        assert Subwords.join(row["target"]) == row["reference"]
    assert any(len(row["target"]) > len(row["reference"]) for row in before)
    for name in ("val.en", "test.en", "val.de", "test.de"):
        (corpus / name).write_text("dodododo dodododo dodododo\n")
    _, folder = prepared(corpus, subwords=6)
    assert learnt == ((folder / SUBWORDS).read_bytes(), (folder / SOURCE_SUBWORDS).read_bytes())
    assert words == (folder / "vocabulary.json").read_bytes()


def test_the_same_text_gives_the_same_bytes(corpus):
    folders = (prepared(corpus, subwords=9)[1] for _ in range(2))
    found = [{path.name: path.read_bytes() for path in folder.iterdir()} for folder in folders]
    assert found[0] == found[1]
    assert len(found[0]) == 5


def test_gzipped_files_and_other_names(corpus):
    plain, _ = prepared(corpus)
    for path in list(corpus.iterdir()):
        stem = {"val": "valid", "test": "newstest2014"}.get(path.stem, path.stem)
        (corpus / f"{stem}{path.suffix}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    zipped, _ = prepared(corpus, splits={"train": "train", "val": "valid", "test": "newstest2014"})
    assert zipped == plain


@pytest.mark.parametrize(
    ("name", "text", "tokenise", "words"),
    [
        (
            "val.en",
            '"Don\'t," said Mr. Smith & Co.\n',
            True,
            ['"', "don", "'t", ",", '"', "said", "mr.", "smith", "&", "co", "."],
        ),
        # Pieces of subword-nmt become words.
        ("val.en", "a Ca@@ t@@ fish ea@@ ts\n", False, ["a", "catfish", "eats"]),
        # Only newlines end lines.
        ("val.de", "\ufeffeine\u2028katze\x0b da\r\n", False, ["eine", "katze", "da"]),
    ],
)
def test_lines_become_words(corpus, name, text, tokenise, words):
    (corpus / name).write_bytes(text.encode())
    rows, _ = prepared(corpus, tokenise=tokenise)
    assert rows[3]["source" if name == "val.de" else "reference"] == words


def test_empty_and_long_pairs_are_left_out_and_counted(corpus, capsys):
    (corpus / "train.de").write_text("ein hund rennt\n\nder hund\n" + "a " * 11 + "\n")
    (corpus / "train.en").write_text("a dog runs\na dog sits\nthe dog\na\n")
    (corpus / "test.en").write_text("a bird runs " * 9 + "\n")
    rows, _ = prepared(corpus)
    assert [row["item"] for row in rows if row["split"] == "train"] == [0, 2]
    # What is translated for evaluation is translated whole.
    assert len(rows[-1]["reference"]) == 27
    printed = capsys.readouterr().out
    assert "1 pairs with an empty line are left out" in printed
    assert "1 training pairs of more than 10 tokens are left out" in printed


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        ("val.en", None, ["val.en: does not exist"]),
        ("train.de", b"ein\n", ["train.de: has no line 2, which", "train.en"]),
        ("train.en", b"a\nb\nc\nd\n", ["train.de: has no line 4"]),
        ("train.de", b"ein\n\xff\xfe\nder\n", ["train.de: line 2 is not UTF-8"]),
        ("val.en", b"", ["val.en: has no line 1"]),
        ("val.en", b"\n", ["has no pair for split 'val'"]),
        ("train.en", b"a a a a a a a a a a a\n" * 3, ["no training pair of at most 10 tokens"]),
        ("val.en.gz", gzip.compress(b"a cat " * 9999, mtime=0)[:-12], ["val.en.gz: is damaged"]),
    ],
)
def test_bad_files_are_one_line(corpus, name, content, named):
    (corpus / name.removesuffix(".gz")).unlink()
    if content is not None:
        (corpus / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        prepared(corpus)
    for part in named:
        assert part in str(caught.value)


def test_multi30k_is_read(shared, tmp_path, full):
    """The 29,000 training pairs are lines like the others, and take seconds: here 2,000 of them train."""
    root = tmp_path / "multi30k"
    root.mkdir()
    for path in (shared / "data/multi30k").iterdir():
        lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
        (root / path.name).write_bytes(gzip.compress(b"".join(lines if full else lines[:2_000]), 1))
    splits = {"train": "train", "val": "val", "test": "test_2016_flickr"}
    write_pairs(root, corpus_config(splits=splits, tokenise=True, min_count=2, max_length=50), tmp_path)
    rows = read_table(tmp_path / "pairs.parquet", PAIRS)
    assert Counter(rows["split"].to_pylist()) == {"train": 29_000 if full else 2_000, "val": 1_014, "test": 1_000}
    words = range(5_000, 7_000) if full else range(1_000, 2_000)
    assert len(Vocabulary.read(tmp_path / "vocabulary.json")) in words
