"""What training and decoding ask of a task."""

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
    """What a captioner reads of one split; inputs are numbered from 0.

    Attributes:
        ids: int64 [n], of items: images, sentence pairs.
    """

    ids: Ids

    @abstractmethod
    def get(self, chosen: Ids) -> Tensor:
        """What `Captioner.encode` takes, of the inputs `chosen`, in that order."""


@dataclass(frozen=True)
class Split(ABC):
    """One split: inputs, and what people said of each.

    Attributes:
        inputs: n of them.
        references: [n], captions as ids without EOS; words outside the vocabulary are an id of their own.
    """

    inputs: Inputs
    references: Sequence[Sequence[Sequence[int]]]

    def __len__(self) -> int:
        return len(self.inputs.ids)

    @abstractmethod
    def captions(self, chosen: Ids) -> Tensor:
        """Captions of the inputs `chosen`, ids [b, references, time], EOS included, padded to the longest of them; a
        missing reference is all PAD."""

    @abstractmethod
    def frequencies(self, size: int) -> Tensor:
        """How often each of `size` ids occurs in the captions, int64 [size]."""

    def order(self, rng: np.random.Generator, batch_size: int) -> Ids:
        """An epoch's order, of which batches are consecutive parts."""
        return rng.permutation(len(self))


class Task(ABC):
    """A task as one kind of captioner sees it.

    Args:
        folder: artifacts/<task>.
        captioner: the class of what reads it.

    Attributes:
        vocabulary: of the captions.
        feature_shape: of an input, as `models.build` takes it.
    """

    vocabulary: Vocabulary
    feature_shape: tuple[int, ...]

    def __init__(self, folder: Path, captioner: type[Captioner]) -> None:
        self.folder = folder
        self.vocabulary = Vocabulary.read(folder / "data/vocabulary.json")

    @property
    def vocabularies(self) -> tuple[Vocabulary, ...]:
        """Those whose ids a captioner reads or says."""
        return (self.vocabulary,)

    def check(self, path: Path, metadata: Mapping[str, Any]) -> None:
        """Checks that a captioner's weights were trained on this task.

        Args:
            path, metadata: of its file, see `models.load`.

        Raises:
            InputError: they were trained with other words, or read other features.
        """
        fix = "train it on this task, or name the task that it was trained on"
        if metadata["vocabulary"] != digest(*self.vocabularies):
            raise InputError(path, f"was trained with another vocabulary than that of {self.folder}", fix)
        shape = tuple(metadata["feature_shape"])
        if shape != self.feature_shape:
            raise InputError(path, f"reads features of shape {shape}; {self.folder} has {self.feature_shape}", fix)

    @abstractmethod
    def inputs(self, split: str) -> Inputs:
        """The inputs of a split.

        Raises:
            InputError: an artifact is malformed, or the split is empty.
        """

    @abstractmethod
    def split(self, split: str, max_length: int) -> Split:
        """A split to train or validate on.

        Args:
            max_length: tokens per caption, EOS included; longer captions are cut, references are not.

        Raises:
            InputError: as `inputs`.
        """

    @abstractmethod
    def fit(self, captioner: Captioner, training: Split) -> None:
        """Gives a new captioner what it must know of the training inputs before it learns."""

    @abstractmethod
    def words(self, ids: Sequence[int]) -> list[str]:
        """The words of a decoded caption."""
