"""Cross-entropy (XE, also MLE or teacher forcing), the start of every sequence-level objective."""

from torch import Tensor

from seqcap.config import Frozen
from seqcap.data.vocabulary import PAD
from seqcap.models.base import Captioner, repeat
from seqcap.models.likelihood import cross_entropy
from seqcap.objectives.shared.base import Batch, Objective


class Config(Frozen):
    """No settings."""


class Model(Objective):
    """Mean of -log p_t over the tokens of all references, EOS included: maximum likelihood, one token at a time."""

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        references = batch.captions.shape[1]
        captions = batch.captions.flatten(0, 1)
        memory = repeat(captioner.encode(batch.features), references)
        logits = captioner.token_logits(captions, memory)
        loss = cross_entropy(logits, captions[captions != PAD])
        return loss, {"train_loss": loss.item()}
