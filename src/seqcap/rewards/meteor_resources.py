"""METEOR 1.5's English: how it splits captions into tokens, stems, function words and paraphrases.

`filter_paraphrases` reduces the table of 5 million paraphrases to the words at hand. It takes seconds, and its result
is an artifact (`seqcap.files.schemas.PARAPHRASES`).
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from snowballstemmer.english_stemmer import EnglishStemmer

from seqcap.errors import InputError
from seqcap.files.schemas import PARAPHRASES
from seqcap.rewards.meteor_kernels import select_pairs, word_table
from seqcap.spice.wordnet import INSTALL, meteor_file, read_lists

# Characters that METEOR takes for letters. Every other one is a token of its own, except digits and .,'-
LETTERS = "A-Za-zÀ-ÖØ-öø-ž\u0400-\u0527\u1d00-\u1d7f\ua640-\ua66e\ua67e-\ua697"
LETTER = re.compile(f"[{LETTERS}]")
# Applied in this order, each left to right without overlaps, as METEOR's `-norm` does.
SUBSTITUTIONS = [
    (re.compile(pattern), replacement)
    for pattern, replacement in [
        (r"[`‘’]", "'"),
        (r"''", ' " '),
        (r"[“”]", ' " '),
        (r"–", " - "),
        (rf"([^0-9{LETTERS}\s.',-])", r" \1 "),
        (r"(\.{2,})", r" \1 "),
        (r"([^0-9]),([^0-9])", r"\1 , \2"),
        (r"([0-9]),([^0-9])", r"\1 , \2"),
        (r"([^0-9]),([0-9])", r"\1 , \2"),
        (r"--", "-"),
        (rf"([^{LETTERS}])'([^{LETTERS}])", r"\1 ' \2"),
        (rf"([^0-9{LETTERS}])'([{LETTERS}])", r"\1 ' \2"),
        (rf"([{LETTERS}])'([^{LETTERS}])", r"\1 ' \2"),
        (rf"([{LETTERS}])'([{LETTERS}])", r"\1 '\2"),
        (r"([0-9])'s", r"\1 's"),
        (rf"([0-9{LETTERS}.])-([0-9{LETTERS}])", r"\1 \2"),
    ]
]


class Resources(NamedTuple):
    """METEOR's word lists.

    Attributes:
        function_words: words that count less than content words.
        prefixes: abbreviations that keep their period; True if they keep it only before digits.
    """

    function_words: frozenset[str]
    prefixes: dict[str, bool]


@cache
def resources() -> Resources:
    """METEOR's word lists, read once a process; errors as of `wordnet.read_lists`."""
    words, prefixes = read_lists("function/english.words", "nonbreaking/english.prefixes")
    abbreviations = [line.split() for line in prefixes if line.strip() and not line.startswith("#")]
    return Resources(frozenset(filter(None, words)), {fields[0]: len(fields) > 1 for fields in abbreviations})


def split(caption: str) -> list[str]:
    """A caption as METEOR's `-norm` splits it, before it lower-cases."""
    prefixes = resources().prefixes
    caption = f" {caption} "
    for pattern, replacement in SUBSTITUTIONS:
        caption = pattern.sub(replacement, caption)
    words = caption.split()
    tokens = []
    for word, following in zip(words, [*words, ""][1:], strict=True):
        stem = word[:-1]
        if not stem or not word.endswith(".") or word.startswith(".."):
            tokens.append(word)
        elif "." in stem and LETTER.search(stem):
            tokens.append(word.replace(".", ""))
        elif (
            prefixes.get(stem) is False
            or re.match("[a-z]", following)
            or (prefixes.get(stem) and re.match("[0-9]", following))
        ):
            tokens.append(word)
        else:
            tokens += [stem, "."]
    return tokens


def normalize(caption: str) -> list[str]:
    """A caption as METEOR's `-norm` splits it: lower-cased tokens. Agrees with the jar for Unicode 6."""
    return [token.lower() for token in split(caption)]


def stems_of(tokens: Iterable[str]) -> list[str]:
    """Stems by the Porter2 algorithm of 2006 that METEOR holds; snowballstemmer 3 changed it ("added")."""
    # Not `snowballstemmer.stemmer`: that would take whichever PyStemmer is installed.
    stemmer = EnglishStemmer()
    return [stemmer.stemWord(token) for token in tokens]


def byte_strings(words: Sequence[str]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Words as UTF-8 bytes one after the other, and [words + 1] where each starts."""
    encoded = [word.encode() for word in words]
    ends = np.cumsum([len(word) for word in encoded], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), np.concatenate([[0], ends])


def filter_paraphrases(words: Iterable[str], path: str | Path | None = None) -> pa.Table:
    """The pairs of METEOR's paraphrase table whose two sides hold only these words.

    Args:
        words: captions' words, or whole captions; they are split as METEOR does.
        path: a paraphrase table (gzip; three lines a pair: probability, left, right); None takes METEOR's English one.

    Returns:
        A table of schema PARAPHRASES, in the file's order, on which METEOR's search depends.

    Raises:
        InputError: the paraphrase table is missing or damaged.
    """
    path = meteor_file("data/paraphrase-en.gz") if path is None else path
    vocabulary = sorted(set(vocabulary_of(words)))
    try:
        with gzip.open(path) as file:
            text = np.frombuffer(file.read(), dtype=np.uint8)
    except (OSError, EOFError) as error:
        raise InputError(path, f"cannot be read ({error})", f"re-{INSTALL}") from None
    data, starts = byte_strings(vocabulary)
    columns = select_pairs(text, data, starts, word_table(data, starts))
    arrays = [
        pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(side))
        for side, offsets in (columns[:2], columns[2:])
    ]
    return pa.table(arrays, names=PARAPHRASES.names).cast(PARAPHRASES)


def vocabulary_of(words: Iterable[str]) -> set[str]:
    """All tokens into which METEOR can split these words, wherever they stand in a caption."""
    return {token for word in words for form in forms_of(word) for token in form}


def forms_of(word: str) -> tuple[list[str], list[str], list[str]]:
    """Tokens of a word at the end of a caption, before a small letter and before a digit: a period depends on that."""
    if "." not in word:
        alone = normalize(word)
        return alone, alone, alone
    return normalize(word), normalize(f"{word} a")[:-1], normalize(f"{word} 1")[:-1]
