"""Recall among generated captions, many of which are the same."""

from __future__ import annotations

import torch
from torch import Tensor

from seqcap.retrieval.ranking import CHUNK, TIE


def shared_recall(queries: Tensor, targets: Tensor, k: int) -> Tensor:
    """The probability that a query's own target is among the first k if ties are ordered at random.

    So a captioner that says one sentence of all N images has R@1 = 1/N in both directions. `ranking.ranks`, which
    counts ties against the own, gives it 1/N by its captions and 0 by the images.

    Args:
        queries, targets: embeddings [n, d]; row i of one belongs to row i of the other.

    Returns:
        float64 [n], 0 to 1, on the CPU; their mean is R@k. NaN scores count against the own.
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
