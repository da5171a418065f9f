"""Sequence-level exploration: SLL-SLE, the proposal of Chen & Jin 2020 (section 4)."""

from typing import Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from seqcap.config import Frozen
from seqcap.data.vocabulary import EOS, PAD
from seqcap.models.base import Captioner
from seqcap.objectives.shared.base import Batch, Context, Objective, draw_with_greedy
from seqcap.rewards.bleu import multi_reference_bleu, pairwise_bleu


class Config(Frozen):
    """The paper: s = 5; alpha = .75, chosen from .25, .5, .75 on validation data."""

    samples: int = Field(5, ge=2, description="captions drawn per image and step (s)")
    alpha: float = Field(0.75, ge=0, le=1, description="weight of quality; 1 - alpha weighs exploration")
    distance: Literal["pairwise", "multi_reference"] = Field("pairwise", description="d(y, y')")
    floor: float = Field(-0.5, ge=-1, le=0, description="smallest baseline of multi_reference's scores")
    estimator: Literal["paper", "leave_one_out"] = Field("paper", description="how E[d] is differentiated")
    keep: Literal["best", "last"] = Field("best", description="weights of the best epoch on val, or of the last one")


class Model(Objective):
    """The gradient of alpha E[Delta(y)] + (1 - alpha) E[d(y, y')] (eq. 8) by its surrogate (eq. 16).
    The loss is the mean over samples j and images of
        -alpha (Delta_j - b1) log p(y_j) - (1 - alpha) (2/s) sum_k (d_jk - b2) log p(y_j)
    Delta is CIDEr-D and b1 that of the greedy caption; b2 is the mean of all s x s distances.
    `estimator: paper` is equation 16 as printed. Because d_jj = 0 and because b2 contains the sample's own distances,
    its expected exploration term is (s - 1)(s - 2) / s^2 times the gradient of (1 - alpha) E[d]: .48 of it at s = 5.
    `estimator: leave_one_out` divides by s - 1 and takes b2 over the pairs without j, so it is unbiased.
    `distance: pairwise` is d = 2 - (BLEU-3 + BLEU-4), averaged over both directions, and 0 between identical captions;
    `distance: multi_reference` is an equal reading of the paper: the authors' own code of June to August 2018
    (marshimarocj/caption_competition, gen_model/diversity.py and gen_model/trntst_util.py), with the paper's s, BLEU-3
    and BLEU-4, and 1 - alpha = .25. A sample's score is -(BLEU-3 + BLEU-4) / 2 against all others as references, of
    words without EOS; its baseline is the mean over the samples, but at least `floor`. So of samples that say nearly
    the same, with scores near -1, each one loses: that pushes a policy apart which has collapsed, and to which the
    plain mean would give no gradient. There is no factor 2/s. METHODS.md has it as later code, without floor.

    Args:
        config: its settings.
        context: `reward` is Delta; `max_length` is the samples' longest.
    """

    config: Config

    def __init__(self, config: Config, context: Context) -> None:
        super().__init__(config, context)
        # Where a policy unlearns to caption, its best epoch is its first: it would show what the objective does not do.
        self.keeps_last = config.keep == "last"  # type: ignore[misc]

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        memory = captioner.encode(batch.features)
        samples = draw_with_greedy(captioner, memory, batch, self.context, self.config.samples)
        log_prob = samples.log_prob()
        novelty = self.exploration(samples.tokens).to(log_prob)
        advantage = self.config.alpha * (samples.reward - samples.baseline[:, None])
        loss = -((advantage + (1 - self.config.alpha) * novelty) * log_prob).mean()
        return loss, {"train_reward": samples.reward.mean().item()}

    def exploration(self, tokens: Tensor) -> Tensor:
        """The factor [b, s] of (1 - alpha) log p(y_j), for samples [b * s, time]."""
        s = self.config.samples
        sets = tokens.view(-1, s, tokens.shape[1]).cpu().numpy()
        if self.config.distance == "multi_reference":
            words = np.where(sets == EOS, PAD, sets)
            score = -torch.from_numpy(multi_reference_bleu(words))[:, :, 2:].mean(2)
            return score - score.mean(1, keepdim=True).clamp(min=self.config.floor)
        similarity = torch.from_numpy(pairwise_bleu(sets))[..., 2:].sum(3)
        distance = 2 - (similarity + similarity.transpose(1, 2)) / 2
        # BLEU-4 of a caption of under four tokens is zero even against itself, but the distance of equal captions is 0.
        same = (tokens.view(-1, s, 1, tokens.shape[1]) == tokens.view(-1, 1, s, tokens.shape[1])).all(3)
        distance = distance.masked_fill(same.cpu(), 0)
        row = distance.sum(2)
        total = row.sum(1, keepdim=True)
        if self.config.estimator == "paper":
            return 2 / s * (row - total / s)
        # With two samples there is no pair without j for a baseline.
        baseline = (total - 2 * row) / ((s - 1) * (s - 2)) if s > 2 else torch.zeros_like(row)
        return 2 * (row / (s - 1) - baseline)
