"""Sentence BLEU-1..4 on token ids (Papineni et al., ACL 2002), equal to pycocoevalcap's `Bleu` per caption.

Closest reference length (the shorter of two equally close), its smoothing constants 1e-15 and 1e-9.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from seqcap.errors import InputError
from seqcap.rewards.kernels import ORDERS, bleu_against, bleu_among, cook_bleu, count_documents
from seqcap.rewards.sequences import checked_hypotheses, checked_images, flatten_references, scored_lengths

Floats = npt.NDArray[np.float64]


class Bleu:
    """BLEU reward: built once from the training references, then scores batches of ids.

    Args:
        references: per image, captions as lists of ids *without* EOS (it is appended here).
        eos: whether EOS is a token of references and hypotheses.

    Raises:
        InputError: no images, an image without captions, or an id outside 1 .. 65,535.
    """

    def __init__(self, references: Sequence[Sequence[Sequence[int]]], eos: bool = True) -> None:
        self._eos = eos
        flat = flatten_references(references, eos)
        _, _, distinct = count_documents(*flat)
        self._captions, self._images = flat.captions, flat.images
        self._cooked = cook_bleu(*flat, distinct)

    def score(self, hypotheses: npt.ArrayLike, image: npt.ArrayLike) -> Floats:
        """BLEU-1..4 of each hypothesis against its image's references.

        Args:
            hypotheses: [n, time] ids: words, EOS, then PAD; EOS may be missing.
            image: [n] index into the references.

        Returns:
            [n, 4] scores in 0 .. 1. An empty hypothesis scores 0.

        Raises:
            InputError: wrong shapes, or ids or indices out of range.
        """
        rows = checked_hypotheses(hypotheses, dimensions=2)
        images = checked_images(image, len(rows), len(self._images) - 1)
        scores = np.empty((len(rows), ORDERS))
        lengths = scored_lengths(rows, self._eos)
        bleu_against(rows, lengths, images, self._captions, self._images, *self._cooked, scores)
        return scores


def pairwise_bleu(hypotheses: npt.ArrayLike, eos: bool = True) -> Floats:
    """BLEU-1..4 of sample j of an image with its sample k as the single reference.

    Args:
        hypotheses: [b, s, time] ids.
        eos: whether EOS is a token.

    Returns:
        [b, s, s, 4]: entry [i, j, k] scores j against k. The diagonal is 1 up to smoothing where the caption
        has at least n tokens.

    Raises:
        InputError: wrong shape, or ids out of range.
    """
    samples = checked_hypotheses(hypotheses, dimensions=3)
    b, s, time = samples.shape
    scores = np.empty((b, s, s, ORDERS))
    bleu_among(samples, scored_lengths(samples.reshape(b * s, time), eos).reshape(b, s), True, scores)
    return scores


def multi_reference_bleu(hypotheses: npt.ArrayLike, eos: bool = True) -> Floats:
    """BLEU-1..4 of each sample of an image with its other s - 1 samples as references.

    Args:
        hypotheses: [b, s, time] ids, s >= 2.
        eos: whether EOS is a token.

    Returns:
        [b, s, 4].

    Raises:
        InputError: wrong shape, a single sample, or ids out of range.
    """
    samples = checked_hypotheses(hypotheses, dimensions=3)
    b, s, time = samples.shape
    if s < 2:
        raise InputError("hypotheses", f"have {s} sample per image", "pass at least 2: the others are the references")
    scores = np.empty((b, s, 1, ORDERS))
    bleu_among(samples, scored_lengths(samples.reshape(b * s, time), eos).reshape(b, s), False, scores)
    return scores[:, :, 0]
