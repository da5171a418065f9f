"""Teacher forcing weighed by a caption's distinctiveness: WTF of Chaffin et al., 2024 (eq. 3, second term)."""

from __future__ import annotations

from seqcap.objectives.discriminated import BicontrastiveConfig, BicontrastiveObjective


class Config(BicontrastiveConfig):
    """The captioner's own captions are needed, too: they are negatives, and what the discriminator learns from."""


class Model(BicontrastiveObjective):
    """Loss -r(x_gt) log p(x_gt), mean over images, as printed. The released code uses r(x_bs) in its place, from which
    nothing is learned where it is 0."""

    rewarded = ("truth",)
