"""Reads a model from its weights file: the metadata say how to build it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from seqcap.data.vocabulary import SPECIALS
from seqcap.errors import InputError
from seqcap.files.advice import mend
from seqcap.files.tensors import load_weights

M = TypeVar("M", bound=BaseModel)
N = TypeVar("N", bound=nn.Module)


class ModelMetadata(BaseModel):
    """The metadata of every captioner and retriever; `vocabulary` is the hash of the words (`vocabulary.digest`)."""

    model_config = ConfigDict(strict=True)
    architecture: str = Field(pattern="^[a-z0-9_]+$")
    model: dict[str, Any]
    vocabulary_size: int = Field(gt=len(SPECIALS))
    vocabulary: str
    feature_shape: list[Annotated[int, Field(gt=0)]] = Field(min_length=1, max_length=3)


def load_model(
    path: Path, build: Callable[[str, dict[str, Any], int, tuple[int, ...]], N], what: str
) -> tuple[N, dict[str, Any]]:
    """A trained model in evaluation mode, and the metadata of its file; an InputError if the file holds no such model.
    `build` takes architecture, settings, vocabulary size and feature shape; `what` is "captioner" or "retriever"."""
    tensors, metadata = load_weights(path)
    about = check_metadata(ModelMetadata, path, metadata, what)
    arguments = about.architecture, about.model, about.vocabulary_size, tuple(about.feature_shape)
    with report_wrong_content(path, what):
        # Weights of a user's CLIP are in its own folder.
        if tensors:
            _check_shapes(build, arguments, tensors)
        model = build(*arguments)
        model.load_state_dict(tensors)
    return model.eval(), metadata


@contextmanager
def report_wrong_content(path: Path, what: str) -> Iterator[None]:
    try:
        yield
    except (ArithmeticError, LookupError, ModuleNotFoundError, RuntimeError, TypeError, ValueError) as error:
        raise InputError(path, f"holds no {what} ({error})", mend(path)) from None


def check_metadata(kind: type[M], path: Path, metadata: Mapping[str, Any], what: str) -> M:
    """Validates metadata; the `InputError` names the first field that is missing or wrong."""
    try:
        return kind.model_validate(metadata)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(path, f"holds no {what} ({place}: {first['msg']})", mend(path)) from None


class _SkipNormalInit(TorchFunctionMode):
    """Skips `normal_`, for which torch would import its compiler on the meta device: that takes a second."""

    def __torch_function__(
        self, function: Any, types: Any, arguments: tuple[Any, ...] = (), options: Mapping[str, Any] | None = None
    ) -> Any:
        options = options or {}
        return options["tensor"] if function is nn.init.normal_ else function(*arguments, **options)


def _check_shapes(build: Callable[..., nn.Module], arguments: tuple[Any, ...], tensors: Mapping[str, Tensor]) -> None:
    """Raises ValueError if shapes of weights and model differ. Allocates nothing: the model may not fit into memory."""
    # Later training depends on the state of the random generator.
    with torch.random.fork_rng(devices=[]), torch.device("meta"), _SkipNormalInit():
        expected = {name: tensor.shape for name, tensor in build(*arguments).state_dict().items()}
    found = {name: tensor.shape for name, tensor in tensors.items()}
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            have, need = (list(shapes[name]) if name in shapes else "nothing" for shapes in (found, expected))
            raise ValueError(f"{name} is {have}, and {need} for these settings")
