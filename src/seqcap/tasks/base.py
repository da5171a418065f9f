"""The interface of tasks: inputs, splits, and their vocabularies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from seqcap.data.vocabulary import Vocabulary, digest
from seqcap.errors import InputError
from seqcap.models.base import Captioner

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Inputs(ABC):
    """The inputs of one split, numbered from 0.

    Attributes:
        ids: int64 [n], of items: images, sentence pairs.
    """

    ids: Ids

    @abstractmethod
    def get(self, chosen: Ids) -> Tensor:
        """The argument of `Captioner.encode` for the inputs `chosen`, in that order."""


@dataclass(frozen=True)
class Split(ABC):
    """One split: inputs, and people's captions of each.

    Attributes:
        inputs: n of them.
        references: [n], captions as ids without EOS; all words outside the vocabulary have one further id.
    """

    inputs: Inputs
    references: Sequence[Sequence[Sequence[int]]]

    def __len__(self) -> int:
        return len(self.inputs.ids)

    @abstractmethod
    def captions(self, chosen: Ids) -> Tensor:
        """Captions of the inputs `chosen`, ids [b, references, time] with EOS; a missing reference is all PAD."""

    @abstractmethod
    def frequencies(self, size: int) -> Tensor:
        """How often each of `size` ids occurs in the captions, int64 [size]."""

    def order(self, rng: np.random.Generator, batch_size: int) -> Ids:
        """An epoch's order; batches are consecutive parts of it."""
        return rng.permutation(len(self))


class Task(ABC):
    """A task as captioners of one class read it.

    Args:
        folder: artifacts/<task>.
        captioner: the class.

    Attributes:
        vocabulary: of the captions.
        feature_shape: see `models.build`.
    """

    vocabulary: Vocabulary
    feature_shape: tuple[int, ...]

    def __init__(self, folder: Path, captioner: type[Captioner]) -> None:
        self.folder = folder
        self.vocabulary = Vocabulary.read(folder / "data/vocabulary.json")

    @property
    def vocabularies(self) -> tuple[Vocabulary, ...]:
        """The vocabularies of inputs and captions."""
        return (self.vocabulary,)

    def check(self, path: Path, metadata: Mapping[str, Any]) -> None:
        """Checks the metadata of a captioner's file: an `InputError` if it was trained with other words or features."""
        fix = "train it on this task, or name the task that it was trained on"
        if metadata["vocabulary"] != digest(*self.vocabularies):
            raise InputError(path, f"was trained with another vocabulary than that of {self.folder}", fix)
        shape = tuple(metadata["feature_shape"])
        if shape != self.feature_shape:
            raise InputError(path, f"reads features of shape {shape}; {self.folder} has {self.feature_shape}", fix)

    @abstractmethod
    def inputs(self, split: str) -> Inputs:
        """The inputs of a split; an `InputError` if it is empty or an artifact is damaged."""

    @abstractmethod
    def split(self, split: str, max_length: int) -> Split:
        """A split to train or validate on. Captions are cut to `max_length` tokens, EOS included, references not."""

    @abstractmethod
    def fit(self, captioner: Captioner, training: Split) -> None:
        """Prepares a new captioner by statistics of the training inputs."""

    @abstractmethod
    def words(self, ids: Sequence[int]) -> list[str]:
        """The words of a decoded caption."""
