"""Configurations of the stages that prepare a task: its data, features and embeddings."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from seqcap.config import Fingerprint, Frozen, Kind, StageConfig


class CaptionData(StageConfig):
    """Stage `data` of a task with captions."""

    dataset: str
    root: str
    min_count: int
    max_length: int
    seed: int
    fingerprint: Fingerprint


class ImageData(CaptionData):
    kind: Literal["images"] = "images"
    scenes: Mapping[str, Any] | None  # None: the images are read from `root`
    pretrained: str | None = None  # folder of the captioner whose tokens the captions are; None: words


class ClipData(CaptionData):
    kind: Literal["clips"] = "clips"
    clips: Mapping[str, Any] | None  # None: the clips are read from `root`


class Corpus(Frozen):
    """How parallel text is read."""

    source: str  # a language, the suffix of its files
    target: str
    splits: Mapping[str, str]  # train, val and test -> name of their files
    tokenise: bool  # whether the text is raw
    subwords: int | None  # merges of each language's byte-pair encoding; None: whole words
    min_count: int  # of a word or piece in the training text
    max_words: int | None  # size of a vocabulary without its special tokens; None: all words
    max_length: int  # words or pieces; training pairs with a longer sentence are dropped


class SentenceData(StageConfig):
    """Stage `data` of a translation task."""

    kind: Literal["sentences"] = "sentences"
    root: str
    corpus: Corpus
    parallel: Mapping[str, Any] | None  # None: the pairs are read from `root`
    seed: int
    fingerprint: Fingerprint


class EncoderConfig(StageConfig):
    """Stage `encoder`. The fields after `frames` are used if `weights` is "scenes"; see `pipeline.params.Features`."""

    task: str
    backbone: str
    weights: str
    fingerprint: Fingerprint
    image_size: int
    frames: int | None  # frames that are read of a clip; None for images
    pictures: int
    epochs: int
    learning_rate: float
    batch_size: int
    seed: int


class FeaturesConfig(StageConfig):
    task: str
    root: str
    frames: int | None  # as in `EncoderConfig`
    grid: int
    dtype: str
    batch_size: int
    image_size: int


class ProbeConfig(StageConfig):
    task: str
    dataset: str


class WordsConfig(StageConfig):
    """Stage `paraphrases`: METEOR's, of a task's words."""

    task: str


class Glove(Frozen):
    """How GloVe is trained.
    Elbayad et al. 2018 train on the captions, with window 15 and 300 dimensions. They do not print the rest: x_max, the
    learning rate and the epochs are Pennington et al.'s (who take 50 epochs below 300 dimensions), with corpora a
    thousand times larger. With few captions, a smaller x_max gives more counts their full weight."""

    window: int = Field(15, ge=1, le=100)  # words to either side that count as context
    dimension: int = Field(300, ge=1, le=10_000)
    epochs: int = Field(100, ge=1)
    x_max: float = Field(100.0, gt=0)  # pairs with at least so many co-occurrences have full weight
    learning_rate: float = Field(0.05, gt=0, le=1)  # AdaGrad's
    seed: int = Field(0, ge=0, lt=2**31)


class EmbeddingsConfig(StageConfig):
    task: str
    kind: Kind
    glove: Glove
    source: str | None  # a file of vectors; None: `glove` is trained
    fingerprint: Fingerprint
