"""Self-critical training on a retriever's cosine, with a discriminator: SCST-Discriminator of Chaffin et al., 2024."""

from torch import Tensor

from seqcap.objectives import scst_discriminator_unsubtracted
from seqcap.objectives.shared.contrastive_reward import GREEDY


class Config(scst_discriminator_unsubtracted.Config):
    """Not released. Eq. 1 does not subtract P_D of the greedy caption; self-critical training subtracts all of its
    reward (Rennie et al. 2017, eq. 8)."""


class Model(scst_discriminator_unsubtracted.Model):
    """Loss -[r(x_bs) - r(x_gs)] log p(x_bs), mean over images, with r = alpha s + (1 - alpha) P_D. Where the beam finds
    the greedy caption, nothing is learned."""

    def regular(self, human: Tensor, which: int) -> Tensor:
        return human[which] - human[GREEDY]
