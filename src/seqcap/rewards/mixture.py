"""Weighted sums of rewards, as params.yaml names them: BCMR, SPIDEr, or a single metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from seqcap.artifacts import PARAPHRASES, read_table
from seqcap.rewards.bleu import Bleu
from seqcap.rewards.ciderd import CiderD
from seqcap.rewards.meteor import Lexicon, Meteor
from seqcap.rewards.rouge import RougeL
from seqcap.rewards.sequences import References
from seqcap.spice.cache import CachedParser
from seqcap.spice.reward import SpiceReward

Floats = npt.NDArray[np.float64]

BLEUS = ("bleu1", "bleu2", "bleu3", "bleu4")
METRICS = (*BLEUS, "rouge_l", "cider", "meteor", "spice")

# Parses are the same whoever asks: all runs on a machine share them, and no result depends on the file.
PARSES = Path("scratch/scene_graphs.parquet")


class Mixture:
    """The weighted sum of metrics, each in the scale of its definition (x1): r(y) = sum_m w_m m(y).

    Built once from the training references; only the metrics that have a weight are. CIDEr-D counts EOS as a token, so
    that captions end where they should; the others see words only, as in evaluation: were EOS a token of BLEU, three
    words and an ending would be a 4-gram.

    Args:
        weights: metric -> weight, of `METRICS`.
        references: per image, captions as lists of ids without EOS.
        words: the vocabulary; a word's id is its position.
        paraphrases: what the stage `paraphrases` wrote; read only for METEOR.
        eos: whether CIDEr-D counts EOS; evaluation does not.

    Raises:
        InputError: malformed references, or a file that METEOR or SPICE needs is missing.
    """

    def __init__(
        self,
        weights: Mapping[str, float],
        references: Sequence[Sequence[Sequence[int]]],
        words: Sequence[str],
        paraphrases: Path,
        eos: bool = True,
    ) -> None:
        self._bleu = np.array([weights.get(name, 0.0) for name in BLEUS])
        self._of_bleu: Bleu | None = None
        self._parts: list[tuple[float, CiderD | RougeL | Meteor | SpiceReward]] = []
        if weights.get("cider"):
            self._parts.append((weights["cider"], CiderD(References(references, eos=eos))))
        if not any(weight for metric, weight in weights.items() if metric != "cider"):
            return
        plain = References(references, eos=False)
        if self._bleu.any():
            self._of_bleu = Bleu(plain)
        if weights.get("rouge_l"):
            self._parts.append((weights["rouge_l"], RougeL(plain)))
        if weights.get("meteor"):
            lexicon = Lexicon(words, read_table(paraphrases, PARAPHRASES))
            self._parts.append((weights["meteor"], Meteor(plain, lexicon)))
        if weights.get("spice"):
            self._parts.append((weights["spice"], SpiceReward(plain, words, CachedParser(PARSES))))

    def score(self, hypotheses: npt.ArrayLike, image: npt.ArrayLike) -> Floats:
        """Rewards [n] of hypotheses [n, time] of images [n] (rows of the references).

        Raises:
            InputError: wrong shapes, or ids or indices out of range.
        """
        total = np.zeros(len(np.asarray(image)))
        if self._of_bleu is not None:
            total += self._of_bleu.score(hypotheses, image) @ self._bleu
        for weight, reward in self._parts:
            total += weight * reward.score(hypotheses, image)
        return total
