"""CIDEr-D on token ids (Vedantam et al., CVPR 2015, section 7), equal to pycocoevalcap's `Cider`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from seqcap.rewards.kernels import cider_d, cook_cider, count_documents
from seqcap.rewards.sequences import References

if TYPE_CHECKING:
    from seqcap.rewards.mixture import Material

SIGMA = 6.0


class DocumentFrequencies:
    """For each n-gram, the number of images with a reference that contains it.

    Args:
        references: of the training set for a reward, of the scored split for evaluation.

    Attributes:
        table: [capacity] n-grams.
        shift: of the hash function.
        idf: [capacity] log(images / frequency); log(images) where the table is empty, for an n-gram never seen.
    """

    def __init__(self, references: References) -> None:
        self.table, frequency = count_documents(*references.flat)
        self.shift = np.uint64(64 - (len(self.table).bit_length() - 1))
        self.idf = np.log(len(references)) - np.log(np.maximum(frequency, 1))


class CiderD:
    """CIDEr-D as a reward; see `mixture.Metric`.

    Args:
        references: with a single image, every weight is log 1 = 0 and so is every score.
        frequencies: of other references, never of a batch; None counts them over these references.
    """

    def __init__(self, references: References, frequencies: DocumentFrequencies | None = None) -> None:
        frequencies = frequencies or DocumentFrequencies(references)
        r, f = references, frequencies
        cells = np.concatenate([[0], np.cumsum(np.diff(r.grams) * np.diff(r.images))])
        counts, norms = cook_cider(*r.flat, r.union, r.grams, cells, f.table, f.shift, f.idf)
        self._references = r
        weights = (f.table, f.shift, f.idf)
        self._cooked = (r.captions, r.images, *weights, r.union, r.grams, cells, counts, norms)

    def score(self, hypotheses: npt.ArrayLike, image: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """CIDEr-D [n], 0 (nothing shared) to 10: 10 times the mean over orders 1-4 and references of the clipped
        tf-idf cosine, times exp(-(difference in length)^2 / (2 * 6^2)). An empty hypothesis scores 0."""
        rows, lengths, images = self._references.checked(hypotheses, image)
        return cider_d(rows, lengths, images, *self._cooked, SIGMA)


def build(material: Material) -> CiderD:
    """Reward metric cider."""
    return CiderD(material.ended)
