"""The variance of the policy gradient with K rollouts, with and without the baseline, on a fixed batch. Liu et al. 2017
argue with it for Monte-Carlo rollouts and a learned baseline, without numbers."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from seqcap.config import Frozen, TaskKind
from seqcap.errors import InputError
from seqcap.evaluation.gradients import GradientsConfig, flat_gradient, read_start
from seqcap.models.base import Captioner
from seqcap.objectives.rollout_policy_gradient import Config, Model
from seqcap.objectives.shared.base import Batch, Context
from seqcap.rewards.mixture import Mixture, RewardInputs
from seqcap.system import machine
from seqcap.system.progress import progress
from seqcap.training.batches import Batches
from seqcap.training.optimizer import Adam


class Sizes(Frozen):
    """How much is drawn."""

    images: int = Field(ge=1)  # training images in the batch
    replicates: int = Field(ge=2)  # independent gradients of each setting
    batch_size: int = Field(ge=1)  # of the steps that fit the baseline
    learning_rate: float = Field(gt=0, lt=1)  # of these


class VarianceConfig(GradientsConfig, Sizes):
    """Stage `variance`: the noise of policy gradients."""

    kind: TaskKind
    reward: Mapping[str, float]
    settings: tuple[Config, ...]  # one for each number of rollouts


def measure(config: VarianceConfig) -> list[dict[str, Any]]:
    """Draws independent policy gradients of a batch under every setting: rows of `schemas.VARIANCE`, one per replicate.
    The baseline is fitted first, with the policy frozen and the most rollouts, and is the same for all settings.
    `squared_mean` is the squared norm of the mean of all settings' gradients (they share their expectation), minus what
    noise adds to it. It takes `replicates` x parameters x 4 bytes of memory. InputError for malformed inputs, or a
    gradient that is not finite."""
    device = machine.one_thread_device()
    captioner, task, training = read_start(config, config.kind, device)
    reward_inputs = RewardInputs(training.references, task.vocabulary.scored_words)
    context = Context(
        reward=task.vocabulary.in_words(Mixture(config.reward, reward_inputs)),
        max_length=config.max_length,
        hidden=captioner.output.in_features,
        steps_per_epoch=1,
        embeddings=None,
        frequencies=training.frequencies(len(task.vocabulary)),
        reads={},
        seed=config.seed,
        task=task.folder,
        items=training.inputs.ids,
        feature_shape=task.feature_shape,
    )
    settings = config.settings
    torch.manual_seed(config.seed)
    fitted = Model(max(settings, key=lambda setting: setting.rollouts), context).to(device)
    steps = fitted.config.baseline_steps
    batches = Batches(training, config.batch_size, config.seed).read(0, steps, device)
    shown = progress(batches, total=steps, desc="fit the baseline", unit="step")
    fit_baseline(fitted, captioner, shown, config.learning_rate)
    batch = next(Batches(training, config.images, config.seed).read(0, 1, device))
    drawn: dict[tuple[int, bool], Tensor] = {}
    for setting in progress(settings, desc="gradient variance", unit="setting"):
        for with_baseline in (False, True):
            # A new baseline is zero everywhere, that is, none.
            objective = Model(setting, context).to(device).eval()
            if with_baseline:
                objective.load_state_dict(fitted.state_dict())
            objective.steps.fill_(setting.baseline_steps)
            gradients = [flat_gradient(objective(captioner, batch)[0], captioner) for _ in range(config.replicates)]
            drawn[setting.rollouts, with_baseline] = torch.stack(gradients)
            if not bool(drawn[setting.rollouts, with_baseline].isfinite().all()):
                problem = f"its policy gradient with {setting.rollouts} rollouts is not finite"
                raise InputError(config.start, problem, "lower the weights of the reward")
    return list(rows(drawn))


def rows(drawn: Mapping[tuple[int, bool], Tensor]) -> Iterator[dict[str, Any]]:
    """Rows of `schemas.VARIANCE` from gradients [replicates, parameters], by rollouts and whether with a baseline."""
    distances = {key: (g - g.mean(0)).double().square().sum(1).cpu().numpy() for key, g in drawn.items()}
    replicates = len(next(iter(drawn.values())))
    mean = torch.stack([g.mean(0) for g in drawn.values()]).mean(0)
    # On average, the mean of n draws is off by a squared distance of variance / n.
    noise = np.mean([d.sum() / (replicates - 1) for d in distances.values()]) / (replicates * len(drawn))
    squared_mean = mean.double().square().sum().item() - noise
    for (rollouts, with_baseline), found in distances.items():
        for replicate, distance in enumerate(found):
            yield {
                "rollouts": rollouts,
                "baseline": with_baseline,
                "replicate": replicate,
                # Distances from the mean of the draws themselves are too small by this factor.
                "squared_distance": float(distance * replicates / (replicates - 1)),
                "squared_mean": squared_mean,
            }


def fit_baseline(objective: Model, captioner: Captioner, batches: Iterable[Batch], learning_rate: float) -> None:
    """Fits the baseline to a frozen policy; the objective is still in its first `baseline_steps`."""
    captioner.requires_grad_(False)
    optimizer = Adam(objective.parameters(), lr=learning_rate)
    for batch in batches:
        loss, _ = objective(captioner, batch)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    captioner.requires_grad_(True)
