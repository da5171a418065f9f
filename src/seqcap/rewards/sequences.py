"""What counts as a token of a caption when a reward is computed: the one place that says so.

The end of sequence (EOS) is a token of references, hypotheses and document frequencies alike (self-critical
training, Rennie et al. 2017, as implemented by its authors): were it missing from one of them, a policy could
gain reward by stopping in the middle of a phrase ("a man on a").
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from seqcap.errors import InputError

PAD = 0
EOS = 2
# Four ids are packed into one 64-bit n-gram. The largest id is left for words outside the vocabulary.
LARGEST_ID = 2**16 - 1

Ints = npt.NDArray[np.int64]


def scored_lengths(hypotheses: Ints, eos: bool = True) -> Ints:
    """Number of leading tokens of each row that are scored: the words, then EOS if the row has one.

    Args:
        hypotheses: [n, time] ids; whatever follows the first EOS or PAD is ignored.
        eos: whether EOS counts as a token.

    Returns:
        [n] lengths.
    """
    n, time = hypotheses.shape
    if time == 0:
        return np.zeros(n, dtype=np.int64)
    ends = (hypotheses == EOS) | (hypotheses == PAD)
    first: Ints = np.where(ends.any(axis=1), ends.argmax(axis=1), time)
    if eos:
        first += hypotheses[np.arange(n), np.minimum(first, time - 1)] == EOS
    return first


def checked_hypotheses(hypotheses: npt.ArrayLike, dimensions: int) -> Ints:
    """Hypotheses as a contiguous int64 array.

    Raises:
        InputError: another number of dimensions, ids that are no integers, or ids outside 0 .. 65,535.
    """
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
    """Image indices as int64 [hypotheses].

    Raises:
        InputError: another shape, or an index outside the references.
    """
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


class FlatReferences(NamedTuple):
    """Ragged references as three arrays.

    Attributes:
        tokens: [total tokens] ids, EOS included where it is scored.
        captions: [captions + 1]; caption c is tokens[captions[c] : captions[c + 1]].
        images: [images + 1]; image i has captions images[i] .. images[i + 1] - 1.
    """

    tokens: Ints
    captions: Ints
    images: Ints


def flatten_references(references: Sequence[Sequence[Sequence[int]]], eos: bool = True) -> FlatReferences:
    """Lays references out flat and appends EOS to each.

    Args:
        references: per image, a list of captions, each a list of ids without EOS. Ids that no hypothesis can
            hold (words outside the vocabulary, up to 65,535) are allowed and never match.

    Raises:
        InputError: no images, an image without captions, or an id outside 1 .. 65,535.
    """
    if len(references) == 0:
        raise InputError("references", "hold no image", "pass the captions of at least one image")
    for index, captions in enumerate(references):
        if len(captions) == 0:
            raise InputError("references", f"image {index} has no caption", "pass at least one, or drop the image")
    end = [EOS] if eos else []
    tokens = np.fromiter(
        chain.from_iterable(chain(caption, end) for captions in references for caption in captions), dtype=np.int64
    )
    _check_range("references", tokens, smallest=PAD + 1)
    lengths = [len(caption) + len(end) for captions in references for caption in captions]
    return FlatReferences(
        tokens,
        np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]),
        np.concatenate([[0], np.cumsum([len(captions) for captions in references], dtype=np.int64)]),
    )
