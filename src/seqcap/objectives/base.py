"""What objectives get and return, and what policy gradients share. Besides captioner and reward, an objective declares
files of earlier stages in `Objective.reads` (the pipeline derives the run's dependencies from it), networks of its own
as sub-modules, and in `Objective.partners` those that have another learning rate or whose weights are kept."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel
from torch import Tensor, nn

from seqcap.data.vocabulary import PAD
from seqcap.models.base import Captioner, Tensors, repeat
from seqcap.models.decoding import rollout
from seqcap.models.likelihood import cross_entropy
from seqcap.tasks.base import Inputs


class Reward(Protocol):
    def score(self, hypotheses: NDArray[np.int64], image: NDArray[np.int64]) -> NDArray[np.float64]:
        """Rewards [n] of hypotheses [n, time], given their training images [n]."""
        ...


@dataclass(frozen=True)
class Context:
    reward: Reward  # against the training references
    max_length: int  # tokens of a sampled caption, EOS included
    hidden: int  # size of the decoder's output
    steps_per_epoch: int
    embeddings: Tensor | None  # of the vocabulary's words, float [V, d], zeros for tokens without one; None if not read
    frequencies: Tensor  # of the tokens in the training captions, int64 [V]
    reads: Mapping[str, Path]  # paths of `Objective.reads`, and "paraphrases" for the reward
    seed: int  # of the run; picks the file in a folder with weights of several seeds
    task: Path  # artifacts/<task>
    items: NDArray[np.int64]  # ids of the training images, int64, in the order of `Batch.images`
    feature_shape: tuple[int, ...]  # of an image in `Batch.features`; for sentences, (source words,)

    @property
    def vocabulary_size(self) -> int:
        return len(self.frequencies)


@dataclass(frozen=True)
class Partner:
    """A sub-module with a learning rate of its own: a listener, a critic. Its gradients are clipped apart from the
    captioner's, so its pace does not depend on the weight of the captioner's loss. If it has `metadata`, its weights
    are kept with the captioner's, as seed<k>.<name>.safetensors."""

    module: nn.Module
    pace: float  # learning rate as a multiple of the captioner's
    metadata: Mapping[str, Any] | None = None  # of its weights file
    learns: bool = True  # whether the next step updates it; if not, its gradients are dropped


@dataclass(frozen=True)
class Batch:
    features: Tensor  # [b, *feature shape]
    images: NDArray[np.int64]  # rows among the training images, int64 [b]; on the CPU, where rewards need them
    captions: Tensor  # ids [b, references, time]; a missing reference is all PAD
    weight: float = 1.0  # in the mean over processes: share of the step's images x number of processes


class Objective(nn.Module, ABC):
    """Maps captioner and batch to a scalar loss and a dict of numbers to log; `train_reward` is plotted.
    Its sub-modules learn at the captioner's learning rate unless `partners` says otherwise. Names in `reads`:
    - "embeddings": vectors of the task's words (`Context.embeddings`);
    - "listener": a folder with a retriever's weights, seed<k>.safetensors. If stage `mine` wrote the folder,
      seed<k>.mined.parquet lists similar images for each training image;
    - "pretrained": a folder with weights of the objective's own networks."""

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
    """Captions drawn from the captioner, with their rewards."""

    tokens: Tensor  # ids [b * samples, time], the samples of an image side by side
    memory: Tensors  # that they were drawn under, one row per caption, with gradient
    reward: Tensor  # [b, samples]


@dataclass(frozen=True)
class BaselinedSamples(Samples):
    """Samples, and the reward of each image's greedy caption."""

    baseline: Tensor  # [b], b1 of Chen & Jin 2020


def draw(captioner: Captioner, batch: Batch, context: Context, samples: int) -> Samples:
    """Draws and rewards `samples` captions of each image, without gradient. `sequence_log_prob` scores them again with
    gradient, under the same memory and dropout masks."""
    drawn, memory, reward = _draw(captioner, batch, context, samples, greedy=0)
    return Samples(drawn, memory, reward)


def draw_with_greedy(captioner: Captioner, batch: Batch, context: Context, samples: int) -> BaselinedSamples:
    """As `draw`; also draws each image's greedy caption, in the same batch."""
    drawn, memory, reward = _draw(captioner, batch, context, samples, greedy=1)
    return BaselinedSamples(drawn, memory, reward[:, :-1], reward[:, -1])


def _draw(
    captioner: Captioner, batch: Batch, context: Context, samples: int, greedy: Literal[0, 1]
) -> tuple[Tensor, Tensors, Tensor]:
    """Tokens and memory of the samples; rewards of samples and greedy captions [b, samples + greedy]."""
    b, each = len(batch.images), samples + greedy
    memory = captioner.encode(batch.features)
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
    """log p(y|x) [b, samples] of the samples and the logits [m, V] at their m tokens, with gradient."""
    logits = captioner.token_logits(samples.tokens, samples.memory)
    valid = samples.tokens != PAD
    token = -cross_entropy(logits, samples.tokens[valid], reduction="none")
    rows = valid.nonzero()[:, 0]
    total = torch.zeros(len(samples.tokens), device=token.device).index_add(0, rows, token)
    return total.view_as(samples.reward), logits


def sample_references(captions: Tensor) -> Tensor:
    """One random reference [b, time] of each image from ids [b, references, time]."""
    present = (captions != PAD).any(2).float()
    return captions[torch.arange(len(captions), device=captions.device), torch.multinomial(present, 1).squeeze(1)]
