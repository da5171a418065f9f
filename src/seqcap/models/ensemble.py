"""Ensembles of captioners: their mean next-token distribution, as Elbayad et al., ACL 2018, submit to COCO."""

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
    """p(y_t | y_<t, x) = 1/k sum_i p_i(y_t | y_<t, x) over k captioners with one vocabulary. Members are in evaluation
    mode; their architectures and features may differ. Memory and state are the members' tensors one after the other, so
    decoding works as for one captioner. One member gives the same bytes as alone.

    Args:
        members: the k captioners, at least one, in the order of the features that `encode` takes.
    """

    def __init__(self, members: Sequence[Captioner]) -> None:
        self.members = tuple(members)
        self._memories: list[int] = []
        self._states: list[int] = []

    @classmethod
    def load(cls, paths: Sequence[Path], device: torch.device) -> tuple[Self, list[dict[str, Any]]]:
        """Loads an ensemble and the metadata of each member. InputError if files are wrong or vocabularies differ."""
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
        parts = _split(memory, self._memories)
        states = [member.start(part) for member, part in zip(self.members, parts, strict=True)]
        self._states = [len(state) for state in states]
        return tuple(chain.from_iterable(states))

    def step(self, inputs: Tensor, state: Tensors, memory: Tensors) -> tuple[Tensor, Tensors]:
        """The logs of the mean probabilities as logits [n, V], and the next state."""
        parts = zip(self.members, _split(state, self._states), _split(memory, self._memories), strict=True)
        logits, states = zip(*(member.step(inputs, own, seen) for member, own, seen in parts), strict=True)
        state = tuple(chain.from_iterable(states))
        if len(logits) == 1:
            return logits[0], state
        # In logs, so that the value of an impossible token stays finite.
        log_p = torch.stack([torch.log_softmax(member.float(), dim=1) for member in logits])
        return log_p.logsumexp(0) - math.log(len(logits)), state


def _split(tensors: Tensors, sizes: list[int]) -> list[Tensors]:
    rest = iter(tensors)
    return [tuple(next(rest) for _ in range(size)) for size in sizes]
