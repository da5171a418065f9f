"""The one training loop, for every captioner and objective.

    for each batch of images (or sentences):
        loss, logs = objective(captioner, batch)
        loss.backward(); clip; Adam
    greedy captions of val after every epoch: the weights of the epoch with the best reward are kept
    (cross-entropy is judged by CIDEr, translation by BLEU)

Before the first step val is scored, too, for the curves. The starting point is none of those that are chosen from: what
is reported of an objective is what it makes of the captioner, for better or worse.

A run can be killed at any moment: every minute, and after every epoch, everything that the rest of the run depends on
(weights, Adam's moments, the random generators, the curves) is written to scratch/, from where the same command
resumes, to the same bytes as an uninterrupted run on the same device.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import current_process, get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from tqdm import tqdm

from seqcap import decoding, embeddings, machine, models, objectives, tasks
from seqcap.artifacts import load_weights, save_weights
from seqcap.data.vocabulary import PAD
from seqcap.errors import InputError
from seqcap.models.base import Captioner
from seqcap.objectives.base import Batch, Context
from seqcap.tasks.base import Inputs, Split

SCRATCH = Path("scratch")
CHECKPOINT_SECONDS = 60
LOG_STEPS = 10
LOCK_SECONDS = 20


class Step(nn.Module):
    """Captioner and objective as one module, so that one optimizer and one DistributedDataParallel hold both."""

    def __init__(self, captioner: Captioner, objective: nn.Module) -> None:
        super().__init__()
        self.captioner, self.objective = captioner, objective

    def forward(self, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        return self.objective(self.captioner, batch)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Trained:
    """What a training run leaves besides its weights.

    Attributes:
        curves: rows of `artifacts.CURVES`.
        seconds_per_epoch: of training steps alone, by their median; None where there were none. It is measured, not
            computed: no two runs have the same.
    """

    curves: list[dict[str, Any]]
    seconds_per_epoch: float | None


def train_all(configs: Sequence[dict[str, Any]]) -> list[list[Trained]]:
    """Trains variants with each of their seeds: one after the other on a GPU or under a launcher, side by side in
    processes of one thread each on a CPU.

    Args:
        configs: training runs as configs/*.json describe them; weights go to <weights>/seed<k>.safetensors.

    Returns:
        per variant, what came of each seed.

    Raises:
        InputError: as `train`.
    """
    rank, world = machine.join_group()
    folders = [scratch(config) for config in configs]
    jobs = []
    for config, kept in zip(configs, folders, strict=True):
        kept.mkdir(parents=True, exist_ok=True)
        weights = Path(config["weights"])
        jobs += [(config, seed, weights / f"seed{seed}.safetensors", kept) for seed in config["seeds"]]
    processes = 1 if world > 1 or machine.device().type == "cuda" else min(machine.workers(), len(jobs))
    if processes == 1:
        trained = [train(*job) for job in jobs]
    else:
        with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
            trained = list(pool.map(train, *zip(*jobs, strict=True)))
    if world > 1:
        dist.barrier()
    if rank == 0:
        for kept in folders:
            shutil.rmtree(kept)
    found = iter(trained)
    return [[next(found) for _ in config["seeds"]] for config in configs]


def train(config: dict[str, Any], seed: int, output: Path, kept: Path) -> Trained:
    """Trains one variant with one seed.

    Args:
        config: a configs/*.json of a training run.
        seed: of weights, batches, dropout and samples.
        output: the safetensors file to write.
        kept: folder of the checkpoint to resume from, and of the lock that keeps a second process out.

    Raises:
        InputError: malformed inputs, another process training the same run, or a policy that earns no reward.
    """
    rank, world = machine.join_group()
    device = machine.device()
    if device.type == "cpu":
        torch.set_num_threads(1)
    settings, max_length = config["training"], config["max_length"]
    task = tasks.load(config["task"], models.model_class(config["architecture"]))
    training, validation = (task.split(name, max_length) for name in ("train", "val"))
    reward = task.reward(config["reward"], training)
    criteria = task.criteria(config["reward"], validation)
    words = len(task.vocabulary)

    torch.manual_seed(seed)
    captioner = models.build(config["architecture"], config["model"], words, task.feature_shape)
    if config["start_from"] is None:
        task.fit(captioner, training)
    else:
        start, _ = models.load(Path(config["start_from"]) / f"seed{seed}.safetensors")
        captioner.load_state_dict(start.state_dict())
    batches = -(-len(training) // settings["batch_size"])
    path = config["embeddings"]
    vectors = None if path is None else torch.from_numpy(embeddings.read(path, task.vocabulary))
    hidden = captioner.output.in_features
    context = Context(reward, max_length, hidden, batches, vectors, training.frequencies(words))
    objective = objectives.build(config["objective"], config["settings"], context)
    captioner.dropout = settings["dropout"]
    step = Step(captioner, objective).to(device)
    betas = (settings["beta1"], 0.999)
    optimizer = torch.optim.Adam(step.parameters(), lr=settings["learning_rate"], betas=betas, fused=True)
    parallel = DistributedDataParallel(step) if world > 1 else step
    # From here on every process draws its own samples.
    torch.manual_seed(seed * 1000 + rank)

    total = settings["epochs"] * batches
    run = Run(step, optimizer, curves=[], best={k: v.clone() for k, v in captioner.state_dict().items()})

    def record(quantity: str, value: float) -> None:
        images = run.at * settings["batch_size"]
        row = {"variant": config["variant"], "seed": seed, "step": run.at, "images": images}
        run.curves.append(row | {"quantity": quantity, "value": value})

    def validate() -> float:
        captions = short_captions(captioner, validation.inputs, len(validation), max_length, device, greedy=True)
        for name, criterion in criteria.items():
            value = criterion(captions)
            record(name, value)
        record("val_distinct", len(np.unique(captions, axis=0)) / len(captions))
        if value > run.best_value and (run.at > 0 or total == 0):
            run.best_value = value
            run.best = {k: v.detach().clone() for k, v in captioner.state_dict().items()}
        return value

    with locked(kept / f"seed{seed}_rank{rank}.lock"):
        checkpoint = kept / f"seed{seed}_rank{rank}.safetensors"
        if checkpoint.exists():
            run.restore(checkpoint, device)
        else:
            validate()
            if config["start_from"] is not None:
                some = min(200, len(training))
                captions = short_captions(captioner, training.inputs, some, max_length, device, greedy=False)
                mean = float(reward.score(captions, np.arange(some)).mean())
                record("train_reward", mean)
                if total > 0 and mean <= 0:
                    raise InputError(
                        config["start_from"], "its captions earn no reward at step 0", "train cross-entropy for longer"
                    )
        saved = time.monotonic()
        label = f"{config['variant']} seed {seed}"
        progress = tqdm(total=total, initial=run.at, desc=label, unit="step", disable=rank > 0, mininterval=1)
        logs: dict[str, list[float]] = {}
        parent = os.getppid()
        seconds: list[float] = []
        for batch in data_batches(training, settings["batch_size"], run.at, total, seed, rank, world, device):
            for group in optimizer.param_groups:
                epoch = run.at // batches
                group["lr"] = settings["learning_rate"] * settings["decay"] ** (epoch // settings["decay_every"])
            step.train()
            started = time.monotonic()
            loss, values = parallel(batch)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(step.parameters(), settings["clip"])
            optimizer.step()
            seconds.append(time.monotonic() - started)
            run.at += 1
            progress.update()
            for name, value in values.items():
                logs.setdefault(name, []).append(value)
            epoch_ends = run.at % batches == 0
            if epoch_ends or run.at % LOG_STEPS == 0:
                for name, numbers in logs.items():
                    record(name, float(np.mean(numbers)))
                logs = {}
                if epoch_ends:
                    progress.set_postfix({list(criteria)[-1]: f"{validate():.3f}"})
                if epoch_ends or time.monotonic() - saved > CHECKPOINT_SECONDS:
                    run.save(checkpoint)
                    saved = time.monotonic()
            if current_process().name != "MainProcess" and os.getppid() != parent:
                # The parent was killed: a worker must not train on behind the next run's back.
                os._exit(1)
        progress.close()
        if rank == 0:
            metadata = {
                "architecture": config["architecture"],
                "model": config["model"],
                "vocabulary_size": words,
                "feature_shape": list(task.feature_shape),
                "max_length": max_length,
                list(criteria)[-1]: run.best_value,
            }
            save_weights(output, run.best, metadata)
    return Trained(run.curves, float(np.median(seconds)) * batches if seconds else None)


@dataclass
class Run:
    """Everything that the rest of a training run depends on.

    Attributes:
        at: steps done.
        best_value: the best validation score so far, of the weights `best`.
        curves: rows of `artifacts.CURVES`.
    """

    step: Step
    optimizer: torch.optim.Optimizer
    curves: list[dict[str, Any]]
    best: dict[str, Tensor]
    best_value: float = -1.0
    at: int = 0

    def save(self, path: Path) -> None:
        """Writes the run's state."""
        tensors = {f"step.{k}": v for k, v in self.step.state_dict().items()}
        tensors |= {f"best.{k}": v for k, v in self.best.items()}
        for index, moments in self.optimizer.state_dict()["state"].items():
            tensors |= {f"adam.{index}.{name}": value for name, value in moments.items()}
        tensors["random.cpu"] = torch.get_rng_state()
        if torch.cuda.is_available():
            tensors["random.cuda"] = torch.cuda.get_rng_state()
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
        self.best = {name: tensor.to(device) for name, tensor in groups["best"].items()}
        moments: dict[int, dict[str, Tensor]] = {}
        for name, tensor in groups.get("adam", {}).items():
            index, moment = name.split(".")
            moments.setdefault(int(index), {})[moment] = tensor
        parameters = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": moments, "param_groups": parameters})
        torch.set_rng_state(groups["random"]["cpu"])
        if torch.cuda.is_available() and "cuda" in groups["random"]:
            torch.cuda.set_rng_state(groups["random"]["cuda"])
        self.at, self.best_value, self.curves = metadata["at"], metadata["best_value"], metadata["curves"]


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
        # A last batch smaller than the group: every rank must take part in the gradient.
        chosen = chosen[rank::world] if len(chosen) >= world else chosen[:1]
        return Batch(training.inputs.get(chosen), chosen, training.captions(chosen))

    with ThreadPoolExecutor(1) as reader:
        ahead = reader.submit(read, start) if start < stop else None
        for at in range(start, stop):
            batch = ahead.result()  # type: ignore[union-attr]
            ahead = reader.submit(read, at + 1) if at + 1 < stop else None
            yield Batch(batch.features.to(device), batch.images, batch.captions.to(device))


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


def scratch(config: dict[str, Any]) -> Path:
    """The folder of a run's checkpoints: its name changes with everything that the run depends on (configuration,
    data, features, embeddings, the weights it starts from, code), so that nothing resumes what it should not."""
    digest = hashlib.sha256(json.dumps(config, sort_keys=True).encode())
    inputs = tasks.files(config["task"])
    if config["embeddings"] is not None:
        inputs.append(Path(config["embeddings"]))
    if config["start_from"] is not None:
        inputs += sorted(Path(config["start_from"]).glob("*.safetensors"))
    for path in inputs:
        status = path.stat() if path.exists() else None
        digest.update(f"{path} {status and (status.st_size, status.st_mtime_ns)}".encode())
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return SCRATCH / f"{config['variant']}-{digest.hexdigest()[:16]}"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds a lock file. The lock goes with the process, so one that was killed leaves none behind.

    Raises:
        InputError: another process still holds it after some seconds.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        for attempt in range(LOCK_SECONDS + 1):
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if attempt == LOCK_SECONDS:
                    raise InputError(path, "is held: this run is being trained already", "wait or stop it") from None
                time.sleep(1)
        yield
