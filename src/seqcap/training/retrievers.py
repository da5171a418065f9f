"""Trains retrievers on people's captions: each step reads one random caption of each image and, if the configuration
says so, captions that were made of it by exchanging one fact. Random draws depend only on seed and step. A seed runs in
one process, even on many GPUs, because negatives come from the whole batch."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seqcap import retrieval, tasks
from seqcap.data.vocabulary import PAD, digest
from seqcap.errors import InputError
from seqcap.files.tensors import save_weights
from seqcap.objectives.shared.base import Batch
from seqcap.retrieval import exchanges
from seqcap.retrieval.base import RetrieverConfig, TrainedRetriever
from seqcap.retrieval.recalls import recall_sum, recalls
from seqcap.system import machine
from seqcap.system.scratch import checkpoints
from seqcap.tasks.images import VisualTask
from seqcap.training import loop
from seqcap.training.batches import Batches
from seqcap.training.checkpoint import Learner, State, fingerprint
from seqcap.training.optimizer import Adam

OTHER_FIELDS = {"name", "seeds", "evaluate_on", "weights"}  # configuration fields that do not affect the weights
RETRIEVER = "retriever"
Curves = list[dict[str, Any]]


def make(config: RetrieverConfig) -> Curves:
    """Trains a retriever with each of its seeds; returns rows of `schemas.CURVES`. Weights go to
    <weights>/seed<k>.safetensors. InputError for malformed inputs, or a loss, gradient or recall that is not finite."""
    kept = checkpoint_folder(config)
    trained = loop.train_side_by_side(train, [(config, seed, kept) for seed in config.seeds])
    return [row for curves in trained for row in curves]


def train(config: RetrieverConfig, seed: int, kept: Path) -> Curves:
    return loop.train(Job(config, seed), kept).curves


def checkpoint_folder(config: RetrieverConfig) -> Path:
    settings = config.model_dump(mode="json", exclude=OTHER_FIELDS)
    return checkpoints(f"retriever-{config.name}") / fingerprint(settings, tasks.files(config.task))


class RetrieverLearner(Learner):
    """What learns in a retriever's training.

    Args:
        model: the retriever.
    """

    def __init__(self, model: TrainedRetriever) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        """A batch has one caption of each image, ids [b, 1, time], and beside it those with one fact exchanged, if any.
        Also logs the share of loss terms above zero: hinges that are all zero teach nothing."""
        images, captions = self.model.embed_images(batch.features), self.model.embed_captions(batch.captions[:, 0])
        exchanged = self.score_exchanged(images, batch.captions[:, 1:]) if batch.captions.shape[1] > 1 else None
        terms = torch.stack(self.model.loss(images, captions, exchanged))
        loss = terms.sum(0).mean()
        return loss, {"train_loss": loss.item(), "train_active": (terms > 0).float().mean().item()}

    def score_exchanged(self, images: Tensor, captions: Tensor) -> Tensor:
        """Scores [b, k] of captions [b, k, time] with their images; -inf where there is no caption."""
        present = captions[:, :, 0] != PAD
        scores = torch.full(present.shape, -torch.inf, device=captions.device)
        if present.any():
            texts = self.model.embed_captions(captions[present])
            own = self.model.compare_own(texts[:, None], images[present.nonzero()[:, 0]])
            scores = scores.index_put((present,), own.squeeze(1))
        return scores

    def kept(self) -> Mapping[str, nn.Module]:
        return {RETRIEVER: self.model}


class Job(loop.Job[RetrieverLearner]):
    """The training of a retriever with one seed.

    Args:
        config: what is trained; `training` is not None.
        seed: one of its seeds.
    """

    decisive = "val_recall_sum"

    def __init__(self, config: RetrieverConfig, seed: int) -> None:
        assert config.training is not None
        self.config, self.name, self.seed, self.settings = config, config.name, seed, config.training
        self.device = machine.one_thread_device()
        folder = tasks.ARTIFACTS / config.task
        self.task = VisualTask(folder, folder / retrieval.features_file(config.architecture))
        self.training, self.validation = (self.task.split(name, config.max_length) for name in ("train", "val"))
        self.exchanged: Mapping[str, Tensor] = {}
        if self.settings.exchanges:
            # Where words alone tell much of what was exchanged, that would choose the epoch that knows them best.
            if exchanges.knows_facts(self.task):
                self.decisive = "val_told"
            self.exchanged = {
                name: exchanges.read(self.task, name, config.max_length, seed) for name in ("train", "val")
            }
        self.order = Batches(self.training, self.settings.batch_size, seed)
        self.batches = len(self.order)
        self.steps = self.settings.epochs * self.batches

    def begin(self) -> State[RetrieverLearner]:
        torch.manual_seed(self.seed)
        words, shape = len(self.task.vocabulary), self.task.feature_shape
        model = retrieval.build(self.config.architecture, dict(self.config.model), words, shape)
        if not isinstance(model, TrainedRetriever):
            path = f"src/seqcap/retrieval/{self.config.architecture}.py"
            raise InputError(path, "its Model is no TrainedRetriever", "derive it from seqcap.retrieval.base's")
        some = np.sort(np.random.default_rng(0).permutation(len(self.training))[:5000])
        model.vocabulary = digest(self.task.vocabulary)
        model.fit_standardisation(self.training.inputs.get(some))
        learner = RetrieverLearner(model).to(self.device)
        groups = [{"params": list(learner.parameters()), "pace": 1.0}]
        return State(learner, learner, Adam(groups, lr=self.settings.learning_rate, fused=True))

    def read(self, state: State[RetrieverLearner]) -> Iterator[Batch]:
        start = state.step
        for step, batch in enumerate(self.order.read(start, self.steps, self.device), start):
            yield replace(batch, captions=self.draw(batch, np.random.default_rng([self.seed, step, 1])))

    def draw(self, batch: Batch, rng: np.random.Generator) -> Tensor:
        """One random caption of each image, and so many with one fact exchanged as the settings say: ids [b, 1 + k,
        time], each kind of fact at most once; all PAD where a caption has fewer."""
        chosen = choose(batch.captions, rng)
        captions = batch.captions[torch.arange(len(chosen)), chosen]
        if not self.exchanged:
            return captions[:, None]
        others = self.exchanged["train"][torch.from_numpy(batch.images), chosen]
        present = (others[:, :, 0] != PAD).numpy()
        order = np.where(present, rng.random(present.shape), 2).argsort(1)[:, : self.settings.exchanges]
        others = others[torch.arange(len(others))[:, None], torch.from_numpy(order)].long().to(captions.device)
        longest = max(captions.shape[1], int((others != PAD).sum(2).max()))
        captions = F.pad(captions, (0, longest - captions.shape[1]), value=PAD)
        return torch.cat([captions[:, None], others[:, :, :longest]], 1)

    def validate(self, state: State[RetrieverLearner]) -> float:
        measured = recalls(state.learner.model, self.validation, self.device)
        for direction, values in measured.items():
            for name, value in values.items():
                loop.record(self, state, f"val_{direction}_{name}", value)
        scores = {"val_recall_sum": recall_sum(measured)}
        if self.exchanged:
            of_kinds = exchanges.told(state.learner.model, self.validation, self.exchanged["val"], self.device)
            for kind, share in of_kinds.items():
                loop.record(self, state, f"val_told_{kind}", share)
            scores["val_told"] = float(np.mean(list(of_kinds.values())))
        for name, value in scores.items():
            loop.record(self, state, name, value)
        return scores[self.decisive]

    def save(self, state: State[RetrieverLearner]) -> None:
        best = {"max_length": self.config.max_length, self.decisive: state.best_value}
        path = Path(self.config.weights) / f"seed{self.seed}.safetensors"
        save_weights(path, state.best[RETRIEVER], state.learner.model.metadata() | best)


def choose(captions: Tensor, rng: np.random.Generator) -> Tensor:
    """The number [b] of one random caption of each image, from captions [b, references, time]."""
    present = (captions[:, :, 0] != PAD).cpu().numpy()
    return torch.from_numpy(np.where(present, rng.random(present.shape), -1).argmax(1))
