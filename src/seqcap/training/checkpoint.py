"""The state of a training run, and the checkpoint that it resumes from."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn

from seqcap.files.tensors import load_weights, save_weights

Tensors = dict[str, Tensor]


class Learner(nn.Module):
    """Everything that one optimizer trains, as one module. Maps a batch to the loss and a dict of numbers to log."""

    keeps_last: bool = False  # keep the last epoch's weights, not those of the best epoch

    def kept(self) -> Mapping[str, nn.Module]:
        """The models whose weights are kept, by name."""
        raise NotImplementedError

    def resting(self) -> Sequence[nn.Module]:
        """The modules that the next step does not update: their gradients are dropped."""
        return ()


L = TypeVar("L", bound=Learner)


@dataclass
class State(Generic[L]):
    """Everything that the rest of a run depends on.

    Attributes:
        learner: everything that the optimizer trains.
        parallel: `learner`; under a launcher, its DistributedDataParallel.
        optimizer: clips each parameter group apart; its "pace" multiplies the learning rate.
        step: steps done.
        curves: rows of `schemas.CURVES`.
        best: the weights kept so far: name of a model -> its tensors.
        best_value: the validation score of the kept weights; None before the first.
        unchecked: loss plus gradient norms, a scalar for each step that is not checked yet; not saved.
        seconds: of each step of this process; not saved. On a CPU its own time, which others change little, else the
            clock's.
    """

    learner: L
    parallel: nn.Module
    optimizer: torch.optim.Optimizer
    step: int = 0
    curves: list[dict[str, Any]] = field(default_factory=list)
    best: dict[str, Tensors] = field(default_factory=dict)
    best_value: float | None = None
    unchecked: list[Tensor] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def keep(self, value: float) -> None:
        """Keeps the weights if their validation score `value` is the best so far, or if the last ones are kept."""
        if self.best_value is None or value > self.best_value or self.learner.keeps_last:
            self.best_value = value
            self.best = {
                model: {name: tensor.detach().clone() for name, tensor in module.state_dict().items()}
                for model, module in self.learner.kept().items()
            }

    def save(self, path: Path) -> None:
        """Writes the state. Under a launcher, the first process writes all: their random generators differ."""
        tensors = {f"learner.{name}": tensor for name, tensor in self.learner.state_dict().items()}
        for model, kept in self.best.items():
            tensors |= {f"best.{model}.{name}": tensor for name, tensor in kept.items()}
        for index, moments in self.optimizer.state_dict()["state"].items():
            tensors |= {f"adam.{index}.{name}": tensor for name, tensor in moments.items()}
        generators = [_generator_states()]
        if dist.is_initialized():
            generators = [{} for _ in range(dist.get_world_size())]
            dist.all_gather_object(generators, _generator_states())
            if dist.get_rank() > 0:
                return
        for rank, states in enumerate(generators):
            tensors |= {f"random.{rank}.{name}": tensor for name, tensor in states.items()}
        save_weights(path, tensors, {"at": self.step, "best_value": self.best_value, "curves": self.curves})

    def restore(self, path: Path, device: torch.device) -> None:
        tensors, metadata = load_weights(path)
        groups = _nested(tensors)
        self.learner.load_state_dict(groups["learner"])
        self.best = {
            model: {name: tensor.to(device) for name, tensor in kept.items()}
            for model, kept in _nested(groups["best"]).items()
        }
        moments = {int(index): named for index, named in _nested(groups["adam"]).items()}
        self.optimizer.load_state_dict(self.optimizer.state_dict() | {"state": moments})
        states = _nested(groups["random"])[str(dist.get_rank() if dist.is_initialized() else 0)]
        torch.set_rng_state(states["cpu"])
        if torch.cuda.is_available() and "cuda" in states:
            torch.cuda.set_rng_state(states["cuda"])
        self.step, self.best_value, self.curves = metadata["at"], metadata["best_value"], metadata["curves"]


def _nested(tensors: Tensors) -> dict[str, Tensors]:
    groups: dict[str, Tensors] = defaultdict(dict)
    for name, tensor in tensors.items():
        group, rest = name.split(".", 1)
        groups[group][rest] = tensor
    return groups


def _generator_states() -> Tensors:
    states = {"cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        states["cuda"] = torch.cuda.get_rng_state()
    return states


def fingerprint(settings: Any, files: Iterable[Path]) -> str:
    """A name for a checkpoint's folder, from the settings and the names and contents of the files."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for path in files:
        status = path.stat() if path.exists() else None
        digest.update(f"{path} {status and _content(path, status.st_size, status.st_mtime_ns)}\n".encode())
    return digest.hexdigest()[:16]


@cache
def _content(path: Path, size: int, changed: int) -> str:
    """A hash of a file's bytes, cached, since a stage reads gigabytes of features for all its runs."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()
