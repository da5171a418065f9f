"""Sequence-level loss smoothing: "Seq" of Elbayad et al. 2018, after the RAML of Norouzi et al. 2016."""

from __future__ import annotations

from typing import Literal

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from torch import Tensor

from seqcap.models.base import Captioner
from seqcap.objectives.base import Batch, Context, Objective
from seqcap.objectives.smoothing import (
    GroundTruth,
    Pool,
    Scored,
    Sequences,
    draw_sequences,
    score_ground_truth,
    score_sequences,
)


class Config(BaseModel):
    """The authors' code on COCO: tau .1, .17 or .3 for substitutes from the vocabulary, the batch or the references;
    alpha .4 (.5 with the references and no attention); tau_r .5. The paper does not say how many samples it took. The
    default of the authors' code is one, but importance weights need several: 5 here."""

    model_config = ConfigDict(extra="forbid")

    tau: float = Field(0.1, gt=0, description="temperature of the Hamming distance that sequences are drawn by")
    alpha: float = Field(0.4, ge=0, le=1, description="weight of the sequences; 1 - alpha weighs the captions")
    substitutes: Pool = Field("vocabulary", description="where substituted words come from")
    reward: Literal["hamming", "mixture"] = Field("hamming", description="Hamming distance, or the variant's reward")
    reward_temperature: float = Field(0.5, gt=0, description="tau_r, of the variant's reward (x1 scale)")
    samples: int = Field(5, ge=1, description="sequences per caption and step (L)")
    lazy: bool = Field(True, description="score sequences under the ground truth's hidden states")

    @field_validator("samples")
    @classmethod
    def _weighs_something(cls, value: int, info: ValidationInfo) -> int:
        if value == 1 and info.data.get("reward") == "mixture":
            raise ValueError("a reward needs at least 2 samples: the weights of one are 1 whatever it earns")
        return value


class Model(Objective):
    """alpha E_{y ~ r(. | y*)}[-log p(y)] + (1 - alpha) -log p(y*) (eqs. 8 and 9), with L sequences per caption.

    `reward: hamming`: r ~ exp(-d / tau), the distribution that sequences are drawn from: their plain mean (eq. 12).
    `reward: mixture`: r ~ exp(R / tau_r) over the sequences within Hamming distance, R the run's reward against
    all the image's references: self-normalised importance weights exp(R / tau_r) / q (eq. 15).
    `lazy` scores all samples under the ground truth's hidden states (eq. 19), else each is fed to the captioner.
    Mean over the captions' tokens, EOS included, as in `cross_entropy`; samples are as long as their captions.
    """

    def __init__(self, config: Config, context: Context) -> None:
        super().__init__()
        self.config, self.context = config, context

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        truth = score_ground_truth(captioner, batch)
        scored, logs = self.sequences(captioner, batch, truth)
        loss = (1 - self.config.alpha) * truth.loss + self.config.alpha * scored.negative_log_likelihood()
        return loss, {"train_loss": truth.loss.item(), "smoothed_loss": loss.item(), **logs}

    def sequences(self, captioner: Captioner, batch: Batch, truth: GroundTruth) -> tuple[Scored, dict[str, float]]:
        """Sequences around the batch's captions, weighted and scored, and what to log of them."""
        config = self.config
        drawn = draw_sequences(
            batch.captions, captioner.vocabulary_size, config.tau, config.samples, config.substitutes
        )
        logs = {"hamming_distance": drawn.distances.double().mean().item()}
        weights = torch.full(drawn.log_q.shape, 1 / config.samples, device=batch.captions.device)
        if config.reward == "mixture":
            weights = self.importance_weights(drawn, batch)
            # How many equally weighted samples these are worth; 1: a single one decides.
            logs["effective_samples"] = (1 / weights.square().sum(1)).mean().item()
        return score_sequences(captioner, truth, drawn, weights, config.lazy), logs

    def importance_weights(self, drawn: Sequences, batch: Batch) -> Tensor:
        """[n, L], ~ exp(R / tau_r) / q, summing to one over a caption's samples."""
        references = batch.captions.shape[1]
        images = batch.images.repeat(references * self.config.samples)
        reward = self.context.reward.score(drawn.tokens.flatten(0, 1).cpu().numpy(), images)
        scaled = torch.from_numpy(reward).to(drawn.log_q).view_as(drawn.log_q) / self.config.reward_temperature
        return torch.softmax(scaled - drawn.log_q, dim=1).float()
