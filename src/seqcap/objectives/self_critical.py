"""Sequence-level learning with a greedy baseline: SLL of Chen & Jin 2020, SCST of Rennie et al. 2017."""

from pydantic import Field
from torch import Tensor

from seqcap.config import Frozen
from seqcap.models.base import Captioner
from seqcap.objectives.shared.base import Batch, Objective, draw_with_greedy


class Config(Frozen):
    """The paper draws 5 samples per image."""

    samples: int = Field(5, ge=1, description="captions drawn per image and step (s)")


class Model(Objective):
    """Loss -(Delta(y_j) - b1) log p(y_j), mean over samples j and images (Chen & Jin 2020, eq. 16 at alpha = 1). Delta
    is CIDEr-D, b1 that of the greedy caption. log p(y) is the plain sum over tokens, so the expected gradient is
    exactly that of -E[Delta(y)]."""

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        memory = captioner.encode(batch.features)
        samples = draw_with_greedy(captioner, memory, batch, self.context, self.config.samples)
        log_prob = samples.log_prob()
        advantage = samples.reward - samples.baseline[:, None]
        loss = -(advantage * log_prob).mean()
        return loss, {"train_reward": samples.reward.mean().item()}
