"""Configuration of what is scored by retrieval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from seqcap.config import Kind
from seqcap.config.evaluation import EvaluationConfig


class RetrievalConfig(EvaluationConfig):
    """Stage `retrieve`: an evaluation of images without references' metrics and rewards.

    Attributes:
        weights: run -> folder of its seed<k>.safetensors and, if it trains a listener, seed<k>.listener.safetensors.
        decoder: whose captions are scored; the best of a beam.
        listener: folder of the retrievers that runs start with, seed<k>.safetensors.
        judge: folder of the retriever that no run ever sees; its first seed judges all.
        captioner: folder of the captioners that runs start with, seed<k>.safetensors.
        max_length: tokens of a caption, EOS included.
    """

    kind: Kind = "images"
    references: tuple[int, ...] | None = None
    rewards: Mapping[str, Mapping[str, float]] = {}
    weights: Mapping[str, str]
    decoder: Literal["greedy", "beam"]
    listener: str
    judge: str
    captioner: str
    max_length: int
