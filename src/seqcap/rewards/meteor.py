"""METEOR 1.5 on token ids (Denkowski and Lavie, WMT 2011 and WMT 2014), equal to the Java program's scores.

All four matchers (exact, stem, synonym, paraphrase) with the parameters for ranking English, as pycocoevalcap calls
it (`-l en -norm`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
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
from seqcap.rewards.meteor_resources import byte_strings, forms_of, resources, split, stems_of, synsets_of
from seqcap.rewards.sequences import References, checked_hypotheses, checked_images, scored_lengths

if TYPE_CHECKING:
    from seqcap.rewards.mixture import Material

Floats = npt.NDArray[np.float64]


class Lexicon:
    """What METEOR knows of a vocabulary: tokens, stems, synonyms, function words and paraphrases of its words.

    A word may be several of METEOR's tokens ("'s" is "'" and "s", "t-shirt" is "t" and "shirt").

    Args:
        words: the word of each id; the first four (padding, begin, end, unknown) are ignored. Words that only
            references hold belong here too: a word without an entry matches nothing, itself included.
        paraphrases: of schema PARAPHRASES, from `filter_paraphrases`; it may hold more words than `words`.

    Raises:
        InputError: METEOR's word lists are not installed, or the paraphrases have other columns.
    """

    def __init__(self, words: Sequence[str], paraphrases: pa.Table) -> None:
        if paraphrases.schema.names != PARAPHRASES.names:
            raise InputError("paraphrases", f"have columns {paraphrases.schema.names}", "use `filter_paraphrases`")
        nothing: list[str] = []
        forms = [nothing] * FORMS * min(FIRST_WORD, len(words))
        forms += [form for word in words[FIRST_WORD:] for form in forms_of(word)]
        vocabulary = sorted({token for form in forms for token in form})
        number = {token: index for index, token in enumerate(vocabulary)}
        self.longest = max([1, *map(len, forms)])
        function_words = resources().function_words
        members: dict[str, list[int]] = {}
        for token in vocabulary:
            for synset in synsets_of(token):
                members.setdefault(synset, []).append(number[token])
        groups = [group for group in members.values() if len(group) > 1]
        data, starts = byte_strings(vocabulary)
        sides = [_bytes_of(paraphrases.column(name)) for name in PARAPHRASES.names]
        self.words = Words(
            np.array([number[token] for form in forms for token in form], dtype=np.int32),
            _starts(forms).astype(np.int32),
            np.array([_initial(word) for word in words], dtype=np.uint8),
            np.unique(stems_of(vocabulary), return_inverse=True)[1].astype(np.int32),
            np.array([token in function_words for token in vocabulary], dtype=np.uint8),
            cook_synonyms(np.array([token for group in groups for token in group], dtype=np.int32), _starts(groups)),
            *cook_paraphrases(*sides[0], *sides[1], data, starts, word_table(data, starts)),
        )


class Meteor:
    """METEOR reward: built once from the training references, then scores batches of ids.

    Args:
        references: cooked once for all rewards. EOS is no token here, whether they have it or not.
        lexicon: of the words that the ids stand for.
    """

    def __init__(self, references: References, lexicon: Lexicon) -> None:
        ids, captions, images = references.without_eos
        tokens, starts = cook_captions(ids, captions, lexicon.words, lexicon.longest)
        self._images = len(references)
        self._meteor = partial(
            meteor, tokens=tokens, captions=starts, images=images, words=lexicon.words, longest=lexicon.longest
        )

    def score(self, hypotheses: npt.ArrayLike, image: npt.ArrayLike) -> Floats:
        """METEOR of each hypothesis: the best over its image's references.

        Args:
            hypotheses: [n, time] ids: words, EOS, then PAD; EOS may be missing.
            image: [n] index into the references.

        Returns:
            [n] scores, 0 (nothing matches) to 1. An empty hypothesis scores 0.

        Raises:
            InputError: wrong shapes, or ids or indices out of range.
        """
        return self._scores_and_statistics(hypotheses, image)[0]

    def statistics(self, hypotheses: npt.ArrayLike, image: npt.ArrayLike) -> Floats:
        """Counts of each hypothesis against the reference that it scores best with, for `corpus_meteor`.

        Args:
            hypotheses: [n, time] ids; image: [n], as in `score`.

        Returns:
            [n, 23] counts in the order in which METEOR prints them (see `meteor_kernels`).

        Raises:
            InputError: as `score`.
        """
        return self._scores_and_statistics(hypotheses, image)[1]

    def measure(self, hypotheses: npt.ArrayLike, image: npt.ArrayLike) -> tuple[Floats, Floats]:
        """What evaluation needs: the score of each hypothesis [n], and [n, 23] to be summed over any of them for
        `meteor_from_statistics`. Arguments and errors as of `score`."""
        scores, statistics = self._scores_and_statistics(hypotheses, image)
        return scores, summable(statistics)

    def _scores_and_statistics(self, hypotheses: npt.ArrayLike, image: npt.ArrayLike) -> tuple[Floats, Floats]:
        rows = checked_hypotheses(hypotheses, dimensions=2)
        images = checked_images(image, len(rows), self._images)
        return self._meteor(rows, scored_lengths(rows, eos=False), images)


def build(material: Material) -> Meteor:
    """Reward metric meteor.

    Raises:
        InputError: the material has no paraphrases, or a file is missing or malformed.
    """
    if material.paraphrases is None:
        fix = "let the group read words/<task>/paraphrases.parquet"
        raise InputError("paraphrases", "are not read, but the reward has meteor", fix)
    return Meteor(material.plain, Lexicon(material.words, read_table(material.paraphrases, PARAPHRASES)))


def corpus_meteor(statistics: npt.ArrayLike) -> float:
    """METEOR of a corpus: of the sum of its captions' statistics, which is not the mean of their scores.

    As METEOR does it, a caption that one chunk aligns completely with its reference adds no chunk to the sum.

    Args:
        statistics: [n, 23] from `Meteor.statistics`.

    Raises:
        InputError: another shape.
    """
    counts = np.asarray(statistics, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[1] != STATISTICS:
        raise InputError("statistics", f"have shape {counts.shape}", f"pass [n, {STATISTICS}] from `Meteor.statistics`")
    return float(meteor_from_statistics(summable(counts).sum(axis=0)))


def summable(statistics: Floats) -> Floats:
    """Captions' statistics [n, 23] as METEOR sums them: one that a single chunk aligns completely adds no chunk."""
    complete = (statistics[:, COVERED:] == statistics[:, LENGTH : LENGTH + 2]).all(axis=1)
    counts = statistics.copy()
    counts[complete & (statistics[:, CHUNKS] == 1), CHUNKS] = 0
    return counts


def meteor_from_statistics(totals: Floats) -> Floats:
    """METEOR [...] of sums [..., 23] of `summable` statistics."""
    return score_rows(np.ascontiguousarray(totals).reshape(-1, STATISTICS)).reshape(totals.shape[:-1])


def _starts(groups: Sequence[Sequence[object]]) -> npt.NDArray[np.int64]:
    """[groups + 1] where each starts when they are laid out flat."""
    return np.concatenate([[0], np.cumsum([len(group) for group in groups], dtype=np.int64)])


def _initial(word: str) -> int:
    """Which form a word asks of the word before it: 1 if it begins with a small letter, 2 with a digit, else 0."""
    first = "".join(split(word))[:1]
    return 1 if "a" <= first <= "z" else 2 if "0" <= first <= "9" else 0


def _bytes_of(column: pa.ChunkedArray) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """A string column as UTF-8 bytes and [rows + 1] offsets."""
    array = pa.concat_arrays(column.cast(pa.large_string()).chunks or [pa.array([], pa.large_string())])
    _, offsets, data = array.buffers()
    empty = data is None or data.size == 0
    starts = np.frombuffer(offsets, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    return np.zeros(0, dtype=np.uint8) if empty else np.frombuffer(data, dtype=np.uint8), starts
