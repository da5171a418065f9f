"""The one training loop, for captioners with every objective, for retrievers and for encoders.

    for each batch:
        loss, logs = learner(batch)
        loss.backward(); clip; optimizer step
    scores of val before the first step and after every epoch: the weights of the best epoch are kept

The starting weights are never kept, unless there is no epoch: what is reported of an objective is what it makes of the
captioner, for better or worse.

A run can be killed at any moment. Every minute, and after every epoch, everything that the rest of the run depends on
(weights, Adam's moments, random generators, curves) is written to scratch/. From there the same command resumes, to the
same bytes as an uninterrupted run on the same device.
"""

from __future__ import annotations

import math
import sys
import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import torch
import torch.distributed as dist
from torch import nn

from seqcap.errors import InputError
from seqcap.models.weights import report_wrong_content
from seqcap.system import machine
from seqcap.system.processes import side_by_side
from seqcap.system.progress import progress
from seqcap.system.scratch import locked
from seqcap.training.checkpoint import L, State

CHECKPOINT_SECONDS = 60
LOG_STEPS = 10

T = TypeVar("T")


class Job(ABC, Generic[L]):
    """One training run with one seed.

    Attributes:
        name: of the run.
        settings: `epochs`, `batch_size`, `learning_rate`, and for `set_rates` `decay` and `decay_every`.
        seed: of weights, batches, dropout and samples.
        batches: steps of an epoch.
        steps: of all epochs.
        decisive: the score on val by which an epoch is kept.
        clip: largest norm of the gradients of each parameter group.
        rank, world: this process among the launcher's, and the number of them.
    """

    name: str
    seed: int
    settings: Any
    device: torch.device
    batches: int
    steps: int
    decisive: str
    clip: float = math.inf
    rank: int = 0
    world: int = 1

    @abstractmethod
    def begin(self) -> State[L]:
        """The state before the first step."""

    @abstractmethod
    def read(self, state: State[L]) -> Iterator[Any]:
        """The batches from step `state.at` to the last. Each has a `weight`: what its loss counts in the mean over the
        launcher's processes."""

    @abstractmethod
    def validate(self, state: State[L]) -> float:
        """Records scores on val; returns the one that decides."""

    @abstractmethod
    def save(self, state: State[L]) -> None:
        """Writes the weights that were kept, once all steps are done."""

    def score_start(self, state: State[L]) -> None:
        """Records the scores before the first step."""
        value = self.validate(state)
        if self.steps == 0:
            state.keep(value)

    def set_rates(self, optimizer: torch.optim.Optimizer, at: int) -> None:
        """Sets the learning rates of the step after `at` steps."""
        decay = self.settings.decay ** (at // self.batches // self.settings.decay_every)
        for group in optimizer.param_groups:
            group["lr"] = self.settings.learning_rate * group["pace"] * decay


def train_side_by_side(function: Callable[..., T], jobs: Sequence[tuple[Any, ...]]) -> list[T]:
    """Trains several runs and seeds: one after the other on a GPU or under a launcher, side by side in processes of one
    thread each on a CPU."""
    return side_by_side(function, jobs, 1 if machine.device().type == "cuda" else min(machine.workers(), len(jobs)))


def train(job: Job[L], kept: Path) -> State[L]:
    """Trains a run with one seed and writes its weights.

    Args:
        kept: folder of the checkpoint to resume from, and of the lock that keeps a second process out: after a kill,
            one may go on for a moment.

    Raises:
        InputError: malformed inputs, or a loss, gradient or score that is not finite.
    """
    state = job.begin()
    with locked(kept / f"seed{job.seed}_rank{job.rank}.lock", f"trains {job.name} seed {job.seed}"):
        # Another number of processes shares the batches out in another way.
        checkpoint = kept / f"seed{job.seed}_of{job.world}.safetensors"
        if job.world > 1:
            # Now each has its lock: none of an earlier launch is left to write.
            dist.barrier()
        if checkpoint.exists():
            with report_wrong_content(checkpoint, "state of this run"):
                state.restore(checkpoint, job.device)
        else:
            job.score_start(state)
        learn(job, state, checkpoint)
        if job.rank == 0:
            job.save(state)
    return state


def learn(job: Job[L], state: State[L], checkpoint: Path) -> None:
    """Trains to the end, and keeps the best epoch's weights in the state."""
    label = f"{job.name} seed {job.seed}"
    if state.at > 0 and job.rank == 0:
        print(f"{label}: goes on from step {state.at}", file=sys.stderr, flush=True)
    bar = progress(total=job.steps, initial=state.at, desc=label, unit="step", disable=job.rank > 0)
    logs: dict[str, list[float]] = defaultdict(list)
    saved = time.monotonic()
    for batch in job.read(state):
        started = time.monotonic()
        for name, number in update(job, state, batch).items():
            logs[name].append(number * batch.weight)
        state.seconds.append(time.monotonic() - started)
        bar.update()
        epoch_ends = state.at % job.batches == 0
        if epoch_ends or state.at % LOG_STEPS == 0:
            check_finite(job, state)
            means = mean_over_processes(job, [float(np.mean(numbers)) for numbers in logs.values()])
            for name, mean in zip(logs, means, strict=True):
                record(job, state, name, mean)
            logs.clear()
            if epoch_ends:
                value = job.validate(state)
                state.keep(value)
                bar.set_postfix({job.decisive: f"{value:.3f}"})
            if epoch_ends or first_process_wants(job, time.monotonic() - saved > CHECKPOINT_SECONDS):
                state.save(checkpoint)
                saved = time.monotonic()
    bar.close()


def update(job: Job[L], state: State[L], batch: Any) -> dict[str, float]:
    """One training step; returns what the learner logs."""
    job.set_rates(state.optimizer, state.at)
    state.learner.train()
    # Asked before the step, which the learner may count.
    resting = state.learner.resting()
    loss, logs = state.parallel(batch)
    if job.world > 1:
        loss = loss * batch.weight
    state.optimizer.zero_grad(set_to_none=True)
    loss.backward()
    for module in resting:
        for parameter in module.parameters():
            parameter.grad = None
    total = loss.detach()
    for group in state.optimizer.param_groups:
        total = total + nn.utils.clip_grad_norm_(group["params"], job.clip)
    state.optimizer.step()
    state.at += 1
    state.unchecked.append(total)
    return logs  # type: ignore[no-any-return]


def check_finite(job: Job[L], state: State[L]) -> None:
    """Stops a run whose loss or gradient was not finite in one of the last steps. What it was before is in its last
    checkpoint.

    Some steps at a time, because to look at a number waits for the GPU. A sum is finite if all its parts are.

    Raises:
        InputError: names the first such step.
    """
    totals = torch.stack(state.unchecked).tolist()
    state.unchecked.clear()
    for step, total in enumerate(totals, state.at - len(totals) + 1):
        check_number(job, step, "the loss or its gradient", total)


def check_number(job: Job[Any], step: int, quantity: str, value: float) -> None:
    """Checks that a number is finite: with NaN or infinity training goes on, but means nothing.

    Raises:
        InputError: it is not.
    """
    if not math.isfinite(value):
        problem = f"{quantity} is {value} at step {step}"
        raise InputError(
            f"{job.name} seed {job.seed}", problem, "lower its learning_rate, or the weights of its reward"
        )


def record(job: Job[L], state: State[L], quantity: str, value: float) -> None:
    """Adds a point to a learning curve.

    Raises:
        InputError: it is not finite.
    """
    check_number(job, state.at, quantity, value)
    images = state.at * job.settings.batch_size
    row = {"variant": job.name, "seed": job.seed, "step": state.at, "images": images}
    state.curves.append(row | {"quantity": quantity, "value": value})


def first_process_wants(job: Job[Any], wanted: bool) -> bool:
    """What the launcher's first process wants: the clocks of the others are not quite the same."""
    if job.world == 1:
        return wanted
    flag = torch.tensor(int(wanted), device=job.device)
    dist.broadcast(flag, 0)
    return bool(flag)


def mean_over_processes(job: Job[Any], numbers: list[float]) -> list[float]:
    """The mean of each number over the launcher's processes."""
    if job.world == 1:
        return numbers
    sums = torch.tensor(numbers, device=job.device, dtype=torch.float64)
    dist.all_reduce(sums)
    return (sums / job.world).tolist()
