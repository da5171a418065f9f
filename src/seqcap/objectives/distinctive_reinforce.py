"""A distinctive caption of the captioner's own is reinforced: RL of Chaffin et al., 2024 (eq. 3, first term)."""

from __future__ import annotations

from seqcap.objectives.discriminated import BicontrastiveConfig, BicontrastiveObjective


class Config(BicontrastiveConfig):
    """With alpha = 1 the reward is hacked (Figure 1)."""


class Model(BicontrastiveObjective):
    """Loss -r(x_bs) log p(x_bs), mean over images. x_bs is no sample: this is not the gradient of an expectation."""

    rewarded = ("beam",)
