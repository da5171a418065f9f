"""Configurations of the stages that train captioners."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from seqcap.config import Frozen, Kind, StageConfig

Precision = Literal["float32", "bfloat16"]


class Training(Frozen):
    epochs: int = Field(ge=0)
    batch_size: int = Field(ge=1)
    learning_rate: float = Field(gt=0, lt=1)
    dropout: float = Field(ge=0, lt=1)
    decay: float = Field(gt=0, le=1)
    decay_every: int = Field(ge=1)
    clip: float = Field(gt=0)
    beta1: float = Field(0.9, ge=0, lt=1)  # Adam's decay rate of the mean gradient


class TrainingRun(Frozen):
    """One objective on one captioner, with each of some seeds."""

    name: str  # unique in the project
    paper: str
    task: str
    kind: Kind
    captioner: str
    architecture: str  # module of `seqcap.models`
    model: Mapping[str, Any]  # its settings
    objective: str  # module of `seqcap.objectives`
    settings: Mapping[str, Any]  # its settings
    reward: Mapping[str, float]  # metric -> weight; empty: none
    training: Training
    seeds: tuple[int, ...]
    max_length: int  # tokens of a caption, EOS included
    start: str | None  # folder of the weights that it continues from; None: it starts from scratch
    reads: Mapping[str, str]  # "embeddings" or "paraphrases" -> file
    weights: str  # folder for seed<k>.safetensors and curves.parquet
    precision: Precision  # of the captioner's matrix products in training steps


class TrainConfig(StageConfig):
    """Stages `pretrain` and `train`: runs that train side by side."""

    runs: tuple[TrainingRun, ...]


class VarianceConfig(StageConfig):
    """Stage `variance`: the noise of policy gradients."""

    paper: str
    task: str
    kind: Kind
    reward: Mapping[str, float]
    settings: tuple[Mapping[str, Any], ...]  # of `rollout_policy_gradient`, for each number of rollouts
    images: int
    replicates: int
    batch_size: int
    learning_rate: float
    max_length: int
    seed: int
    start: str
