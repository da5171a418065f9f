"""SLL with an entropy bonus: SLL-ME, the maximum-entropy baseline of Chen & Jin 2020 (section 5)."""

from pydantic import Field
from torch import Tensor

from seqcap.config import Frozen
from seqcap.data.vocabulary import PAD
from seqcap.models.base import Captioner
from seqcap.objectives.shared.base import Batch, Objective, draw_with_greedy


class Config(Frozen):
    """The paper tried weights of 1e-1, 1e-2 and 1e-3 and reports 1e-2. It does not say how the entropy is averaged.
    Here it is summed over a caption's tokens, like log p(y)."""

    samples: int = Field(5, ge=1, description="captions drawn per image and step (s)")
    entropy_weight: float = Field(1e-2, ge=0, description="weight of the entropy of the token distributions, in nats")


class Model(Objective):
    """SLL's loss minus entropy_weight * sum_t H(p(.|y_<t, x)), mean over samples and images."""

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        memory = captioner.encode(batch.features)
        samples = draw_with_greedy(captioner, memory, batch, self.context, self.config.samples)
        log_prob, entropy = samples.log_prob_and_entropy()
        advantage = samples.reward - samples.baseline[:, None]
        loss = -(advantage * log_prob).mean() - self.config.entropy_weight * entropy.mean()
        tokens = int((samples.tokens != PAD).sum())
        logs = {"train_reward": samples.reward.mean().item(), "token_entropy": entropy.sum().item() / tokens}
        return loss, logs
