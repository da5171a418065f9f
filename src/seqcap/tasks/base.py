"""The interface of tasks."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from seqcap.data.tokens import load_vocabulary
from seqcap.data.vocabulary import Vocabulary, digest
from seqcap.errors import InputError
from seqcap.models.base import Captioner

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Inputs(ABC):
    """The inputs of one split, numbered from 0.

    Attributes:
        ids: of images or sentence pairs, int64 [n].
    """

    ids: Ids

    @abstractmethod
    def get(self, chosen: Ids) -> Tensor:
        """The argument of `Captioner.encode` for the inputs `chosen`, in that order."""


@dataclass(frozen=True)
class Split(ABC):
    """n inputs and people's captions of each.

    Attributes:
        inputs: what captioners read.
        references: `[n][captions][tokens]`, ids without EOS; unknown words share one further id.
    """

    inputs: Inputs
    references: Sequence[Sequence[Sequence[int]]]

    def __len__(self) -> int:
        return len(self.inputs.ids)

    @abstractmethod
    def captions(self, chosen: Ids) -> Tensor:
        """Captions of the inputs `chosen`: padded ids [b, references, time] with EOS; a missing one is all PAD."""

    @abstractmethod
    def frequencies(self, size: int) -> Tensor:
        """Occurrences of each of `size` ids in the captions, int64 [size]."""

    def order(self, rng: np.random.Generator, batch_size: int) -> Ids:
        """The order of an epoch; its batches are consecutive parts of it."""
        return rng.permutation(len(self))


class Task(ABC):
    """A task as captioners of one class read it.

    Args:
        folder: artifacts/<task>.

    Raises:
        InputError: the vocabulary is missing or damaged.
    """

    vocabulary: Vocabulary
    vocabularies: tuple[Vocabulary, ...]  # of inputs and captions
    feature_shape: tuple[int, ...]  # see `models.build`

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.vocabulary = load_vocabulary(folder / "data/vocabulary.json")
        self.vocabularies = (self.vocabulary,)

    def check(self, path: Path, metadata: Mapping[str, Any]) -> None:
        """Raises an `InputError` if a captioner's file was trained with another vocabulary or other features."""
        fix = "train it on this task, or name the task that it was trained on"
        if metadata["vocabulary"] != digest(*self.vocabularies):
            raise InputError(path, f"was trained with another vocabulary than that of {self.folder}", fix)
        shape = tuple(metadata["feature_shape"])
        if shape != self.feature_shape:
            raise InputError(path, f"reads features of shape {shape}; {self.folder} has {self.feature_shape}", fix)

    @abstractmethod
    def inputs(self, split: str) -> Inputs:
        """The inputs of a split; an `InputError` if there are none."""

    @abstractmethod
    def split(self, split: str, max_length: int) -> Split:
        """A split to train or validate on. Captions, not references, are cut to `max_length` tokens, EOS included."""

    @abstractmethod
    def fit(self, captioner: Captioner, training: Split) -> None:
        """Fits a new captioner's standardisation to the training inputs."""

    @abstractmethod
    def words(self, ids: Sequence[int]) -> list[str]:
        """The words of a decoded caption."""
