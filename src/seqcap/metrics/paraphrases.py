"""Selects METEOR's paraphrases for scoring: of 5 million pairs, those whose phrases both occur in the captions.
Unpacking and numbering all phrases takes seconds, so the numbers are kept in a file."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seqcap.errors import InputError, warn
from seqcap.files.advice import warn_unkept
from seqcap.files.writing import atomic
from seqcap.metrics.stems import kept_stems
from seqcap.rewards.kernels import Ints, Keys, Slots, kernel
from seqcap.rewards.meteor import Lexicon, string_bytes
from seqcap.rewards.meteor_kernels import (
    FNV_BASIS,
    FNV_PRIME,
    SPACE,
    Bytes,
    Words,
    cook_captions,
    cook_paraphrases,
    word_table,
)
from seqcap.rewards.meteor_resources import byte_strings, read_pairs, vocabulary_of
from seqcap.spice.wordnet import INSTALL, meteor_file

# One row per phrase, with its hash (FNV-1a), and the rows of its paraphrases, in METEOR's order.
NUMBERED = pa.schema([("phrase", pa.string()), ("hash", pa.uint64()), ("right", pa.list_(pa.int32()))])
Number = TypeVar("Number", np.int32, np.uint64)
PHRASES = "data/paraphrase-en.gz"
LONGEST = 7  # words of METEOR's longest phrases
BITS = np.uint64(26)  # 2^26 bits, 8 MB: a million n-grams set one bit in 60


def lexicon_of(words: list[str], tokens: Ints, captions: Ints, kept: Path | None) -> Lexicon:
    """METEOR's lexicon of all captions, hypotheses and references, with all paraphrases that can match: both phrases
    occur in the captions. `words` as for `Lexicon`; caption c is tokens[captions[c] : captions[c + 1]]; the numbered
    phrases are kept in folder `kept`, if any. InputError if METEOR's files are missing or damaged."""
    lexicon = Lexicon(words, None, partial(kept_stems, kept=kept))
    vocabulary = byte_strings(sorted(vocabulary_of(words)))
    spoken = mark(*cook_captions(tokens, captions, lexicon.words, lexicon.longest), *vocabulary)
    table = _loaded(meteor_file(PHRASES), kept)
    phrases, rights = table["phrase"], table["right"].combine_chunks()
    occurs = marked(_integers(table["hash"].combine_chunks(), np.uint64), spoken)
    left, right = _pairs(np.flatnonzero(occurs).astype(np.int32), rights)
    chosen = occurs[right]
    sides = [string_bytes(phrases.take(_rows(side[chosen]))) for side in (left, right)]
    lexicon.words = Words(
        *lexicon.words[:6], *cook_paraphrases(*sides[0], *sides[1], *vocabulary, word_table(*vocabulary))
    )
    return lexicon


def _pairs(phrases: Slots, rights: pa.ListArray) -> tuple[Slots, Slots]:
    """Both sides of all pairs of some phrases, in METEOR's order."""
    offsets, every = _integers(rights.offsets, np.int32), _integers(rights.values, np.int32)
    begin, numbers = offsets[phrases], np.diff(offsets)[phrases]
    ends = np.cumsum(numbers)
    places = np.arange(numbers.sum()) + np.repeat(begin - (ends - numbers), numbers)
    return np.repeat(phrases, numbers), every[places]


# Arrow's own ways from and to NumPy import pandas, in half a second.


def _integers(array: pa.Array, kind: type[Number]) -> npt.NDArray[Number]:
    _, data = array.buffers()
    return np.frombuffer(data or b"", dtype=kind)[array.offset : array.offset + len(array)]


def _rows(numbers: Slots) -> pa.Int32Array:
    return pa.Array.from_buffers(pa.int32(), len(numbers), [None, pa.py_buffer(numbers)])


@lru_cache(maxsize=1)
def _loaded(source: Path, kept: Path | None) -> pa.Table:
    """The phrases of METEOR's file, 80 MB, read once per process: a reward asks for them at every step."""
    return numbered(kept)


def numbered(kept: Path | None) -> pa.Table:
    """METEOR's phrases, of schema NUMBERED, from the kept file or METEOR's own; errors as in `lexicon_of`. A kept file
    that is damaged is made anew, and one that cannot be written is done without; a warning says so."""
    source = meteor_file(PHRASES)
    if kept is None:
        return _number(source)
    # A gzip file ends with the checksum and the size of its content.
    with source.open("rb") as file:
        file.seek(-min(8, source.stat().st_size), os.SEEK_END)
        path = kept / f"meteor_phrases_{file.read().hex()}.arrow"
    with _one_at_a_time(path):
        # `Path.exists` fails in a folder that may not be entered.
        if os.path.exists(path):  # noqa: PTH110
            try:
                return _read_numbered(path)
            except InputError as error:
                warn(f"METEOR's phrases are numbered anew, since those that were kept cannot be read: {error}")
        table = _number(source)
        try:
            _write_numbered(path, table)
        except InputError:
            warn_unkept(path)
        return table


@contextmanager
def _one_at_a_time(path: Path) -> Iterator[None]:
    """Where a file is not there yet, processes that want to make it wait for the one that does: numbering takes a core
    for some seconds. Where nothing can be kept, each makes its own."""
    with ExitStack() as stack:
        if not os.path.exists(path):  # noqa: PTH110
            # Other systems than Linux and macOS have no such locks.
            with suppress(InputError, ImportError):
                from seqcap.system.scratch import locked

                stack.enter_context(locked(path.with_suffix(".lock"), "numbers METEOR's phrases"))
        yield


def _write_numbered(path: Path, table: pa.Table) -> None:
    """As Arrow has it in memory, 117 MB: it is mapped, where Parquet's 35 MB take most of a second to unpack."""
    with atomic(path) as temporary, pa.ipc.new_file(str(temporary), NUMBERED) as file:
        file.write_table(table.combine_chunks())


def _read_numbered(path: Path) -> pa.Table:
    fix = "delete the file"
    try:
        table = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError) as error:
        raise InputError(path, f"is damaged ({error})", fix) from None
    if table.schema != NUMBERED:
        raise InputError(path, "has other columns", fix)
    rows = pc.min_max(table["right"].combine_chunks().flatten()).as_py()
    if len(table) and not 0 <= rows["min"] <= rows["max"] < len(table):
        raise InputError(path, f"has a phrase in row {rows['max']} of {len(table)}", fix)
    return table


def _number(source: Path) -> pa.Table:
    phrases, left, right = read_pairs(source)
    if (np.diff(left) < 0).any():
        raise InputError(source, "has a phrase's paraphrases in two places", f"re-{INSTALL}")
    bounds = np.searchsorted(left, np.arange(len(phrases) + 1)).astype(np.int32)
    hashes = hashed(*string_bytes(pa.chunked_array([phrases])))
    return pa.table([phrases, hashes, pa.ListArray.from_arrays(bounds, right)], schema=NUMBERED)


@kernel
def mark(tokens: Slots, captions: Ints, data: Bytes, starts: Ints) -> Keys:
    """Bits at the hashes (FNV-1a) of all phrases in captions; token t is data[starts[t] : starts[t + 1]]."""
    bits = np.zeros(1 << (BITS - np.uint64(6)), dtype=np.uint64)
    for caption in range(len(captions) - 1):
        for first in range(captions[caption], captions[caption + 1]):
            mixed = FNV_BASIS
            for place in range(first, min(first + LONGEST, captions[caption + 1])):
                if place > first:
                    mixed = (mixed ^ np.uint64(SPACE)) * FNV_PRIME
                for byte in data[starts[tokens[place]] : starts[tokens[place] + 1]]:
                    mixed = (mixed ^ np.uint64(byte)) * FNV_PRIME
                bit = mixed >> (np.uint64(64) - BITS)
                bits[bit >> np.uint64(6)] |= np.uint64(1) << (bit & np.uint64(63))
    return bits


@kernel
def hashed(data: Bytes, starts: Ints) -> Keys:
    """[phrases] the hash of each; phrase p is data[starts[p] : starts[p + 1]]."""
    hashes = np.empty(len(starts) - 1, dtype=np.uint64)
    for phrase in range(len(hashes)):
        mixed = FNV_BASIS
        for byte in data[starts[phrase] : starts[phrase + 1]]:
            mixed = (mixed ^ np.uint64(byte)) * FNV_PRIME
        hashes[phrase] = mixed
    return hashes


@kernel
def marked(hashes: Keys, bits: Keys) -> npt.NDArray[np.bool_]:
    """[phrases] whether the bit at each hash is set."""
    found = np.zeros(len(hashes), dtype=np.bool_)
    for phrase in range(len(hashes)):
        bit = hashes[phrase] >> (np.uint64(64) - BITS)
        found[phrase] = (bits[bit >> np.uint64(6)] >> (bit & np.uint64(63))) & np.uint64(1)
    return found
