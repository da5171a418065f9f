"""ROUGE-L on token ids (Lin and Och, ACL 2004), equal to pycocoevalcap's `Rouge`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from seqcap.rewards.kernels import rouge_l
from seqcap.rewards.sequences import References

if TYPE_CHECKING:
    from seqcap.rewards.mixture import RewardInputs

BETA = 1.2  # weight of recall over precision


class RougeL:
    """ROUGE-L of single captions.

    Args:
        references: of the training images.
    """

    def __init__(self, references: References) -> None:
        self._references = references

    def score(self, hypotheses: npt.ArrayLike, image: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """F-measure [n] in 0 .. 1 (beta 1.2) of the longest common subsequence. Best precision and best recall may come
        from two references. An empty hypothesis scores 0, or 1 if a reference is empty too."""
        return rouge_l(*self._references.checked(hypotheses, image), self._references.cooked, BETA)


def build(inputs: RewardInputs) -> RougeL:
    return RougeL(inputs.plain)
