"""CIDEr-D on token ids (Vedantam et al., CVPR 2015, section 7), equal to pycocoevalcap's `Cider`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from seqcap.rewards.kernels import Frequencies, Ints, Keys, cider_d, cook_cider, fill_table
from seqcap.rewards.sequences import References

if TYPE_CHECKING:
    from seqcap.rewards.mixture import RewardInputs

SIGMA = 6.0


def document_frequencies(references: References) -> Frequencies:
    """Counts, for each n-gram, the images with a reference that contains it: of the training set for rewards, of the
    scored split for evaluation."""
    # An image has an n-gram once in the union of its captions.
    grams, counts = np.unique(references.cooked.union, return_counts=True)
    return frequency_table(grams, counts, len(references))


def frequency_table(grams: Keys, counts: Ints, images: int) -> Frequencies:
    """The weights of n-grams, uint64 [grams] (packed as in `kernels`), of which each is in a reference of `counts`,
    int64 [grams], of the `images`."""
    # At most half full.
    log_capacity = max(10, (2 * len(grams)).bit_length())
    table, frequency = fill_table(grams, counts, log_capacity)
    idf = np.log(images) - np.log(np.maximum(frequency, 1))
    return Frequencies(table, np.uint64(64 - log_capacity), idf)


class CiderD:
    """CIDEr-D as a reward; see `mixture.Metric`. PAD is 0 and EOS is 2, as in this package's vocabularies: for ids of
    another tokenizer there is `library.reward.TokenReward`.

    Args:
        references: of all images that hypotheses are scored for.
        frequencies: the weights of n-grams (`document_frequencies`). None: those of `references`, of which one image
            alone would give all zeros: never count them over a batch.
    """

    def __init__(self, references: References, frequencies: Frequencies | None = None) -> None:
        frequencies = frequencies or document_frequencies(references)
        cooked = references.cooked
        cells = np.concatenate([[0], np.cumsum(np.diff(cooked.grams) * np.diff(cooked.images))])
        self._references = references
        self._cooked = (cooked, frequencies, cells, *cook_cider(cooked, frequencies, cells))

    def score(self, hypotheses: npt.ArrayLike, image: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """CIDEr-D [n], 0 (nothing shared) to 10: 10 times the mean over orders 1-4 and references of the clipped tf-idf
        cosine, times exp(-(difference in length)^2 / (2 * 6^2)). An empty hypothesis scores 0."""
        rows, lengths, images = self._references.checked(hypotheses, image)
        return cider_d(rows, lengths, images, *self._cooked, SIGMA)


def build(inputs: RewardInputs) -> CiderD:
    return CiderD(inputs.ended)
