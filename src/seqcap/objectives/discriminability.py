"""A fixed listener's hinge as a reward: Luo et al., CVPR 2018, "Discriminability objective for ... captions"."""

from torch import Tensor

from seqcap.models.base import Captioner
from seqcap.objectives.base import Batch, draw_with_greedy
from seqcap.objectives.cooperation import HingeConfig, ListenerObjective


class Config(HingeConfig):
    """The listener is a trained retriever and stays fixed."""


class Model(ListenerObjective):
    """Loss -(r(y) - r(greedy)) log p(y), mean over images, with r = CIDEr-D - w hinge. The hinge has both directions;
    the negatives of a sample are the batch's other samples, those of a greedy caption the other greedy captions."""

    config: HingeConfig

    def distractors(self) -> Tensor | None:
        """Embeddings [m, d] of further negative images for this step."""
        return None

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        samples = draw_with_greedy(captioner, captioner.encode(batch.features), batch, self.context, 1)
        return self.reinforce(captioner, batch, self.config, samples, samples.greedy, self.distractors())
