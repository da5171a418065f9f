"""Retrievers: images and captions in, vectors out that are near each other where a caption fits an image; may import
models, tasks and what lies below them. One file per architecture, found by its name."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel

from seqcap.models.weights import load_model
from seqcap.retrieval.base import Retriever
from seqcap.system.modules import find_module


def config_class(architecture: str) -> type[BaseModel]:
    """The `Config` of `seqcap.retrieval.<architecture>`; ModuleNotFoundError if there is no such architecture."""
    return find_module(__name__, architecture).Config  # type: ignore[no-any-return]


def model_class(architecture: str) -> type[Retriever]:
    return find_module(__name__, architecture).Model  # type: ignore[no-any-return]


def features_file(architecture: str) -> str:
    """The features that an architecture which is trained reads: a file in a task's folder."""
    return model_class(architecture).reads  # type: ignore[attr-defined, no-any-return]


def build(architecture: str, config: dict[str, Any], vocabulary_size: int, feature_shape: tuple[int, ...]) -> Retriever:
    """Builds a retriever with fresh weights; arguments as in `models.build`."""
    module: Any = find_module(__name__, architecture)
    return module.Model(module.Config(**config), vocabulary_size, feature_shape)  # type: ignore[no-any-return]


def load(path: Path) -> tuple[Retriever, dict[str, Any]]:
    """A trained retriever and the metadata of its file; an InputError if the file has none."""
    retriever, metadata = load_model(path, build, "retriever")
    retriever.vocabulary = metadata["vocabulary"]
    return retriever, metadata
