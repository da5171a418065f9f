"""A conditional GAN: G-GAN of Dai et al., ICCV 2017, "Towards diverse and natural image descriptions"."""

from __future__ import annotations

import torch
from pydantic import Field
from torch import Tensor
from torch.nn.functional import logsigmoid

from seqcap.models.base import Captioner
from seqcap.objectives.base import Batch, Context, sequence_log_prob
from seqcap.objectives.cooperation import Cooperation, Paced, some_reference, speak


class Config(Paced):
    """The paper does not bound the length of its embeddings. Ours have length 1, and `scale` stands for the product of
    both lengths."""

    generated: float = Field(1.0, ge=0, description="weight of generated captions in the evaluator's loss (alpha)")
    mismatched: float = Field(1.0, ge=0, description="weight of other pictures' captions in it (beta)")
    scale: float = Field(10.0, gt=0, description="what the cosine is multiplied by in sigma(<f(I), h(S)>)")


class Model(Cooperation):
    """The generator's loss, -(r(y) - r(greedy)) log p(y), plus the evaluator's; both means over pictures.

    r(I, S) = sigma(<f(I), h(S)>) is the evaluator's opinion, which the listener's embeddings make. Its own loss is
        -log r(I, true) - alpha log(1 - r(I, generated)) - beta log(1 - r(I, another picture's))
    Both learn in every step, from the same samples.

    The paper's generator also reads noise, and is paid for prefixes by rollouts. Ours varies by its sampling, and is
    paid for whole captions.
    """

    def __init__(self, config: Config, context: Context) -> None:
        super().__init__(context, config.listener_pace)
        self.config = config

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        spoken = speak(captioner, captioner.encode(batch.features), batch, self.context)
        pictures = self.look(batch)
        true = self.listener.embed_captions(some_reference(batch.captions))
        generated = self.listener.embed_captions(spoken.samples.tokens)
        with torch.no_grad():
            greedy = self.logits(pictures, self.listener.embed_captions(spoken.greedy))
        right, fake = self.logits(pictures, true), self.logits(pictures, generated)
        # The batch's order is random: the next picture's caption is some other picture's.
        wrong = self.logits(pictures, true.roll(1, 0))
        evaluator = (
            -logsigmoid(right) - self.config.generated * logsigmoid(-fake) - self.config.mismatched * logsigmoid(-wrong)
        ).mean()
        reward = fake.detach().sigmoid()
        log_prob = sequence_log_prob(captioner, spoken.samples)[0][:, 0]
        generator = -((reward - greedy.sigmoid()) * log_prob).mean()
        logs = {
            "train_reward": spoken.samples.reward.mean().item(),
            "evaluator_reward": reward.mean().item(),
            "evaluator_loss": evaluator.item(),
        }
        return generator + evaluator, logs

    def logits(self, pictures: Tensor, captions: Tensor) -> Tensor:
        """Before sigma, [b], of embeddings [b, d] each."""
        return self.config.scale * (pictures * captions).sum(1)
