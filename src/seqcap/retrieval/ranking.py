"""Ranks of the right target, by cosine or by another comparison."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

CHUNK = 500  # queries per chunk: their scores against 25,000 targets take 50 MB
# Embeddings of n queries and m targets -> scores [n, m].
Comparison = Callable[[Tensor, Tensor], Tensor]
TIE = 1e-6  # closer scores are ties: embeddings of one caption differ by rounding between batches


def cosines(queries: Tensor, targets: Tensor) -> Tensor:
    return queries @ targets.T


def given(queries: Tensor, targets: Tensor) -> Tensor:
    """For queries that are their scores [n, m] already."""
    return queries


def ranks(
    queries: Tensor, targets: Tensor, own: Tensor, items: Tensor | None = None, compare: Comparison = cosines
) -> Tensor:
    """The rank, from 1, of every query's own target: int64 [n] on the CPU. Ties and NaN count against it. If a query
    has several own targets, like an image's captions, the best one counts and the others are left out. Queries and
    targets are embeddings [n, d] and [m, d]; `own` [n] and `items` [m] are their items, by default a target's row."""
    if items is None:
        items = torch.arange(len(targets), device=targets.device)
    found = []
    for some, some_own in zip(torch.split(queries, CHUNK), torch.split(own.to(items.device), CHUNK), strict=True):
        scores = compare(some, targets)
        mine = some_own[:, None] == items
        best = scores.masked_fill(~mine, -torch.inf).amax(1, keepdim=True)
        found.append((~(scores < best - TIE) & ~mine).sum(1) + 1)
    return torch.cat(found).cpu()


def shared_recall(queries: Tensor, targets: Tensor, k: int, compare: Comparison = cosines) -> Tensor:
    """The probability that a query's own target is among the first k if ties are in random order: float64 [n] on the
    CPU. Its mean is R@k. NaN scores count against the target. Queries and targets are embeddings [n, d], row by row.
    A captioner with one sentence for all N images has R@1 = 1/N in both directions. `ranks` gives it 1/N from
    captions to images, but 0 from images to captions."""
    rows = torch.arange(len(targets), device=targets.device)
    found = []
    for some, some_rows in zip(torch.split(queries, CHUNK), torch.split(rows, CHUNK), strict=True):
        scores = compare(some, targets)
        own = scores.gather(1, some_rows[:, None])
        others = some_rows[:, None] != rows
        better = (~(scores <= own + TIE) & others).sum(1)
        tied = ((scores - own).abs() <= TIE).logical_and(others).sum(1)
        found.append(((k - better) / (1 + tied).double()).clamp(0, 1))
    return torch.cat(found).cpu()


def recall(ranks: Tensor, k: int) -> float:
    """R@k, 0 to 1: the share of ranks [n] up to k."""
    return float((ranks <= k).double().mean())


def median_rank(ranks: Tensor) -> float:
    """The median of ranks [n]; the mean of the middle two for an even number."""
    return float(np.median(ranks.numpy()))
