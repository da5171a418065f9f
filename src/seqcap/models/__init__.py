"""Captioners: image features or a source sentence in, probabilities of captions out.

One file per architecture, found by its name. Beside them: decoding, ensembles, relaxed rollouts, cross-entropy and
reading weights files. May import errors, files, system, config, data and features.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel

from seqcap.models.base import Captioner
from seqcap.models.weights import load_model
from seqcap.system.modules import find_module


def config_class(architecture: str) -> type[BaseModel]:
    """The `Config` of `seqcap.models.<architecture>`.

    Raises:
        ModuleNotFoundError: there is no such architecture.
    """
    return find_module(__name__, architecture).Config  # type: ignore[no-any-return]


def model_class(architecture: str) -> type[Captioner]:
    """The captioner class of `seqcap.models.<architecture>`."""
    return find_module(__name__, architecture).Model  # type: ignore[no-any-return]


def build(architecture: str, config: dict[str, Any], vocabulary_size: int, feature_shape: tuple[int, ...]) -> Captioner:
    """Builds a captioner with fresh weights.

    Args:
        architecture: module name in `seqcap.models`.
        config: its settings.
        vocabulary_size: number of words, special tokens included.
        feature_shape: shape of one image's features, (channels,) or (height, width, channels); for sentences, the size
            of the source vocabulary, (words,).
    """
    module: Any = find_module(__name__, architecture)
    return module.Model(module.Config(**config), vocabulary_size, feature_shape)  # type: ignore[no-any-return]


def load(path: Path) -> tuple[Captioner, dict[str, Any]]:
    """A trained captioner, in evaluation mode, and its file's metadata (see `weights.ModelMetadata`).

    Raises:
        InputError: the file is missing, damaged or no captioner's.
    """
    return load_model(path, build, "captioner")
