"""Batches of a split in random order, loaded during the previous training step."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch

from seqcap.objectives.shared.base import Batch
from seqcap.tasks.base import Ids, Split


@dataclass(frozen=True)
class Batches:
    """One process's share of a split's batches, epoch after epoch. The order within an epoch depends only on seed and
    epoch, so a resumed run reads the same batches.

    Attributes:
        split: what is read.
        size: inputs of a batch, over all processes.
        seed: decides the order, with the epoch.
        rank: of this process under the launcher.
        world: number of processes.
    """

    split: Split
    size: int
    seed: int
    rank: int = 0
    world: int = 1

    def __len__(self) -> int:
        return -(-len(self.split) // self.size)

    def read(self, start: int, stop: int, device: torch.device) -> Iterator[Batch]:
        """Batches `start` to `stop`, counted from the start of the first epoch."""

        @lru_cache(maxsize=1)
        def order(epoch: int) -> Ids:
            return self.split.order(np.random.default_rng([self.seed, epoch]), self.size)

        def load(number: int) -> Batch:
            epoch, position = divmod(number, len(self))
            return self._share(order(epoch)[position * self.size : (position + 1) * self.size])

        if start == stop:
            return
        with ThreadPoolExecutor(1) as reader:
            ahead = reader.submit(load, start)
            for number in range(start, stop):
                batch = ahead.result()
                if number + 1 < stop:
                    ahead = reader.submit(load, number + 1)
                yield Batch(batch.features.to(device), batch.images, batch.captions.to(device), batch.weight)

    def _share(self, chosen: Ids) -> Batch:
        share = chosen[self.rank :: self.world]
        weight = self.world * len(share) / len(chosen)
        # Ranks without a share of a small last batch take part in the gradient with weight 0.
        share = share if len(share) > 0 else chosen[:1]
        return Batch(self.split.inputs.get(share), share, self.split.captions(share), weight)
