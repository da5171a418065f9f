"""Configuration of stage `retrieve`: an evaluation of captions of images by retrieval."""

from collections.abc import Mapping
from typing import Literal

from seqcap.config import Kind
from seqcap.config.evaluation import EvaluationConfig


class RetrievalConfig(EvaluationConfig):
    kind: Kind = "images"
    references: tuple[int, ...] | None = None
    rewards: Mapping[str, Mapping[str, float]] = {}
    weights: Mapping[str, str]  # run -> folder of its seed<k>.safetensors and, if any, seed<k>.listener.safetensors
    decoder: Literal["greedy", "beam"]
    listener: str  # folder of the retrievers that runs start with
    payers: Mapping[str, str]  # run -> folder of the retriever that pays it, where it is another one
    judge: str  # folder of the retriever that no run is trained with; all its seeds judge all
    twin: str | None  # folder of a retriever like the listener, of another seed
    captioner: str  # folder of the captioners that runs start with
    max_length: int  # tokens of a caption, EOS included
