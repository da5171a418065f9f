"""Sequence rewards on token ids: fast enough to be computed inside every training step."""

from seqcap.rewards.bleu import Bleu, multi_reference_bleu, pairwise_bleu
from seqcap.rewards.ciderd import CiderD

__all__ = ["Bleu", "CiderD", "multi_reference_bleu", "pairwise_bleu"]
