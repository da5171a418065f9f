"""Rollouts with a gradient through the words (Vered et al., ICCV 2019, section 4).
The listener and the captioner's next step read vectors over the vocabulary. At every step an index is drawn from p_t.
With probability rho the vector is p_t itself, else the one-hot vector of the index with the gradient of p_t. This is
partial-sampling straight-through, PSST; rho = 0 is plain straight-through.
A caption ends where EOS is drawn, whichever vector the step passes on. The vector there is a constant one-hot EOS, and
zero after it: a *relaxed caption* of `seqcap.retrieval`."""

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from seqcap.data.vocabulary import BOS, EOS, PAD
from seqcap.models.base import Captioner, Tensors, select
from seqcap.models.likelihood import cross_entropy

Distribution = Literal["multinomial", "gumbel"]


@dataclass(frozen=True)
class Relaxation:
    """How a step turns its distribution p_t into a vector. The gradient is that of p_t for "multinomial"; for "gumbel",
    that of softmax((log p_t + g) / temperature) with Gumbel noise g, whose argmax is the drawn index.

    Attributes:
        distribution: whose gradient the vector has: "multinomial" or "gumbel".
        rho: probability, per caption and step, of passing on the distribution itself; 0 to 1.
        temperature: of the Gumbel-softmax, above 0; "multinomial" does not use it.
        feedback_grad: whether the gradient also flows through the captioner's next input.
    """

    distribution: Distribution
    rho: float
    temperature: float = 1.0
    feedback_grad: bool = True

    @property
    def reads_tokens(self) -> bool:
        """Whether the captioner's inputs are the drawn tokens, without gradient."""
        return self.rho == 0 and not self.feedback_grad


@dataclass(frozen=True)
class Relaxed:
    """Captions that a listener can read with a gradient, and what was drawn.

    Attributes:
        passed: the relaxed captions [n, time, V], with gradient.
        tokens: the drawn ids [n, time].
        soft: the share of the words, EOS excluded, at which the distribution was passed on; 0 to 1.
        log_prob: log p [n] of the tokens, in nats and with gradient, if the captioner read these tokens and nothing
            else (`Relaxation.reads_tokens`); else None.
    """

    passed: Tensor
    tokens: Tensor
    soft: float
    log_prob: Tensor | None


def relaxed_rollout(captioner: Captioner, memory: Tensors, max_length: int, relaxation: Relaxation) -> Relaxed:
    """One random caption for each of the n rows of `memory`, of at most `max_length` tokens, EOS included, with
    gradient."""
    n, device = len(memory[0]), memory[0].device
    alive = torch.arange(n, device=device)
    inputs = torch.full((n,), BOS, dtype=torch.long, device=device)
    state = captioner.start(memory)
    tokens = torch.full((n, max_length), PAD, dtype=torch.long, device=device)
    passed, places, softened, drawn, log_probs = [], [], [], [], []
    length = 0
    for t in range(max_length):
        logits, state = captioner.step(inputs, state, memory)
        distribution, index = draw(logits.float(), relaxation)
        tokens[alive, t] = index
        if relaxation.reads_tokens:
            drawn.append(alive)
            log_probs.append(-cross_entropy(logits, index, reduction="none"))
        length = t + 1
        going = index != EOS
        if not bool(going.all()):
            rows = going.nonzero().squeeze(1)
            alive, index, distribution = alive[rows], index[rows], distribution[rows]
            state, memory = select(state, rows), select(memory, rows)
        soft = torch.rand(len(alive), device=device) < relaxation.rho
        vectors = pass_on(distribution, index, soft)
        passed.append(vectors)
        places.append(alive * max_length + t)
        softened.append(soft)
        if len(alive) == 0:
            break
        inputs = vectors if relaxation.feedback_grad else vectors.detach()
        if relaxation.reads_tokens:
            inputs = index
    words = torch.cat(passed)
    captions = words.new_zeros(n * max_length, words.shape[1])
    captions[:, EOS] = (tokens == EOS).flatten().to(captions)
    captions.index_copy_(0, torch.cat(places), words)
    share = torch.cat(softened).float().mean().nan_to_num().item()
    log_prob = None
    if relaxation.reads_tokens:
        log_prob = words.new_zeros(n).index_add(0, torch.cat(drawn), torch.cat(log_probs))
    return Relaxed(captions.view(n, max_length, -1)[:, :length], tokens[:, :length], share, log_prob)


def draw(logits: Tensor, relaxation: Relaxation) -> tuple[Tensor, Tensor]:
    """The distributions [n, V] that carry the gradient, and indices [n] drawn from softmax(logits)."""
    if relaxation.distribution == "gumbel":
        scores = logits + gumbel_noise(logits)
        return torch.softmax(scores / relaxation.temperature, dim=1), scores.detach().argmax(1)
    probabilities = torch.softmax(logits, dim=1)
    # Inverts the cumulative distribution: one random number per row.
    cumulative = probabilities.detach().cumsum(1)
    threshold = torch.rand(len(logits), 1, device=logits.device) * cumulative[:, -1:]
    index = torch.searchsorted(cumulative, threshold, right=True).squeeze(1).clamp(max=logits.shape[1] - 1)
    return probabilities, index


def gumbel_noise(like: Tensor) -> Tensor:
    # On a CPU four times as fast as `exponential_`. The rare 0 becomes -inf, which softmax accepts.
    return torch.rand_like(like).log_().neg_().log_().neg_()


def pass_on(distribution: Tensor, index: Tensor, soft: Tensor) -> Tensor:
    """Distributions [n, V] where `soft` [n], else one-hot vectors of indices [n], with the distributions' gradient."""
    value = distribution.detach()
    hard = torch.zeros_like(value).scatter(1, index[:, None], 1.0)
    # The difference is exactly zero: one-hot vectors stay one-hot.
    return torch.where(soft[:, None], value, hard) + (distribution - value)


def anneal(step: int, rate: float) -> float:
    """Temperature max(.5, exp(-rate step)), as printed. (The released code multiplies the last temperature by it.)"""
    return max(0.5, math.exp(-rate * step))
