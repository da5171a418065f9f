"""Captioners: one file per architecture, found by module name."""

from __future__ import annotations

import importlib
from typing import Any

from seqcap.models.base import Captioner, CaptionerConfig


def config_class(architecture: str) -> type[CaptionerConfig]:
    """The `Config` of `seqcap.models.<architecture>`.

    Raises:
        ModuleNotFoundError: there is no such architecture.
    """
    return importlib.import_module(f"seqcap.models.{architecture}").Config  # type: ignore[no-any-return]


def model_class(architecture: str) -> type[Captioner]:
    """The captioner class of `seqcap.models.<architecture>`."""
    return importlib.import_module(f"seqcap.models.{architecture}").Model  # type: ignore[no-any-return]


def build(architecture: str, config: dict[str, Any], vocabulary_size: int, feature_shape: tuple[int, ...]) -> Captioner:
    """Builds a captioner with fresh weights.

    Args:
        architecture: module name in `seqcap.models`.
        config: its settings, as validated by its `Config`.
        vocabulary_size: number of words, special tokens included.
        feature_shape: shape of one image's features, (channels,) or (height, width, channels).
    """
    validated = config_class(architecture)(**config)
    return model_class(architecture)(validated, vocabulary_size, feature_shape)
