"""Weighted teacher forcing and reinforcement together: WTF-RL of Chaffin et al., 2024 (eq. 3)."""

from seqcap.objectives.shared.discriminator import BicontrastiveConfig, BicontrastiveObjective


class Config(BicontrastiveConfig):
    """Both terms have weight 1."""


class Model(BicontrastiveObjective):
    """Loss -[r(x_bs) log p(x_bs) + r(x_gt) log p(x_gt)], mean over images."""

    rewarded = ("beam", "truth")
