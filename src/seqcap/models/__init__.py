"""Captioners: one file per architecture, found by module name."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from seqcap.models.base import Captioner
from seqcap.models.weights import restored


def config_class(architecture: str) -> type[BaseModel]:
    """The `Config` of `seqcap.models.<architecture>`.

    Raises:
        ModuleNotFoundError: there is no such architecture.
    """
    module = importlib.import_module(f"seqcap.models.{architecture}")
    if not hasattr(module, "Config"):
        raise ModuleNotFoundError(f"{module.__name__} holds no captioner", name=module.__name__)
    return module.Config  # type: ignore[no-any-return]


def model_class(architecture: str) -> type[Captioner]:
    """The captioner class of `seqcap.models.<architecture>`."""
    return importlib.import_module(f"seqcap.models.{architecture}").Model  # type: ignore[no-any-return]


def build(architecture: str, config: dict[str, Any], vocabulary_size: int, feature_shape: tuple[int, ...]) -> Captioner:
    """Builds a captioner with fresh weights.

    Args:
        architecture: module name in `seqcap.models`.
        config: its settings, as validated by its `Config`.
        vocabulary_size: number of words, special tokens included.
        feature_shape: shape of one image's features, (channels,) or (height, width, channels); of a sentence, the
            number of words that a source token is one of, (words,).
    """
    validated = config_class(architecture)(**config)
    model: Any = model_class(architecture)
    return model(validated, vocabulary_size, feature_shape)  # type: ignore[no-any-return]


def load(path: Path) -> tuple[Captioner, dict[str, Any]]:
    """A trained captioner, in evaluation mode, and the metadata of its file, with what `weights.Described` has.

    Raises:
        InputError: the file is missing, damaged or no captioner's.
    """
    return restored(path, build, "captioner")
