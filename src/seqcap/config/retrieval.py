"""Configuration of what ranks images by a caption, and captions by an image."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from seqcap.config import Fingerprint, Frozen, StageConfig


class RetrieverTraining(Frozen):
    """How long and how fast a retriever trains.

    Attributes:
        batch_size: images; every image's negatives are the rest of its batch.
    """

    epochs: int = Field(ge=1)
    batch_size: int = Field(ge=2)
    learning_rate: float = Field(gt=0, lt=1)
    decay: float = Field(gt=0, le=1)
    decay_every: int = Field(ge=1)


class RetrieverConfig(StageConfig):
    """Stage `retriever`.

    Attributes:
        architecture, model: module of `seqcap.retrieval`, and its settings.
        training: None: it is not trained, but read from `folder`.
        seeds: of the instances, each with weights of its own.
        evaluate_on: the split of the published recalls.
        max_length: tokens of a caption, EOS included.
        folder, fingerprint: the user's files of what is not trained; None and empty for what is.
        root: of the task's images, for what reads them itself.
        weights: folder that gets seed<k>.safetensors, curves.parquet and recalls.json.
    """

    name: str
    task: str
    architecture: str
    model: Mapping[str, Any]
    training: RetrieverTraining | None
    seeds: tuple[int, ...]
    evaluate_on: str
    max_length: int
    folder: str | None
    fingerprint: Fingerprint
    root: str
    weights: str
