"""Recall among generated captions, many of which are the same."""

from __future__ import annotations

import torch
from torch import Tensor

from seqcap.retrieval.ranking import CHUNK, TIE


def shared_recall(queries: Tensor, targets: Tensor, k: int) -> Tensor:
    """The probability that a query's own target is among the first k if ties are ordered at random: float64 [n] on the
    CPU, whose mean is R@k. NaN scores count against the own target.

    So a captioner with one sentence for all N images has R@1 = 1/N in both directions. `ranking.ranks` gives it 1/N
    from captions to images and 0 from images to captions.

    Args:
        queries, targets: embeddings [n, d]; row i of one belongs to row i of the other.
    """
    rows = torch.arange(len(targets), device=targets.device)
    found = []
    for some, of in zip(torch.split(queries, CHUNK), torch.split(rows, CHUNK), strict=True):
        scores = some @ targets.T
        own = scores.gather(1, of[:, None])
        others = of[:, None] != rows
        better = (~(scores <= own + TIE) & others).sum(1)
        tied = ((scores - own).abs() <= TIE).logical_and(others).sum(1)
        found.append(((k - better) / (1 + tied).double()).clamp(0, 1))
    return torch.cat(found).cpu()
