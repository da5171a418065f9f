"""CIDEr-D on token ids (Vedantam et al., CVPR 2015, section 7), equal to pycocoevalcap's `Cider`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from seqcap.rewards.kernels import cider_d, cook_cider, count_documents
from seqcap.rewards.sequences import checked_hypotheses, checked_images, flatten_references, scored_lengths

SIGMA = 6.0


class CiderD:
    """CIDEr-D reward: built once from the training references, then scores batches of ids.

    Document frequencies are counted over these references, an n-gram once an image, never over a batch.
    With a single image every weight is log 1 = 0 and so is every score.

    Args:
        references: per image, captions as lists of ids *without* EOS (it is appended here).
        eos: whether EOS is a token of references, hypotheses and document frequencies.

    Raises:
        InputError: no images, an image without captions, or an id outside 1 .. 65,535.
    """

    def __init__(self, references: Sequence[Sequence[Sequence[int]]], eos: bool = True) -> None:
        self._eos = eos
        flat = flatten_references(references, eos)
        table, frequency, distinct = count_documents(*flat)
        idf = np.log(len(references)) - np.log(np.maximum(frequency, 1))
        shift = np.uint64(64 - (len(table).bit_length() - 1))
        grams = np.concatenate([[0], np.cumsum(distinct)])
        cells = np.concatenate([[0], np.cumsum(distinct * np.diff(flat.images))])
        slots, counts, norms = cook_cider(*flat, table, shift, idf, grams, cells)
        self._images = len(references)
        self._cider_d = partial(
            cider_d,
            captions=flat.captions,
            images=flat.images,
            table=table,
            shift=shift,
            idf=idf,
            grams=grams,
            cells=cells,
            slots=slots,
            counts=counts,
            norms=norms,
            sigma=SIGMA,
        )

    def score(self, hypotheses: npt.ArrayLike, image: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """CIDEr-D of each hypothesis: 10 times the mean over orders 1-4 and references of the clipped tf-idf
        cosine, times exp(-(difference in length)^2 / (2 * 6^2)).

        Args:
            hypotheses: [n, time] ids: words, EOS, then PAD; EOS may be missing.
            image: [n] index into the references.

        Returns:
            [n] scores, 0 (nothing shared) to 10. An empty hypothesis scores 0.

        Raises:
            InputError: wrong shapes, or ids or indices out of range.
        """
        rows = checked_hypotheses(hypotheses, dimensions=2)
        images = checked_images(image, len(rows), self._images)
        return self._cider_d(rows, scored_lengths(rows, self._eos), images)
