"""Decides which ids of a caption are tokens for rewards. EOS is a token of references, hypotheses and document
frequencies (self-critical training, Rennie et al., CVPR 2017, as its authors implement it). Otherwise a captioner could
gain reward by stopping in the middle of a phrase ("a man on a")."""

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from seqcap.data.vocabulary import EOS, PAD
from seqcap.errors import InputError
from seqcap.rewards.kernels import Cooked, cook_union

# Four ids are packed into one 64-bit n-gram. The largest id stands for words outside the vocabulary.
LARGEST_ID = 2**16 - 1
Ints = npt.NDArray[np.int64]


def scored_lengths(hypotheses: Ints, eos: bool = True) -> Ints:
    """How many leading tokens of each row [n, time] are scored: words before the first EOS or PAD, and EOS if `eos`."""
    n, time = hypotheses.shape
    if time == 0:
        return np.zeros(n, dtype=np.int64)
    ends = (hypotheses == EOS) | (hypotheses == PAD)
    first: Ints = np.where(ends.any(axis=1), ends.argmax(axis=1), time)
    if eos:
        first += hypotheses[np.arange(n), np.minimum(first, time - 1)] == EOS
    return first


def checked_hypotheses(hypotheses: npt.ArrayLike, dimensions: int) -> Ints:
    """Hypotheses as a contiguous int64 array; InputError for other dimensions, or ids outside 0 .. 65,535."""
    array = np.asarray(hypotheses)
    if array.ndim != dimensions or not np.issubdtype(array.dtype, np.integer):
        raise InputError(
            "hypotheses",
            f"have {array.ndim} dimensions of {array.dtype}",
            f"pass integer token ids with {dimensions} dimensions",
        )
    _check_range("hypotheses", array, smallest=PAD)
    return np.ascontiguousarray(array, dtype=np.int64)


def checked_images(image: npt.ArrayLike, hypotheses: int, images: int) -> Ints:
    """Image indices as int64 [hypotheses]; InputError for another shape, or an index outside the references."""
    array = np.asarray(image)
    if array.shape != (hypotheses,) or not (array.size == 0 or np.issubdtype(array.dtype, np.integer)):
        raise InputError(
            "image",
            f"has shape {array.shape} of {array.dtype}",
            f"pass one integer index for each of {hypotheses} rows",
        )
    if array.size and not 0 <= int(array.min()) <= int(array.max()) < images:
        wrong = int(array[(array < 0) | (array >= images)][0])
        raise InputError("image", f"index {wrong} has no references", f"use indices 0 .. {images - 1}")
    return np.ascontiguousarray(array, dtype=np.int64)


def _check_range(source: str, ids: npt.NDArray[Any], smallest: int) -> None:
    if ids.size and not smallest <= int(ids.min()) <= int(ids.max()) <= LARGEST_ID:
        wrong = int(ids[(ids < smallest) | (ids > LARGEST_ID)][0])
        raise InputError(source, f"hold token id {wrong}", f"use ids {smallest} .. {LARGEST_ID}")


class References:
    """The references of all images, prepared once and shared by all rewards. Ids up to 65,535 that no hypothesis can
    hold, of words outside the vocabulary, never match.

    Args:
        captions: per image, captions as lists of ids *without* EOS: `[images][captions][tokens]`.
        eos: whether EOS is a token of these references and of the hypotheses scored against them.

    Raises:
        InputError: there is no image, an image has no captions, or an id is outside 1 .. 65,535.
    """

    def __init__(self, captions: Sequence[Sequence[Sequence[int]]], eos: bool = True) -> None:
        if len(captions) == 0:
            raise InputError("references", "hold no image", "pass the captions of at least one image")
        for index, group in enumerate(captions):
            if len(group) == 0:
                raise InputError("references", f"image {index} has no caption", "pass at least one, or drop the image")
        self.eos = eos
        end = [EOS] if eos else []
        flat = (token for group in captions for caption in group for token in chain(caption, end))
        self.tokens: Ints = np.fromiter(flat, dtype=np.int64)
        _check_range("references", self.tokens, smallest=PAD + 1)
        self.captions = _offsets([len(caption) + len(end) for group in captions for caption in group])
        self.images = _offsets([len(group) for group in captions])
        union, grams = cook_union(self.tokens, self.captions, self.images)
        self.cooked = Cooked(self.tokens, self.captions, self.images, union, grams)

    def __len__(self) -> int:
        return len(self.images) - 1

    def captions_of(self, image: int) -> list[list[int]]:
        bounds = self.captions[self.images[image] : self.images[image + 1] + 1]
        return [self.tokens[a:b].tolist() for a, b in pairwise(bounds)]

    def checked(self, hypotheses: npt.ArrayLike, image: npt.ArrayLike) -> tuple[Ints, Ints, Ints]:
        """Checked hypotheses [n, time], their scored lengths [n], and checked images [n]."""
        rows = checked_hypotheses(hypotheses, dimensions=2)
        return rows, scored_lengths(rows, self.eos), checked_images(image, len(rows), len(self))


def _offsets(lengths: list[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
