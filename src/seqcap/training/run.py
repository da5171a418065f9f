"""What a training run is: one objective on one captioner, with each of some seeds."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, Field, SerializeAsAny, ValidationInfo, field_validator

from seqcap import objectives
from seqcap.config import Frozen, StageConfig, TaskKind

LIKELIHOOD = "cross_entropy"  # the objective of pretraining; it uses no reward
Precision = Literal["float32", "bfloat16"]


class Training(Frozen):
    """How a run is trained: steps, learning rate and its decay, dropout, clipping."""

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
    kind: TaskKind
    captioner: str
    architecture: str  # module of `seqcap.models`
    model: Mapping[str, Any]  # its settings
    objective: str  # module of `seqcap.objectives`
    settings: SerializeAsAny[BaseModel]  # the objective's own `Config`
    reward: Mapping[str, float]  # metric -> weight; empty: none
    training: Training
    seeds: tuple[int, ...]
    max_length: int  # tokens of a caption, EOS included
    start: str | None  # folder of the weights that it continues from; None: it starts from scratch
    reads: Mapping[str, str]  # "embeddings" or "paraphrases" -> file
    weights: str  # folder for seed<k>.safetensors and curves.parquet
    precision: Precision  # of the captioner's matrix products in training steps

    @field_validator("settings", mode="before")
    @classmethod
    def _typed(cls, value: Any, info: ValidationInfo) -> Any:
        return objectives.config_class(info.data["objective"]).model_validate(value)


class TrainConfig(StageConfig):
    """Stages `pretrain` and `train`: runs that train side by side."""

    runs: tuple[TrainingRun, ...]
