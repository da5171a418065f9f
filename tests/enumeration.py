"""A captioner small enough that every caption can be written down, a reward, and what objectives are told."""

from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from seqcap.data.vocabulary import EOS, PAD, UNK
from seqcap.models import decoding
from seqcap.models.base import Captioner
from seqcap.models.lstm import Config, Model
from seqcap.objectives.shared.base import Context
from seqcap.rewards.ciderd import CiderD
from seqcap.rewards.sequences import References

CHANNELS = 3


class Cider:
    """CIDEr-D, built when it is first asked: its kernels are not compiled by every process that collects tests."""

    def __init__(self, references: list[list[list[int]]]) -> None:
        self._references = references

    @cached_property
    def _reward(self) -> CiderD:
        return CiderD(References(self._references))

    def score(self, hypotheses: NDArray[np.int64], image: NDArray[np.int64]) -> NDArray[np.float64]:
        return self._reward.score(hypotheses, image)


def tiny_captioner(words: int, seed: int = 0, scale: float = 1.5) -> Captioner:
    """An LSTM over UNK, EOS and `words` words, with random weights that make its distribution uneven."""
    torch.manual_seed(seed)
    captioner = Model(Config(hidden=4, image_input="every_step"), 4 + words, (CHANNELS,))
    with torch.no_grad():
        for parameter in captioner.parameters():
            parameter.copy_(torch.randn_like(parameter) * scale / 2)
    return captioner


def all_captions(words: int, max_length: int) -> Tensor:
    """Every caption of at most `max_length` tokens, EOS included; one without EOS is cut. Ids [n, max_length]."""
    alphabet = [UNK, *range(4, 4 + words)]
    rows = []
    for length in range(max_length + 1):
        for caption in product(alphabet, repeat=length):
            ended = [*caption, EOS] if length < max_length else list(caption)
            rows.append(ended + [PAD] * (max_length - len(ended)))
    return torch.tensor(rows)


def log_probs(captioner: Captioner, features: Tensor, captions: Tensor) -> Tensor:
    """log p(y|x) [n] of captions [n, time] of one image's features [channels], with gradient."""
    logits = captioner.teacher_force(features.expand(len(captions), -1), captions)
    token = torch.log_softmax(logits, 2).gather(2, captions[:, :, None]).squeeze(2)
    return token.masked_fill(captions == PAD, 0).sum(1)


def say(monkeypatch: Any, captions: Tensor, begin: int = 0) -> None:
    """Makes all captions that are drawn be `captions` [n, time], from their token `begin` on."""
    left: list[tuple[Tensor, int]] = []

    def choose(probabilities: Tensor, greedy: Tensor) -> Tensor:
        rows, t = left.pop() if left else ((captions[:, begin] != PAD).nonzero()[:, 0], begin)
        assert len(probabilities) == len(greedy) == len(rows)
        words = captions[rows, t]
        going = rows[words != EOS]
        if len(going) > 0 and t + 1 < captions.shape[1]:
            left.append((going, t + 1))
        return words

    monkeypatch.setattr(decoding, "choose", choose)


def make_context(reward: Any, max_length: int, tokens: int, **changes: Any) -> Context:
    """What an objective is told, with a vocabulary of `tokens`."""
    frequencies = torch.ones(tokens, dtype=torch.int64)
    values: dict[str, Any] = {"hidden": 4, "steps_per_epoch": 1, "embeddings": None, "frequencies": frequencies}
    values |= {"reads": {}, "seed": 1, "task": Path(), "items": np.arange(2), "feature_shape": (4,)}
    return Context(reward, max_length, **(values | changes))


def gradient(module: torch.nn.Module, value: Tensor) -> Tensor:
    """Of all parameters that may learn, flat."""
    parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
    parts = torch.autograd.grad(value, parameters, allow_unused=True, retain_graph=True)
    pairs = zip(parameters, parts, strict=True)
    return torch.cat([(torch.zeros_like(p) if part is None else part).flatten() for p, part in pairs]).double()


def assert_close(actual: Tensor, expected: Tensor, atol: float = 3e-6, rtol: float = 2e-4) -> None:
    """Two gradients are the same, and not zero."""
    assert expected.norm() > 1e-3
    torch.testing.assert_close(actual, expected, atol=atol, rtol=rtol)
