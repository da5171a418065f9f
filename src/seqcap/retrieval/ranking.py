"""Ranks of the right target among all, by cosine."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

# Queries per chunk: against 25,000 targets their scores take 50 MB.
CHUNK = 500
# Closer scores are ties: embeddings of one caption from different batches differ by rounding.
TIE = 1e-6


def ranks(queries: Tensor, targets: Tensor, own: Tensor, items: Tensor | None = None) -> Tensor:
    """The rank, from 1, of every query's own target: int64 [n] on the CPU. Ties and NaN count against it.

    If a query has several targets of its own, as an image has several captions, the best counts, and the others are
    left out.

    Args:
        queries: embeddings [n, d].
        targets: embeddings [m, d].
        own: int64 [n], the item of each query.
        items: int64 [m], the item of each target; None: its row.
    """
    if items is None:
        items = torch.arange(len(targets), device=targets.device)
    found = []
    for some, of in zip(torch.split(queries, CHUNK), torch.split(own.to(items.device), CHUNK), strict=True):
        scores = some @ targets.T
        mine = of[:, None] == items
        best = scores.masked_fill(~mine, -torch.inf).amax(1, keepdim=True)
        found.append((~(scores < best - TIE) & ~mine).sum(1) + 1)
    return torch.cat(found).cpu()


def recall(ranks: Tensor, k: int) -> float:
    """R@k, 0 to 1: the share of ranks [n] that are k or better."""
    return float((ranks <= k).double().mean())


def median_rank(ranks: Tensor) -> float:
    """The median of ranks [n]; of an even number, the mean of the middle two."""
    return float(np.median(ranks.numpy()))
