"""Sentence BLEU-1..4 on token ids (Papineni et al., ACL 2002), equal to pycocoevalcap's `Bleu` for each caption: with
the closest reference length (the shorter of two equally close) and its smoothing constants 1e-15 and 1e-9."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from seqcap.errors import InputError
from seqcap.rewards.corpus import bleu_from_statistics
from seqcap.rewards.kernels import bleu_against, bleu_among, cook_bleu
from seqcap.rewards.sequences import References, checked_hypotheses, scored_lengths

if TYPE_CHECKING:
    from seqcap.rewards.mixture import RewardInputs

Floats = npt.NDArray[np.float64]


class Bleu:
    """BLEU-1 to BLEU-4 of single captions, smoothed as `bleu_from_statistics` says.

    Args:
        references: of the training images.
    """

    def __init__(self, references: References) -> None:
        self._references = references
        self._limits = cook_bleu(references.cooked)

    def score(self, hypotheses: npt.ArrayLike, image: npt.ArrayLike) -> Floats:
        """BLEU-1..4 [n, 4] in 0 .. 1. An empty hypothesis scores 0."""
        return bleu_from_statistics(self.statistics(hypotheses, image))

    def statistics(self, hypotheses: npt.ArrayLike, image: npt.ArrayLike) -> Floats:
        """The counts [n, 10] for `bleu_from_statistics`; arguments and errors as in `score`."""
        return bleu_against(*self._references.checked(hypotheses, image), self._references.cooked, self._limits)


def build(inputs: RewardInputs) -> Bleu:
    return Bleu(inputs.plain)


def pairwise_bleu(hypotheses: npt.ArrayLike) -> Floats:
    """BLEU-1..4 between samples, ids [b, s, time]: entry [i, j, k] of [b, s, s, 4] scores sample j of image i with
    sample k as its only reference. EOS is a token. The diagonal is 1, up to smoothing, for captions of at least n
    tokens. InputError for wrong shape, or ids out of range."""
    return bleu_from_statistics(_among(hypotheses, pairwise=True, eos=True))


def multi_reference_bleu(hypotheses: npt.ArrayLike) -> Floats:
    """BLEU-1..4 [b, s, 4] of each of an image's s >= 2 samples against the others; otherwise as `pairwise_bleu`."""
    return bleu_from_statistics(multi_reference_statistics(hypotheses, eos=True))


def multi_reference_statistics(hypotheses: npt.ArrayLike, eos: bool) -> Floats:
    """The counts [b, s, 10] of `multi_reference_bleu`; `eos` tells whether EOS is a token."""
    return _among(hypotheses, pairwise=False, eos=eos)[:, :, 0]


def _among(hypotheses: npt.ArrayLike, pairwise: bool, eos: bool) -> Floats:
    samples = checked_hypotheses(hypotheses, dimensions=3)
    b, s, time = samples.shape
    if s < 2 and not pairwise:
        raise InputError("hypotheses", f"have {s} sample per image", "pass at least 2: the others are the references")
    return bleu_among(samples, scored_lengths(samples.reshape(b * s, time), eos).reshape(b, s), pairwise)
