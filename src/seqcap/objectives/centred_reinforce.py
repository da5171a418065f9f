"""RL of Chaffin et al., 2024, with a baseline that they leave out: the mean reward of the batch (REINFORCE with
baseline: Williams 1992). Their section 3.4 calls such a baseline not strong enough to keep the model from diverging. It
is biased here: the caption is the beam's best, not a sample, and its own reward is part of the mean."""

from torch import Tensor

from seqcap.objectives import distinctive_reinforce
from seqcap.objectives.shared.contrastive_reward import CaptionedBatch


class Config(distinctive_reinforce.Config):
    """As RL's."""


class Model(distinctive_reinforce.Model):
    """Loss -[r(x_bs) - mean r] log p(x_bs), mean over images; the inner mean is over the batch. Logs are of r."""

    def reward(self, captioned: CaptionedBatch, which: int, human: Tensor) -> tuple[Tensor, dict[str, float]]:
        reward, logs = super().reward(captioned, which, human)
        return reward - reward.mean(), logs
