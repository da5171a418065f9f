"""Teacher forcing that reads as many captions as weighted teacher forcing does (`weighted_teacher_forcing`): one
reference of each image in a step, not all. The control without weights."""

from torch import Tensor

from seqcap.config import Frozen
from seqcap.models.base import Captioner
from seqcap.objectives.shared.base import Batch, Objective, sample_references, sequence_log_prob


class Config(Frozen):
    """No settings."""


class Model(Objective):
    """Loss -log p(x_gt), mean over images, with a random reference x_gt (Chaffin et al., 2024, eq. 3, second term, with
    a reward of 1)."""

    keeps_last = True

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        memory = captioner.encode(batch.features)
        log_prob, _ = sequence_log_prob(captioner, sample_references(batch.captions), memory)
        loss = -log_prob.mean()
        return loss, {"train_loss": loss.item()}
