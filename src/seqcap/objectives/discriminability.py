"""A fixed listener's hinge as a reward: Luo et al., CVPR 2018, "Discriminability objective for ... captions"."""

from typing import Literal

from pydantic import Field
from torch import Tensor

from seqcap.models.base import Captioner
from seqcap.objectives.shared.base import Batch, Samples, draw_with_greedy, sample_references
from seqcap.objectives.shared.cooperation import HingeConfig, ListenerObjective

Baseline = Literal["greedy", "reference"]


class Config(HingeConfig):
    """The listener is a trained retriever and stays fixed."""

    baseline: Baseline = Field("greedy", description="caption whose hinge is subtracted from the sample's")


class Model(ListenerObjective):
    """Loss -(r(y) - r(greedy)) log p(y), mean over images, with r = CIDEr-D - w hinge. The hinge has both directions;
    the negatives of a sample are the batch's other samples, those of a greedy caption the other greedy captions. With
    `baseline: reference` (ours) the hinge of a random reference is subtracted, as in `joint_reinforce`."""

    config: Config

    def distractors(self) -> Tensor | None:
        """Embeddings [m, d] of further negative images for this step."""
        return None

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        samples = draw_with_greedy(captioner, captioner.encode(batch.features), batch, self.context, 1)
        baseline = baseline_captions(self.config.baseline, samples, batch)
        return self.reinforce(captioner, batch, self.config, samples, baseline, self.distractors())


def baseline_captions(which: Baseline, samples: Samples, batch: Batch) -> Tensor:
    """The caption of each image, ids [b, time], whose hinge is subtracted: the greedy one, or a random reference."""
    return samples.greedy if which == "greedy" else sample_references(batch.captions)
