"""What objectives are given, what they return, and what the policy-gradient ones share.

A run brings its captioner and reward. Whatever else an objective needs it declares itself:

- files that are made before it, in `Objective.reads`: the pipeline derives from it what the run depends on;
- networks of its own, as sub-modules: `Context` tells their sizes;
- a learning rate of their own, or weights that others read later, in `Objective.partners`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from seqcap.data.vocabulary import PAD
from seqcap.models.base import Captioner, Tensors, repeat
from seqcap.models.decoding import rollout
from seqcap.models.likelihood import cross_entropy
from seqcap.tasks.base import Inputs


class Reward(Protocol):
    """A reward on token ids."""

    def score(self, hypotheses: NDArray[np.int64], image: NDArray[np.int64]) -> NDArray[np.float64]:
        """Rewards [n] of hypotheses [n, time] of training images [n]."""
        ...


@dataclass(frozen=True)
class Context:
    """What an objective may use.

    Attributes:
        reward: the run's reward against the training references.
        max_length: tokens of a sampled caption, EOS included.
        hidden: size of the captioner's decoder output, for baselines on it.
        steps_per_epoch: training steps that an epoch takes, for schedules.
        embeddings: of the vocabulary's words, float [V, d], zeros for a token that has none; None if the run does not
            read them.
        frequencies: how often each token occurs in the training captions, int64 [V].
        reads: every file or folder that the run reads, by name: those of `Objective.reads`, and the reward's
            "paraphrases".
        seed: the run's. Of a folder with weights of several seeds it reads those of its own.
        task: the task's folder, artifacts/<task>.
        items: ids of the training images, int64, in the order that `Batch.images` numbers them.
        feature_shape: of one image in `Batch.features`, for an encoder of the objective's own; of sentences, the number
            of source words.
    """

    reward: Reward
    max_length: int
    hidden: int
    steps_per_epoch: int
    embeddings: Tensor | None
    frequencies: Tensor
    reads: Mapping[str, Path]
    seed: int
    task: Path
    items: NDArray[np.int64]
    feature_shape: tuple[int, ...]

    @property
    def vocabulary_size(self) -> int:
        """V, the number of words, special tokens included."""
        return len(self.frequencies)


@dataclass(frozen=True)
class Partner:
    """A sub-module that learns beside the captioner at a pace of its own: a listener, a critic.

    Its gradients are clipped apart from the captioner's: how fast it learns does not depend on how the captioner's loss
    is weighed.

    Attributes:
        module: one of the objective's own modules.
        pace: its learning rate as a multiple of the captioner's.
        metadata: what the file of its weights says of it. They are kept with the captioner's, as
            seed<k>.<name>.safetensors, for those who read them later. None: it has no file.
        learns: whether the next step changes it; if not, its gradients are dropped, like the captioner's of
            `Objective.trains_captioner`.
    """

    module: nn.Module
    pace: float
    metadata: Mapping[str, Any] | None = None
    learns: bool = True


@dataclass(frozen=True)
class Batch:
    """One training step's data.

    Attributes:
        features: [b, *feature shape].
        images: row of each image among the training images, int64 [b] (on the CPU: rewards look it up).
        captions: ids [b, references, time]; a missing reference is all PAD.
        weight: under a launcher, what its loss counts in the mean over processes: its share of the step's images, times
            the number of processes.
    """

    features: Tensor
    images: NDArray[np.int64]
    captions: Tensor
    weight: float = 1.0


class Objective(nn.Module, ABC):
    """Called with captioner and batch; returns the scalar loss and a dict of numbers to log.

    Its sub-modules learn with the captioner, at the same learning rate unless `partners` names another.
    `train_reward` in the logs is drawn as a curve.

    Attributes:
        reads: names of what it needs besides the task's data. Each is a path in `Context.reads`:
            "embeddings", vectors of the task's words, also in `Context.embeddings`;
            "listener", a folder with a retriever's weights, seed<k>.safetensors. If stage `mine` wrote the folder,
            seed<k>.mined.parquet beside them tells the images that are similar to each.
        keeps_last: whether the last epoch's weights are kept; else those of the epoch which the task's criterion finds
            best.
    """

    reads: ClassVar[tuple[str, ...]] = ()
    keeps_last: ClassVar[bool] = False

    def partners(self) -> Mapping[str, Partner]:
        """Those of its sub-modules that have a learning rate of their own, or weights that are kept, by name."""
        return {}

    def measures(self, inputs: Inputs, captions: NDArray[np.int64]) -> Mapping[str, float]:
        """What it measures of greedy captions [n, time] of the validation inputs, beside the task's own criteria."""
        return {}

    def trains_captioner(self) -> bool:
        """Whether the next step changes the captioner. If not, its gradients are dropped: Adam would remember zeros,
        divide by too little when the captioner's turn comes, and make its first hundreds of steps several times too
        large."""
        return True

    @abstractmethod
    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]: ...


@dataclass(frozen=True)
class Samples:
    """Captions drawn from the captioner, ready to be scored and weighted.

    Attributes:
        tokens: ids [b * samples, time], an image's samples next to each other.
        memory: what they were drawn under, one row per caption, with gradient.
        reward: of each sample, [b, samples].
    """

    tokens: Tensor
    memory: Tensors
    reward: Tensor


@dataclass(frozen=True)
class BaselinedSamples(Samples):
    """Samples, and what the greedy caption of each image is worth.

    Attributes:
        baseline: reward of the greedy caption, [b] (b1 of Chen & Jin 2020).
    """

    baseline: Tensor


def draw(captioner: Captioner, batch: Batch, context: Context, samples: int) -> Samples:
    """Draws `samples` captions of each image and rewards them.

    Sampling leaves no graph; `sequence_log_prob` scores the samples again under the same memory, dropout masks
    included.
    """
    drawn, memory, reward = _draw(captioner, batch, context, samples, greedy=0)
    return Samples(drawn, memory, reward)


def draw_with_greedy(captioner: Captioner, batch: Batch, context: Context, samples: int) -> BaselinedSamples:
    """`draw` for objectives with a greedy baseline: the greedy caption of each image is drawn in the same batch."""
    drawn, memory, reward = _draw(captioner, batch, context, samples, greedy=1)
    return BaselinedSamples(drawn, memory, reward[:, :-1], reward[:, -1])


def _draw(
    captioner: Captioner, batch: Batch, context: Context, samples: int, greedy: Literal[0, 1]
) -> tuple[Tensor, Tensors, Tensor]:
    """Tokens and memory of the samples, and the rewards of samples and greedy captions, [b, samples + greedy]."""
    b, each = len(batch.images), samples + greedy
    memory = captioner.encode(batch.features)
    # The greedy caption runs as the last row of each image.
    most_probable = torch.zeros(b, each, dtype=torch.bool, device=batch.features.device)
    most_probable[:, samples:] = True
    with torch.no_grad():
        drawn = rollout(captioner, repeat(memory, each), context.max_length, most_probable.flatten())
    score = context.reward.score(drawn.tokens.cpu().numpy(), batch.images.repeat(each))
    rewards = torch.from_numpy(score).to(batch.features.device, torch.float32).view(b, each)
    tokens = drawn.tokens.view(b, each, -1)[:, :samples].flatten(0, 1)
    tokens = tokens[:, : int((tokens != PAD).sum(1).max())]
    return tokens, repeat(memory, samples), rewards


def sequence_log_prob(captioner: Captioner, samples: Samples) -> tuple[Tensor, Tensor]:
    """log p(y|x) of the samples, with gradient.

    Returns:
        log p [b, samples], and the logits [m, V] at the m tokens of the samples.
    """
    logits = captioner.token_logits(samples.tokens, samples.memory)
    valid = samples.tokens != PAD
    token = -cross_entropy(logits, samples.tokens[valid], reduction="none")
    rows = valid.nonzero()[:, 0]
    total = torch.zeros(len(samples.tokens), device=token.device).index_add(0, rows, token)
    return total.view_as(samples.reward), logits
