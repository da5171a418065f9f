"""A listener that learns from a fixed captioner: "frozen speaker" of Vered et al., Table 3."""

from pydantic import Field
from torch import Tensor

from seqcap.models.base import Captioner
from seqcap.objectives.shared.base import Batch
from seqcap.objectives.shared.cooperation import ListenerConfig, ListenerObjective


class Config(ListenerConfig):
    """The speaker is the captioner that the run starts from, trained by cross-entropy or `discriminability`."""

    margin: float = Field(0.2, gt=0, le=2, description="of the hinge, a cosine")


class Model(ListenerObjective):
    """Loss: the mean hinge of a sampled caption of each image. Only the listener learns."""

    config: Config

    def trains_captioner(self) -> bool:
        return False

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        return self.listener_loss(captioner, batch, self.config.margin)
