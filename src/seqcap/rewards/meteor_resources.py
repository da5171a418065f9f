"""METEOR 1.5's English: tokens, stems, function words and paraphrases. `filter_paraphrases` selects, in seconds, the
paraphrases of given words among 5 million; the stage `paraphrases` stores them (`seqcap.files.schemas.PARAPHRASES`)."""

import gzip
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from snowballstemmer.english_stemmer import EnglishStemmer

from seqcap.errors import InputError
from seqcap.files.schemas import PARAPHRASES
from seqcap.rewards.kernels import Slots
from seqcap.spice.wordnet import INSTALL, meteor_file, read_lists

# METEOR's letters. Every other character is a token of its own, except digits and .,'-
LETTERS = "A-Za-zÀ-ÖØ-öø-ž\u0400-\u0527\u1d00-\u1d7f\ua640-\ua66e\ua67e-\ua697"
LETTER = re.compile(f"[{LETTERS}]")
# In this order, each left to right without overlaps, as METEOR's `-norm` does.
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
    """METEOR's lists of English words.

    Attributes:
        function_words: words that count less than content words.
        prefixes: abbreviations that keep their period; True: only before digits.
    """

    function_words: frozenset[str]
    prefixes: dict[str, bool]


@cache
def resources() -> Resources:
    """METEOR's word lists, read once per process; errors as in `wordnet.read_lists`."""
    words, prefixes = read_lists("function/english.words", "nonbreaking/english.prefixes")
    abbreviations = [line.split() for line in prefixes if line.strip() and not line.startswith("#")]
    return Resources(frozenset(filter(None, words)), {fields[0]: len(fields) > 1 for fields in abbreviations})


def split(caption: str) -> list[str]:
    """A caption split as METEOR's `-norm` does, before lower-casing."""
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
    """Lower-cased tokens of a caption as METEOR's `-norm` splits it. Agrees with the jar for Unicode 6."""
    return [token.lower() for token in split(caption)]


def stems_of(tokens: Iterable[str]) -> list[str]:
    """Stems by the Porter2 algorithm of 2006, as in METEOR; snowballstemmer 3 changed it ("added")."""
    # `snowballstemmer.stemmer` would use PyStemmer if installed.
    stemmer = EnglishStemmer()
    return [stemmer.stemWord(token) for token in tokens]


def byte_strings(words: Sequence[str]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    encoded = [word.encode() for word in words]
    ends = np.cumsum([len(word) for word in encoded], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), np.concatenate([[0], ends])


def filter_paraphrases(words: Iterable[str], path: Path | None = None) -> pa.Table:
    """The pairs of a paraphrase table, by default METEOR's, with only these words on both sides, of schema PARAPHRASES,
    in the file's order, on which METEOR's search depends. Words, or whole captions, are split as METEOR does."""
    vocabulary = vocabulary_of(words)
    phrases, *sides = read_pairs(meteor_file("data/paraphrase-en.gz") if path is None else path)
    known = np.array([vocabulary.issuperset(phrase.split(" ")) for phrase in phrases.to_pylist()])
    chosen = known[sides[0]] & known[sides[1]]
    return pa.table([phrases.take(pa.array(side[chosen])) for side in sides], schema=PARAPHRASES)


def read_pairs(path: Path) -> tuple[pa.StringArray, Slots, Slots]:
    """The distinct phrases of a paraphrase table (gzip; three lines a pair: probability, left, right), and each pair's
    left and right phrase as rows of them. InputError if the file is missing or damaged."""
    try:
        with gzip.open(path) as file:
            text = file.read()
    except (OSError, EOFError) as error:
        raise InputError(path, f"cannot be read ({error})", f"re-{INSTALL}") from None
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")) + 1
    offsets = pa.py_buffer(np.concatenate([[0], ends]).astype(np.int64))
    lines = pa.Array.from_buffers(pa.large_binary(), len(ends), [None, offsets, pa.py_buffer(text)])
    first = np.arange(0, len(ends) - 2, 3)
    coded = lines.take(pa.array(np.concatenate([first + 1, first + 2]))).dictionary_encode()
    phrases = pc.utf8_rtrim(coded.dictionary.cast(pa.large_string()), "\n").cast(pa.string())
    left, right = np.split(coded.indices.to_numpy(), 2)
    return phrases, left, right


def vocabulary_of(words: Iterable[str]) -> set[str]:
    """All tokens into which METEOR can split these words at any place of a caption."""
    return {token for word in words for form in forms_of(word) for token in form}


def forms_of(word: str) -> tuple[list[str], list[str], list[str]]:
    """Tokens of a word at the end, before a small letter and before a digit: these differ by the period."""
    if word.isascii() and word.isalpha():
        # Nearly all words, of which no substitution changes anything.
        alone = [word.lower()]
        return alone, alone, alone
    if "." not in word:
        alone = normalize(word)
        return alone, alone, alone
    return normalize(word), normalize(f"{word} a")[:-1], normalize(f"{word} 1")[:-1]
