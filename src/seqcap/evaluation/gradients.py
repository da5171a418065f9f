"""What measures of gradients share: a trained captioner with its data, and its gradient as one vector."""

from pathlib import Path

import torch
from torch import Tensor

from seqcap import models, tasks
from seqcap.config import StageConfig
from seqcap.models.base import Captioner
from seqcap.tasks.base import Split, Task


class GradientsConfig(StageConfig):
    """What every measure of gradients reads."""

    paper: str
    task: str
    start: str  # folder of the captioners
    max_length: int  # tokens of a caption, EOS included
    seed: int  # of the captioner and of what is drawn


def read_start(config: GradientsConfig, kind: str, device: torch.device) -> tuple[Captioner, Task, Split]:
    """The captioner of the configuration's seed, its task and the training split; InputError for malformed inputs."""
    path = Path(config.start) / f"seed{config.seed}.safetensors"
    captioner, metadata = models.load(path)
    task = tasks.load(kind, config.task, type(captioner))
    task.check(path, metadata)
    return captioner.to(device), task, task.split("train", config.max_length)


def flat_gradient(loss: Tensor, captioner: Captioner) -> Tensor:
    """The gradient with respect to the captioner's parameters, [parameters]."""
    parts = torch.autograd.grad(loss, list(captioner.parameters()))
    return torch.cat([part.flatten() for part in parts])
