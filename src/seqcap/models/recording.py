"""Captions that are drawn and scored in one pass: the gradient of log p(y|x) comes from what the captioner computed
while it drew y. Objectives call `record` with any captioner; an architecture may have a `Recording` of its own."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn import functional as F

from seqcap.data.vocabulary import BOS, PAD
from seqcap.models.base import IMPOSSIBLE, Captioner, Tensors, select
from seqcap.models.decoding import write

ALIGNED = 16  # a CPU takes half as long again for products whose rows are no multiple of its registers


@dataclass(frozen=True)
class Scores:
    """Scores of the m tokens of captions, row by row, with gradient.

    Attributes:
        log_prob: log p [m], in nats.
        outputs: the decoder's outputs [m, hidden].
        entropy: of the tokens' distributions [m], in nats; empty if it was not asked for.
    """

    log_prob: Tensor
    outputs: Tensor
    entropy: Tensor


class Steps:
    """The steps in which captions [n, time] are drawn: all captions' first tokens, then all second ones, and so on.

    Args:
        captions: ids [n, time]: words, EOS, then PAD.
    """

    def __init__(self, captions: Tensor) -> None:
        self.captions = captions
        valid = captions != PAD
        self.sizes = valid.sum(0).tolist()
        # Of the m steps one after the other: each token's place in its caption, and its caption.
        self.times, self.rows = valid.T.nonzero().unbind(1)

    def in_turn(self, values: Tensor) -> Tensor:
        """Values [n, time] of the tokens, in the order of the steps: [m]."""
        return values[self.rows, self.times]

    def numbers(self) -> Tensor:
        """The number [n, time] of each token's step; 0 where there is none."""
        found = torch.zeros_like(self.captions)
        found[self.rows, self.times] = torch.arange(len(self.rows), device=found.device)
        return found


@dataclass(frozen=True)
class Recorded:
    """Captions, and what was computed to draw them.

    Attributes:
        tokens: ids [n, time]: words, EOS, then PAD.
        recording: what the captioner computed, for all steps of these n captions.
    """

    tokens: Tensor
    recording: "Recording"

    def log_prob(self, rows: Tensor) -> Tensor:
        """log p(y|x) [k] of the captions `rows` [k], with gradient."""
        return self.sum_tokens(rows, self.score(rows).log_prob)

    def score(self, rows: Tensor, entropy: bool = False) -> Scores:
        """Scores of the tokens of captions `rows` [k]; their entropy only if it is asked for."""
        lengths = (self.tokens[rows] != PAD).sum(1)
        order = lengths.argsort(descending=True, stable=True)
        longest_first = rows[order]
        steps = Steps(self.tokens[longest_first])
        places = Steps(self.tokens).numbers()[longest_first[steps.rows], steps.times]
        outputs = self.recording.outputs(longest_first, steps, places)
        layer = self.recording.layer
        probabilities = pick(layer.probabilities, places, steps.sizes)
        scores = layer.score(outputs, probabilities, steps.in_turn(steps.captions), entropy)
        first = lengths.cumsum(0) - lengths
        row_by_row = (first[order][steps.rows] + steps.times).argsort()
        log_prob, outputs = scores[0].index_select(0, row_by_row), outputs.index_select(0, row_by_row)
        return Scores(log_prob, outputs, scores[1].index_select(0, row_by_row) if entropy else scores[1])

    def sum_tokens(self, rows: Tensor, values: Tensor) -> Tensor:
        """Sums [k] over captions `rows` [k] of values [m] of their tokens."""
        row = (self.tokens[rows] != PAD).nonzero()[:, 0]
        return values.new_zeros(len(rows)).index_add(0, row, values)


def record(
    captioner: Captioner, memory: Tensors, max_length: int, greedy: Tensor, prefix: Tensor | None = None
) -> Recorded:
    """Draws captions as `decoding.rollout` does, the same ones from the same random numbers. `prefix`, ids [n, time]:
    what captions begin with; see `decoding.write`. `memory` has one row per caption; `greedy`, bool [n], tells which
    captions are not random."""
    recording = (captioner.recording or Rescored)(captioner, memory)
    inputs = torch.full((len(greedy),), BOS, dtype=torch.long, device=greedy.device)
    with torch.no_grad():
        drawn = write(recording, inputs, torch.full_like(inputs, max_length), greedy, prefix)
    return Recorded(drawn.tokens, recording)


class Recording(ABC):
    """A cursor (`decoding.Cursor`) that keeps what gradients need. It starts before the first token.

    Args:
        captioner: the captioner that draws.
    """

    def __init__(self, captioner: Captioner) -> None:
        self.captioner = captioner
        self.layer = Layer(captioner)

    def read(self, tokens: Tensor) -> Tensor:
        return self.layer.read(self.advance(tokens))

    @abstractmethod
    def advance(self, tokens: Tensor) -> Tensor:
        """Reads the last token of each caption, ids [n]: the decoder's outputs [n, hidden], without gradient."""

    @abstractmethod
    def keep(self, rows: Tensor) -> None:
        """Only these captions go on."""

    @abstractmethod
    def outputs(self, rows: Tensor, steps: Steps, places: Tensor) -> Tensor:
        """The decoder's outputs [m, hidden], float32 with gradient, in the steps of captions `rows` [k], which are in
        the order of their lengths. `places` [m]: the numbers of these steps among those of all captions."""


class Rescored(Recording):
    """Of any captioner: captions pass the decoder again, but not the layer over the vocabulary.

    Args:
        captioner: the captioner that draws.
        memory: what `captioner.encode` returned, one row per caption: tensors [n, ...].
    """

    def __init__(self, captioner: Captioner, memory: Tensors) -> None:
        super().__init__(captioner)
        self.memory, self.going = memory, memory
        with torch.no_grad():
            self.state = captioner.start(memory)

    def advance(self, tokens: Tensor) -> Tensor:
        hidden, self.state = self.captioner.recur(self.captioner.embed(tokens), self.state, self.going)
        return hidden

    def keep(self, rows: Tensor) -> None:
        self.state, self.going = select(self.state, rows), select(self.going, rows)

    def outputs(self, rows: Tensor, steps: Steps, places: Tensor) -> Tensor:
        outputs = self.captioner.token_outputs(steps.captions, select(self.memory, rows))
        lengths = (steps.captions != PAD).sum(1)
        first = lengths.cumsum(0) - lengths
        return outputs[first[steps.rows] + steps.times].float()


class Stepwise(Recording):
    """Of captioners that read captions token by token in any case: autograd records every step.

    Args:
        captioner: the captioner that draws.
        memory: what `captioner.encode` returned, one row per caption: tensors [n, ...].
    """

    def __init__(self, captioner: Captioner, memory: Tensors) -> None:
        super().__init__(captioner)
        self.memory = memory
        self.state = captioner.start(memory)
        self.recorded: list[Tensor] = []

    def advance(self, tokens: Tensor) -> Tensor:
        with torch.enable_grad():
            hidden, self.state = self.captioner.recur(self.captioner.embed(tokens), self.state, self.memory)
        self.recorded.append(hidden)
        return hidden.detach()

    def keep(self, rows: Tensor) -> None:
        with torch.enable_grad():
            self.state, self.memory = select(self.state, rows), select(self.memory, rows)

    def outputs(self, rows: Tensor, steps: Steps, places: Tensor) -> Tensor:
        return torch.cat(self.recorded).index_select(0, places).float()


class Layer:
    """The layer over the vocabulary, and the probabilities at every step. Its weights are padded with impossible tokens
    (`ALIGNED`).

    Args:
        captioner: the captioner whose `output` it is, in its precision.
    """

    def __init__(self, captioner: Captioner) -> None:
        self.output, self.size = captioner.output, captioner.vocabulary_size
        self.precision = precision_of(captioner)
        more = -self.size % ALIGNED
        self.weight = F.pad(self.output.weight.detach(), (0, 0, 0, more)).to(self.precision)
        bias = self.output.bias.detach().masked_fill(captioner.impossible, IMPOSSIBLE)
        self.bias = F.pad(bias, (0, more), value=IMPOSSIBLE).to(self.precision)
        self.probabilities: list[Tensor] = []  # of each step [n, padded V]

    def read(self, outputs: Tensor) -> Tensor:
        """The decoder's outputs [n, hidden] -> probabilities [n, V]."""
        logits = F.linear(outputs.to(self.precision), self.weight, self.bias)
        self.probabilities.append(torch.softmax(logits.float(), dim=1))
        return self.probabilities[-1][:, : self.size]

    def score(self, outputs: Tensor, probabilities: Tensor, tokens: Tensor, entropy: bool) -> tuple[Tensor, Tensor]:
        """log p [m] of tokens [m], and entropies [m] of their distributions (empty without `entropy`), with gradient.
        `outputs` [m, hidden] are the decoder's; `probabilities` [m, padded V] are overwritten."""
        arguments = outputs, self.output.weight, self.output.bias, self, probabilities, tokens, entropy
        return cast("tuple[Tensor, Tensor]", _Score.apply(*arguments))  # type: ignore[no-untyped-call]


class _Score(torch.autograd.Function):
    """With respect to the logits, the gradient of log p(y) is onehot(y) - p, that of the entropy H -p (log p + H)."""

    @staticmethod
    def forward(
        context: Any,
        outputs: Tensor,
        weight: Tensor,
        bias: Tensor,
        layer: Layer,
        probabilities: Tensor,
        tokens: Tensor,
        with_entropy: bool,
    ) -> tuple[Tensor, Tensor]:
        chosen = tokens[:, None]
        log_prob = probabilities.gather(1, chosen).squeeze(1).log()
        entropy = torch.special.entr(probabilities).sum(1) if with_entropy else outputs.new_empty(0)
        excess = probabilities.scatter_add_(1, chosen, -torch.ones_like(outputs[:, :1]))
        context.save_for_backward(outputs, chosen, entropy, excess.to(layer.precision))
        context.layer, context.with_entropy = layer, with_entropy
        return log_prob, entropy

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        outputs, chosen, entropy, excess = context.saved_tensors
        layer, weights = context.layer, -gradients[0][:, None]
        if context.with_entropy:
            single = excess.float()
            probabilities = single.scatter_add(1, chosen, torch.ones_like(weights))
            slope = torch.special.entr(probabilities) - probabilities * entropy[:, None]
            excess = (single * weights + slope * gradients[1][:, None]).to(layer.precision)
            weights = torch.ones_like(weights)
        # Captions that earn what their baseline earns teach nothing.
        kept = weights.squeeze(1).nonzero().squeeze(1)
        m, some = len(outputs), len(kept) < len(outputs)
        if some:
            outputs, excess, weights = select((outputs, excess, weights), kept)
        of_outputs = (excess @ layer.weight).float() * weights
        if some:
            of_outputs = outputs.new_zeros(m, outputs.shape[1]).index_copy_(0, kept, of_outputs)
        excess = excess[:, : layer.size].T
        of_weight = (excess @ (outputs * weights).to(layer.precision)).float()
        of_bias = (excess @ weights.to(layer.precision)).float().squeeze(1)
        return of_outputs, of_weight, of_bias, None, None, None, None


def precision_of(captioner: Captioner) -> torch.dtype:
    """Of the factors of matrix products."""
    return captioner.precision if captioner.training else torch.float32


def pick(parts: Sequence[Tensor], places: Tensor, sizes: Sequence[int]) -> Tensor:
    """Some rows of each part [n, ...] in turn, `sizes` of them: `places` [m], counted over all parts."""
    found = parts[0].new_empty(len(places), *parts[0].shape[1:])
    done = passed = 0
    for part, size in zip(parts, sizes, strict=False):
        here = slice(done, done + size)
        torch.index_select(part, 0, places[here] - passed, out=found[here])
        done, passed = done + size, passed + len(part)
    return found
