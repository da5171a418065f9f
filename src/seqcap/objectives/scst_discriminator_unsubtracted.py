"""SCST-Discriminator of Chaffin et al., 2024, as eq. 1 reads by the letter: only the cosine has the greedy baseline."""

from torch import Tensor

from seqcap.objectives.shared.contrastive_reward import GREEDY, CaptionedBatch
from seqcap.objectives.shared.discriminator import DiscriminatorConfig, DiscriminatorObjective


class Config(DiscriminatorConfig):
    """An ablation of `scst_discriminator`. Where the beam finds the greedy caption, P_D alone is paid."""


class Model(DiscriminatorObjective):
    """Loss -r(x_bs) log p(x_bs), mean over images, with r = alpha (s(x_bs) - s(x_gs)) + (1 - alpha) P_D(x_bs)."""

    rewarded = ("beam",)

    def similarity(self, captioned: CaptionedBatch, which: int) -> tuple[Tensor, dict[str, float]]:
        return (captioned.images * (captioned.texts[which] - captioned.texts[GREEDY])).sum(1), {}
