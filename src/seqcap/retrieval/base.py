"""The interface of retrievers. Captions are ids [n, time] (words, EOS, then PAD), or *relaxed*, [n, time, V]: at each
position a one-hot vector or a distribution, up to a constant one-hot EOS, then zeros."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, Field
from torch import Tensor, nn

from seqcap.config import Fingerprint, Frozen, StageConfig
from seqcap.data.vocabulary import digest
from seqcap.errors import InputError
from seqcap.files.schemas import VOCABULARY
from seqcap.models.base import Standardised
from seqcap.tasks.base import Inputs
from seqcap.tasks.images import VisualTask

# Files in a task's folder: with one vector per image, and with one per cell of a grid.
POOLED, GRID = "features/pooled.parquet", "features/grid.parquet"


class RetrieverTraining(Frozen):
    """How a retriever is trained."""

    epochs: int = Field(ge=1)
    batch_size: int = Field(ge=2)  # images; each image's negatives are the rest of its batch
    learning_rate: float = Field(gt=0, lt=1)
    decay: float = Field(gt=0, le=1)
    decay_every: int = Field(ge=1)
    # Captions with one fact exchanged that each caption has as further negatives (`seqcap.retrieval.exchanges`). With
    # some, the epoch is kept that tells most of them on val.
    exchanges: int = Field(0, ge=0)


class RetrieverConfig(StageConfig):
    """What the stage `retriever` trains, or reads from a user's folder."""

    name: str
    task: str
    architecture: str  # module of `seqcap.retrieval`
    model: Mapping[str, Any]  # its settings
    training: RetrieverTraining | None  # None: it is read from `folder`
    seeds: tuple[int, ...]  # one instance for each
    evaluate_on: str  # split of the published recalls
    max_length: int  # tokens of a caption, EOS included
    folder: str | None  # the user's files
    fingerprint: Fingerprint
    root: str  # of the task's images, for retrievers that read them
    weights: str  # folder for seed<k>.safetensors, curves.parquet and recalls.json


class Retriever(nn.Module, ABC):
    """Embeds images and captions in one space, and compares them there. Training and loading set `vocabulary`, the hash
    of the words (`vocabulary.digest`). An embedding is a vector of length 1, compared by cosine, unless `compare` says
    otherwise.

    Args:
        config: the settings: a `Config` of the architecture's module.
        vocabulary_size: V, the number of tokens.
        feature_shape: of one image's features: (channels,), or of a grid (height, width, channels).
    """

    vocabulary: str = ""
    # Whether an embedding is one vector, as objectives and mining need, and not as many as there are words or cells.
    one_vector: ClassVar[bool] = True

    def __init__(self, config: BaseModel, vocabulary_size: int, feature_shape: tuple[int, ...]) -> None:
        super().__init__()
        self.config, self.vocabulary_size, self.feature_shape = config, vocabulary_size, feature_shape

    @abstractmethod
    def embed_images(self, inputs: Tensor) -> Tensor:
        """Inputs [n, *feature_shape] -> embeddings [n, d]."""

    @abstractmethod
    def embed_captions(self, captions: Tensor) -> Tensor:
        """Captions, ids int64 [n, time] or relaxed float [n, time, V] -> embeddings [n, d]."""

    def compare(self, captions: Tensor, images: Tensor) -> Tensor:
        """How well captions fit images: scores [n, m] of embeddings [n, d] of captions and [m, d] of images."""
        return captions @ images.T

    def summarise(self, images: Tensor) -> Tensor:
        """Embeddings [n, d] of images -> vectors [n, e] whose dot products tell how alike the images are."""
        return images

    def compare_captions(self, images: Tensor, captions: Tensor) -> Tensor:
        """`compare`, the other way round: scores [n, m] of n images with m captions."""
        return self.compare(captions, images).T

    def compare_own(self, captions: Tensor, images: Tensor) -> Tensor:
        """The scores [n, k] of several captions of each image with that image, from embeddings [n, k, d] and [n, d]."""
        return (captions * images[:, None]).sum(2)

    @abstractmethod
    def features(self, task_folder: Path) -> Path:
        """The features file that it reads, for the task in artifacts/<task>."""

    def load_task(self, task_folder: Path) -> VisualTask:
        """The task in artifacts/<task> as this retriever reads it. InputError if a file is missing or damaged, or the
        retriever was trained on other features or words."""
        path = self.features(task_folder)
        task = VisualTask(task_folder, path)
        if task.feature_shape != self.feature_shape:
            problem = f"has features of shape {task.feature_shape}, the retriever reads {self.feature_shape}"
            raise InputError(path, problem, "train a retriever on this task")
        if digest(task.vocabulary) != self.vocabulary:
            problem = f"has other words than the {self.vocabulary_size} that the retriever was trained with"
            raise InputError(task_folder / "data" / VOCABULARY, problem, "train a retriever on this task")
        return task

    def inputs(self, task_folder: Path, split: str) -> Inputs:
        """The inputs of `embed_images` for a split; errors as in `load_task`, or if the split is empty."""
        return self.load_task(task_folder).inputs(split)

    def metadata(self) -> dict[str, Any]:
        return {
            "architecture": type(self).__module__.rpartition(".")[2],
            "model": self.config.model_dump(),
            "vocabulary_size": self.vocabulary_size,
            "vocabulary": self.vocabulary,
            "feature_shape": list(self.feature_shape),
        }


class TrainedRetriever(Retriever, Standardised):
    """A retriever that is trained on people's captions (`seqcap.training.retrievers`)."""

    reads: ClassVar[str] = POOLED  # features, a file in a task's folder

    def features(self, task_folder: Path) -> Path:
        return task_folder / self.reads

    @abstractmethod
    def loss(self, images: Tensor, captions: Tensor, exchanged: Tensor | None = None) -> tuple[Tensor, ...]:
        """The loss terms [n] of each item, from embeddings [n, d] of images and of their captions. `exchanged`
        [n, k] are scores of images with captions of theirs that were made false (`seqcap.retrieval.exchanges`), -inf
        where there is none."""
