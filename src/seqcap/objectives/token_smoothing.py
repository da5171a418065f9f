"""Token-level loss smoothing: "Tok" of Elbayad et al. 2018, "Tok rfreq" with rare tokens promoted."""

from pydantic import Field
from torch import Tensor

from seqcap.config import Frozen
from seqcap.models.base import Captioner
from seqcap.objectives.shared.base import Batch, Context, Objective
from seqcap.objectives.shared.smoothing import STRENGTH, TokenTargets, score_ground_truth


class Config(Frozen):
    """tau and beta belong to the printed equation, which has the plain cosine.
    The authors' code has (cos - 1) / 2 instead, and beta = tau. That equals the printed equation at twice their tau and
    beta: their "Tok" on COCO, tau .15 (with attention .13), is tau .3 (.26) here; their "Tok rfreq", tau .09, is tau =
    beta = .18. Their alpha is .7 without attention, .3 with."""

    tau: float = Field(0.3, gt=0, description="temperature of the similarities")
    beta: float = Field(0.0, ge=0, description="weight of the promotion of rare tokens")
    alpha: float = Field(0.7, ge=0, le=1, description="weight of the smoothed targets; 1 - alpha weighs the captions")


class Model(Objective):
    """alpha sum_t KL(r(. | y*_t) || p_t) + (1 - alpha) sum_t -log p_t(y*_t), up to a constant (eqs. 13, 14 and 16).
    r(y | y*) ~ exp((cos(e_y, e_y*) - beta min(f_y / f_y*, f_y* / f_y)) / tau), with e the embeddings of words, <unk>
    and EOS, and f their counts in the training captions; no word's r has EOS (`smoothing.TokenTargets`). Mean over the
    captions' tokens, EOS included.

    Args:
        config: its settings.
        context: `embeddings` [V, d] must not be None, `frequencies` [V] are of the training captions.
    """

    reads = ("embeddings",)

    def __init__(self, config: Config, context: Context) -> None:
        super().__init__(config, context)
        self.alpha = config.alpha
        self.targets = TokenTargets(config.tau, config.beta, context)

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        scored, mle = score_ground_truth(captioner, batch)
        smooth, moved = self.targets.loss(scored)
        loss = (1 - self.alpha) * mle + self.alpha * smooth
        return loss, {"train_loss": mle.item(), "smoothed_loss": loss.item(), STRENGTH: self.alpha * moved}
