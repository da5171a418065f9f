"""Policy gradient with Monte-Carlo rollouts: PG-SPIDEr of Liu et al., ICCV 2017 (section 3, algorithm 1)."""

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor, nn

from seqcap.config import Frozen
from seqcap.data.vocabulary import PAD
from seqcap.models.base import Captioner, Tensors, repeat
from seqcap.models.decoding import complete
from seqcap.models.recording import record
from seqcap.objectives.shared.base import Batch, Context, Objective, Partner


class Config(Frozen):
    """The paper samples one path per image (M = 1) and K = 3 rollouts from each prefix. It gives neither the size of
    the baseline nor for how long it learns alone."""

    paths: int = Field(1, ge=1, description="captions sampled per image and step (M)")
    rollouts: int = Field(3, ge=1, description="completions sampled of each of their prefixes (K)")
    baseline_hidden: int = Field(128, ge=1, description="units in the baseline's hidden layer")
    baseline_steps: int = Field(100, ge=0, description="first steps in which only the baseline learns")
    baseline_pace: float = Field(
        10.0, gt=0, description="the baseline's learning rate, as a multiple of the captioner's"
    )


class Model(Objective):
    """Loss -sum_t (Q_t - B(s_t)) log p(g_t|s_t) + sum_t (Q_t - B(s_t))^2, mean over paths and images.
    g is a path sampled from the captioner, s_t its state before token t, and Q_t the mean reward of K random
    completions of g_1..g_t (for a finished caption, its reward). E[Q_t] = Q(s_t, g_t) for any K, and B(s_t) does not
    depend on g_t, so the expected gradient is exactly that of -E[reward] (section 3).
    B is a perceptron on the decoder's detached output, so fitting B does not change the captioner. Its last layer
    starts at zero: no baseline. In the first `baseline_steps` only B learns (algorithm 1). Its gradients are clipped
    apart: its squared errors grow with the reward's scale, and would shrink the captioner's steps with them.

    Args:
        config: its settings.
        context: `hidden` is what the baseline reads, `max_length` the length of paths and completions.
    """

    config: Config

    def __init__(self, config: Config, context: Context) -> None:
        super().__init__(config, context)
        last = nn.Linear(config.baseline_hidden, 1)
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
        self.baseline = nn.Sequential(nn.Linear(context.hidden, config.baseline_hidden), nn.ReLU(), last)

    def partners(self) -> Mapping[str, Partner]:
        return {"baseline": Partner(self.baseline, pace=self.config.baseline_pace)}

    def trains_captioner(self) -> bool:
        return int(self.steps) >= self.config.baseline_steps

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        memory = repeat(captioner.encode(batch.features), self.config.paths)
        images = batch.images.repeat(self.config.paths)
        sampled = torch.zeros(len(images), dtype=torch.bool, device=batch.features.device)
        drawn = record(captioner, memory, self.context.max_length, sampled)
        tokens, path = drawn.tokens, drawn.score(torch.arange(len(images), device=sampled.device))
        value, reward = self.action_values(captioner, memory, tokens, images)
        advantage = value - self.baseline(path.outputs.detach()).squeeze(1)
        policy_loss = -(advantage.detach() * path.log_prob).sum() / len(tokens)
        baseline_loss = advantage.square().sum() / len(tokens)
        # A factor instead of a branch: under DistributedDataParallel every parameter must get a gradient.
        learning = float(self.trains_captioner())
        self.count_step()
        logs = {"train_reward": reward, "baseline_loss": baseline_loss.item()}
        return learning * policy_loss + baseline_loss, logs

    def action_values(
        self, captioner: Captioner, memory: Tensors, tokens: Tensor, images: NDArray[np.int64]
    ) -> tuple[Tensor, float]:
        """Q_t [m] at the m tokens of paths [n, time], in the order of `tokens[tokens != PAD]`, and the paths' mean
        reward. `images` [n] are rows among the training images. `memory` has one row per path."""
        k = self.config.rollouts
        valid = tokens != PAD
        final = valid & (torch.arange(tokens.shape[1], device=tokens.device) == valid.sum(1, keepdim=True) - 1)
        # The value of a finished caption is its reward.
        rows, last = (valid & ~final).nonzero().T
        paths = nn.functional.pad(tokens, (0, self.context.max_length - tokens.shape[1]), value=PAD)
        scored, scored_images = paths, images
        if len(rows) > 0:
            prefixes, lengths = rows.repeat_interleave(k), (last + 1).repeat_interleave(k)
            whole = complete(captioner, memory, tokens, prefixes, lengths, self.context.max_length)
            scored = torch.cat([paths, whole])
            scored_images = np.concatenate([images, images[prefixes.cpu().numpy()]])
        found = self.context.reward.score(scored.cpu().numpy(), scored_images)
        rewards = torch.from_numpy(found).to(tokens.device, torch.float32)
        values = torch.empty(tokens.shape, device=tokens.device)
        values[final] = rewards[: len(tokens)]
        values[rows, last] = rewards[len(tokens) :].view(len(rows), k).mean(1)
        return values[valid], rewards[: len(tokens)].mean().item()
