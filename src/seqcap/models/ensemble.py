"""Several captioners decoding together: the average of their next-token distributions.

Elbayad et al., ACL 2018, submit ensembles of five seeds to COCO's server (Table 2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor

from seqcap import models
from seqcap.errors import InputError
from seqcap.models.base import Captioner, Tensors


class Ensemble:
    """p(y_t | y_<t, x) = 1/k sum_i p_i(y_t | y_<t, x), the arithmetic mean over k captioners of one vocabulary.

    Memory and state are the concatenated tensors of the members, so that decoding selects and repeats rows as for one
    captioner. A single member decodes to the same bytes as by itself.

    Args:
        members: at least one, in evaluation mode; architectures and features may differ.
    """

    def __init__(self, members: Sequence[Captioner]) -> None:
        self.members = tuple(members)
        # The number of memory and of state tensors of each member.
        self._memories: list[int] = []
        self._states: list[int] = []

    @classmethod
    def load(cls, paths: Sequence[Path], device: torch.device) -> tuple[Self, list[dict[str, Any]]]:
        """Trained captioners as an ensemble, and the metadata of each.

        Raises:
            InputError: a file is missing or no captioner's, or they were trained with different vocabularies.
        """
        loaded = [models.load(path) for path in paths]
        for path, (_, metadata) in zip(paths, loaded, strict=True):
            if metadata["vocabulary"] != loaded[0][1]["vocabulary"]:
                problem = f"was trained with another vocabulary than {paths[0]}"
                raise InputError(path, problem, "put captioners of one vocabulary together")
        return cls([captioner.to(device) for captioner, _ in loaded]), [metadata for _, metadata in loaded]

    def encode(self, features: Sequence[Tensor]) -> Tensors:
        """Each member's features [n, *its feature_shape] of the same images -> memory."""
        memories = [member.encode(given) for member, given in zip(self.members, features, strict=True)]
        self._memories = [len(memory) for memory in memories]
        return tuple(chain.from_iterable(memories))

    def start(self, memory: Tensors) -> Tensors:
        """The members' states before the first token."""
        parts = _split(memory, self._memories)
        states = [member.start(part) for member, part in zip(self.members, parts, strict=True)]
        self._states = [len(state) for state in states]
        return tuple(chain.from_iterable(states))

    def step(self, inputs: Tensor, state: Tensors, memory: Tensors) -> tuple[Tensor, Tensors]:
        """The log of the mean probability as logits [n, V], and the next state."""
        parts = zip(self.members, _split(state, self._states), _split(memory, self._memories), strict=True)
        logits, states = zip(*(member.step(inputs, own, seen) for member, own, seen in parts), strict=True)
        state = tuple(chain.from_iterable(states))
        if len(logits) == 1:
            return logits[0], state
        # In logs, so that an impossible token stays finite.
        log_p = torch.stack([torch.log_softmax(member.float(), dim=1) for member in logits])
        return log_p.logsumexp(0) - math.log(len(logits)), state


def _split(tensors: Tensors, sizes: list[int]) -> list[Tensors]:
    """Consecutive groups of the given sizes."""
    rest = iter(tensors)
    return [tuple(next(rest) for _ in range(size)) for size in sizes]
