"""What objectives get and return, and what policy gradients share. Besides captioner and reward, an objective declares
files of earlier stages in `Objective.reads` (the pipeline derives the run's dependencies from it), networks of its own
as sub-modules, and in `Objective.partners` those that have another learning rate or whose weights are kept."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel
from torch import Tensor, nn

from seqcap.data.vocabulary import PAD
from seqcap.models.base import Captioner, Tensors, repeat
from seqcap.models.likelihood import cross_entropy
from seqcap.models.recording import Recorded, record
from seqcap.tasks.base import Inputs


class Reward(Protocol):
    """What objectives ask of a reward: scores of sampled captions."""

    def score(self, hypotheses: NDArray[np.int64], image: NDArray[np.int64]) -> NDArray[np.float64]:
        """Rewards [n] of hypotheses [n, time], given their training images [n]."""
        ...


@dataclass(frozen=True)
class Context:
    """What an objective is built with, besides its settings: the run's task, reward and sizes (V: tokens of the
    vocabulary).

    Attributes:
        reward: what pays captions, against the training references.
        max_length: tokens of a sampled caption, EOS included.
        hidden: size of the decoder's output.
        steps_per_epoch: training steps of an epoch.
        embeddings: of the vocabulary's words, float [V, d], zeros for tokens without one; None if the objective reads
            none.
        frequencies: of the tokens in the training captions, int64 [V].
        reads: paths of `Objective.reads`, and "paraphrases" for the reward.
        seed: of the run; it picks the file in a folder with weights of several seeds.
        task: the folder artifacts/<task>.
        items: ids of the training images, int64 [images], in the order of `Batch.images`.
        feature_shape: of an image in `Batch.features`; for sentences, (source words,).
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
        return len(self.frequencies)


@dataclass(frozen=True)
class Partner:
    """A sub-module with a learning rate of its own: a listener, a critic. Its gradients are clipped apart from the
    captioner's, so its pace does not depend on the weight of the captioner's loss. If it has `metadata`, its weights
    are kept with the captioner's, as seed<k>.<name>.safetensors.

    Attributes:
        module: the sub-module.
        pace: its learning rate as a multiple of the captioner's.
        metadata: of its weights file; None: its weights are not kept.
        learns: whether the next step updates it; if not, its gradients are dropped.
    """

    module: nn.Module
    pace: float
    metadata: Mapping[str, Any] | None = None
    learns: bool = True


@dataclass(frozen=True)
class Batch:
    """b images of the training split with all their captions, on the run's device.

    Attributes:
        features: what the captioner reads, [b, *feature shape].
        images: rows among the training images, int64 [b]; on the CPU, where rewards need them.
        captions: ids [b, references, time]; a missing reference is all PAD.
        weight: in the mean over processes: the share of the step's images times the number of processes.
    """

    features: Tensor
    images: NDArray[np.int64]
    captions: Tensor
    weight: float = 1.0


class Objective(nn.Module, ABC):
    """Maps captioner and batch to a scalar loss and a dict of numbers to log; `train_reward` is plotted.
    Its sub-modules learn at the captioner's learning rate unless `partners` says otherwise. Names in `reads`:
    - "embeddings": vectors of the task's words (`Context.embeddings`);
    - "listener": a folder with a retriever's weights, seed<k>.safetensors. If stage `mine` wrote the folder,
      seed<k>.mined.parquet lists similar images for each training image;
    - "pretrained": a folder with weights of the objective's own networks.

    Args:
        config: the settings: a `Config` of the objective's module.
        context: the run's task, reward and sizes, and the paths of what it `reads`.
    """

    reads: ClassVar[tuple[str, ...]] = ()
    keeps_last: ClassVar[bool] = False  # keep the last epoch's weights, not those of the best epoch
    config: Any  # the `Config` beside the objective
    steps: Tensor  # training steps so far, if `forward` calls `count_step`; a buffer, so that checkpoints include it

    def __init__(self, config: BaseModel, context: Context) -> None:
        super().__init__()
        self.config, self.context = config, context
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))

    def partners(self) -> Mapping[str, Partner]:
        """By name, the sub-modules with their own learning rate or with weights that are kept."""
        return {}

    def measures(self, inputs: Inputs, captions: NDArray[np.int64]) -> Mapping[str, float]:
        """Further measures of greedy captions [n, time] of the validation inputs."""
        return {}

    def trains_captioner(self) -> bool:
        """Whether the next step updates the captioner. If not, its gradients are dropped: with zeros in Adam's moments,
        its first hundreds of steps would be several times too large."""
        return True

    def count_step(self) -> bool:
        """Counts a training step; true for the run's first."""
        first = int(self.steps) == 0
        if self.training:
            self.steps += 1
        return first

    @abstractmethod
    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]: ...


@dataclass(frozen=True)
class Samples:
    """Captions drawn from the captioner, with their rewards.

    Attributes:
        drawn: these captions and the greedy ones, as they were drawn.
        rows: their numbers in `drawn` [b * samples], the samples of an image side by side.
        reward: of the samples, [b, samples].
        greedy: the greedy captions, ids [b, time].
        baseline: rewards [b] of the greedy captions, b1 of Chen & Jin 2020.
    """

    drawn: Recorded
    rows: Tensor
    reward: Tensor
    greedy: Tensor
    baseline: Tensor

    @cached_property
    def tokens(self) -> Tensor:
        """Ids [b * samples, time]."""
        tokens = self.drawn.tokens[self.rows]
        return tokens[:, : int((tokens != PAD).sum(1).max())]

    def log_prob(self) -> Tensor:
        """log p(y|x) [b, samples], with gradient."""
        return self.drawn.log_prob(self.rows).view_as(self.reward)

    def log_prob_and_entropy(self) -> tuple[Tensor, Tensor]:
        """log p(y|x), and the entropy of the token distributions summed over the caption's tokens; each [b, samples],
        with gradient."""
        scores = self.drawn.score(self.rows, entropy=True)
        log_prob, entropy = (self.drawn.sum_tokens(self.rows, of) for of in (scores.log_prob, scores.entropy))
        return log_prob.view_as(self.reward), entropy.view_as(self.reward)


def draw_with_greedy(captioner: Captioner, memory: Tensors, batch: Batch, context: Context, samples: int) -> Samples:
    """Draws and rewards `samples` captions of each image and its greedy caption, under the memory of the images. The
    memory has b rows."""
    b, device = len(batch.images), batch.features.device
    rows = torch.arange(b * (samples + 1), device=device).view(b, samples + 1)
    greedy = torch.zeros_like(rows, dtype=torch.bool)
    greedy[:, samples] = True
    drawn = record(captioner, repeat(memory, samples + 1), context.max_length, greedy.flatten())
    reward = score(drawn.tokens, batch, context).view(b, samples + 1)
    best = drawn.tokens[rows[:, samples]]
    return Samples(drawn, rows[:, :samples].flatten(), reward[:, :-1], best, reward[:, -1])


def score(captions: Tensor, batch: Batch, context: Context) -> Tensor:
    """Rewards [n], float32, of captions [n, time], equally many of each image, side by side."""
    images = batch.images.repeat(len(captions) // len(batch.images))
    reward = context.reward.score(captions.cpu().numpy(), images)
    return torch.from_numpy(reward).to(captions.device, torch.float32)


def sequence_log_prob(captioner: Captioner, captions: Tensor, memory: Tensors) -> tuple[Tensor, Tensor]:
    """log p(y|x) [n] of captions [n, time] that nobody drew, such as references, and the logits [m, V] at their tokens;
    with gradient. `memory` has one row per caption."""
    logits = captioner.token_logits(captions, memory)
    valid = captions != PAD
    token = -cross_entropy(logits, captions[valid], reduction="none")
    rows = valid.nonzero()[:, 0]
    return torch.zeros(len(captions), device=token.device).index_add(0, rows, token), logits


def sample_references(captions: Tensor) -> Tensor:
    """One random reference [b, time] of each image from ids [b, references, time]."""
    present = (captions != PAD).any(2).float()
    return captions[torch.arange(len(captions), device=captions.device), torch.multinomial(present, 1).squeeze(1)]
