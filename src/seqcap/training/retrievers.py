"""Trains dual encoders on people's captions: one caption of every image a step, drawn at random.

    for each batch of images:
        loss of a batch of image and caption embeddings
        loss.backward(); Adam
    recall over val after every epoch: the weights of the best epoch are kept

As in `seqcap.training.captioners`, a run can be killed at any moment, and resumes to the same bytes. All that is drawn
depends on seed and step alone. A seed is one process, also on many GPUs: a batch's negatives are not spread over them.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from seqcap import tasks
from seqcap.config.retrieval import RetrieverConfig
from seqcap.data.vocabulary import PAD, digest
from seqcap.files.tensors import load_weights, save_weights
from seqcap.models.weights import holding
from seqcap.retrieval.base import POOLED, Pictures
from seqcap.retrieval.dual_encoder import Config, Model
from seqcap.retrieval.recalls import recall_sum, recalls
from seqcap.system import machine
from seqcap.system.processes import side_by_side
from seqcap.system.progress import progress
from seqcap.system.scratch import checkpoints, locked
from seqcap.training.captioners import CHECKPOINT_SECONDS, LOG_STEPS, check_number, contents, data_batches
from seqcap.training.optimizer import Adam

# What of a configuration never changes the weights.
OTHER_FIELDS = {"name", "seeds", "evaluate_on", "weights"}

Curves = list[dict[str, Any]]


def make(config: RetrieverConfig) -> Curves:
    """Trains a retriever with each of its seeds: one after the other on a GPU, side by side in processes of one thread
    each on a CPU. Weights go to <weights>/seed<k>.safetensors.

    Returns:
        rows of `schemas.CURVES`.

    Raises:
        InputError: malformed inputs, or a loss or weights that are not finite.
    """
    kept = scratch(config)
    processes = 1 if machine.device().type == "cuda" else min(machine.workers(), len(config.seeds))
    trained = side_by_side(train, [(config, seed, kept) for seed in config.seeds], processes)
    return [row for curves in trained for row in curves]


def train(config: RetrieverConfig, seed: int, kept: Path) -> Curves:
    """Trains one seed.

    Args:
        seed: of weights, batches and the captions drawn.
        kept: folder of the checkpoint to resume from, and of the lock that keeps a second process out: after a kill,
            one may go on for a moment.

    Returns, raises:
        as `make`.
    """
    job = Job(config, seed)
    state = begin(job)
    with locked(kept / f"seed{seed}.lock", f"trains {config.name} seed {seed}"):
        checkpoint = kept / f"seed{seed}.safetensors"
        if checkpoint.exists():
            with holding(checkpoint, "state of this run"):
                state.restore(checkpoint, job.device)
        else:
            validate(job, state)
        learn(job, state, checkpoint)
        metadata = state.model.metadata() | {"max_length": config.max_length, "val_recall_sum": state.best_value}
        save_weights(Path(config.weights) / f"seed{seed}.safetensors", state.best, metadata)
    return state.curves


class Job:
    """A retriever with one seed, and what it works with.

    Attributes:
        batches: steps of an epoch.
        steps: of all epochs.
    """

    def __init__(self, config: RetrieverConfig, seed: int) -> None:
        assert config.training is not None
        self.config, self.seed, self.settings = config, seed, config.training
        self.device = machine.device()
        if self.device.type == "cpu":
            torch.set_num_threads(1)
        folder = tasks.ARTIFACTS / config.task
        self.pictures = Pictures(folder, folder / POOLED)
        self.training, self.validation = (self.pictures.split(name, config.max_length) for name in ("train", "val"))
        self.batches = -(-len(self.training) // self.settings.batch_size)
        self.steps = self.settings.epochs * self.batches


@dataclass
class State:
    """Everything that the rest of a run depends on.

    Attributes:
        at: steps done.
        curves: rows of `schemas.CURVES`.
        best, best_value: weights of the best epoch so far and their recall; none before the first epoch's end.
    """

    model: Model
    optimizer: Adam
    at: int = 0
    curves: Curves = field(default_factory=list)
    best: dict[str, Tensor] = field(default_factory=dict)
    best_value: float | None = None

    def keep(self, value: float) -> None:
        """Keeps the weights as they are now, if they are better than what was kept before."""
        if self.best_value is None or value > self.best_value:
            self.best_value = value
            self.best = {name: tensor.detach().clone() for name, tensor in self.model.state_dict().items()}

    def save(self, path: Path) -> None:
        """Writes the state."""
        groups = {"model": self.model.state_dict(), "best": self.best}
        groups |= {f"adam{i}": moments for i, moments in self.optimizer.state_dict()["state"].items()}
        tensors = {f"{group}.{name}": tensor for group, named in groups.items() for name, tensor in named.items()}
        save_weights(path, tensors, {"at": self.at, "best_value": self.best_value, "curves": self.curves})

    def restore(self, path: Path, device: torch.device) -> None:
        """Takes up the state that `save` wrote."""
        tensors, metadata = load_weights(path)
        groups: dict[str, dict[str, Tensor]] = {"best": {}}
        for name, tensor in tensors.items():
            group, rest = name.split(".", 1)
            groups.setdefault(group, {})[rest] = tensor
        self.model.load_state_dict(groups.pop("model"))
        self.best = {name: tensor.to(device) for name, tensor in groups.pop("best").items()}
        moments = {int(group.removeprefix("adam")): named for group, named in groups.items()}
        self.optimizer.load_state_dict(self.optimizer.state_dict() | {"state": moments})
        self.at, self.best_value, self.curves = metadata["at"], metadata["best_value"], metadata["curves"]


def begin(job: Job) -> State:
    """The state before the first step."""
    torch.manual_seed(job.seed)
    model = Model(Config(**job.config.model), len(job.pictures.vocabulary), job.pictures.feature_shape)
    some = np.sort(np.random.default_rng(0).permutation(len(job.training))[:5000])
    model.vocabulary = digest(job.pictures.vocabulary)
    model.fit_standardisation(job.training.inputs.get(some))
    model.to(job.device)
    return State(model, Adam(model.parameters(), lr=job.settings.learning_rate, fused=True))


def learn(job: Job, state: State, checkpoint: Path) -> None:
    """Trains to the end, and keeps the best epoch's weights in the state."""
    logs: dict[str, list[float]] = {}
    saved = time.monotonic()
    label = f"{job.config.name} seed {job.seed}"
    if state.at > 0:
        print(f"{label}: goes on from step {state.at}", file=sys.stderr, flush=True)
    bar = progress(total=job.steps, initial=state.at, desc=label, unit="step")
    for batch in data_batches(job.training, job.settings.batch_size, state.at, job.steps, job.seed, 0, 1, job.device):
        captions = draw(batch.captions, np.random.default_rng([job.seed, state.at, 1]))
        for name, number in update(job, state, batch.features, captions).items():
            logs.setdefault(name, []).append(number)
        bar.update()
        epoch_ends = state.at % job.batches == 0
        if epoch_ends or state.at % LOG_STEPS == 0:
            size = nn.utils.get_total_norm([parameter.detach() for parameter in state.model.parameters()])
            check_number(job.config.name, job.seed, state.at, "the size of its weights", size.item())
            for name, numbers in logs.items():
                record(job, state, name, float(np.mean(numbers)))
            logs = {}
            if epoch_ends:
                value = validate(job, state)
                state.keep(value)
                bar.set_postfix(val_recall_sum=f"{value:.3f}")
            if epoch_ends or time.monotonic() - saved > CHECKPOINT_SECONDS:
                state.save(checkpoint)
                saved = time.monotonic()
    bar.close()


def draw(captions: Tensor, rng: np.random.Generator) -> Tensor:
    """One caption of each image, ids [b, time], of captions [b, references, time]; each is as likely."""
    present = (captions[:, :, 0] != PAD).cpu().numpy()
    chosen = np.where(present, rng.random(present.shape), -1).argmax(1)
    return captions[torch.arange(len(captions)), torch.from_numpy(chosen)]


def update(job: Job, state: State, features: Tensor, captions: Tensor) -> dict[str, float]:
    """One step on features [b, channels] and captions [b, time].

    Returns:
        the loss an item, and the share of its terms above zero: hinges that are all zero teach nothing.

    Raises:
        InputError: the loss is not finite.
    """
    epoch = state.at // job.batches
    for group in state.optimizer.param_groups:
        group["lr"] = job.settings.learning_rate * job.settings.decay ** (epoch // job.settings.decay_every)
    terms = torch.stack(state.model.loss(state.model.embed_images(features), state.model.embed_captions(captions)))
    loss = terms.sum(0).mean()
    check_number(job.config.name, job.seed, state.at + 1, "the loss", loss.item())
    state.optimizer.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    state.optimizer.step()
    state.at += 1
    return {"train_loss": loss.item(), "train_active": (terms > 0).float().mean().item()}


def validate(job: Job, state: State) -> float:
    """Records the recalls over val; returns their sum, which decides."""
    found = recalls(state.model, job.validation, job.device)
    for direction, values in found.items():
        for name, value in values.items():
            record(job, state, f"val_{direction}_{name}", value)
    value = recall_sum(found)
    record(job, state, "val_recall_sum", value)
    return value


def record(job: Job, state: State, quantity: str, value: float) -> None:
    """Adds a point to a learning curve."""
    images = state.at * job.settings.batch_size
    row = {"variant": job.config.name, "seed": job.seed, "step": state.at, "images": images}
    state.curves.append(row | {"quantity": quantity, "value": value})


def scratch(config: RetrieverConfig) -> Path:
    """The folder of a retriever's checkpoints. Its name changes with everything that the weights depend on."""
    settings = config.model_dump(mode="json", exclude=OTHER_FIELDS)
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    digest.update(contents(tasks.files(config.task)).encode())
    return checkpoints(f"retriever@{config.name}") / digest.hexdigest()[:16]
