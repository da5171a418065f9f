"""How much better a caption fits its image than all others: the reward of Chaffin et al., 2024 (eq. 2)."""

import torch
from torch import Tensor

from seqcap.retrieval.ranking import TIE


def contrast(own: Tensor, scores: Tensor, left_out: Tensor, temperature: float, cap: float | None = None) -> Tensor:
    """tau log [ e^{s(own)/tau} / sum over the others of e^{s/tau} ] [n], one direction of eq. 2; 0 without negatives.
    Unlike InfoNCE, the denominator excludes the positive pair, so values may be above zero. The limit tau -> 0 is
    s(own) - max s(others). `own` [n] are cosines of the positive pairs, `scores` [n, m] those with everything,
    `left_out` [n, m] tells which of these are not negatives, such as the positive itself.
    `cap` is an upper bound of the logarithm, nats. The released code has 16: it subtracts the positive from a float32
    sum, which gives zero if the positive leads by .16 in cosine. The masked sum here needs no bound."""
    others = (scores / temperature).masked_fill(left_out, -torch.inf).logsumexp(1)
    ratio = (own / temperature - others).masked_fill(left_out.all(1), 0)
    return temperature * (ratio if cap is None else ratio.clamp(max=cap))


def copies(images: Tensor, others: Tensor) -> Tensor:
    """Which images are copies of which others: bool [n, m] from embeddings [n, d] and [m, d] of length 1."""
    return images @ others.T >= 1 - TIE
