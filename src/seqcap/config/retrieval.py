"""Configuration of stage `retriever`."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from seqcap.config import Fingerprint, Frozen, StageConfig


class RetrieverTraining(Frozen):
    epochs: int = Field(ge=1)
    batch_size: int = Field(ge=2)  # images; each image's negatives are the rest of its batch
    learning_rate: float = Field(gt=0, lt=1)
    decay: float = Field(gt=0, le=1)
    decay_every: int = Field(ge=1)
    # Captions with one fact exchanged that each caption has as further negatives (`seqcap.retrieval.exchanges`). With
    # some, the epoch is kept that tells most of them on val.
    exchanges: int = Field(0, ge=0)


class RetrieverConfig(StageConfig):
    name: str
    task: str
    architecture: str  # module of `seqcap.retrieval`
    model: Mapping[str, Any]  # its settings
    training: RetrieverTraining | None  # None: it is read from `folder`
    seeds: tuple[int, ...]  # one instance for each
    evaluate_on: str  # split of the published recalls
    max_length: int  # tokens of a caption, EOS included
    folder: str | None  # the user's files
    fingerprint: Fingerprint
    root: str  # of the task's images, for retrievers that read them
    weights: str  # folder for seed<k>.safetensors, curves.parquet and recalls.json
