"""Parallel text: pairs of a sentence and its translation, from plain text files to words, subwords and vocabularies.

A corpus is a folder with one file per split and language, `<split>.<language>` or `<split>.<language>.gz`, UTF-8, one
sentence a line; the same line of both files is a pair. So are, with the names that `splits` gives them:

    IWSLT'14 as fairseq's prepare-iwslt14.sh leaves it   train, valid, test          tokenised (undone BPE, see below)
    WMT'14                                               train, valid, newstest2014  as downloaded or tokenised
    Multi30k                                             train, val, test_2016_flickr   raw

Everything is lower-cased. Raw text is tokenised as Moses does (`sacremoses`), without escaping. In text that is
tokenised already, pieces joined by "@@ " (subword-nmt) become words again.
"""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict
from sacremoses import MosesTokenizer
from tqdm import tqdm

from seqcap.artifacts import PAIRS, SOURCE_SUBWORDS, SOURCE_VOCABULARY, SPLITS, SUBWORDS, VOCABULARY, write_table
from seqcap.data.scenes.parallel import Language
from seqcap.data.subwords import Subwords
from seqcap.data.vocabulary import Vocabulary
from seqcap.errors import InputError

# Sentences that are held as Python objects at a time.
CHUNK = 100_000

Words = list[str]


class Config(BaseModel):
    """How a corpus is read.

    Attributes:
        source, target: languages, the files' suffixes.
        splits: train, val and test -> the names of their files.
        tokenise: whether the text is raw.
        subwords: merges of a byte-pair encoding of each language; None: whole words.
        min_count: how often a word (or piece) must occur in the training text to be in the vocabulary.
        max_words: size of a vocabulary without its special tokens; None: all words.
        max_length: words (or pieces) of a training sentence, in either language; longer pairs are dropped.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: Language
    target: Language
    splits: Mapping[str, str]
    tokenise: bool
    subwords: int | None
    min_count: int
    max_words: int | None
    max_length: int


def prepare(root: str | Path, config: Config, folder: Path) -> None:
    """Reads a corpus and writes it into `folder`: `pairs.parquet` (`artifacts.PAIRS`), both vocabularies and, where
    there are subwords, both languages' merges.

    Vocabularies and merges come from the training text alone. Pairs with an empty line are left out, and so are
    training pairs that are too long; how many is printed.

    Raises:
        InputError: names the file, and the line where there is one: a file that is missing, damaged or not UTF-8, files
            of different length, a split without pairs.
    """
    read = {split: _read_split(Path(root), config, split) for split in SPLITS}
    training = read["train"].select(["source", "target"])
    merges = {side: _learn(training[side], config.subwords) for side in ("source", "target")}
    tables = {}
    for split, table in read.items():
        pieces = {side: _split(table[side], merges[side]) for side in merges}
        columns = {"pair_id": table["pair_id"], "split": pa.array([split] * len(table)), **pieces}
        tables[split] = pa.table(columns | {"reference": table["target"]})
    tables["train"] = _short(tables["train"], config, root)
    write_table(folder / "pairs.parquet", pa.concat_tables(tables.values()), PAIRS)
    for side, name in (("source", SOURCE_VOCABULARY), ("target", VOCABULARY)):
        counts = _counts(tables["train"][side])
        Vocabulary.of_counts(counts, config.min_count, config.max_words).write(folder / name)
    for side, name in (("source", SOURCE_SUBWORDS), ("target", SUBWORDS)):
        learnt = merges[side]
        if learnt is not None:
            learnt.write(folder / name)


def _read_split(root: Path, config: Config, split: str) -> pa.Table:
    """pair_id (the line, counted through all splits of 10^9 lines at most), source and target, list<string> each."""
    stem = config.splits[split]
    paths = [_file(root, stem, language) for language in (config.source, config.target)]
    tokenisers = [_tokeniser(language, config.tokenise) for language in (config.source, config.target)]
    chunks: list[pa.Table] = []
    ids: list[int] = []
    sides: tuple[list[Words], list[Words]] = ([], [])

    def flush() -> None:
        kinds = [PAIRS.field(name).type for name in ("pair_id", "source", "target")]
        arrays = [pa.array(values, kind) for values, kind in zip((ids, *sides), kinds, strict=True)]
        chunks.append(pa.table(arrays, ["pair_id", "source", "target"]))
        for values in (ids, *sides):
            values.clear()

    empty = 0
    offset = SPLITS.index(split) * 10**9
    for line, texts in enumerate(tqdm(_pairs(paths), desc=f"{stem}", unit="pair", mininterval=1)):
        words = [tokenise(text) for tokenise, text in zip(tokenisers, texts, strict=True)]
        if not all(words):
            empty += 1
            continue
        ids.append(offset + line)
        for side, found in zip(sides, words, strict=True):
            side.append(found)
        if len(ids) == CHUNK:
            flush()
    flush()
    if empty:
        print(f"{paths[0]}, {paths[1]}: {empty:,} pairs with an empty line are left out")
    table = pa.concat_tables(chunks)
    if not len(table):
        raise InputError(paths[0], f"has no pair for split {split!r}", "use files with at least one sentence each")
    return table


def _file(root: Path, stem: str, language: str) -> Path:
    """The file of a split and language."""
    plain = root / f"{stem}.{language}"
    for path in (plain, plain.with_name(f"{plain.name}.gz")):
        if path.is_file():
            return path
    raise InputError(plain, "does not exist, nor does it with .gz", "set the task's root and the names in its splits")


def _pairs(paths: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """The lines of two files side by side."""
    first, second = (_lines(path) for path in paths)
    line = 0
    while True:
        line += 1
        texts = next(first, None), next(second, None)
        if texts[0] is not None and texts[1] is not None:
            yield texts[0], texts[1]
        elif texts == (None, None):
            return
        else:
            ended, other = paths if texts[0] is None else reversed(paths)
            raise InputError(ended, f"has no line {line}, which {other} has", "use two files of the same text")


def _lines(path: Path) -> Iterator[str]:
    """A file's lines, unpacked if it is gzipped."""
    number = 0
    try:
        with path.open("rb") as raw, gzip.open(raw) if path.suffix == ".gz" else raw as file:
            # Only \n ends a line: other Unicode line breaks would shift one file against the other.
            for number, line in enumerate(file, 1):
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise InputError(path, f"line {number} is not UTF-8 ({error.reason})", "convert the file") from None
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise InputError(path, f"is damaged after line {number} ({error})", "restore the file") from None
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})", "check the path") from None


def _tokeniser(language: str, raw: bool) -> Callable[[str], Words]:
    """Text -> its lower-cased words."""
    if not raw:
        # What subword-nmt has split: "low@@ er".
        return lambda text: f"{' '.join(text.split())} ".replace("@@ ", "").lower().split()
    moses = MosesTokenizer(language)
    # Its list of abbreviations knows capitals: lower-casing comes last.
    return lambda text: moses.tokenize(" ".join(text.split()), return_str=True, escape=False).lower().split()


def _learn(sentences: pa.ChunkedArray, merges: int | None) -> Subwords | None:
    if merges is None:
        return None
    return Subwords.learn((text for chunk in sentences.chunks for text in _texts(chunk)), merges)


def _texts(chunk: pa.ListArray) -> Iterator[str]:
    yield from pc.binary_join(chunk, " ").to_pylist()


def _split(sentences: pa.ChunkedArray, merges: Subwords | None) -> pa.ChunkedArray:
    if merges is None:
        return sentences
    kind = PAIRS.field("source").type
    chunks = [pa.array([merges.split(words) for words in chunk.to_pylist()], kind) for chunk in sentences.chunks]
    return pa.chunked_array(chunks, kind)


def _short(table: pa.Table, config: Config, root: str | Path) -> pa.Table:
    """Without the pairs that are too long."""
    lengths = [pc.list_value_length(table[side]) for side in ("source", "target")]
    kept = table.filter(pc.less_equal(pc.max_element_wise(*lengths), config.max_length))
    if len(kept) < len(table):
        dropped = len(table) - len(kept)
        print(f"{root}: {dropped:,} training pairs of more than {config.max_length} tokens are left out")
    if not len(kept):
        problem = f"has no training pair of at most {config.max_length} tokens"
        raise InputError(root, problem, "raise the task's max_length")
    return kept


def _counts(sentences: pa.ChunkedArray) -> Counter[str]:
    counts: Counter[str] = Counter()
    for chunk in sentences.chunks:
        for entry in pc.value_counts(pc.list_flatten(chunk)).to_pylist():
            counts[entry["values"]] += entry["counts"]
    return counts
