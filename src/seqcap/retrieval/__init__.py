"""Retrievers: one file per architecture, found by module name."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from seqcap.artifacts import load_weights
from seqcap.errors import InputError
from seqcap.retrieval.base import Retriever


def config_class(architecture: str) -> type[BaseModel]:
    """The `Config` of `seqcap.retrieval.<architecture>`.

    Raises:
        ModuleNotFoundError: there is no such architecture.
    """
    module = importlib.import_module(f"seqcap.retrieval.{architecture}")
    if not hasattr(module, "Config"):
        raise ModuleNotFoundError(f"{module.__name__} holds no retriever")
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
    """A trained retriever, and its metadata.

    Raises:
        InputError: the file is missing, or no retriever's; or what it names is missing or wrong.
    """
    tensors, metadata = load_weights(path)
    try:
        retriever = build(
            metadata["architecture"],
            metadata["model"],
            metadata["vocabulary_size"],
            tuple(metadata["feature_shape"]),
        )
        retriever.load_state_dict(tensors)
    except (KeyError, RuntimeError, ValueError, ModuleNotFoundError) as error:
        raise InputError(path, f"holds no retriever ({error})", "delete it and run `dvc repro`") from None
    return retriever.eval(), metadata
