"""Self-critical training on a retriever's cosine, with a discriminator: SCST-Discriminator of Chaffin et al., 2024."""

from __future__ import annotations

from torch import Tensor

from seqcap.objectives.discriminated import DiscriminatorConfig, DiscriminatorObjective
from seqcap.objectives.distinctiveness import GREEDY, CaptionedBatch


class Config(DiscriminatorConfig):
    """Not released. Whether P_D of the greedy caption is subtracted, too, is not known: eq. 1 does not."""


class Model(DiscriminatorObjective):
    """Loss -r(x_bs) log p(x_bs), mean over images, with r = alpha (s(x_bs) - s(x_gs)) + (1 - alpha) P_D(x_bs)."""

    rewarded = ("beam",)

    def similarity(self, captioned: CaptionedBatch, which: int) -> tuple[Tensor, dict[str, float]]:
        return (captioned.images * (captioned.texts[which] - captioned.texts[GREEDY])).sum(1), {}
