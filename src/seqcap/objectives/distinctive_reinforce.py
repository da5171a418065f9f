"""Reinforcement of the captioner's own distinctive captions: RL of Chaffin et al., 2024 (eq. 3, first term)."""

from seqcap.objectives.shared.discriminator import BicontrastiveConfig, BicontrastiveObjective


class Config(BicontrastiveConfig):
    """With alpha = 1 the captioner hacks the reward (Figure 1)."""


class Model(BicontrastiveObjective):
    """Loss -r(x_bs) log p(x_bs), mean over images. x_bs is not a sample: this is no gradient of an expectation."""

    rewarded = ("beam",)
