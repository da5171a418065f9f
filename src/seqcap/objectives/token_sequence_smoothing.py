"""Both smoothings at once: "Tok-Seq" of Elbayad et al. 2018."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from torch import Tensor

from seqcap.models.base import Captioner
from seqcap.objectives import sequence_smoothing, token_smoothing
from seqcap.objectives.base import Batch, Context, Objective
from seqcap.objectives.smoothing import mixed, score_ground_truth


class Config(BaseModel):
    """The settings of `token_smoothing` and of `sequence_smoothing`."""

    model_config = ConfigDict(extra="forbid")

    token: token_smoothing.Config
    sequence: sequence_smoothing.Config


class Model(Objective):
    """alpha_1 E_{y ~ r(. | y*)}[l_Tok(y)] + (1 - alpha_1) l_Tok(y*) (eq. 17).

    l_Tok(y) = alpha_2 sum_t KL(r(. | y_t) || p_t) + (1 - alpha_2) sum_t -log p_t(y_t) is the loss of `token_smoothing`
    with the sampled sequence as the ground truth; r(. | y*) and alpha_1 are those of `sequence_smoothing`.
    """

    reads = ("embeddings",)

    def __init__(self, config: Config, context: Context) -> None:
        super().__init__()
        self.token_alpha, self.sequence_alpha = config.token.alpha, config.sequence.alpha
        self.token = token_smoothing.Model(config.token, context)
        self.sequence = sequence_smoothing.Model(config.sequence, context)

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        truth = score_ground_truth(captioner, batch)
        drawn, logs = self.sequence.sequences(captioner, batch, truth)
        hard = (1 - self.sequence_alpha) * truth.loss + self.sequence_alpha * drawn.negative_log_likelihood()
        smooth = sum(self.token.targets.loss(part) for part in mixed(truth.scored, drawn, self.sequence_alpha))
        loss = (1 - self.token_alpha) * hard + self.token_alpha * smooth
        return loss, {"train_loss": truth.loss.item(), "smoothed_loss": loss.item(), **logs}
