"""MIXER, mixed incremental cross-entropy REINFORCE: Ranzato et al., ICLR 2016 (section 3.2.2, algorithm 1)."""

from collections.abc import Mapping

import torch
from pydantic import Field
from torch import Tensor, nn

from seqcap.config import Frozen
from seqcap.data.vocabulary import PAD
from seqcap.models.base import Captioner
from seqcap.models.recording import record
from seqcap.objectives.shared.base import Batch, Context, Objective, Partner, sample_references


class Config(Frozen):
    """Liu et al. 2017 shrink the prefix by 3 tokens every 5 epochs. While there is a prefix, cross-entropy has weight
    .5. They do not say what MIXER-BCMR-A changes; we read it as `final_weight: 0`."""

    shrink: int = Field(3, ge=1, description="tokens by which the cross-entropy prefix shrinks at each stage")
    epochs_per_stage: int = Field(5, ge=1, description="epochs between two shrinkings")
    weight: float = Field(0.5, ge=0, le=1, description="weight of cross-entropy while it has a prefix")
    final_weight: float = Field(0.5, ge=0, le=1, description="that weight falls linearly with the prefix to this")
    baseline_pace: float = Field(
        10.0, gt=0, description="the baseline's learning rate, as a multiple of the captioner's"
    )


class Model(Objective):
    """Loss of a reference y with prefix M: -w sum_{t <= M} log p(y_t) - (1 - w) sum_{t > M} (r - b_t) log p(g_t).
    g continues y_1..y_M with random tokens, r is the reward of the whole caption, and b_t a linear baseline on the
    detached decoder output, fitted to r by squared error. Each step uses one random reference of each image. A
    reference of at most M tokens has plain cross-entropy as its loss. M starts at `max_length` - `shrink`, since
    training starts from cross-entropy (M = `max_length`), and shrinks to 0, where w is 0. The baseline's gradients are
    clipped apart from the captioner's.

    Args:
        config: its settings.
        context: `max_length` and `steps_per_epoch` give the schedule of M, `hidden` is what the baseline reads.
    """

    config: Config

    def __init__(self, config: Config, context: Context) -> None:
        super().__init__(config, context)
        self.baseline = nn.Linear(context.hidden, 1)
        nn.init.zeros_(self.baseline.weight)
        nn.init.zeros_(self.baseline.bias)

    def partners(self) -> Mapping[str, Partner]:
        return {"baseline": Partner(self.baseline, pace=self.config.baseline_pace)}

    def schedule(self, step: int) -> tuple[int, float]:
        stage = step // (self.config.epochs_per_stage * self.context.steps_per_epoch) + 1
        longest = self.context.max_length
        prefix = max(0, longest - self.config.shrink * stage)
        left = prefix / longest
        weight = self.config.weight * left + self.config.final_weight * (1 - left)
        return prefix, weight if prefix > 0 else 0.0

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        prefix, weight = self.schedule(int(self.steps))
        self.count_step()
        memory = captioner.encode(batch.features)
        references = sample_references(batch.captions)
        unfinished = (references != PAD).sum(1) > prefix
        rows = unfinished.nonzero().squeeze(1)
        sampled = torch.zeros_like(unfinished)
        drawn = record(captioner, memory, self.context.max_length, sampled, references[:, :prefix])
        tokens, scores = drawn.tokens, drawn.score(torch.arange(len(references), device=references.device))
        row, time = (tokens != PAD).nonzero().T
        reinforced = time >= prefix
        score = torch.zeros(len(tokens), device=tokens.device)
        if len(rows) > 0:
            found = self.context.reward.score(tokens[rows].cpu().numpy(), batch.images[rows.cpu().numpy()])
            score[rows] = torch.from_numpy(found).to(score)
        advantage = (score[row] - self.baseline(scores.outputs.detach()).squeeze(1))[reinforced]
        supervised = -scores.log_prob[~reinforced].sum() / len(tokens)
        reinforce = -(advantage.detach() * scores.log_prob[reinforced]).sum() / len(tokens)
        baseline_loss = advantage.square().sum() / len(tokens)
        logs = {"baseline_loss": baseline_loss.item(), "xe_prefix": float(prefix)}
        if len(rows) > 0:
            # With a prefix, the reward is partly the reference's.
            logs["prefixed_reward" if prefix > 0 else "train_reward"] = score[rows].mean().item()
        return weight * supervised + (1 - weight) * reinforce + baseline_loss, logs
