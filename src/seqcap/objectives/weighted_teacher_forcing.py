"""Teacher forcing weighed by a caption's distinctiveness: WTF of Chaffin et al., 2024 (eq. 3, second term)."""

from __future__ import annotations

from seqcap.objectives.discriminated import Bicontrastive, Bidirectional


class Config(Bidirectional):
    """The captioner's own captions are needed, too: they are negatives, and what the discriminator learns from."""


class Model(Bicontrastive):
    """Loss -r(x_gt) log p(x_gt), mean over images, as printed. The released code pays x_bs in its place: where r(x_bs)
    is 0, nothing is learned."""

    rewarded = ("truth",)
