"""Sequence rewards on token ids: fast enough to be computed inside every training step."""

from seqcap.rewards.bleu import Bleu, multi_reference_bleu, pairwise_bleu
from seqcap.rewards.ciderd import CiderD, DocumentFrequencies
from seqcap.rewards.meteor import Lexicon, Meteor, corpus_meteor
from seqcap.rewards.rouge import RougeL
from seqcap.rewards.sequences import References

__all__ = [
    "Bleu",
    "CiderD",
    "DocumentFrequencies",
    "Lexicon",
    "Meteor",
    "References",
    "RougeL",
    "corpus_meteor",
    "multi_reference_bleu",
    "pairwise_bleu",
]
