"""Sequence-level loss smoothing: "Seq" of Elbayad et al. 2018, after the RAML of Norouzi et al. 2016."""

from __future__ import annotations

from typing import Literal

import torch
from pydantic import Field, ValidationInfo, field_validator
from torch import Tensor

from seqcap.config import Frozen
from seqcap.data.vocabulary import PAD
from seqcap.models.base import Captioner
from seqcap.objectives.base import Batch, Context, Objective
from seqcap.objectives.smoothing import (
    Pool,
    Scored,
    Sequences,
    caption_memory,
    draw_at_shared_distances,
    draw_sequences,
    score_sequences,
)


class Config(Frozen):
    """The authors' code on COCO: tau .1, .17 or .3 for substitutes from the vocabulary, the batch or the references;
    alpha .4 (.5 with the references and no attention); tau_r .5; `shared_distance` with one sample a caption."""

    tau: float = Field(0.1, gt=0, description="temperature of the Hamming distance that sequences are drawn by")
    alpha: float = Field(0.4, ge=0, le=1, description="weight of the sequences; 1 - alpha weighs the captions")
    substitutes: Pool = Field("vocabulary", description="where substituted words come from")
    reward: Literal["hamming", "mixture"] = Field("hamming", description="Hamming distance, or the run's reward")
    reward_temperature: float = Field(0.5, gt=0, description="tau_r, of the run's reward (x1 scale)")
    importance: Literal["shared_distance", "literal"] = Field(
        "shared_distance", description="how samples are weighted by the run's reward"
    )
    samples: int = Field(1, ge=1, description="sequences per caption and step (L)")
    lazy: bool = Field(True, description="score sequences under the ground truth's hidden states")

    @field_validator("samples")
    @classmethod
    def _weighs_something(cls, value: int, info: ValidationInfo) -> int:
        if value == 1 and info.data.get("reward") == "mixture" and info.data.get("importance") == "literal":
            raise ValueError(
                "literal importance needs at least 2 samples: a single one has weight 1 whatever its reward"
            )
        return value


class Model(Objective):
    """alpha E_{y ~ r(. | y*)}[-log p(y)] + (1 - alpha) -log p(y*) (eqs. 8-12), with L sequences per caption.

    `reward: hamming`: r is the distribution that sequences are drawn from, exp(-d / tau) (`smoothing.draw_sequences`):
    their plain mean.
    `reward: mixture`: r ~ exp(R / tau_r), R the run's reward against all the image's references. Sequences are drawn as
    before and weighted:
      - `importance: shared_distance`, the authors' code: sample l of all captions has one distance
        (`smoothing.draw_at_shared_distances`), q cancels, and the weight is exp((min(R, 1) - 1) / tau_r) / L divided by
        the mean of that exponential over the batch's captions. A caption's weights do not sum to one: captions whose
        sample has a higher reward count more.
      - `importance: literal`, eq. 11: exp(R / tau_r) / q over a caption's L samples, normalised to sum to one. It
        degenerates: from one distance to the next 1 / q grows by exp(1 / tau), 2.2e4 at tau .1, more than any reward
        can fall. The farthest sample takes all the weight, so that the weighted samples earn less than the unweighted.

    `lazy` scores all samples under the ground truth's hidden states (eq. 19), else each is fed to the captioner.
    Mean over the captions' tokens, EOS included, as in `cross_entropy`; samples are as long as their captions.
    """

    def __init__(self, config: Config, context: Context) -> None:
        super().__init__()
        self.config, self.context = config, context

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        scored, logs = self.sequences(captioner, batch)
        loss = scored.negative_log_likelihood()
        return loss, {"smoothed_loss": loss.item(), **logs}

    def sequences(self, captioner: Captioner, batch: Batch) -> tuple[Scored, dict[str, float]]:
        """The batch's captions and sequences around them, weighted by 1 - alpha and alpha, and what to log of them."""
        # First, so that dropout's masks are those that cross-entropy would draw.
        memory = caption_memory(captioner, batch)
        drawn, weights, logs = self.draw(batch, captioner.vocabulary_size)
        captions, alpha = batch.captions.flatten(0, 1), self.config.alpha
        weights = torch.cat([torch.full_like(weights[:, :1], 1 - alpha), alpha * weights], 1)
        scored, loss = score_sequences(captioner, memory, captions, drawn, weights, self.config.lazy)
        return scored, {"train_loss": loss, **logs}

    def draw(self, batch: Batch, vocabulary_size: int) -> tuple[Sequences, Tensor, dict[str, float]]:
        """Sequences around the batch's n captions, their weights [n, L], and what to log of them.

        A missing caption gets weights, too, which act on no token.
        """
        config = self.config
        present = (batch.captions != PAD).any(2).flatten()
        around = batch.captions, vocabulary_size, config.tau, config.samples, config.substitutes
        if config.reward == "hamming":
            drawn, log_q = draw_sequences(*around)
            weights = torch.full(log_q.shape, 1 / config.samples, device=present.device)
            return drawn, weights, distance_logs(drawn, present)
        if config.importance == "shared_distance":
            drawn = draw_at_shared_distances(*around)
            reward = self.reward(drawn, batch)
            weights = shared_distance_weights(reward, present, config.reward_temperature)
            groups = weights[present].T
        else:
            drawn, log_q = draw_sequences(*around)
            reward = self.reward(drawn, batch)
            weights = literal_weights(reward, log_q, config.reward_temperature)
            groups = weights[present]
        share = groups / groups.sum(1, keepdim=True)
        logs = distance_logs(drawn, present) | {
            # How many equally weighted samples those that were normalised together are worth; 1: a single one decides.
            "effective_samples": (1 / share.square().sum(1)).mean().item(),
            "sampled_reward": reward[present].mean().item(),
            "weighted_reward": (weights * reward)[present].sum(1).mean().item(),
        }
        return drawn, weights.float(), logs

    def reward(self, drawn: Sequences, batch: Batch) -> Tensor:
        """R of every sample against all of its image's references, float64 [n, L]."""
        n, samples, _ = drawn.tokens.shape
        images = batch.images.repeat(n // len(batch.images) * samples)
        reward = self.context.reward.score(drawn.tokens.flatten(0, 1).cpu().numpy(), images)
        return torch.from_numpy(reward).to(drawn.tokens.device, torch.float64).view(n, samples)


def distance_logs(drawn: Sequences, present: Tensor) -> dict[str, float]:
    """How far the samples of the captions that are `present` [n] are, and how large their pools."""
    return {
        "hamming_distance": drawn.distances[present].double().mean().item(),
        "pool_share": drawn.pool_share,
    }


def shared_distance_weights(reward: Tensor, present: Tensor, temperature: float) -> Tensor:
    """exp((min(R, 1) - 1) / tau_r) of rewards [n, L], divided by L and by its mean over the captions that are `present`
    [n]: weights [n, L] that sum to one for the average caption."""
    weights = torch.exp((reward.clamp(max=1) - 1) / temperature)
    return weights / (weights[present].mean(0) * reward.shape[1])


def literal_weights(reward: Tensor, log_q: Tensor, temperature: float) -> Tensor:
    """exp(R / tau_r) / q of a caption's samples [n, L], summing to one over them (eq. 11)."""
    return torch.softmax(reward / temperature - log_q, dim=1)
