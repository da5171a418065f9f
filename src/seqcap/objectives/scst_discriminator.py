"""Self-critical training on a retriever's cosine, with a discriminator: SCST-Discriminator of Chaffin et al., 2024."""

from torch import Tensor

from seqcap.objectives.discriminated import DiscriminatorConfig, DiscriminatorObjective
from seqcap.objectives.distinctiveness import GREEDY, CaptionedBatch


class Config(DiscriminatorConfig):
    """Not released. Eq. 1 does not subtract P_D of the greedy caption; the code may."""


class Model(DiscriminatorObjective):
    """Loss -r(x_bs) log p(x_bs), mean over images, with r = alpha (s(x_bs) - s(x_gs)) + (1 - alpha) P_D(x_bs)."""

    rewarded = ("beam",)

    def similarity(self, captioned: CaptionedBatch, which: int) -> tuple[Tensor, dict[str, float]]:
        return (captioned.images * (captioned.texts[which] - captioned.texts[GREEDY])).sum(1), {}
