"""RL that a caption's image pays alone, not its captions: RL-Unidirectional of Chaffin et al., 2024, Table 1."""

from __future__ import annotations

from torch import Tensor

from seqcap.objectives.discriminated import Contrastive, Discriminated
from seqcap.objectives.distinctiveness import Told, image_to_text


class Config(Contrastive):
    """The released code does not halve this reward."""


class Model(Discriminated):
    """Loss -r(x_bs) log p(x_bs), mean over images, with the first half of r_bicont: no other image is a negative."""

    config: Contrastive
    rewarded = ("beam",)

    def similarity(self, told: Told, which: int) -> tuple[Tensor, dict[str, float]]:
        return image_to_text(told, which, self.config.temperature, self.config.cap), {}
