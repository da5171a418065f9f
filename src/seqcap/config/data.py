"""Configurations of the stages that make what captioners read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from seqcap.config import Fingerprint, Frozen, Kind, StageConfig


class ImageData(StageConfig):
    """Stage `data` of images. `scenes`: None if the images are read from `root`."""

    kind: Literal["images"] = "images"
    dataset: str
    root: str
    min_count: int
    max_length: int
    scenes: Mapping[str, Any] | None
    seed: int
    fingerprint: Fingerprint


class ClipData(StageConfig):
    """Stage `data` of clips. `clips`: None if they are read from `root`."""

    kind: Literal["clips"] = "clips"
    dataset: str
    root: str
    min_count: int
    max_length: int
    clips: Mapping[str, Any] | None
    seed: int
    fingerprint: Fingerprint


class Corpus(Frozen):
    """How parallel text is read.

    Attributes:
        source, target: languages, the files' suffixes.
        splits: train, val and test -> the names of their files.
        tokenise: whether the text is raw.
        subwords: merges of a byte-pair encoding of each language; None: whole words.
        min_count: how often a word (or piece) must occur in the training text to be in the vocabulary.
        max_words: size of a vocabulary without its special tokens; None: all words.
        max_length: words (or pieces) of a training sentence, in either language; longer pairs are dropped.
    """

    source: str
    target: str
    splits: Mapping[str, str]
    tokenise: bool
    subwords: int | None
    min_count: int
    max_words: int | None
    max_length: int


class SentenceData(StageConfig):
    """Stage `data` of sentence pairs. `parallel`: None if the pairs are read from `root`."""

    kind: Literal["sentences"] = "sentences"
    root: str
    corpus: Corpus
    parallel: Mapping[str, Any] | None
    seed: int
    fingerprint: Fingerprint


class EncoderConfig(StageConfig):
    """Stage `encoder`. From `pictures` on, how it is trained if `weights` is "scenes"; see
    `seqcap.pipeline.params.Features`. `frames`: how many of a clip are read, None if it is of images."""

    task: str
    backbone: str
    weights: str
    fingerprint: Fingerprint
    image_size: int
    frames: int | None
    pictures: int
    epochs: int
    learning_rate: float
    batch_size: int
    seed: int


class FeaturesConfig(StageConfig):
    """Stage `features`; `frames`: how many of a clip are read, None if it is of images."""

    task: str
    root: str
    frames: int | None
    grid: int
    dtype: str
    batch_size: int
    image_size: int


class ProbeConfig(StageConfig):
    """Stage `probe`."""

    task: str
    dataset: str


class WordsConfig(StageConfig):
    """Stage `paraphrases`."""

    task: str


class Glove(Frozen):
    """How GloVe is trained. Elbayad et al. 2018: on the training captions, window 15, 300 dimensions. The rest is not
    printed; x_max, the learning rate and the epochs (50 under 300 dimensions) are Pennington et al.'s, whose corpora
    are a thousand times larger: on few captions a smaller x_max lets more counts weigh fully. COCO: 6 s an epoch on one
    core.

    Attributes:
        window: words to either side that count as context.
        dimension: length of a vector.
        epochs: passes over the co-occurrences.
        x_max: co-occurrences from which on a pair has full weight.
        learning_rate: AdaGrad's.
    """

    window: int = Field(15, ge=1, le=100)
    dimension: int = Field(300, ge=1, le=10_000)
    epochs: int = Field(100, ge=1)
    x_max: float = Field(100.0, gt=0)
    learning_rate: float = Field(0.05, gt=0, le=1)
    seed: int = Field(0, ge=0, lt=2**31)


class EmbeddingsConfig(StageConfig):
    """Stage `embeddings`; `source`: a file of vectors, None: train `glove`."""

    task: str
    kind: Kind
    glove: Glove
    source: str | None
    fingerprint: Fingerprint
