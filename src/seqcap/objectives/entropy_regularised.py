"""Cross-entropy with an entropy bonus: "MLE + gamma H" of Elbayad et al. 2018, after Pereyra et al. 2017."""

from pydantic import Field
from torch import Tensor

from seqcap.config import Frozen
from seqcap.models.base import Captioner
from seqcap.objectives.shared.base import Batch, Objective
from seqcap.objectives.shared.smoothing import score_ground_truth


class Config(Frozen):
    """The authors' code on COCO uses gamma .1 without attention, .05 with attention."""

    gamma: float = Field(0.1, ge=0, description="weight of the entropy of the token distributions, in nats")


class Model(Objective):
    """Mean of -log p_t - gamma H(p_t) over the captions' tokens, EOS included; H is the entropy over the vocabulary."""

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        scored, mle = score_ground_truth(captioner, batch)
        log_p = scored.log_p
        entropy = -(log_p.exp() * log_p).sum() / len(log_p)
        loss = mle - self.config.gamma * entropy
        return loss, {"train_loss": mle.item(), "token_entropy": entropy.item()}
