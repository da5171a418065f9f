"""Batches of a split in random order, read while the last one trains."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch

from seqcap.objectives.base import Batch
from seqcap.tasks.base import Ids, Split


@dataclass(frozen=True)
class Batches:
    """One process's share of the batches of a split, epoch after epoch.

    The order within an epoch depends on seed and epoch alone, so that a resumed run meets the same batches.

    Attributes:
        size: inputs of a batch, of all processes together.
        rank, world: this process among the launcher's, and the number of them.
    """

    split: Split
    size: int
    seed: int
    rank: int = 0
    world: int = 1

    def __len__(self) -> int:
        """How many batches an epoch has."""
        return -(-len(self.split) // self.size)

    def read(self, start: int, stop: int, device: torch.device) -> Iterator[Batch]:
        """Batches `start` to `stop`, counted from the first epoch's start."""

        @lru_cache(maxsize=1)
        def order(epoch: int) -> Ids:
            return self.split.order(np.random.default_rng([self.seed, epoch]), self.size)

        def load(at: int) -> Batch:
            epoch, position = divmod(at, len(self))
            return self._share(order(epoch)[position * self.size : (position + 1) * self.size])

        if start == stop:
            return
        with ThreadPoolExecutor(1) as reader:
            ahead = reader.submit(load, start)
            for at in range(start, stop):
                batch = ahead.result()
                if at + 1 < stop:
                    ahead = reader.submit(load, at + 1)
                yield Batch(batch.features.to(device), batch.images, batch.captions.to(device), batch.weight)

    def _share(self, chosen: Ids) -> Batch:
        """This process's share of a batch."""
        share = chosen[self.rank :: self.world]
        weight = self.world * len(share) / len(chosen)
        # A last batch smaller than the group: every rank must take part in the gradient, if with nothing.
        share = share if len(share) > 0 else chosen[:1]
        return Batch(self.split.inputs.get(share), share, self.split.captions(share), weight)
