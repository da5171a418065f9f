"""Sequence-level loss smoothing: "Seq" of Elbayad et al. 2018, after the RAML of Norouzi et al. 2016."""

from typing import Literal

import torch
from pydantic import Field, ValidationInfo, field_validator
from torch import Tensor

from seqcap.config import Frozen
from seqcap.data.vocabulary import PAD
from seqcap.models.base import Captioner
from seqcap.objectives.shared.base import Batch, Objective
from seqcap.objectives.shared.smoothing import (
    STRENGTH,
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
    alpha .4 (.5 with references and no attention); tau_r .5; `shared_distance` with one sample per caption."""

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
    `reward: hamming`: r is the distribution that sequences are drawn from, exp(-d / tau) (`smoothing.draw_sequences`);
    the loss is their plain mean. `reward: mixture`: r ~ exp(R / tau_r), R the run's reward against all references of
    the image. Sequences are drawn as before and weighted:
      - `importance: shared_distance`, the authors' code: sample l of all captions has the same distance
        (`smoothing.draw_at_shared_distances`), so q cancels. The weight is exp((min(R, 1) - 1) / tau_r) / L divided by
        the mean of that exponential over the batch's captions. Weights of one caption do not sum to one: captions whose
        sample has a higher reward count more.
      - `importance: literal`, eq. 11: exp(R / tau_r) / q over a caption's L samples, normalised to sum to one. It
        degenerates: from one distance to the next 1 / q grows by exp(1 / tau), 2.2e4 at tau .1, more than any reward
        can fall. The farthest sample takes all the weight, and weighted samples earn less than unweighted ones.
    `lazy` scores all samples under the ground truth's hidden states (eq. 19); else the captioner reads each sample. The
    loss is the mean over the captions' tokens, EOS included, as in `cross_entropy`."""

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        scored, logs = self.sequences(captioner, batch)
        loss = scored.negative_log_likelihood()
        return loss, {"smoothed_loss": loss.item(), **logs}

    def sequences(self, captioner: Captioner, batch: Batch) -> tuple[Scored, dict[str, float]]:
        """The batch's captions (weight 1 - alpha), sequences around them (weight alpha), and numbers to log."""
        # First, so that dropout masks are the same as with cross-entropy.
        memory = caption_memory(captioner, batch)
        drawn, weights, logs = self.draw(batch, captioner.vocabulary_size)
        captions, alpha = batch.captions.flatten(0, 1), self.config.alpha
        weights = torch.cat([torch.full_like(weights[:, :1], 1 - alpha), alpha * weights], 1)
        scored, loss = score_sequences(captioner, memory, captions, drawn, weights, self.config.lazy)
        return scored, {"train_loss": loss, **logs}

    def draw(self, batch: Batch, vocabulary_size: int) -> tuple[Sequences, Tensor, dict[str, float]]:
        """Sequences around the n captions, their weights [n, L] (no effect for missing ones), and numbers to log."""
        config = self.config
        present = (batch.captions != PAD).any(2).flatten()
        around = batch.captions, vocabulary_size, config.tau, config.samples, config.substitutes
        if config.reward == "hamming":
            drawn, log_q = draw_sequences(*around)
            weights = torch.full(log_q.shape, 1 / config.samples, device=present.device)
            return drawn, weights, self.distance_logs(drawn, batch)
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
        logs = self.distance_logs(drawn, batch) | {
            # The number of equally weighted samples that are worth as much; 1: a single sample decides.
            "effective_samples": (1 / share.square().sum(1)).mean().item(),
            "sampled_reward": reward[present].mean().item(),
            "weighted_reward": (weights * reward)[present].sum(1).mean().item(),
        }
        return drawn, weights.float(), logs

    def distance_logs(self, drawn: Sequences, batch: Batch) -> dict[str, float]:
        captions = batch.captions.flatten(0, 1)
        length = (captions != PAD).sum(1)
        distances = drawn.distances[length > 0].double()
        substituted = distances.mean(1).sum() / length.sum()
        return {
            "hamming_distance": distances.mean().item(),
            "pool_share": drawn.pool_share,
            STRENGTH: self.config.alpha * substituted.item(),
        }

    def reward(self, drawn: Sequences, batch: Batch) -> Tensor:
        """R of each sample against all references of its image, float64 [n, L]."""
        n, samples, _ = drawn.tokens.shape
        images = batch.images.repeat(n // len(batch.images) * samples)
        reward = self.context.reward.score(drawn.tokens.flatten(0, 1).cpu().numpy(), images)
        return torch.from_numpy(reward).to(drawn.tokens.device, torch.float64).view(n, samples)


def shared_distance_weights(reward: Tensor, present: Tensor, temperature: float) -> Tensor:
    """Weights [n, L] that sum to one for the average caption: exp((min(R, 1) - 1) / tau_r) of rewards R [n, L], divided
    by L and by its mean over captions that are `present` [n]."""
    weights = torch.exp((reward.clamp(max=1) - 1) / temperature)
    return weights / (weights[present].mean(0) * reward.shape[1])


def literal_weights(reward: Tensor, log_q: Tensor, temperature: float) -> Tensor:
    """Weights [n, L]: exp(R / tau_r) / q of rewards R [n, L] and log q [n, L] of samples, normalised over the L samples
    of a caption (eq. 11)."""
    return torch.softmax(reward / temperature - log_q, dim=1)
