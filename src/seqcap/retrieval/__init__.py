"""Retrievers: one file per architecture, found by module name."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from seqcap.models.weights import restored
from seqcap.retrieval.base import Retriever


def config_class(architecture: str) -> type[BaseModel]:
    """The `Config` of `seqcap.retrieval.<architecture>`.

    Raises:
        ModuleNotFoundError: there is no such architecture.
    """
    module = importlib.import_module(f"seqcap.retrieval.{architecture}")
    if not hasattr(module, "Config"):
        raise ModuleNotFoundError(f"{module.__name__} holds no retriever", name=module.__name__)
    return module.Config  # type: ignore[no-any-return]


def build(architecture: str, config: dict[str, Any], vocabulary_size: int, feature_shape: tuple[int, ...]) -> Retriever:
    """Builds a retriever with fresh weights.

    Args:
        architecture: module name in `seqcap.retrieval`.
        config: its settings, as validated by its `Config`.
        vocabulary_size: number of words, special tokens included.
        feature_shape: shape of what it reads of one image, (channels,).
    """
    validated = config_class(architecture)(**config)
    module: Any = importlib.import_module(f"seqcap.retrieval.{architecture}")
    return module.Model(validated, vocabulary_size, feature_shape)  # type: ignore[no-any-return]


def load(path: Path) -> tuple[Retriever, dict[str, Any]]:
    """A trained retriever, and the metadata of its file.

    Raises:
        InputError: the file is missing, damaged or no retriever's; or what it names is missing or wrong.
    """
    retriever, metadata = restored(path, build, "retriever")
    retriever.vocabulary = metadata["vocabulary"]
    return retriever, metadata
