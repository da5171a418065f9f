"""Captioners: image features or a source sentence in, probabilities of captions out; may import errors, files, system,
config, data and features. One file per architecture, found by its name."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel

from seqcap.models.base import Captioner
from seqcap.models.weights import load_model
from seqcap.system.modules import find_module


def config_class(architecture: str) -> type[BaseModel]:
    """The `Config` of `seqcap.models.<architecture>`; ModuleNotFoundError if there is no such architecture."""
    return find_module(__name__, architecture).Config  # type: ignore[no-any-return]


def model_class(architecture: str) -> type[Captioner]:
    return find_module(__name__, architecture).Model  # type: ignore[no-any-return]


def build(architecture: str, config: dict[str, Any], vocabulary_size: int, feature_shape: tuple[int, ...]) -> Captioner:
    """Builds a captioner with fresh weights. `feature_shape` of an image: (channels,) or (height, width, channels); of
    a sentence: (source words,)."""
    module: Any = find_module(__name__, architecture)
    return module.Model(module.Config(**config), vocabulary_size, feature_shape)  # type: ignore[no-any-return]


def load(path: Path) -> tuple[Captioner, dict[str, Any]]:
    """A trained captioner in evaluation mode, and the metadata of its file; an InputError if the file has none."""
    return load_model(path, build, "captioner")
