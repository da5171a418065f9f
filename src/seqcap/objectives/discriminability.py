"""A fixed listener's hinge as a reward: Luo et al., CVPR 2018, "Discriminability objective for ... captions"."""

from __future__ import annotations

from torch import Tensor

from seqcap.models.base import Captioner
from seqcap.objectives.base import Batch, Context
from seqcap.objectives.cooperation import Cooperation, Weighed, speak


class Config(Weighed):
    """The listener is a trained retriever and stays as it is."""


class Model(Cooperation):
    """Loss -(r(y) - r(greedy)) log p(y), mean over pictures, with r = CIDEr-D - w hinge.

    The hinge is the item's own, of both directions, against the batch's other samples; the greedy caption's is against
    the other greedy captions.
    """

    def __init__(self, config: Weighed, context: Context) -> None:
        super().__init__(context, pace=None)
        self.config = config

    def distractors(self) -> Tensor | None:
        """Embeddings [m, d] of further pictures that a step's captions are to be told from."""
        return None

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        spoken = speak(captioner, captioner.encode(batch.features), batch, self.context)
        return self.reinforce(captioner, batch, self.config, spoken, spoken.greedy, self.distractors())
