"""The training loop for captioners with every objective, retrievers and encoders. It keeps the weights of the epoch
with the best validation score; the initial weights only if there is no epoch, so reported results are always the
objective's own.
A run can be killed at any moment. Every minute and after every epoch it writes a checkpoint to scratch/: weights,
Adam's moments, random generators, curves. The same command resumes it, to the bytes of an uninterrupted run."""

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
    """One training run with one seed."""

    name: str
    seed: int  # of weights, batches, dropout and samples
    settings: Any  # `epochs`, `batch_size`, `learning_rate`; `decay` and `decay_every` for `set_rates`
    device: torch.device
    batches: int  # steps per epoch
    steps: int  # steps in all
    decisive: str  # the validation score that decides which epoch is kept
    clip: float = math.inf  # largest gradient norm of each parameter group
    rank: int = 0  # of this process under the launcher
    world: int = 1  # number of processes

    @abstractmethod
    def begin(self) -> State[L]:
        """The state before the first step."""

    @abstractmethod
    def read(self, state: State[L]) -> Iterator[Any]:
        """The batches from step `state.step` to the last. Each has a `weight` in the mean over processes."""

    @abstractmethod
    def validate(self, state: State[L]) -> float:
        """Records validation scores; returns the one that decides."""

    @abstractmethod
    def save(self, state: State[L]) -> None:
        """Writes the kept weights, after the last step."""

    def score_start(self, state: State[L]) -> None:
        value = self.validate(state)
        if self.steps == 0:
            state.keep(value)

    def set_rates(self, optimizer: torch.optim.Optimizer, step: int) -> None:
        """Sets the learning rates after `step` steps."""
        decay = self.settings.decay ** (step // self.batches // self.settings.decay_every)
        for group in optimizer.param_groups:
            group["lr"] = self.settings.learning_rate * group["pace"] * decay


def train_side_by_side(function: Callable[..., T], jobs: Sequence[tuple[Any, ...]]) -> list[T]:
    """Trains runs and seeds: side by side on a CPU, in one-thread processes; in turn on a GPU or under a launcher."""
    return side_by_side(function, jobs, 1 if machine.device().type == "cuda" else min(machine.workers(), len(jobs)))


def train(job: Job[L], kept: Path) -> State[L]:
    """Trains a run with one seed and writes its weights. The checkpoint goes to `kept`, with a lock, since a killed
    process may go on for a moment. InputError if a loss, gradient or score is not finite."""
    state = job.begin()
    with locked(kept / f"seed{job.seed}_rank{job.rank}.lock", f"trains {job.name} seed {job.seed}"):
        # Other numbers of processes share out batches in another way.
        checkpoint = kept / f"seed{job.seed}_of{job.world}.safetensors"
        if job.world > 1:
            # Now each process has its lock, so none of an earlier launch writes.
            dist.barrier()
        if checkpoint.exists():
            with report_wrong_content(checkpoint, "state of this run"):
                state.restore(checkpoint, job.device)
                if state.step not in range(job.steps + 1):
                    raise ValueError(f"it is at step {state.step} of {job.steps}")
        else:
            job.score_start(state)
        learn(job, state, checkpoint)
        if job.rank == 0:
            job.save(state)
    return state


def learn(job: Job[L], state: State[L], checkpoint: Path) -> None:
    label = f"{job.name} seed {job.seed}"
    if state.step > 0 and job.rank == 0:
        print(f"{label}: goes on from step {state.step}", file=sys.stderr, flush=True)
    bar = progress(total=job.steps, initial=state.step, desc=label, unit="step", disable=job.rank > 0)
    logs: dict[str, list[float]] = defaultdict(list)
    saved = time.monotonic()
    clock = time.process_time if job.device.type == "cpu" else time.monotonic
    for batch in job.read(state):
        started = clock()
        for name, number in update(job, state, batch).items():
            logs[name].append(number * batch.weight)
        state.seconds.append(clock() - started)
        bar.update()
        epoch_ends = state.step % job.batches == 0
        if epoch_ends or state.step % LOG_STEPS == 0:
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
    job.set_rates(state.optimizer, state.step)
    state.learner.train()
    # Before the step, because the learner may count steps.
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
    state.step += 1
    state.unchecked.append(total)
    return logs  # type: ignore[no-any-return]


def check_finite(job: Job[L], state: State[L]) -> None:
    """Checks the losses and gradients of the last steps; InputError for the first that is not finite. Reading a number
    waits for the GPU, so it reads several steps' sums at once."""
    totals = torch.stack(state.unchecked).tolist()
    state.unchecked.clear()
    for step, total in enumerate(totals, state.step - len(totals) + 1):
        check_number(job, step, "the loss or its gradient", total)


def check_number(job: Job[Any], step: int, quantity: str, value: float) -> None:
    """InputError unless the number is finite: with NaN or infinity training would go on without meaning."""
    if not math.isfinite(value):
        problem = f"{quantity} is {value} at step {step}"
        raise InputError(
            f"{job.name} seed {job.seed}", problem, "lower its learning_rate, or the weights of its reward"
        )


def record(job: Job[L], state: State[L], quantity: str, value: float) -> None:
    """Adds a point to a learning curve; InputError if it is not finite."""
    check_number(job, state.step, quantity, value)
    images = state.step * job.settings.batch_size
    row = {"run": job.name, "seed": job.seed, "step": state.step, "images": images}
    state.curves.append(row | {"quantity": quantity, "value": value})


def first_process_wants(job: Job[Any], wanted: bool) -> bool:
    if job.world == 1:
        return wanted
    flag = torch.tensor(int(wanted), device=job.device)
    dist.broadcast(flag, 0)
    return bool(flag)


def mean_over_processes(job: Job[Any], numbers: list[float]) -> list[float]:
    if job.world == 1:
        return numbers
    sums = torch.tensor(numbers, device=job.device, dtype=torch.float64)
    dist.all_reduce(sums)
    return (sums / job.world).tolist()
