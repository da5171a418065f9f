"""Looks at the config.json of a user's folder before transformers does, which would build whatever number of layers it
names, for hours or until memory is full, before it looks at the weights."""

from pathlib import Path
from typing import Any

from seqcap.errors import InputError
from seqcap.files.json_file import read_json

LAYERS = ("num_hidden_layers", "num_layers", "n_layer", "encoder_layers", "decoder_layers", "depths")
MOST = 1000  # the deepest captioners and CLIPs have fewer than 100


def check_config(folder: Path) -> None:
    """InputError if the folder's config.json, or a part of it, names more than `MOST` layers in one place, or a type of
    model that is no text. Passes without one: who reads it says that it is missing."""
    if (folder / "config.json").is_file():
        _check(folder, read_json(folder / "config.json"))


def _check(folder: Path, content: Any) -> None:
    if not isinstance(content, dict):
        return
    kind = content.get("model_type", "")
    if not isinstance(kind, str):
        raise InputError(folder, f"has a config.json whose model_type is {kind!r:.60}", "give its name")
    for name, value in content.items():
        _check(folder, value)
        for number in value if isinstance(value, list) else [value]:
            if name in LAYERS and isinstance(number, int | float) and number > MOST:
                problem = f"has a config.json with {number:,} layers ({name})"
                raise InputError(folder, problem, f"name a model with at most {MOST:,}")
