"""Joint training with the hinge as a reward: REINFORCE of Vered et al., ICCV 2019 (Table 2)."""

from __future__ import annotations

from torch import Tensor

from seqcap.models.base import Captioner
from seqcap.objectives.base import Batch, Context
from seqcap.objectives.cooperation import Cooperation, Paced, Weighed, idle, some_reference, speak


class Config(Weighed, Paced):
    """Speaker and listener take turns, as in the released code: each learns in half of an epoch's steps."""


class Model(Cooperation):
    """Even steps train the speaker by `Cooperation.reinforce`, odd steps the listener on the speaker's samples.

    The baseline of CIDEr-D is the greedy caption's, that of the hinge is the hinge of a random reference among the
    other pictures' references (released code).
    """

    def __init__(self, config: Config, context: Context) -> None:
        super().__init__(context, config.listener_pace)
        self.config = config

    def trains_captioner(self) -> bool:
        """At even steps."""
        return int(self.steps) % 2 == 0

    def trains_listener(self) -> bool:
        """At odd steps."""
        return not self.trains_captioner()

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        if self.trains_listener():
            return self.listener_loss(captioner, batch, self.config.margin)
        spoken = speak(captioner, captioner.encode(batch.features), batch, self.context)
        references = some_reference(batch.captions)
        loss, logs = self.reinforce(captioner, batch, self.config, spoken, references)
        return loss + idle(self.listener), logs
