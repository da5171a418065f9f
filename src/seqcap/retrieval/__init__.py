"""Retrievers: images and captions in, vectors out that are near each other where a caption fits an image.

One file per architecture, found by its name. Beside them: losses, ranks and recalls, and mining of similar images. May
import models, tasks and what lies below them; objectives and training import this room.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel

from seqcap.models.weights import load_model
from seqcap.retrieval.base import Retriever
from seqcap.system.modules import find_module


def config_class(architecture: str) -> type[BaseModel]:
    """The `Config` of `seqcap.retrieval.<architecture>`.

    Raises:
        ModuleNotFoundError: there is no such architecture.
    """
    return find_module(__name__, architecture).Config  # type: ignore[no-any-return]


def build(architecture: str, config: dict[str, Any], vocabulary_size: int, feature_shape: tuple[int, ...]) -> Retriever:
    """Builds a retriever with fresh weights; arguments as of `models.build`."""
    module: Any = find_module(__name__, architecture)
    return module.Model(module.Config(**config), vocabulary_size, feature_shape)  # type: ignore[no-any-return]


def load(path: Path) -> tuple[Retriever, dict[str, Any]]:
    """A trained retriever, and its file's metadata.

    Raises:
        InputError: the file is missing, damaged or no retriever's.
    """
    retriever, metadata = load_model(path, build, "retriever")
    retriever.vocabulary = metadata["vocabulary"]
    return retriever, metadata
