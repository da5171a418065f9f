"""The task of translating sentences."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from numpy.typing import NDArray
from torch import Tensor

from seqcap.data.subwords import Subwords
from seqcap.data.vocabulary import EOS, PAD, SPECIALS, UNK, Vocabulary
from seqcap.errors import InputError
from seqcap.files.parquet import read_table
from seqcap.files.schemas import PAIRS, SOURCE_VOCABULARY, SUBWORDS
from seqcap.models.base import Captioner
from seqcap.tasks.base import Ids, Inputs, Split, Task

POOL = 50  # sentences are sorted by length within pools of so many batches


@dataclass(frozen=True)
class Sentences:
    """Sentences as ids, each with EOS, in one array, since a corpus has millions.

    Attributes:
        tokens: ids of all sentences, one after the other: int32 [total tokens].
        bounds: int64 [n + 1]; sentence i is tokens[bounds[i] : bounds[i + 1]].
    """

    tokens: NDArray[np.int32]
    bounds: Ids

    @classmethod
    def encode(cls, column: pa.ChunkedArray, vocabulary: Vocabulary, unknown: int) -> Self:
        """Encodes a column of type list<string>; words outside the vocabulary become `unknown`."""
        words = pa.array(vocabulary.words[len(SPECIALS) :], pa.string())
        parts, lengths = [np.empty(0, np.int32)], [np.zeros(1, np.int64)]
        for chunk in column.chunks:
            found = pc.index_in(pc.list_flatten(chunk), value_set=words)
            ids = pc.fill_null(pc.add(found, len(SPECIALS)), unknown).to_numpy(zero_copy_only=False)
            size = pc.list_value_length(chunk).to_numpy(zero_copy_only=False).astype(np.int64)
            parts.append(np.insert(ids.astype(np.int32), size.cumsum(), EOS))
            lengths.append(size + 1)
        return cls(np.concatenate(parts), np.concatenate(lengths).cumsum())

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def lengths(self) -> Ids:
        """[n], tokens of each sentence, EOS included."""
        return np.diff(self.bounds)

    def padded(self, chosen: Ids) -> Tensor:
        """Padded ids [b, time] of some sentences."""
        lengths = self.bounds[chosen + 1] - self.bounds[chosen]
        time = np.arange(lengths.max(initial=0))
        place = np.minimum(self.bounds[chosen][:, None] + time, len(self.tokens) - 1)
        return torch.from_numpy(np.where(time < lengths[:, None], self.tokens[place], PAD).astype(np.int64))


class SingleReferences(Sequence[list[list[int]]]):
    """Each sentence as the only reference, ids without EOS. Lists are made on demand.

    Args:
        sentences: the references, each with EOS.
    """

    def __init__(self, sentences: Sentences) -> None:
        self._sentences = sentences

    def __len__(self) -> int:
        return len(self._sentences)

    def __getitem__(self, index: int) -> list[list[int]]:  # type: ignore[override]
        if index >= len(self):
            raise IndexError(index)
        bounds = self._sentences.bounds
        return [self._sentences.tokens[bounds[index] : bounds[index + 1] - 1].tolist()]


@dataclass(frozen=True)
class SentenceInputs(Inputs):
    """Source sentences.

    Attributes:
        sentences: the n sentences, EOS included.
    """

    sentences: Sentences

    def get(self, chosen: Ids) -> Tensor:
        return self.sentences.padded(chosen)


@dataclass(frozen=True)
class SentenceSplit(Split):
    """One translation of each source sentence.

    Attributes:
        inputs: the n source sentences.
        target: their n translations, as ids.
        words: of the translations [n], before subwords and <unk>; empty for training.
        max_length: tokens to which `captions` cuts a translation, EOS included.
    """

    inputs: SentenceInputs
    target: Sentences
    words: list[list[str]]
    max_length: int

    def captions(self, chosen: Ids) -> Tensor:
        return self.target.padded(chosen)[:, None, : self.max_length]

    def frequencies(self, size: int) -> Tensor:
        return torch.from_numpy(np.bincount(self.target.tokens, minlength=size))

    def order(self, rng: np.random.Generator, batch_size: int) -> Ids:
        """Random batches of sentences of similar length: otherwise half of a batch would be padding."""
        order = rng.permutation(len(self))
        lengths = np.stack([self.inputs.sentences.lengths, self.target.lengths])
        pool = batch_size * POOL
        pools = [order[start : start + pool] for start in range(0, len(order), pool)]
        order = np.concatenate([part[np.lexsort(lengths[:, part])] for part in pools])
        # The last batch may be smaller, and must stay the last.
        whole = len(order) // batch_size
        batches = order[: whole * batch_size].reshape(whole, batch_size)[rng.permutation(whole)]
        return np.concatenate([batches.ravel(), order[whole * batch_size :]])


class Reader(Task):
    """A task of translation: its inputs are sentences.

    Args:
        folder: artifacts/<task>.
        captioner: the class of the translator that reads it.
    """

    def __init__(self, folder: Path, captioner: type[Captioner]) -> None:
        super().__init__(folder)
        self.source_vocabulary = Vocabulary.read(folder / "data" / SOURCE_VOCABULARY)
        self.vocabularies = (self.source_vocabulary, self.vocabulary)
        self.feature_shape = (len(self.source_vocabulary),)
        path = folder / "data" / SUBWORDS
        self.subwords = Subwords.read(path) if path.exists() else None

    def pairs(self, split: str) -> pa.Table:
        """Rows of `schemas.PAIRS`."""
        path = self.folder / "data/pairs.parquet"
        table = read_table(path, PAIRS)
        table = table.filter(pc.equal(table["split"], split))
        if not len(table):
            raise InputError(path, f"has no pairs in split {split!r}", "check the dataset's splits")
        return table

    def sources(self, pairs: pa.Table) -> SentenceInputs:
        return SentenceInputs(pairs["item"].to_numpy(), Sentences.encode(pairs["source"], self.source_vocabulary, UNK))

    def inputs(self, split: str) -> SentenceInputs:
        return self.sources(self.pairs(split))

    def split(self, split: str, max_length: int) -> SentenceSplit:
        pairs = self.pairs(split)
        # <unk> matches no reference, as in `Vocabulary.encode_reference`.
        references = SingleReferences(Sentences.encode(pairs["target"], self.vocabulary, len(self.vocabulary)))
        target = Sentences.encode(pairs["target"], self.vocabulary, UNK)
        words = pairs["reference"].to_pylist() if split != "train" else []
        return SentenceSplit(self.sources(pairs), references, target, words, max_length)

    def fit(self, captioner: Captioner, training: Split) -> None:
        """Does nothing: words need no standardisation."""

    def words(self, ids: Sequence[int]) -> list[str]:
        words = self.vocabulary.decode(ids)
        return words if self.subwords is None else self.subwords.join(words)
