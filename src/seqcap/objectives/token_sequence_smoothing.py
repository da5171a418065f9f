"""Both smoothings at once: "Tok-Seq" of Elbayad et al. 2018."""

from torch import Tensor

from seqcap.config import Frozen
from seqcap.models.base import Captioner
from seqcap.objectives import sequence_smoothing, token_smoothing
from seqcap.objectives.shared.base import Batch, Context, Objective
from seqcap.objectives.shared.smoothing import STRENGTH


class Config(Frozen):
    """The settings of both kinds of smoothing."""

    token: token_smoothing.Config
    sequence: sequence_smoothing.Config


class Model(Objective):
    """alpha_1 E_{y ~ r(. | y*)}[l_Tok(y)] + (1 - alpha_1) l_Tok(y*) (eq. 17), mean over tokens, EOS included. l_Tok(y)
    = alpha_2 sum_t KL(r(. | y_t) || p_t) + (1 - alpha_2) sum_t -log p_t(y_t) is the loss of `token_smoothing` with the
    sample as the ground truth; r(. | y*), alpha_1 and samples' weights are those of `sequence_smoothing`.

    Args:
        config: the settings of both.
        context: `embeddings` [V, d] must not be None, `frequencies` [V] are of the training captions.
    """

    reads = ("embeddings",)

    def __init__(self, config: Config, context: Context) -> None:
        super().__init__(config, context)
        self.token = token_smoothing.Model(config.token, context)
        self.sequence = sequence_smoothing.Model(config.sequence, context)

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        scored, logs = self.sequence.sequences(captioner, batch)
        hard = scored.negative_log_likelihood()
        smooth, moved = self.token.targets.loss(scored)
        loss = (1 - self.token.alpha) * hard + self.token.alpha * smooth
        # What neither part moves stays on the captions' own tokens.
        strength = 1 - (1 - logs[STRENGTH]) * (1 - self.token.alpha * moved)
        return loss, logs | {"smoothed_loss": loss.item(), STRENGTH: strength}
