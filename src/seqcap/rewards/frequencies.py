"""Document frequencies of any vocabulary, for CIDEr-D: counted once over many images, kept in a file, and used to score
others. And references of any vocabulary, numbered for the kernels, whose ids end at 65,535."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqcap.data.tokenizer import tokenize
from seqcap.data.vocabulary import EOS, PAD, SPECIALS
from seqcap.errors import InputError
from seqcap.files.reading import read_bytes
from seqcap.files.writing import atomic
from seqcap.rewards.ciderd import frequency_table
from seqcap.rewards.kernels import Frequencies, Ints, Keys
from seqcap.rewards.sequences import LARGEST_ID, References

FIRST = len(SPECIALS)
# From here on, ids are of words that no other image has. The n-grams that hold one are of one image or none, and both
# weigh log(images), so that one id can stand for different words of different images.
OWN = LARGEST_ID + 1 - 4096
MOST_WORDS = OWN - FIRST
# What NumPy and zipfile raise for a damaged file: of an encrypted or otherwise compressed member, a RuntimeError.
_DAMAGED = (OSError, KeyError, ValueError, TypeError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)
Token = Hashable  # a word, or its number in a tokenizer
Tokens = Sequence[Token]


class DocumentFrequencies:
    """Of how many images an n-gram (n = 1-4) is in a reference; the end of a caption (EOS) counts as a word.

    CIDEr weighs an n-gram by log(images / frequency) (Vedantam et al., CVPR 2015, section 4), at most log(images). Only
    n-grams of two images or more are kept. Make one by `of_captions`, `of_tokens` or `read`.

    Args:
        images: how many images were counted.
        words: those of two images or more; the id of the word at place i is i + 4.
        grams: distinct n-grams of these ids, packed as in `kernels`, ascending: uint64 [grams].
        counts: the number of images with a reference that has each n-gram, from 2 to `images`: int64 [grams].
    """

    def __init__(self, images: int, words: Sequence[Token], grams: Keys, counts: Ints) -> None:
        self.images = images
        self.words = list(words)  # of two images or more; the id of word w is w + 4
        self._grams, self._counts = grams, counts

    def __len__(self) -> int:
        """The number of n-grams that are kept."""
        return len(self._grams)

    @classmethod
    def of_captions(cls, references: Iterable[Sequence[str]]) -> DocumentFrequencies:
        """Counts those of captions, an image's texts at a time; InputError as in `of_tokens`."""
        return cls.of_tokens([[tokenize(caption) for caption in captions] for captions in references])

    @classmethod
    def of_tokens(cls, references: Sequence[Sequence[Tokens]]) -> DocumentFrequencies:
        """Counts those of references `[images][captions][tokens]`, without EOS. InputError if there is no image, an
        image has no caption, or more than 61,436 words are of several images."""
        found = Counter(token for captions in references for token in {t for caption in captions for t in caption})
        words = [word for word, images in found.items() if images > 1]
        if len(words) > MOST_WORDS:
            problem = f"hold {len(words):,} words that several images share"
            raise InputError("references", problem, f"count document frequencies of at most {MOST_WORDS:,}")
        numbered = NumberedReferences(references, numbers_of(words))
        grams, counts = np.unique(numbered.ended.cooked.union, return_counts=True)
        kept = (counts > 1) & ~_has_own(grams)
        return cls(len(references), words, grams[kept], counts[kept].astype(np.int64))

    @cached_property
    def numbers(self) -> dict[Token, int]:
        """The id of each word in the kernels."""
        return numbers_of(self.words)

    @cached_property
    def table(self) -> Frequencies:
        """The weights as the kernel of CIDEr-D reads them."""
        return frequency_table(self._grams, self._counts, self.images)

    def check_against(self, references: Iterable[Iterable[Tokens]]) -> None:
        """InputError if none of the references' words is known: words and token ids do not fit each other."""
        if self.words and not any(t in self.numbers for captions in references for tokens in captions for t in tokens):
            kind = "words" if isinstance(self.words[0], str) else "token ids"
            fix = f"count the frequencies of references of the same kind: these count {kind}"
            raise InputError("document frequencies", "share no word with the references", fix)

    def write(self, path: str | Path) -> None:
        """Writes a file (NumPy's .npz): the same bytes for the same captions. InputError if it cannot be written."""
        if all(isinstance(word, str) for word in self.words):
            words = np.frombuffer("\n".join(map(str, self.words)).encode("utf-8", "surrogatepass"), dtype=np.uint8)
        else:
            words = np.array(self.words, dtype=np.int64)
        with atomic(path) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, images=np.int64(self.images), words=words, grams=self._grams, counts=self._counts)

    @classmethod
    def given(cls, source: DocumentFrequencies | str | Path) -> DocumentFrequencies:
        """Those that are given, or those of a file; errors as in `read`."""
        return source if isinstance(source, DocumentFrequencies) else cls.read(source)

    @classmethod
    def read(cls, path: str | Path) -> DocumentFrequencies:
        """Reads what `write` wrote; InputError if the file is missing or another one."""
        fix = "name a file that `seqcap frequencies` or `DocumentFrequencies.write` made"
        try:
            content = read_bytes(path)
        except OSError as error:
            raise InputError(path, f"cannot be read ({error.strerror})", "check the path") from None
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                images, words, grams, counts = (arrays[name] for name in ("images", "words", "grams", "counts"))
            named: list[Any] = words.tolist()
            if words.dtype == np.uint8:
                text = words.tobytes().decode("utf-8", "surrogatepass")
                named = text.split("\n") if text else []
            _check(int(images), named, grams, counts)
        except _DAMAGED as error:
            raise InputError(path, f"holds no document frequencies ({error})", fix) from None
        return cls(int(images), named, grams, counts)


class NumberedReferences:
    """References of any vocabulary, as the kernels take them.

    Args:
        references: `[images][captions][tokens]`, without EOS.
        numbers: ids, from 4 on, of the words that several images may share. Each image numbers its other words, and
            each hypothesis the words that are new, so that nothing grows.

    Raises:
        InputError: as `sequences.References`, once `plain` or `ended` is asked for.
    """

    def __init__(self, references: Sequence[Sequence[Tokens]], numbers: Mapping[Token, int]) -> None:
        self._numbers = numbers
        self._own: list[dict[Token, int]] = [{} for _ in references]
        self._captions = [
            [self._encode(tokens, own) for tokens in captions]
            for captions, own in zip(references, self._own, strict=True)
        ]

    @cached_property
    def plain(self) -> References:
        return References(self._captions, eos=False)

    @cached_property
    def ended(self) -> References:
        """With EOS at the end of each reference."""
        return References(self._captions, eos=True)

    def rows(self, hypotheses: Sequence[Tokens], images: Iterable[int], ended: Iterable[bool]) -> Ints:
        """Hypotheses of images (indices) as ids [n, time]: words, EOS where a hypothesis is `ended`, and PAD."""
        encoded = []
        for tokens, image, end in zip(hypotheses, images, ended, strict=True):
            ids: list[Any] = list(map(self._numbers.get, tokens))
            # Few hypotheses hold a word that not several images share.
            if None in ids:
                ids = self._encode(tokens, dict(self._own[image]))
            if end:
                ids.append(EOS)
            encoded.append(ids)
        lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
        rows = np.full((len(encoded), lengths.max(initial=0)), PAD, dtype=np.int64)
        rows[np.arange(rows.shape[1]) < lengths[:, None]] = list(chain.from_iterable(encoded))
        return rows

    def _encode(self, tokens: Tokens, own: dict[Token, int]) -> list[int]:
        known = self._numbers
        ids = []
        for token in tokens:
            number = known.get(token)
            if number is None:
                # The last id is shared by what comes after 4,095 words that no other image has: no caption has so many.
                number = own.setdefault(token, min(OWN + len(own), LARGEST_ID))
            ids.append(number)
        return ids


def numbers_of(words: Iterable[Token]) -> dict[Token, int]:
    return {word: number for number, word in enumerate(words, start=FIRST)}


def _has_own(grams: Keys) -> npt.NDArray[np.bool_]:
    """[n] whether each n-gram holds an id from `OWN` on."""
    found = np.zeros(len(grams), dtype=np.bool_)
    for shift in (0, 16, 32, 48):
        found |= (grams >> np.uint64(shift)) & np.uint64(LARGEST_ID) >= OWN
    return found


def _check(images: int, words: Sequence[Token], grams: npt.NDArray[Any], counts: npt.NDArray[Any]) -> None:
    """A `ValueError` where arrays of a file do not fit each other."""
    if (grams.dtype, counts.dtype) != (np.dtype(np.uint64), np.dtype(np.int64)) or grams.shape != counts.shape:
        raise ValueError("n-grams and counts do not fit")
    if len(words) > MOST_WORDS or len(set(words)) < len(words):
        raise ValueError("words are too many, or come twice")
    if len(grams) and not 1 < int(counts.min()) <= int(counts.max()) <= images:
        raise ValueError(f"a count is not between 2 and {images}")
    if not (grams[1:] > grams[:-1]).all():
        raise ValueError("n-grams are not sorted")
