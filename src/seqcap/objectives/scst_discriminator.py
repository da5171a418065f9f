"""Self-critical training on a retriever's cosine, with a discriminator: SCST-Discriminator of Chaffin et al., 2024."""

from __future__ import annotations

from torch import Tensor

from seqcap.objectives.discriminated import Discriminated, Regularised
from seqcap.objectives.distinctiveness import GREEDY, Told


class Config(Regularised):
    """Not released. Whether P_D of the greedy caption is subtracted, too, is not known: eq. 1 does not."""


class Model(Discriminated):
    """Loss -r(x_bs) log p(x_bs), mean over images, with r = alpha (s(x_bs) - s(x_gs)) + (1 - alpha) P_D(x_bs)."""

    rewarded = ("beam",)

    def similarity(self, told: Told, which: int) -> tuple[Tensor, dict[str, float]]:
        return (told.images * (told.texts[which] - told.texts[GREEDY])).sum(1), {}
