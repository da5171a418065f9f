"""Teacher forcing weighted by a caption's distinctiveness: WTF of Chaffin et al., 2024 (eq. 3, second term)."""

from seqcap.objectives.shared.discriminator import BicontrastiveConfig, BicontrastiveObjective


class Config(BicontrastiveConfig):
    """The captioner's own captions are drawn, too: as negatives, and for the discriminator."""


class Model(BicontrastiveObjective):
    """Loss -r(x_gt) log p(x_gt), mean over images, as printed. The released code uses r(x_bs), which may be 0."""

    rewarded = ("truth",)
