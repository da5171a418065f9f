"""Joint training with the hinge as a reward: REINFORCE of Vered et al., ICCV 2019 (Table 2)."""

from pydantic import Field
from torch import Tensor

from seqcap.models.base import Captioner
from seqcap.objectives.discriminability import Baseline, baseline_captions
from seqcap.objectives.shared.base import Batch, draw_with_greedy
from seqcap.objectives.shared.cooperation import HingeConfig, ListenerConfig, ListenerObjective, zero_loss


class Config(HingeConfig, ListenerConfig):
    """Speaker and listener take turns, as in the released code. Each learns in half of the steps."""

    baseline: Baseline = Field("reference", description="caption whose hinge is subtracted from the sample's")


class Model(ListenerObjective):
    """Even steps train the speaker by `ListenerObjective.reinforce`, odd steps the listener on the speaker's samples.
    The baseline of CIDEr-D is that of the greedy caption, the baseline of the hinge that of a random reference, against
    the other images' references (released code), or with `baseline: greedy` (ours) that of the greedy caption."""

    config: Config

    def trains_captioner(self) -> bool:
        return int(self.steps) % 2 == 0

    def listener_learns(self) -> bool:
        return not self.trains_captioner()

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        if self.listener_learns():
            return self.listener_loss(captioner, batch, self.config.margin)
        samples = draw_with_greedy(captioner, captioner.encode(batch.features), batch, self.context, 1)
        baseline = baseline_captions(self.config.baseline, samples, batch)
        loss, logs = self.reinforce(captioner, batch, self.config, samples, baseline)
        return loss + zero_loss(self.listener), logs
