"""RL with only the image-to-text half of the reward: RL-Unidirectional of Chaffin et al., 2024, Table 1."""

from torch import Tensor

from seqcap.objectives.shared.contrastive_reward import CaptionedBatch, image_to_text
from seqcap.objectives.shared.discriminator import ContrastiveConfig, DiscriminatorObjective


class Config(ContrastiveConfig):
    """The released code does not halve this reward."""


class Model(DiscriminatorObjective):
    """Loss -r(x_bs) log p(x_bs), mean over images; r_sim is the first half of r_bicont, without negative images."""

    config: ContrastiveConfig
    rewarded = ("beam",)

    def similarity(self, captioned: CaptionedBatch, which: int) -> tuple[Tensor, dict[str, float]]:
        return image_to_text(captioned, which, self.config.temperature, self.config.cap), {}
