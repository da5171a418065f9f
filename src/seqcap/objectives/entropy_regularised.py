"""Cross-entropy with an entropy bonus: "MLE + gamma H" of Elbayad et al. 2018, after Pereyra et al. 2017."""

from __future__ import annotations

from pydantic import Field
from torch import Tensor

from seqcap.config import Frozen
from seqcap.models.base import Captioner
from seqcap.objectives.base import Batch, Context, Objective
from seqcap.objectives.smoothing import score_ground_truth


class Config(Frozen):
    """The authors' code on COCO: gamma .1 without attention, .05 with."""

    gamma: float = Field(0.1, ge=0, description="weight of the entropy of the token distributions, in nats")


class Model(Objective):
    """Mean over the captions' tokens, EOS included, of -log p_t - gamma H(p_t), H the entropy over the vocabulary."""

    def __init__(self, config: Config, context: Context) -> None:
        super().__init__()
        self.gamma = config.gamma

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        scored, mle = score_ground_truth(captioner, batch)
        log_p = scored.log_p
        entropy = -(log_p.exp() * log_p).sum() / len(log_p)
        loss = mle - self.gamma * entropy
        return loss, {"train_loss": mle.item(), "token_entropy": entropy.item()}
