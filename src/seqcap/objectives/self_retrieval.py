"""Self-retrieval with unlabelled images: SR-PL of Liu et al., ECCV 2018, "Show, Tell and Discriminate"."""

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from seqcap.objectives import discriminability
from seqcap.objectives.shared.base import Context


class Config(discriminability.Config):
    """The paper's negatives are moderately hard: unlabelled images of middle rank among those nearest to the reference.
    Here they are the hardest of a random part: among 128 of 2,000, its rank is about 16."""

    unlabelled: str = Field("server", description="split whose images are further negatives")
    distractors: int = Field(128, ge=1, description="how many of them a step draws")


class Model(discriminability.Model):
    """As `discriminability`, with images without captions as further negatives.

    Args:
        config: its settings.
        context: as in `ListenerObjective`.

    Raises:
        InputError: as `ListenerObjective`, or the split `unlabelled` is empty.
    """

    unlabelled: Tensor

    def __init__(self, config: Config, context: Context) -> None:
        super().__init__(config, context)
        self.number = config.distractors
        inputs = self.task.inputs(config.unlabelled)
        with torch.no_grad():
            embedded = self.listener.embed_images(inputs.get(np.arange(len(inputs.ids))))
        # It follows from the listener and the data, so checkpoints need not include it.
        self.register_buffer("unlabelled", embedded, persistent=False)

    def distractors(self) -> Tensor:
        chosen = torch.randperm(len(self.unlabelled), device=self.unlabelled.device)[: self.number]
        return self.unlabelled[chosen]
