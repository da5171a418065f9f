"""Trains captioners with their objectives."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from seqcap import models, objectives, tasks
from seqcap.data import embeddings
from seqcap.data.vocabulary import PAD, digest
from seqcap.errors import InputError
from seqcap.files.tensors import load_weights, save_weights
from seqcap.models import decoding
from seqcap.models.base import Captioner
from seqcap.objectives.shared.base import Batch, Context, Objective, Partner
from seqcap.rewards.mixture import Metric, Mixture, RewardInputs
from seqcap.system import machine
from seqcap.tasks.base import Ids, Inputs, Split, Task
from seqcap.training import loop, validation
from seqcap.training.batches import Batches
from seqcap.training.checkpoint import Learner, State, fingerprint
from seqcap.training.optimizer import Adam
from seqcap.training.run import TrainingRun
from seqcap.training.validation import Criteria

CAPTIONER = "captioner"
OTHER_FIELDS = {"name", "paper", "captioner", "seeds", "weights"}  # configuration fields that do not affect the weights
SHARED_FIELDS = {"task", "kind", "architecture", "max_length", "reward", "reads"}  # those that `Shared` depends on


@dataclass(frozen=True)
class Trained:
    """What is told of a run's training with one seed.

    Attributes:
        curves: rows of `schemas.CURVES`.
        seconds_per_epoch: the mean of `State.seconds` times the steps of an epoch; None without steps.
    """

    curves: list[dict[str, Any]]
    seconds_per_epoch: float | None


def train_all(runs: Sequence[TrainingRun], code: Mapping[str, str], kept: Path) -> list[list[Trained]]:
    """Trains runs with all of their seeds; returns the results per run and seed. Weights go to
    <weights>/seed<k>.safetensors, checkpoints to `kept`. Checkpoints of other code (`TrainConfig.code`) are not
    resumed. InputError for malformed inputs, a constant reward, or a loss, gradient or score that is not finite."""
    _, world = machine.join_group()
    folders = [(run, kept / checkpoint_folder(run, code)) for run in runs]
    trained = loop.train_side_by_side(train, [(run, seed, folder) for run, folder in folders for seed in run.seeds])
    if world > 1:
        dist.barrier()
    for run in runs:
        for seed in run.seeds:
            # What the disk has changed is found by its checksum before the stage ends.
            load_weights(Path(run.weights) / f"seed{seed}.safetensors")
    results = iter(trained)
    return [[next(results) for _ in run.seeds] for run in runs]


def train(run: TrainingRun, seed: int, kept: Path) -> Trained:
    job = Job(run, seed)
    state = loop.train(job, kept)
    return Trained(state.curves, float(np.mean(state.seconds)) * job.batches if state.seconds else None)


def checkpoint_folder(run: TrainingRun, code: Mapping[str, str]) -> str:
    """The folder of a run's checkpoints. Its name depends on all that the weights depend on: configuration, code, data,
    features, other files, initial weights. So no run resumes a checkpoint of another."""
    files = tasks.files(run.task)
    for path in map(Path, run.reads.values()):
        files += sorted(path.rglob("*")) if path.is_dir() else [path]
    if run.start is not None:
        files += sorted(Path(run.start).glob("*.safetensors"))
    settings = run.model_dump(mode="json", exclude=OTHER_FIELDS)
    return f"{run.name}-{fingerprint([settings, dict(code)], files)}"


@dataclass(frozen=True)
class Shared:
    """What the seeds of a run share, and runs that differ in nothing of it: encoded captions, cooked references.

    Attributes:
        task: as captioners of the run's architecture read it.
        training: the split to train on.
        validation: the split that chooses the best epoch.
        reward: against the training references.
        criteria: the scores of validation captions.
    """

    task: Task
    training: Split
    validation: Split
    reward: Metric
    criteria: Criteria

    @classmethod
    def make(cls, run: TrainingRun) -> Self:
        task = tasks.load(run.kind, run.task, models.model_class(run.architecture))
        training, validating = (task.split(name, run.max_length) for name in ("train", "val"))
        reward_inputs = RewardInputs(training.references, task.vocabulary.scored_words, run.reads.get("paraphrases"))
        reward = task.vocabulary.in_words(Mixture(run.reward, reward_inputs))
        return cls(task, training, validating, reward, validation.criteria(task, run, validating))


# The last one made in this process, by all that it depends on.
_made: dict[str, Shared] = {}


def shared(run: TrainingRun) -> Shared:
    """What a run shares with its other seeds, made once for all that one process trains in a row."""
    files = [*tasks.files(run.task), *map(Path, run.reads.values())]
    # Their contents are not read: that takes minutes for COCO's grids of features.
    states = [(path.absolute(), path.stat().st_size, path.stat().st_mtime_ns) for path in files if path.exists()]
    key = f"{run.model_dump_json(include=SHARED_FIELDS)} {states}"
    if key not in _made:
        _made.clear()
        _made[key] = Shared.make(run)
    return _made[key]


class CaptionerLearner(Learner):
    """Captioner and objective in one module, for one optimizer and one DistributedDataParallel.

    Args:
        captioner: what is trained.
        objective: its loss. If it `keeps_last`, the last epoch's weights are kept.
    """

    def __init__(self, captioner: Captioner, objective: Objective) -> None:
        super().__init__()
        self.captioner, self.objective = captioner, objective
        self.keeps_last = objective.keeps_last

    def forward(self, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        return self.objective(self.captioner, batch)  # type: ignore[no-any-return]

    def kept(self) -> Mapping[str, nn.Module]:
        return {CAPTIONER: self.captioner} | {name: partner.module for name, partner in self.kept_partners().items()}

    def kept_partners(self) -> Mapping[str, Partner]:
        return {name: partner for name, partner in self.objective.partners().items() if partner.metadata is not None}

    def resting(self) -> Sequence[nn.Module]:
        modules: list[nn.Module] = [p.module for p in self.objective.partners().values() if not p.learns]
        if not self.objective.trains_captioner():
            modules.append(self.captioner)
        return modules

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Parameters that share clipping and learning rate: captioner and objective together, then each partner."""
        partners = self.objective.partners().values()
        apart = {id(parameter) for partner in partners for parameter in partner.module.parameters()}
        own = {"params": [parameter for parameter in self.parameters() if id(parameter) not in apart], "pace": 1.0}
        return [own, *({"params": list(partner.module.parameters()), "pace": partner.pace} for partner in partners)]


class Job(loop.Job[CaptionerLearner]):
    """The training of a captioner: one run with one seed.

    Args:
        run: what is trained.
        seed: one of the run's seeds.
    """

    def __init__(self, run: TrainingRun, seed: int) -> None:
        self.run, self.name, self.seed, self.settings = run, run.name, seed, run.training
        self.clip = run.training.clip
        self.rank, self.world = machine.join_group()
        self.device = machine.one_thread_device()
        machine.check_precision(run.precision, self.device)
        common = shared(run)
        self.task, self.training, self.validation = common.task, common.training, common.validation
        self.reward, self.criteria = common.reward, common.criteria
        self.decisive = self.criteria.decisive
        self.order = Batches(self.training, run.training.batch_size, seed, self.rank, self.world)
        self.batches = len(self.order)
        self.steps = run.training.epochs * self.batches

    def begin(self) -> State[CaptionerLearner]:
        run, settings = self.run, self.run.training
        torch.manual_seed(self.seed)
        captioner = models.build(run.architecture, dict(run.model), len(self.task.vocabulary), self.task.feature_shape)
        if run.start is None:
            self.task.fit(captioner, self.training)
        else:
            path = Path(run.start) / f"seed{self.seed}.safetensors"
            start, metadata = models.load(path)
            self.task.check(path, metadata)
            captioner.load_state_dict(start.state_dict())
        objective = objectives.build(run.objective, run.settings, self.context(captioner))
        captioner.dropout = settings.dropout
        captioner.precision = getattr(torch, run.precision)
        learner = CaptionerLearner(captioner, objective).to(self.device)
        betas = (settings.beta1, 0.999)
        optimizer = Adam(learner.parameter_groups(), lr=settings.learning_rate, betas=betas, fused=True)
        parallel = DistributedDataParallel(learner) if self.world > 1 else learner
        # From here on processes draw different samples.
        torch.manual_seed(self.seed * 1000 + self.rank)
        return State(learner, parallel, optimizer)

    def context(self, captioner: Captioner) -> Context:
        reads = {name: Path(path) for name, path in self.run.reads.items()}
        vectors = None
        if "embeddings" in reads:
            vectors = torch.from_numpy(embeddings.read(reads["embeddings"], self.task.vocabulary))
        return Context(
            reward=self.reward,
            max_length=self.run.max_length,
            hidden=captioner.output.in_features,
            steps_per_epoch=self.batches,
            embeddings=vectors,
            frequencies=self.training.frequencies(len(self.task.vocabulary)),
            reads=reads,
            seed=self.seed,
            task=self.task.folder,
            items=self.training.inputs.ids,
            feature_shape=self.task.feature_shape,
        )

    def score_start(self, state: State[CaptionerLearner]) -> None:
        """Records the captioner's scores before the first step and, if it was trained before, its samples' rewards.
        InputError if the reward to train with is the same for all captions."""
        super().score_start(state)
        run = self.run
        if run.start is None or not run.reward:
            return
        some = min(200, len(self.training))
        captions = self.short_captions(state, self.training.inputs, some, greedy=False)
        rewards = self.reward.score(captions, np.arange(some))
        loop.record(self, state, "train_reward", float(rewards.mean()))
        if self.steps > 0 and rewards.min() == rewards.max():
            problem = f"every caption sampled from it at step 0 earns the same reward, {rewards.min():g}"
            raise InputError(run.start, problem, "train cross-entropy for longer")

    def read(self, state: State[CaptionerLearner]) -> Iterator[Batch]:
        return self.order.read(state.step, self.steps, self.device)

    def validate(self, state: State[CaptionerLearner]) -> float:
        inputs = self.validation.inputs
        captions = self.short_captions(state, inputs, len(self.validation), greedy=True)
        values = {name: criterion(captions) for name, criterion in self.criteria.measured.items()}
        values |= state.learner.objective.measures(inputs, captions)
        values["val_distinct"] = len(np.unique(captions, axis=0)) / len(captions)
        for name, value in values.items():
            loop.record(self, state, name, value)
        return values[self.decisive]

    def short_captions(self, state: State[CaptionerLearner], inputs: Inputs, n: int, greedy: bool) -> Ids:
        """One caption, ids [n, max_length], for each of the first n inputs: greedy of known words alone, as evaluation
        decodes, or sampled of all words, as objectives sample."""
        captioner = state.learner.captioner
        speaker = decoding.Known(captioner) if greedy else captioner
        captions = np.full((n, self.run.max_length), PAD, dtype=np.int64)
        captioner.eval()
        with torch.no_grad():
            for i in range(0, n, 250):
                memory = captioner.encode(inputs.get(np.arange(i, min(i + 250, n))).to(self.device))
                most_probable = torch.full((len(memory[0]),), greedy, device=self.device)
                tokens = decoding.rollout(speaker, memory, self.run.max_length, most_probable).tokens.cpu().numpy()
                captions[i : i + len(tokens), : tokens.shape[1]] = tokens
        return captions

    def save(self, state: State[CaptionerLearner]) -> None:
        run = self.run
        metadata = {
            "architecture": run.architecture,
            "model": run.model,
            "vocabulary_size": len(self.task.vocabulary),
            "feature_shape": list(self.task.feature_shape),
            "max_length": run.max_length,
            "task": run.task,
            "vocabulary": digest(*self.task.vocabularies),
        }
        best = {self.decisive: state.best_value}
        save_weights(Path(run.weights) / f"seed{self.seed}.safetensors", state.best[CAPTIONER], metadata | best)
        for name, partner in state.learner.kept_partners().items():
            path = Path(run.weights) / f"seed{self.seed}.{name}.safetensors"
            save_weights(path, state.best[name], dict(partner.metadata or {}) | best)
