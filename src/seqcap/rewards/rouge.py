"""ROUGE-L on token ids (Lin and Och, ACL 2004), equal to pycocoevalcap's `Rouge`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from seqcap.rewards.kernels import rouge_l
from seqcap.rewards.sequences import References

if TYPE_CHECKING:
    from seqcap.rewards.mixture import Material

# Weight of recall over precision.
BETA = 1.2


class RougeL:
    """ROUGE-L reward: built once from the training references, then scores batches of ids.

    Args:
        references: cooked once for all rewards.
    """

    def __init__(self, references: References) -> None:
        self._references = references

    def score(self, hypotheses: npt.ArrayLike, image: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """F-measure (beta 1.2) of the longest common subsequence; the best precision and the best recall may come
        from two references.

        Args:
            hypotheses: [n, time] ids: words, EOS, then PAD; EOS may be missing.
            image: [n] index into the references.

        Returns:
            [n] scores in 0 .. 1. An empty hypothesis scores 0, unless a reference is empty too (then 1).

        Raises:
            InputError: wrong shapes, or ids or indices out of range.
        """
        return rouge_l(*self._references.checked(hypotheses, image), *self._references.flat, BETA)


def build(material: Material) -> RougeL:
    """Reward metric rouge_l."""
    return RougeL(material.plain)
