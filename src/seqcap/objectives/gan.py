"""A conditional GAN: G-GAN of Dai et al., ICCV 2017, "Towards diverse and natural image descriptions"."""

from contextlib import nullcontext

import torch
from pydantic import Field
from torch import Tensor
from torch.nn.functional import logsigmoid

from seqcap.models.base import Captioner
from seqcap.objectives.shared.base import Batch, draw_with_greedy, sample_references
from seqcap.objectives.shared.cooperation import ListenerConfig, ListenerObjective, zero_loss


class Config(ListenerConfig):
    """The paper does not bound the lengths of its embeddings. Ours are 1; `scale` stands for the product of both."""

    generated: float = Field(1.0, ge=0, description="weight of generated captions in the evaluator's loss (alpha)")
    mismatched: float = Field(1.0, ge=0, description="weight of other images' captions in it (beta)")
    pretraining_steps: int = Field(0, ge=0, description="first steps in which only the evaluator learns")
    scale: float = Field(10.0, gt=0, description="what the cosine is multiplied by in sigma(<f(I), h(S)>)")


class Model(ListenerObjective):
    """The generator's loss, -(r(y) - r(greedy)) log p(y), plus the evaluator's; both are means over images.
        r(I, S) = sigma(<f(I), h(S)>), with the listener's embeddings f and h
        evaluator: -log r(I, true) - alpha log(1 - r(I, generated)) - beta log(1 - r(I, another image's))
    In the first `pretraining_steps` only the evaluator learns, from captions of the initial generator: a retriever has
    never seen a caption that looks right and is generated, and until it knows them its reward says nothing. Then both
    learn in every step, from the same samples. The paper's generator also reads noise and is rewarded for prefixes by
    rollouts. Ours varies by sampling and is rewarded for whole captions."""

    config: Config

    def trains_captioner(self) -> bool:
        return int(self.steps) >= self.config.pretraining_steps

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        generates = self.trains_captioner()
        with nullcontext() if generates else torch.no_grad():
            samples = draw_with_greedy(captioner, captioner.encode(batch.features), batch, self.context, 1)
        images = self.embed_batch(batch)
        true = self.listener.embed_captions(sample_references(batch.captions))
        generated = self.listener.embed_captions(samples.tokens)
        right, fake = self.logits(images, true), self.logits(images, generated)
        # Batches are in random order, so the next image's caption is a random other image's.
        wrong = self.logits(images, true.roll(1, 0))
        evaluator = (
            -logsigmoid(right) - self.config.generated * logsigmoid(-fake) - self.config.mismatched * logsigmoid(-wrong)
        ).mean()
        reward = fake.detach().sigmoid()
        logs = {
            "train_reward": samples.reward.mean().item(),
            "evaluator_reward": reward.mean().item(),
            "evaluator_loss": evaluator.item(),
        }
        self.count_step()
        if not generates:
            return evaluator + zero_loss(captioner), logs
        with torch.no_grad():
            greedy = self.logits(images, self.listener.embed_captions(samples.greedy)).sigmoid()
        generator = -((reward - greedy) * samples.log_prob()[:, 0]).mean()
        return generator + evaluator, logs

    def logits(self, images: Tensor, captions: Tensor) -> Tensor:
        return self.config.scale * (images * captions).sum(1)
