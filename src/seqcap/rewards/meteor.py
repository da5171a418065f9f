"""METEOR 1.5 on token ids (Denkowski and Lavie, WMT 2011 and WMT 2014), equal to the Java program's scores: with exact,
stem, synonym and paraphrase matchers and pycocoevalcap's options (`-l en -norm`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seqcap.errors import InputError
from seqcap.files.parquet import read_table
from seqcap.files.schemas import PARAPHRASES
from seqcap.rewards.meteor_kernels import (
    CHUNKS,
    COVERED,
    FIRST_WORD,
    FORMS,
    LENGTH,
    STATISTICS,
    Words,
    cook_captions,
    cook_paraphrases,
    cook_synonyms,
    meteor,
    score_rows,
    word_table,
)
from seqcap.rewards.meteor_resources import byte_strings, forms_of, resources, split, stems_of
from seqcap.rewards.sequences import References
from seqcap.spice.wordnet import wordnet

if TYPE_CHECKING:
    from seqcap.rewards.mixture import RewardInputs

Floats = npt.NDArray[np.float64]
# Read-only like those of a table: for writable arrays numba would compile everything once more.
NO_STRINGS = np.frombuffer(b"", dtype=np.uint8), np.frombuffer(bytes(8), dtype=np.int64)


class Lexicon:
    """METEOR's tokens, stems, synonyms, function words and paraphrases of a vocabulary. A word may be several of its
    tokens ("t-shirt" is "t" and "shirt").

    Args:
        words: of all ids, special tokens first. Include the references' words: a word without an entry matches nothing,
            not even itself.
        paraphrases: pairs of phrases (`schemas.PARAPHRASES`), from `filter_paraphrases`; they may hold more words.
            None: there are none.
        stems: gives the stems of tokens, in their order.

    Raises:
        InputError: METEOR's word lists are not installed.
    """

    def __init__(
        self, words: Sequence[str], paraphrases: pa.Table | None, stems: Callable[[list[str]], list[str]] = stems_of
    ) -> None:
        nothing: list[str] = []
        forms = [nothing] * FORMS * min(FIRST_WORD, len(words))
        forms += [form for word in words[FIRST_WORD:] for form in forms_of(word)]
        vocabulary = sorted({token for form in forms for token in form})
        number = {token: index for index, token in enumerate(vocabulary)}
        self.longest = max([1, *map(len, forms)])
        function_words = resources().function_words
        members: dict[int, list[int]] = {}
        for token in vocabulary:
            for synset in wordnet().find_synsets(token):
                members.setdefault(synset, []).append(number[token])
        groups = [group for group in members.values() if len(group) > 1]
        data, starts = byte_strings(vocabulary)
        sides = [NO_STRINGS] * 2
        if paraphrases is not None:
            sides = [string_bytes(paraphrases.column(name)) for name in PARAPHRASES.names]
        self.words = Words(
            np.array([number[token] for form in forms for token in form], dtype=np.int32),
            _starts(forms).astype(np.int32),
            np.array([_initial(word) for word in words], dtype=np.uint8),
            np.unique(stems(vocabulary), return_inverse=True)[1].astype(np.int32),
            np.array([token in function_words for token in vocabulary], dtype=np.uint8),
            cook_synonyms(np.array([token for group in groups for token in group], dtype=np.int32), _starts(groups)),
            *cook_paraphrases(*sides[0], *sides[1], data, starts, word_table(data, starts)),
        )


class Meteor:
    """METEOR as a reward, against references without EOS; see `mixture.Metric`.

    Args:
        references: of all images that hypotheses are scored for, without EOS.
        lexicon: of the words of their ids.
    """

    def __init__(self, references: References, lexicon: Lexicon) -> None:
        tokens, starts = cook_captions(references.tokens, references.captions, lexicon.words, lexicon.longest)
        self._references = references
        self._cooked = tokens, starts, references.images, lexicon.words, lexicon.longest

    def score(self, hypotheses: npt.ArrayLike, image: npt.ArrayLike) -> Floats:
        """METEOR [n], 0 (nothing matches) to 1: the best over the references. An empty hypothesis scores 0."""
        return self._align(hypotheses, image)[0]

    def measure(self, hypotheses: npt.ArrayLike, image: npt.ArrayLike) -> tuple[Floats, Floats]:
        """The scores [n], and counts [n, 23] whose sums `meteor_from_statistics` takes; arguments as in `score`."""
        scores, statistics = self._align(hypotheses, image)
        return scores, summable(statistics)

    def _align(self, hypotheses: npt.ArrayLike, image: npt.ArrayLike) -> tuple[Floats, Floats]:
        rows, lengths, images = self._references.checked(hypotheses, image)
        return meteor(rows, lengths, images, *self._cooked)


def build(inputs: RewardInputs) -> Meteor:
    if inputs.paraphrases is None:
        fix = "let the group read words/<task>/paraphrases.parquet"
        raise InputError("paraphrases", "are not read, but the reward has meteor", fix)
    return Meteor(inputs.plain, Lexicon(inputs.words, read_table(inputs.paraphrases, PARAPHRASES)))


def summable(statistics: Floats) -> Floats:
    """Counts [n, 23] as METEOR sums them: a caption that one chunk aligns completely adds no chunk."""
    complete = (statistics[:, COVERED:] == statistics[:, LENGTH : LENGTH + 2]).all(axis=1)
    counts = statistics.copy()
    counts[complete & (statistics[:, CHUNKS] == 1), CHUNKS] = 0
    return counts


def meteor_from_statistics(totals: Floats) -> Floats:
    """METEOR [...] from sums [..., 23] of `summable` counts; it is not the mean of the captions' scores."""
    return score_rows(np.ascontiguousarray(totals).reshape(-1, STATISTICS)).reshape(totals.shape[:-1])


def _starts(groups: Sequence[Sequence[object]]) -> npt.NDArray[np.int64]:
    """[groups + 1] where each group begins in a flat list."""
    return np.concatenate([[0], np.cumsum([len(group) for group in groups], dtype=np.int64)])


def _initial(word: str) -> int:
    """The form that the previous word must have: 1 if this one begins with a small letter, 2 with a digit, else 0."""
    # Most words are plain, and stay whole.
    first = word[:1] if word.isascii() and word.isalpha() else "".join(split(word))[:1]
    return 1 if "a" <= first <= "z" else 2 if "0" <= first <= "9" else 0


def string_bytes(column: pa.ChunkedArray) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """A string column as UTF-8 bytes and [rows + 1] offsets."""
    array = column.cast(pa.large_string()).combine_chunks()
    if len(array) == 0:
        return NO_STRINGS
    _, offsets, data = array.buffers()
    starts = np.frombuffer(offsets, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    return np.frombuffer(data or b"", dtype=np.uint8), starts
