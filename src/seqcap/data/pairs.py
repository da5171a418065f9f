"""Parallel text: from plain text files of sentences and translations to words, subwords and vocabularies.

A corpus is a folder with a UTF-8 file `<split>.<language>` or `<split>.<language>.gz` for each split and language, one
sentence a line; line n of one file translates line n of the other. Some corpora and the names of their `splits`:

    IWSLT'14, from fairseq's prepare-iwslt14.sh   train, valid, test               tokenised
    WMT'14                                        train, valid, newstest2014       as downloaded or tokenised
    Multi30k                                      train, val, test_2016_flickr     raw

Everything is lower-cased. Raw text is tokenised as Moses does it (`sacremoses`), without escaping. In tokenised text,
subword-nmt's pieces ("low@@ er") become words again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal, cast

import pyarrow as pa
import pyarrow.compute as pc
from sacremoses import MosesTokenizer

from seqcap.config import Fingerprint, Frozen, StageConfig
from seqcap.data.subwords import Subwords
from seqcap.data.text import lines
from seqcap.data.vocabulary import Vocabulary
from seqcap.errors import InputError
from seqcap.files.parquet import write_table
from seqcap.files.schemas import PAIRS, SOURCE_SUBWORDS, SOURCE_VOCABULARY, SPLITS, SUBWORDS, VOCABULARY
from seqcap.system.progress import progress
from seqcap.world.parallel import Language, ParallelConfig, write_parallel

# Sentences that are Python objects at a time.
CHUNK = 100_000
Words = list[str]


class Corpus(Frozen):
    """How parallel text is read."""

    source: str  # a language, the suffix of its files
    target: str
    splits: Mapping[str, str]  # train, val and test -> name of their files
    tokenise: bool  # whether the text is raw
    subwords: int | None  # merges of each language's byte-pair encoding; None: whole words
    min_count: int  # of a word or piece in the training text
    max_words: int | None  # size of a vocabulary without its special tokens; None: all words
    max_length: int  # words or pieces; training pairs with a longer sentence are dropped


class SentenceData(StageConfig):
    """Stage `data` of a translation task."""

    kind: Literal["sentences"] = "sentences"
    root: str
    corpus: Corpus
    parallel: Mapping[str, Any] | None  # None: the pairs are read from `root`
    seed: int
    fingerprint: Fingerprint


def prepare(config: SentenceData, folder: Path) -> None:
    """Generates or reads a task's sentence pairs and writes them into `folder`, as `write_pairs`."""
    if config.parallel is not None:
        settings = ParallelConfig(**config.parallel)
        source, target = cast(Language, config.corpus.source), cast(Language, config.corpus.target)
        write_parallel(folder, settings, config.seed, source, target)
    write_pairs(config.root, config.corpus, folder)


def write_pairs(root: str | Path, config: Corpus, folder: Path) -> None:
    """Reads a corpus; writes `pairs.parquet` (`schemas.PAIRS`), the vocabularies and any subword merges into `folder`.

    Vocabularies and merges come from the training text alone. Pairs with an empty line and training pairs that are too
    long are left out, and their numbers printed. An `InputError` if a file is missing, damaged or not UTF-8, two files
    differ in length, or a split has no pairs.
    """
    read = {split: _read_split(Path(root), config, split) for split in SPLITS}
    training = read["train"].select(["source", "target"])
    merges = {side: _learn(training[side], config.subwords) for side in ("source", "target")}
    tables = {}
    for split, table in read.items():
        pieces = {side: _split(table[side], merges[side]) for side in merges}
        columns = {"item": table["item"], "split": pa.array([split] * len(table)), **pieces}
        tables[split] = pa.table(columns | {"reference": table["target"]})
    tables["train"] = _short(tables["train"], config, root)
    write_table(folder / "pairs.parquet", pa.concat_tables(tables.values()), PAIRS)
    for side, name in (("source", SOURCE_VOCABULARY), ("target", VOCABULARY)):
        counts = _counts(tables["train"][side])
        Vocabulary.from_counts(counts, config.min_count, config.max_words).write(folder / name)
    for side, name in (("source", SOURCE_SUBWORDS), ("target", SUBWORDS)):
        learnt = merges[side]
        if learnt is not None:
            learnt.write(folder / name)


def _read_split(root: Path, config: Corpus, split: str) -> pa.Table:
    """item (10^9 times the split's position, plus the line), source and target (list<string>)."""
    stem = config.splits[split]
    paths = [_file(root, stem, language) for language in (config.source, config.target)]
    tokenisers = [_tokeniser(language, config.tokenise) for language in (config.source, config.target)]
    schema = pa.schema([PAIRS.field(name) for name in ("item", "source", "target")])
    chunks: list[pa.Table] = []
    rows: list[dict[str, Any]] = []
    empty = 0
    offset = SPLITS.index(split) * 10**9
    for line, texts in enumerate(progress(_pairs(paths), desc=stem, unit="pair")):
        source, target = (tokenise(text) for tokenise, text in zip(tokenisers, texts, strict=True))
        if not source or not target:
            empty += 1
            continue
        rows.append({"item": offset + line, "source": source, "target": target})
        if len(rows) == CHUNK:
            chunks.append(pa.Table.from_pylist(rows, schema))
            rows = []
    chunks.append(pa.Table.from_pylist(rows, schema))
    if empty:
        print(f"{paths[0]}, {paths[1]}: {empty:,} pairs with an empty line are left out")
    table = pa.concat_tables(chunks)
    if not len(table):
        raise InputError(paths[0], f"has no pair for split {split!r}", "use files with at least one sentence each")
    return table


def _file(root: Path, stem: str, language: str) -> Path:
    plain = root / f"{stem}.{language}"
    for path in (plain, plain.with_name(f"{plain.name}.gz")):
        if path.is_file():
            return path
    raise InputError(plain, "does not exist, nor does it with .gz", "set the task's root and the names in its splits")


def _pairs(paths: Sequence[Path]) -> Iterator[tuple[str, str]]:
    first, second = (lines(path) for path in paths)
    for line, (left, right) in enumerate(zip_longest(first, second), 1):
        if left is None or right is None:
            ended, other = paths if left is None else reversed(paths)
            raise InputError(ended, f"has no line {line}, which {other} has", "use two files of the same text")
        yield left, right


def _tokeniser(language: str, raw: bool) -> Callable[[str], Words]:
    if not raw:
        # Undoes subword-nmt: "low@@ er".
        return lambda text: f"{' '.join(text.split())} ".replace("@@ ", "").lower().split()
    moses = MosesTokenizer(language)
    # Moses's abbreviations have capitals, so lower-casing comes last.
    return lambda text: moses.tokenize(" ".join(text.split()), return_str=True, escape=False).lower().split()


def _learn(sentences: pa.ChunkedArray, merges: int | None) -> Subwords | None:
    if merges is None:
        return None
    return Subwords.learn(
        (text for chunk in sentences.chunks for text in pc.binary_join(chunk, " ").to_pylist()), merges
    )


def _split(sentences: pa.ChunkedArray, merges: Subwords | None) -> pa.ChunkedArray:
    if merges is None:
        return sentences
    kind = PAIRS.field("source").type
    chunks = [pa.array([merges.split(words) for words in chunk.to_pylist()], kind) for chunk in sentences.chunks]
    return pa.chunked_array(chunks, kind)


def _short(table: pa.Table, config: Corpus, root: str | Path) -> pa.Table:
    lengths = [pc.list_value_length(table[side]) for side in ("source", "target")]
    kept = table.filter(pc.less_equal(pc.max_element_wise(*lengths), config.max_length))
    if len(kept) < len(table):
        dropped = len(table) - len(kept)
        print(f"{root}: {dropped:,} training pairs of more than {config.max_length} tokens are left out")
    if not len(kept):
        problem = f"has no training pair of at most {config.max_length} tokens"
        raise InputError(root, problem, "raise the task's max_length")
    return kept


def _counts(sentences: pa.ChunkedArray) -> dict[str, int]:
    return {entry["values"]: entry["counts"] for entry in pc.value_counts(pc.list_flatten(sentences)).to_pylist()}
