"""How much better a caption and its image fit than all others: the reward of Chaffin et al., 2024 (eq. 2)."""

from __future__ import annotations

import torch
from torch import Tensor

from seqcap.retrieval.ranking import TIE


def contrast(own: Tensor, scores: Tensor, left_out: Tensor, temperature: float, cap: float | None = None) -> Tensor:
    """tau log [ e^{s(own)/tau} / sum over the others of e^{s/tau} ] [n], one direction of eq. 2; 0 without negatives.

    Unlike InfoNCE's, the denominator does not include the positive pair: the value may be above zero. As tau -> 0 it is
    s(own) - max s(others).

    Args:
        own: cosines [n] of the positive pairs.
        scores: cosines [n, m] with everything.
        left_out: bool [n, m], where `scores` has no negative: the positive itself.
        temperature: tau.
        cap: upper bound of the logarithm, nats. The released code has 16: it subtracts the positive from a float32 sum,
            which leaves zero where the positive stands out by .16 in cosine. The masked sum here needs no bound.
    """
    others = (scores / temperature).masked_fill(left_out, -torch.inf).logsumexp(1)
    ratio = (own / temperature - others).masked_fill(left_out.all(1), 0)
    return temperature * (ratio if cap is None else ratio.clamp(max=cap))


def copies(images: Tensor, others: Tensor) -> Tensor:
    """Which images are copies of which others: bool [n, m], of embeddings [n, d] and [m, d] of length 1."""
    return images @ others.T >= 1 - TIE
