"""A listener that learns to understand a captioner that does not change: "frozen speaker" of Vered et al., Table 3."""

from __future__ import annotations

from pydantic import Field
from torch import Tensor

from seqcap.models.base import Captioner
from seqcap.objectives.base import Batch, Context
from seqcap.objectives.cooperation import Cooperation, Paced


class Config(Paced):
    """The speaker is the captioner that the run starts from: trained by cross-entropy, or by `discriminability`."""

    margin: float = Field(0.2, gt=0, le=2, description="of the hinge, a cosine")


class Model(Cooperation):
    """Loss: the mean hinge of a random caption of each picture. Only the listener learns."""

    def __init__(self, config: Config, context: Context) -> None:
        super().__init__(context, config.listener_pace)
        self.config = config

    def trains_captioner(self) -> bool:
        """Never."""
        return False

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        return self.listener_loss(captioner, batch, self.config.margin)
