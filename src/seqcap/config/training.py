"""Configurations of what is trained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from seqcap.config import Frozen, Kind, StageConfig

Precision = Literal["float32", "bfloat16"]


class Training(Frozen):
    """How long and how fast a run trains.

    Attributes:
        beta1: Adam's decay rate of the mean gradient.
    """

    epochs: int = Field(ge=0)
    batch_size: int = Field(ge=1)
    learning_rate: float = Field(gt=0, lt=1)
    dropout: float = Field(ge=0, lt=1)
    decay: float = Field(gt=0, le=1)
    decay_every: int = Field(ge=1)
    clip: float = Field(gt=0)
    beta1: float = Field(0.9, ge=0, lt=1)


class TrainingRun(Frozen):
    """One objective on one captioner, with each of some seeds.

    Attributes:
        name: of the run, unique in the project.
        architecture, model: module of `seqcap.models`, and its settings.
        objective, settings: module of `seqcap.objectives`, and its settings.
        reward: metric -> weight; empty: none.
        max_length: tokens of a caption, EOS included.
        start: folder of the weights that it continues from; None: it starts from scratch.
        reads: the files that its objective and its reward read besides: "embeddings" or "paraphrases" -> path.
        weights: folder that gets seed<k>.safetensors and curves.parquet.
        precision: type of the factors of the captioner's matrix products in training steps.
    """

    name: str
    paper: str
    task: str
    kind: Kind
    captioner: str
    architecture: str
    model: Mapping[str, Any]
    objective: str
    settings: Mapping[str, Any]
    reward: Mapping[str, float]
    training: Training
    seeds: tuple[int, ...]
    max_length: int
    start: str | None
    reads: Mapping[str, str]
    weights: str
    precision: Precision


class TrainConfig(StageConfig):
    """Stages `pretrain` and `train`: runs that train side by side."""

    runs: tuple[TrainingRun, ...]


class VarianceConfig(StageConfig):
    """Stage `variance`; `settings`: of `rollout_policy_gradient`, one for each number of rollouts."""

    paper: str
    task: str
    kind: Kind
    reward: Mapping[str, float]
    settings: tuple[Mapping[str, Any], ...]
    images: int
    replicates: int
    batch_size: int
    learning_rate: float
    max_length: int
    seed: int
    start: str
