"""The one training loop, for every captioner and objective.

    for each batch of images (or sentences):
        loss, logs = objective(captioner, batch)
        loss.backward(); clip; Adam
    greedy captions of val after every epoch: the weights of the best epoch are kept (`seqcap.training.validation`)

Before the first step val is scored, too, for the curves. The starting weights are never kept, unless there is no epoch:
what is reported of an objective is what it makes of the captioner, for better or worse.

A run can be killed at any moment. Every minute, and after every epoch, everything that the rest of the run depends on
(weights, Adam's moments, random generators, curves) is written to scratch/. From there the same command resumes, to the
same bytes as an uninterrupted run on the same device.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import math
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from seqcap import models, objectives, tasks
from seqcap.config.training import TrainingRun
from seqcap.data.vocabulary import PAD, digest
from seqcap.errors import InputError
from seqcap.files.tensors import load_weights, save_weights
from seqcap.models import decoding
from seqcap.models.base import Captioner
from seqcap.models.weights import holding
from seqcap.objectives.base import Batch, Context, Objective
from seqcap.rewards.mixture import Material, Mixture
from seqcap.system import machine
from seqcap.system.processes import side_by_side
from seqcap.system.progress import progress
from seqcap.system.scratch import locked
from seqcap.tasks.base import Inputs, Split
from seqcap.training import validation
from seqcap.training.optimizer import Adam

CHECKPOINT_SECONDS = 60
LOG_STEPS = 10
# Among the models whose weights are kept. The others are the objective's partners.
CAPTIONER = "captioner"
# What of a run's configuration never changes its weights.
OTHER_FIELDS = {"name", "paper", "captioner", "seeds", "weights"}


@dataclass(frozen=True)
class Trained:
    """What a run leaves besides its weights.

    Attributes:
        curves: rows of `schemas.CURVES`.
        seconds_per_epoch: of training steps alone, by their median; None where there were none. It is measured, not
            computed: no two runs have the same.
    """

    curves: list[dict[str, Any]]
    seconds_per_epoch: float | None


def train_all(runs: Sequence[TrainingRun], code: Mapping[str, str], kept: Path) -> list[list[Trained]]:
    """Trains runs with each of their seeds: one after the other on a GPU or under a launcher, side by side in processes
    of one thread each on a CPU. Weights go to <weights>/seed<k>.safetensors.

    Args:
        code: hashes of the code that they run (`TrainConfig.code`): what was begun by other code is not resumed.
        kept: folder of the checkpoints. They stay there (`seqcap.system.scratch`).

    Returns:
        per run, what came of each seed.

    Raises:
        InputError: as `train`.
    """
    _, world = machine.join_group()
    folders = [(run, kept / checkpoint_folder(run, code)) for run in runs]
    jobs = [(run, seed, folder) for run, folder in folders for seed in run.seeds]
    processes = 1 if machine.device().type == "cuda" else min(machine.workers(), len(jobs))
    trained = side_by_side(train, jobs, processes)
    if world > 1:
        dist.barrier()
    found = iter(trained)
    return [[next(found) for _ in run.seeds] for run in runs]


def train(run: TrainingRun, seed: int, kept: Path) -> Trained:
    """Trains a run with one seed.

    Args:
        seed: of weights, batches, dropout and samples.
        kept: folder of the checkpoint to resume from, and of the lock that keeps a second process out: after a kill,
            one may go on for a moment.

    Raises:
        InputError: malformed inputs, a reward that says nothing, or a loss, gradient or score that is not finite.
    """
    job = Job(run, seed)
    state = begin(job)
    with locked(kept / f"seed{seed}_rank{job.rank}.lock", f"trains {run.name} seed {seed}"):
        # Another number of processes shares the batches out in another way.
        checkpoint = kept / f"seed{seed}_of{job.world}.safetensors"
        if job.world > 1:
            # Now each has its lock: none of an earlier launch is left to write.
            dist.barrier()
        if checkpoint.exists():
            with holding(checkpoint, "state of this run"):
                state.restore(checkpoint, job.device)
        else:
            score_start(job, state)
        seconds = learn(job, state, checkpoint)
        if job.rank == 0:
            metadata = {
                "architecture": run.architecture,
                "model": run.model,
                "vocabulary_size": len(job.task.vocabulary),
                "feature_shape": list(job.task.feature_shape),
                "max_length": run.max_length,
                "task": run.task,
                "vocabulary": digest(*job.task.vocabularies),
            }
            best = {job.criteria.decisive: state.best_value}
            folder = Path(run.weights)
            save_weights(folder / f"seed{seed}.safetensors", state.best[CAPTIONER], metadata | best)
            for name, partner in state.step.objective.partners().items():
                path = folder / f"seed{seed}.{name}.safetensors"
                save_weights(path, state.best[name], dict(partner.metadata) | best)
    return Trained(state.curves, float(np.median(seconds)) * job.batches if seconds else None)


class Job:
    """A run with one seed, and what it works with.

    Attributes:
        rank, world: this process among the launcher's, and the number of them.
        reward: against the training references.
        batches: steps of an epoch.
        steps: of all epochs.
    """

    def __init__(self, run: TrainingRun, seed: int) -> None:
        self.run, self.seed = run, seed
        self.rank, self.world = machine.join_group()
        self.device = machine.device()
        machine.check_precision(run.precision, self.device)
        if self.device.type == "cpu":
            torch.set_num_threads(1)
        self.task = tasks.load(run.kind, run.task, models.model_class(run.architecture))
        self.training, self.validation = (self.task.split(name, run.max_length) for name in ("train", "val"))
        words, paraphrases = self.task.vocabulary.words, run.reads.get("paraphrases")
        self.reward = Mixture(run.reward, Material(self.training.references, words, paraphrases))
        self.criteria = validation.criteria(self.task, run, self.validation)
        self.batches = -(-len(self.training) // run.training.batch_size)
        self.steps = run.training.epochs * self.batches

    def agreed(self, wanted: bool) -> bool:
        """What the launcher's first process wants: the clocks of the others are not quite the same."""
        if self.world == 1:
            return wanted
        flag = torch.tensor(int(wanted), device=self.device)
        dist.broadcast(flag, 0)
        return bool(flag)

    def averaged(self, numbers: list[float]) -> list[float]:
        """The mean over the launcher's processes of each of some numbers."""
        if self.world == 1:
            return numbers
        sums = torch.tensor(numbers, device=self.device, dtype=torch.float64)
        dist.all_reduce(sums)
        return (sums / self.world).tolist()


class Step(nn.Module):
    """Captioner and objective as one module, so that one optimizer and one DistributedDataParallel hold both."""

    def __init__(self, captioner: Captioner, objective: Objective) -> None:
        super().__init__()
        self.captioner, self.objective = captioner, objective

    def forward(self, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        return self.objective(self.captioner, batch)  # type: ignore[no-any-return]


@dataclass
class State:
    """Everything that the rest of a run depends on.

    Attributes:
        parallel: `step`, or under a launcher what averages its gradients over all processes.
        at: steps done.
        curves: rows of `schemas.CURVES`.
        best, best_value: the weights that are kept so far, "captioner" or name of a partner -> tensors, and their score
            on val; none before the first epoch's end.
        unseen: for each step since `check_finite` looked, its loss and the norms of its gradients, added up.
    """

    step: Step
    parallel: nn.Module
    optimizer: torch.optim.Optimizer
    at: int = 0
    curves: list[dict[str, Any]] = field(default_factory=list)
    best: dict[str, dict[str, Tensor]] = field(default_factory=dict)
    best_value: float | None = None
    unseen: list[Tensor] = field(default_factory=list)

    def keep(self, value: float) -> None:
        """Keeps captioner and partners as they are now, with their score on val, if they are better than what was kept
        before, or if the objective keeps the last ones."""
        if self.best_value is None or value > self.best_value or self.step.objective.keeps_last:
            self.best_value = value
            partners = {name: partner.module for name, partner in self.step.objective.partners().items()}
            self.best = {
                model: {name: tensor.detach().clone() for name, tensor in module.state_dict().items()}
                for model, module in ({CAPTIONER: self.step.captioner} | partners).items()
            }

    def save(self, path: Path) -> None:
        """Writes the state. Under a launcher, the first process writes that of all: they differ in what they draw."""
        tensors = {f"step.{k}": v for k, v in self.step.state_dict().items()}
        tensors |= {f"best.{model}.{k}": v for model, kept in self.best.items() for k, v in kept.items()}
        for index, moments in self.optimizer.state_dict()["state"].items():
            tensors |= {f"adam.{index}.{name}": value for name, value in moments.items()}
        generators = [generator_states()]
        if dist.is_initialized():
            generators = [{} for _ in range(dist.get_world_size())]
            dist.all_gather_object(generators, generator_states())
            if dist.get_rank() > 0:
                return
        tensors |= {f"random.{rank}_{k}": v for rank, states in enumerate(generators) for k, v in states.items()}
        metadata = {"at": self.at, "best_value": self.best_value, "curves": self.curves}
        save_weights(path, tensors, metadata)

    def restore(self, path: Path, device: torch.device) -> None:
        """Takes up the state that `save` wrote."""
        tensors, metadata = load_weights(path)
        groups: dict[str, dict[str, Tensor]] = {}
        for name, tensor in tensors.items():
            kind, rest = name.split(".", 1)
            groups.setdefault(kind, {})[rest] = tensor
        self.step.load_state_dict(groups["step"])
        self.best = {}
        for name, tensor in groups.get("best", {}).items():
            model, rest = name.split(".", 1)
            self.best.setdefault(model, {})[rest] = tensor.to(device)
        moments: dict[int, dict[str, Tensor]] = {}
        for name, tensor in groups.get("adam", {}).items():
            index, moment = name.split(".")
            moments.setdefault(int(index), {})[moment] = tensor
        parameters = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": moments, "param_groups": parameters})
        rank = dist.get_rank() if dist.is_initialized() else 0
        torch.set_rng_state(groups["random"][f"{rank}_cpu"])
        if torch.cuda.is_available() and f"{rank}_cuda" in groups["random"]:
            torch.cuda.set_rng_state(groups["random"][f"{rank}_cuda"])
        self.at, self.best_value, self.curves = metadata["at"], metadata["best_value"], metadata["curves"]


def generator_states() -> dict[str, Tensor]:
    """The states of this process's random generators."""
    states = {"cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        states["cuda"] = torch.cuda.get_rng_state()
    return states


def begin(job: Job) -> State:
    """The state before the first step."""
    run, settings = job.run, job.run.training
    torch.manual_seed(job.seed)
    captioner = models.build(run.architecture, dict(run.model), len(job.task.vocabulary), job.task.feature_shape)
    if run.start is None:
        job.task.fit(captioner, job.training)
    else:
        path = Path(run.start) / f"seed{job.seed}.safetensors"
        start, metadata = models.load(path)
        job.task.check(path, metadata)
        captioner.load_state_dict(start.state_dict())
    objective = objectives.build(run.objective, dict(run.settings), context(job, captioner))
    captioner.dropout = settings.dropout
    captioner.precision = getattr(torch, run.precision)
    step = Step(captioner, objective).to(job.device)
    betas = (settings.beta1, 0.999)
    optimizer = Adam(parameter_groups(step), lr=settings.learning_rate, betas=betas, fused=True)
    parallel = DistributedDataParallel(step) if job.world > 1 else step
    # From here on every process draws its own samples.
    torch.manual_seed(job.seed * 1000 + job.rank)
    return State(step, parallel, optimizer)


def parameter_groups(step: Step) -> list[dict[str, Any]]:
    """The parameters that learn together, and how fast: those of the captioner and the objective first, then those of
    each partner."""
    partners = step.objective.partners().values()
    apart = {id(parameter) for partner in partners for parameter in partner.module.parameters()}
    own = {"params": [parameter for parameter in step.parameters() if id(parameter) not in apart], "pace": 1.0}
    return [own, *({"params": list(partner.module.parameters()), "pace": partner.pace} for partner in partners)]


def context(job: Job, captioner: Captioner) -> Context:
    """What the objective may use."""
    reads = {what: Path(path) for what, path in job.run.reads.items()}
    vectors = None
    if "embeddings" in reads:
        # By name: what reads none does not depend on how they are made.
        embeddings: Any = importlib.import_module("seqcap.data.embeddings")
        vectors = torch.from_numpy(embeddings.read(reads["embeddings"], job.task.vocabulary))
    return Context(
        reward=job.reward,
        max_length=job.run.max_length,
        hidden=captioner.output.in_features,
        steps_per_epoch=job.batches,
        embeddings=vectors,
        frequencies=job.training.frequencies(len(job.task.vocabulary)),
        reads=reads,
        seed=job.seed,
        task=job.task.folder,
        items=job.training.inputs.ids,
    )


def score_start(job: Job, state: State) -> None:
    """Records how good the captioner is before the first step.

    Raises:
        InputError: training is to go on by a reward that is the same for whatever the captioner says.
    """
    value = validate(job, state)
    if job.steps == 0:
        state.keep(value)
    run = job.run
    if run.start is None or not run.reward:
        return
    some = min(200, len(job.training))
    captions = short_captions(state.step.captioner, job.training.inputs, some, run.max_length, job.device, greedy=False)
    rewards = job.reward.score(captions, np.arange(some))
    record(job, state, "train_reward", float(rewards.mean()))
    if job.steps > 0 and rewards.min() == rewards.max():
        what = f"every caption sampled from it at step 0 earns the same reward, {rewards.min():g}"
        raise InputError(run.start, what, "train cross-entropy for longer")


def learn(job: Job, state: State, checkpoint: Path) -> list[float]:
    """Trains to the end, and keeps the best epoch's weights in the state.

    Returns:
        seconds that each step took.
    """
    settings = job.run.training
    seconds: list[float] = []
    logs: dict[str, list[float]] = {}
    saved = time.monotonic()
    label = f"{job.run.name} seed {job.seed}"
    if state.at > 0 and job.rank == 0:
        print(f"{label}: goes on from step {state.at}", file=sys.stderr, flush=True)
    bar = progress(total=job.steps, initial=state.at, desc=label, unit="step", disable=job.rank > 0)
    for batch in data_batches(
        job.training, settings.batch_size, state.at, job.steps, job.seed, job.rank, job.world, job.device
    ):
        started = time.monotonic()
        for name, number in update(job, state, batch).items():
            logs.setdefault(name, []).append(number * batch.weight)
        seconds.append(time.monotonic() - started)
        bar.update()
        epoch_ends = state.at % job.batches == 0
        if epoch_ends or state.at % LOG_STEPS == 0:
            check_finite(job, state)
            for name, mean in zip(
                logs, job.averaged([float(np.mean(numbers)) for numbers in logs.values()]), strict=True
            ):
                record(job, state, name, mean)
            logs = {}
            if epoch_ends:
                value = validate(job, state)
                state.keep(value)
                bar.set_postfix({job.criteria.decisive: f"{value:.3f}"})
            if epoch_ends or job.agreed(time.monotonic() - saved > CHECKPOINT_SECONDS):
                state.save(checkpoint)
                saved = time.monotonic()
    bar.close()
    return seconds


def update(job: Job, state: State, batch: Batch) -> dict[str, float]:
    """One training step; returns what the objective logs."""
    settings = job.run.training
    epoch = state.at // job.batches
    for group in state.optimizer.param_groups:
        group["lr"] = settings.learning_rate * group["pace"] * settings.decay ** (epoch // settings.decay_every)
    state.step.train()
    # Who learns is asked before the step, which the objective may count.
    objective = state.step.objective
    resting = [partner.module for partner in objective.partners().values() if not partner.learns]
    if not objective.trains_captioner():
        resting.append(state.step.captioner)
    loss, logs = state.parallel(batch)
    if job.world > 1:
        loss = loss * batch.weight
    state.optimizer.zero_grad(set_to_none=True)
    loss.backward()
    for module in resting:
        for parameter in module.parameters():
            parameter.grad = None
    norms = [nn.utils.clip_grad_norm_(group["params"], settings.clip) for group in state.optimizer.param_groups]
    state.optimizer.step()
    state.at += 1
    state.unseen.append(sum(norms, loss.detach()))
    return logs  # type: ignore[no-any-return]


def check_finite(job: Job, state: State) -> None:
    """Stops a run whose loss or gradient was not finite in one of the last steps. What it was before is in its last
    checkpoint.

    Some steps at a time, because to look at a number waits for the GPU. A sum is finite if all its parts are.

    Raises:
        InputError: names the first such step.
    """
    sums = torch.stack(state.unseen).tolist()
    state.unseen.clear()
    for step, value in enumerate(sums, state.at - len(sums) + 1):
        check_number(job.run.name, job.seed, step, "the loss or its gradient", value)


def check_number(name: str, seed: int, step: int, what: str, value: float) -> None:
    """Checks that something is finite: with NaN or infinity training goes on, but means nothing.

    Raises:
        InputError: it is not.
    """
    if not math.isfinite(value):
        problem = f"{what} is {value} at step {step}"
        raise InputError(f"{name} seed {seed}", problem, "lower its learning_rate, or the weights of its reward")


def validate(job: Job, state: State) -> float:
    """Records the scores of greedy captions of val; returns the one that decides."""
    held_out = job.validation
    captions = short_captions(
        state.step.captioner, held_out.inputs, len(held_out), job.run.max_length, job.device, greedy=True
    )
    values = {name: criterion(captions) for name, criterion in job.criteria.measured.items()}
    values |= state.step.objective.measures(held_out.inputs, captions)
    values["val_distinct"] = len(np.unique(captions, axis=0)) / len(captions)
    for name, value in values.items():
        record(job, state, name, value)
    return values[job.criteria.decisive]


def record(job: Job, state: State, quantity: str, value: float) -> None:
    """Adds a point to a learning curve.

    Raises:
        InputError: it is not finite.
    """
    check_number(job.run.name, job.seed, state.at, quantity, value)
    images = state.at * job.run.training.batch_size
    row = {"variant": job.run.name, "seed": job.seed, "step": state.at, "images": images}
    state.curves.append(row | {"quantity": quantity, "value": value})


def data_batches(
    training: Split,
    size: int,
    start: int,
    stop: int,
    seed: int,
    rank: int,
    world: int,
    device: torch.device,
) -> Iterator[Batch]:
    """This rank's share of batches `start` to `stop`, the next one read while the last one trains.

    The order within an epoch depends on seed and epoch alone, so that a resumed run meets the same batches.
    """
    batches = -(-len(training) // size)

    @lru_cache(maxsize=1)
    def order(epoch: int) -> NDArray[np.int64]:
        return training.order(np.random.default_rng([seed, epoch]), size)

    def read(at: int) -> Batch:
        epoch, position = divmod(at, batches)
        chosen = order(epoch)[position * size : (position + 1) * size]
        share = chosen[rank::world]
        weight = world * len(share) / len(chosen)
        # A last batch smaller than the group: every rank must take part in the gradient, if with nothing.
        share = share if len(share) > 0 else chosen[:1]
        return Batch(training.inputs.get(share), share, training.captions(share), weight)

    with ThreadPoolExecutor(1) as reader:
        ahead = reader.submit(read, start) if start < stop else None
        for at in range(start, stop):
            batch = ahead.result()  # type: ignore[union-attr]
            ahead = reader.submit(read, at + 1) if at + 1 < stop else None
            yield Batch(batch.features.to(device), batch.images, batch.captions.to(device), batch.weight)


def short_captions(
    captioner: Captioner, inputs: Inputs, n: int, max_length: int, device: torch.device, greedy: bool
) -> NDArray[np.int64]:
    """One greedy or sampled caption, ids [n, max_length], of each of the first n inputs."""
    captions = np.full((n, max_length), PAD, dtype=np.int64)
    captioner.eval()
    with torch.no_grad():
        for i in range(0, n, 250):
            memory = captioner.encode(inputs.get(np.arange(i, min(i + 250, n))).to(device))
            kind = torch.full((len(memory[0]),), greedy, device=device)
            tokens = decoding.rollout(captioner, memory, max_length, kind).tokens.cpu().numpy()
            captions[i : i + len(tokens), : tokens.shape[1]] = tokens
    return captions


def checkpoint_folder(run: TrainingRun, code: Mapping[str, str]) -> str:
    """The name of the folder of a run's checkpoints. It changes with everything that the weights depend on
    (configuration, code, data, features, what else is read, the weights to start from), so that nothing resumes what it
    should not."""
    settings = run.model_dump(mode="json", exclude=OTHER_FIELDS)
    digest = hashlib.sha256(json.dumps([settings, dict(code)], sort_keys=True).encode())
    inputs = tasks.files(run.task)
    for path in map(Path, run.reads.values()):
        inputs += sorted(path.rglob("*")) if path.is_dir() else [path]
    if run.start is not None:
        inputs += sorted(Path(run.start).glob("*.safetensors"))
    digest.update(contents(inputs).encode())
    return f"{run.name}-{digest.hexdigest()[:16]}"


def contents(paths: Iterable[Path]) -> str:
    """A hash of files' names and contents. Data that is made again with the same bytes is the same data, however old
    the files are."""
    digest = hashlib.sha256()
    for path in paths:
        status = path.stat() if path.exists() else None
        digest.update(f"{path} {status and _content(path, status.st_size, status.st_mtime_ns)}\n".encode())
    return digest.hexdigest()


@cache
def _content(path: Path, size: int, changed: int) -> str:
    """A hash of a file's bytes. A stage reads gigabytes of features once for all its runs."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()
