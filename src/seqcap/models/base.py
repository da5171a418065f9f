"""The interface of every captioner: `encode`, `start`, `step`, `teacher_force`. Decoders and objectives use only these.
Tokens are ids: PAD 0, BOS 1, EOS 2, UNK 3, words from 4. A caption tensor [n, time] holds words, EOS, then PAD, and no
BOS: the captioner feeds BOS itself. PAD and BOS have probability zero, so p(y|x) sums to one over captions."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, ParamSpec, Self, TypeVar, cast

import torch
from pydantic import Field
from torch import Tensor, nn

from seqcap.config import Frozen
from seqcap.data.vocabulary import BOS, PAD

PIXELS = "pixels"  # `Captioner.features` of a captioner that reads images themselves
IMPOSSIBLE = -1e4  # a logit this low has probability zero in float32 but is finite: 0 * log 0 gives 0, not NaN
# Memory (the encoded images) or the decoder's state: tensors whose first axis is the caption.
Tensors = tuple[Tensor, ...]
P = ParamSpec("P")
T = TypeVar("T")


def select(tensors: Tensors, rows: Tensor) -> Tensors:
    """The rows [n] of each tensor."""
    # Twice as fast as an index in brackets, and so is its gradient.
    return tuple(tensor.index_select(0, rows) for tensor in tensors)


def repeat(tensors: Tensors, times: int) -> Tensors:
    """Repeats each row `times` times, for `times` captions of each image."""
    if times == 1:
        return tensors
    return tuple(tensor.repeat_interleave(times, dim=0) for tensor in tensors)


def in_precision(method: Callable[P, T]) -> Callable[P, T]:
    """Makes a method compute in the captioner's precision during training."""

    @wraps(method)
    def rounded(*arguments: P.args, **named: P.kwargs) -> T:
        captioner = cast("Captioner", arguments[0])
        if not captioner.training or captioner.precision == torch.float32:
            return method(*arguments, **named)
        with torch.autocast(captioner.output.weight.device.type, captioner.precision):
            return method(*arguments, **named)

    return rounded


class Captioner(nn.Module, ABC):
    """A model of p(y|x), token by token, for captions of images or translations of sentences.
    `encode` draws one dropout mask per input and puts it into the memory. Captions must be sampled and scored with the
    same memory, that is, the same masks; otherwise policy gradients are biased.
    The training loop sets `dropout`, the rate on word embeddings and decoder outputs, and `precision`, float32 or
    bfloat16, of the factors of matrix products. With bfloat16, sums and weights stay float32; logits and outputs of
    LSTMs are rounded.

    Args:
        vocabulary_size: V, the number of tokens, special ones included.
        embedding: size of a token's embedding.
        hidden: size of the decoder's output, which the layer over the vocabulary reads.
    """

    kinds: ClassVar[tuple[str, ...]]  # kinds of tasks that the captioner can read, keys of `seqcap.tasks.KINDS`
    # The feature file that a captioner of images or clips reads: "pooled" or "grid"; or `PIXELS`. Empty: none.
    features: ClassVar[str] = ""
    # `token_outputs` unrolls captions in this many groups of similar length: half of a whole batch would be padding.
    parts: ClassVar[int] = 1
    # How captions are recorded while they are drawn (a `seqcap.models.recording.Recording`), if not as in general.
    recording: ClassVar[Callable[..., Any] | None] = None
    impossible: Tensor

    def __init_subclass__(cls, **arguments: Any) -> None:
        """Makes the methods of an architecture compute in the captioner's precision."""
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
        """Features [n, *feature_shape] or sentences, ids [n, time] -> memory; the first axis of every tensor is n."""

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
        return cast("Tensor", self.embedding(inputs))

    @in_precision
    def logits(self, hidden: Tensor) -> Tensor:
        """Decoder output [..., hidden] -> logits [..., V]; PAD and BOS are impossible."""
        # Masking the bias takes V operations, masking the logits n x V.
        bias = self.output.bias.masked_fill(self.impossible, IMPOSSIBLE)
        return nn.functional.linear(hidden, self.output.weight, bias)

    def step(self, inputs: Tensor, state: Tensors, memory: Tensors) -> tuple[Tensor, Tensors]:
        """Previous tokens, ids [n] or distributions [n, V] -> logits [n, V] of the next tokens, and the next state."""
        hidden, state = self.recur(self.embed(inputs), state, memory)
        return self.logits(hidden), state

    def unroll(self, captions: Tensor, memory: Tensors) -> Tensor:
        """Decoder outputs [n, time, hidden] for captions [n, time] as inputs, after BOS."""
        embedded = self.embedding(self.shifted(captions))
        state = self.start(memory)
        outputs = []
        for t in range(captions.shape[1]):
            hidden, state = self.recur(embedded[:, t], state, memory)
            outputs.append(hidden)
        # With a preallocated tensor, autograd would copy all of it at every step.
        return torch.stack(outputs, dim=1)

    def states(self, captions: Tensor, memory: Tensors, rows: Tensor, places: Tensor) -> Tensors:
        """The decoder's states before it reads m tokens of captions [n, time]: tensors [m, ...]. `rows` [m] is each
        token's caption, `places` [m] its position. Before position 0, the decoder has read BOS."""
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
        """Decoder outputs [m, hidden] at the m tokens other than PAD of captions [n, time], row by row."""
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
        """Logits [m, V] at the m tokens other than PAD of captions [n, time], row by row."""
        return self.logits(self.token_outputs(captions, memory))

    def load_pretrained(self) -> Self:
        """Takes the weights that the captioner comes with, if it is read from a user's folder."""
        return self

    @staticmethod
    def shifted(captions: Tensor) -> Tensor:
        """The decoder's inputs for captions [n, time]: BOS, then all but the last token."""
        start = torch.full_like(captions[:, :1], BOS)
        return torch.cat([start, captions[:, :-1]], dim=1)

    def mask(self, rows: int, size: int) -> Tensor:
        """A scaled dropout mask [rows, size]; ones outside training."""
        weight = self.embedding.weight
        if not self.training or self.dropout == 0:
            return weight.new_ones(rows, size)
        return torch.bernoulli(weight.new_full((rows, size), 1 - self.dropout)) / (1 - self.dropout)


class Standardised(nn.Module):
    """A model that scales its features to mean 0 and variance 1 per channel. Otherwise all captions become the same."""

    feature_mean: Tensor
    feature_scale: Tensor

    def add_standardisation(self, channels: int) -> None:
        self.register_buffer("feature_mean", torch.zeros(channels))
        self.register_buffer("feature_scale", torch.ones(channels))

    def standardise(self, features: Tensor) -> Tensor:
        """Scales features [n, ..., channels]."""
        return (features.float() - self.feature_mean) * self.feature_scale

    def fit_standardisation(self, features: Tensor) -> None:
        """Computes mean and scale of each channel from features [n, ..., channels]."""
        # In blocks of channels: as doubles they take twice the memory.
        for start in range(0, features.shape[-1], 512):
            here = slice(start, start + 512)
            flat = features[..., here].double().flatten(0, -2)
            self.feature_mean[here] = flat.mean(0)
            self.feature_scale[here] = 1 / flat.std(0).clamp(min=1e-3)


class CaptionerConfig(Frozen):
    """The sizes that every captioner of images has."""

    hidden: int = Field(gt=0, description="size of embeddings, image projection and decoder state")


class ImageCaptioner(Captioner, Standardised):
    """A captioner of images or clips, whose features have the form [..., channels].

    Args:
        config: its sizes: `hidden` is that of embeddings and decoder outputs.
        vocabulary_size: V, the number of tokens.
        feature_shape: that of one image's features: (channels,), (regions, channels) or (height, width, channels).
    """

    kinds = ("images", "clips")

    def __init__(self, config: CaptionerConfig, vocabulary_size: int, feature_shape: tuple[int, ...]) -> None:
        super().__init__(vocabulary_size, config.hidden, config.hidden)
        self.add_standardisation(feature_shape[-1])
