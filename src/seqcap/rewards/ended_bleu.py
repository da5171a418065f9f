"""Sentence BLEU-4 whose n-grams may hold EOS, so that a caption that stops in the middle of a phrase earns less. No
paper has it: the official BLEU knows no EOS, and `seqcap.rewards.bleu` equals it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from seqcap.rewards.bleu import Bleu

if TYPE_CHECKING:
    from seqcap.rewards.mixture import RewardInputs

Floats = npt.NDArray[np.float64]


class EndedBleu:
    """EOS is a token of the references and, where it has one, of the hypothesis: of n-grams and of lengths.

    Args:
        bleu: BLEU against references with EOS (`RewardInputs.ended`).
    """

    def __init__(self, bleu: Bleu) -> None:
        self._bleu = bleu

    def score(self, hypotheses: npt.ArrayLike, image: npt.ArrayLike) -> Floats:
        """BLEU-4 [n] in 0 .. 1; arguments and errors as in `Metric.score`."""
        last: Floats = self._bleu.score(hypotheses, image)[:, 3]
        return last


def build(inputs: RewardInputs) -> EndedBleu:
    return EndedBleu(Bleu(inputs.ended))
