"""What every captioner offers: `encode`, `start`, `step`, `teacher_force`. Decoders and objectives use nothing else.

Tokens are ids: PAD 0, BOS 1, EOS 2, UNK 3, words from 4. A caption tensor [n, time] holds words, EOS, then PAD; BOS is
never stored, the captioner feeds it itself. PAD and BOS have probability zero under every captioner, so that p(y|x)
sums to one over the captions that can be written.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, ParamSpec, TypeVar, cast

import torch
from pydantic import Field
from torch import Tensor, nn

from seqcap.config import Frozen
from seqcap.data.vocabulary import BOS, PAD

# A logit this low has probability exactly zero in float32, yet stays finite: 0 * log 0 gives 0, not NaN.
IMPOSSIBLE = -1e4

# Memory (what is known of the images) and state (where the decoder stands): tensors whose first axis is the caption.
Tensors = tuple[Tensor, ...]

P = ParamSpec("P")
T = TypeVar("T")


def select(tensors: Tensors, rows: Tensor) -> Tensors:
    """The given rows of every tensor."""
    return tuple(tensor[rows] for tensor in tensors)


def repeat(tensors: Tensors, times: int) -> Tensors:
    """Each row `times` times: the memory for `times` captions of each image."""
    if times == 1:
        return tensors
    return tuple(tensor.repeat_interleave(times, dim=0) for tensor in tensors)


def in_precision(method: Callable[P, T]) -> Callable[P, T]:
    """Makes a method compute in the captioner's precision while it trains."""

    @wraps(method)
    def rounded(*arguments: P.args, **named: P.kwargs) -> T:
        captioner = cast(Captioner, arguments[0])
        if not captioner.training or captioner.precision == torch.float32:
            return method(*arguments, **named)
        with torch.autocast(captioner.output.weight.device.type, captioner.precision):
            return method(*arguments, **named)

    return rounded


class Captioner(nn.Module, ABC):
    """A model of p(y|x), one token at a time: of captions given an image, or of translations given a sentence.

    Dropout masks are drawn once per input in `encode` and are part of the memory. A caption sampled and scored with the
    same memory has the same masks; otherwise policy gradients would be biased.

    Attributes:
        dropout: rate on word embeddings and on the decoder's output while training; the training loop sets it.
        precision: float32 or bfloat16, for the factors of matrix products while training; the training loop sets it.
            Sums and weights stay float32, but logits and the outputs of LSTMs are rounded.

    Args:
        vocabulary_size: number of words V, special tokens included.
        embedding: size of word embeddings.
        hidden: size of the decoder's output.
    """

    # The kinds of tasks that it can read, keys of `seqcap.tasks.KINDS`.
    kinds: ClassVar[tuple[str, ...]]
    # Number of parts, by length, in which captions are unrolled: half of a batch is padding.
    parts: ClassVar[int] = 1

    impossible: Tensor

    def __init_subclass__(cls, **arguments: Any) -> None:
        """Wraps an architecture's methods so that they compute in the captioner's precision."""
        super().__init_subclass__(**arguments)
        for name in ("encode", "start", "recur", "unroll", "states"):
            if name in vars(cls):
                setattr(cls, name, in_precision(vars(cls)[name]))

    def __init__(self, vocabulary_size: int, embedding: int, hidden: int) -> None:
        super().__init__()
        self.vocabulary_size = vocabulary_size
        self.dropout = 0.0
        self.precision = torch.float32
        self.embedding = nn.Embedding(vocabulary_size, embedding)
        self.output = nn.Linear(hidden, vocabulary_size)
        impossible = torch.zeros(vocabulary_size, dtype=torch.bool)
        impossible[[PAD, BOS]] = True
        self.register_buffer("impossible", impossible, persistent=False)
        nn.init.uniform_(self.embedding.weight, -0.1, 0.1)
        nn.init.uniform_(self.output.weight, -0.1, 0.1)
        nn.init.zeros_(self.output.bias)

    @abstractmethod
    def encode(self, features: Tensor) -> Tensors:
        """Features [n, *feature_shape] or sentences, ids [n, time] -> memory; n is the first axis of every tensor."""

    @abstractmethod
    def start(self, memory: Tensors) -> Tensors:
        """The decoder's state before the first token."""

    @abstractmethod
    def recur(self, embedded: Tensor, state: Tensors, memory: Tensors) -> tuple[Tensor, Tensors]:
        """One decoder step on embedded inputs [n, embedding] -> decoder output [n, hidden] and the next state."""

    @in_precision
    def embed(self, inputs: Tensor) -> Tensor:
        """Token ids [n] or distributions over the vocabulary [n, V] -> embeddings [n, embedding]."""
        if inputs.is_floating_point():
            return inputs @ self.embedding.weight
        return cast(Tensor, self.embedding(inputs))

    @in_precision
    def logits(self, hidden: Tensor) -> Tensor:
        """Decoder output [..., hidden] -> logits [..., V]; PAD and BOS are impossible."""
        # Masking the bias costs V operations, masking the logits n x V.
        bias = self.output.bias.masked_fill(self.impossible, IMPOSSIBLE)
        return nn.functional.linear(hidden, self.output.weight, bias)

    def step(self, inputs: Tensor, state: Tensors, memory: Tensors) -> tuple[Tensor, Tensors]:
        """Logits [n, V] of the next token, and the next state.

        Args:
            inputs: the previous tokens, ids [n] or distributions [n, V].
            state: from `start` or the last `step`.
            memory: from `encode`, one row per caption.
        """
        hidden, state = self.recur(self.embed(inputs), state, memory)
        return self.logits(hidden), state

    def unroll(self, captions: Tensor, memory: Tensors) -> Tensor:
        """Decoder outputs [n, time, hidden] when the captions' own tokens [n, time] are fed (BOS first)."""
        embedded = self.embedding(self.shifted(captions))
        state = self.start(memory)
        outputs = []
        for t in range(captions.shape[1]):
            hidden, state = self.recur(embedded[:, t], state, memory)
            outputs.append(hidden)
        # Writing into a preallocated tensor would make autograd copy the whole of it at every step.
        return torch.stack(outputs, dim=1)

    def states(self, captions: Tensor, memory: Tensors, rows: Tensor, places: Tensor) -> Tensors:
        """The decoder's states before it reads m tokens of captions [n, time]: tensors [m, ...].

        Args:
            memory: one row per caption.
            rows: the caption of each token, [m].
            places: its position in the caption, [m]; before position 0, BOS has been read.
        """
        embedded = self.embedding(self.shifted(captions))
        state = self.start(memory)
        states = []
        for t in range(captions.shape[1]):
            _, state = self.recur(embedded[:, t], state, memory)
            states.append(state)
        return tuple(torch.stack(part, dim=1)[rows, places] for part in zip(*states, strict=True))

    def teacher_force(self, features: Tensor, captions: Tensor) -> Tensor:
        """Logits [batch, time, V] of each token of captions [batch, time], given the tokens before it."""
        return self.logits(self.unroll(captions, self.encode(features)))

    def token_outputs(self, captions: Tensor, memory: Tensors) -> Tensor:
        """Decoder outputs [m, hidden] at the m tokens of captions [n, time] that are not PAD, row by row."""
        valid = captions != PAD
        lengths = valid.sum(1)
        number = valid.flatten().cumsum(0).view_as(captions) - 1
        outputs, numbers = [], []
        for rows in lengths.argsort().chunk(self.parts):
            longest = max(1, int(lengths[rows].max()))
            some = valid[rows, :longest]
            outputs.append(self.unroll(captions[rows, :longest], select(memory, rows))[some])
            numbers.append(number[rows, :longest][some])
        return torch.cat(outputs)[torch.cat(numbers).argsort()]

    def token_logits(self, captions: Tensor, memory: Tensors) -> Tensor:
        """Logits [m, V] at the m tokens of captions [n, time] that are not PAD, row by row."""
        return self.logits(self.token_outputs(captions, memory))

    @staticmethod
    def shifted(captions: Tensor) -> Tensor:
        """The decoder's inputs for captions [n, time]: BOS, then all but the last token."""
        start = torch.full_like(captions[:, :1], BOS)
        return torch.cat([start, captions[:, :-1]], dim=1)

    def mask(self, rows: int, size: int) -> Tensor:
        """A dropout mask [rows, size], scaled; ones when not training."""
        weight = self.embedding.weight
        if not self.training or self.dropout == 0:
            return weight.new_ones(rows, size)
        return torch.bernoulli(weight.new_full((rows, size), 1 - self.dropout)) / (1 - self.dropout)


class CaptionerConfig(Frozen):
    """Settings shared by all captioners of images and clips."""

    hidden: int = Field(gt=0, description="size of embeddings, image projection and decoder state")


class ImageCaptioner(Captioner):
    """A captioner of images, or of clips, whose features have the same form [..., channels]."""

    kinds = ("images", "clips")
    # Which feature file the captioner reads: "pooled" or "grid".
    features: ClassVar[str]

    feature_mean: Tensor
    feature_scale: Tensor

    def __init__(self, config: CaptionerConfig, vocabulary_size: int, feature_shape: tuple[int, ...]) -> None:
        super().__init__(vocabulary_size, config.hidden, config.hidden)
        # Without standardisation all captions become the same. The statistics are part of the model.
        self.register_buffer("feature_mean", torch.zeros(feature_shape[-1]))
        self.register_buffer("feature_scale", torch.ones(feature_shape[-1]))

    def standardise(self, features: Tensor) -> Tensor:
        """Features [n, ..., channels] with mean 0 and variance 1 per channel over the training images."""
        return (features.float() - self.feature_mean) * self.feature_scale

    def fit_standardisation(self, features: Tensor) -> None:
        """Sets mean and scale from the channels of features [n, ..., channels]."""
        # Some channels at a time: as doubles they take twice the memory.
        for start in range(0, features.shape[-1], 512):
            here = slice(start, start + 512)
            flat = features[..., here].double().flatten(0, -2)
            self.feature_mean[here] = flat.mean(0)
            # A constant channel is centred, not divided by zero.
            self.feature_scale[here] = 1 / flat.std(0).clamp(min=1e-3)
