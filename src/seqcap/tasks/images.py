"""The task of captioning images or clips."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow.compute as pc
import torch
from numpy.typing import NDArray
from torch import Tensor

from seqcap.data.vocabulary import EOS, PAD
from seqcap.errors import InputError
from seqcap.features.pixels import PixelStore
from seqcap.features.store import FeatureStore
from seqcap.files.parquet import read_table
from seqcap.files.schemas import IMAGES, REFERENCES, in_split
from seqcap.models.base import PIXELS, Captioner, ImageCaptioner
from seqcap.tasks.base import Ids, Inputs, Split, Task

FITTED_BYTES = 5 << 28  # most bytes of features, in float32, to compute the standardisation from


class Store(Protocol):
    """What a captioner reads of every image."""

    shape: tuple[int, ...]

    def rows_of(self, ids: Ids) -> Ids: ...

    def get(self, rows: Ids) -> NDArray[np.float32]: ...


@dataclass(frozen=True)
class ImageInputs(Inputs):
    """Features of images or clips, read from a file when they are asked for.

    Attributes:
        store: the features of all images of the task.
        rows: those of these inputs in the store, int64 [n].
    """

    store: Store
    rows: Ids

    def get(self, chosen: Ids) -> Tensor:
        return torch.from_numpy(self.store.get(self.rows[chosen]))


@dataclass(frozen=True)
class ImageSplit(Split):
    """Images or clips with their captions.

    Attributes:
        tokens: the captions, padded ids [n, references, time], EOS included; a missing one is all PAD.
    """

    tokens: Tensor

    def captions(self, chosen: Ids) -> Tensor:
        captions = self.tokens[chosen]
        return captions[:, :, : int((captions != PAD).sum(2).max())]

    def frequencies(self, size: int) -> Tensor:
        return torch.bincount(self.tokens[self.tokens != PAD], minlength=size)


class VisualTask(Task):
    """Images or clips with the features of a file, or as pixels.

    Args:
        folder: artifacts/<task>.
        features: the file (`schemas.features_schema`); None: pixels.

    Raises:
        InputError: a file is missing or damaged.
    """

    def __init__(self, folder: Path, features: Path | None) -> None:
        super().__init__(folder)
        self.store: Store = FeatureStore(features) if features else PixelStore(folder)
        self.feature_shape = self.store.shape

    def inputs(self, split: str) -> ImageInputs:
        path = self.folder / "data/images.parquet"
        images = read_table(path, IMAGES).to_pylist()
        wanted = [row["item"] for row in images if in_split(split, row["split"], row["file"])]
        ids = np.array(wanted, dtype=np.int64)
        if len(ids) == 0:
            raise InputError(path, f"has no images in split {split!r}", "choose another split")
        return ImageInputs(ids, self.store, self.store.rows_of(ids))

    def split(self, split: str, max_length: int) -> ImageSplit:
        path = self.folder / "data/references.parquet"
        table = read_table(path, REFERENCES)
        by_image: dict[int, list[list[str]]] = defaultdict(list)
        for row in table.filter(pc.equal(table["split"], split)).select(["item", "tokens"]).to_pylist():
            by_image[row["item"]].append(row["tokens"])
        if not by_image:
            raise InputError(path, f"has no captions in split {split!r}", "check the dataset's splits")
        captions = np.full((len(by_image), max(map(len, by_image.values())), max_length), PAD, dtype=np.int64)
        for i, image_captions in enumerate(by_image.values()):
            for j, tokens in enumerate(image_captions):
                ids = [*self.vocabulary.encode(tokens)[: max_length - 1], EOS]
                captions[i, j, : len(ids)] = ids
        image_ids = np.array(list(by_image))
        references = [[self.vocabulary.encode_reference(tokens) for tokens in item] for item in by_image.values()]
        inputs = ImageInputs(image_ids, self.store, self.store.rows_of(image_ids))
        return ImageSplit(inputs, references, torch.from_numpy(captions))

    def fit(self, captioner: Captioner, training: Split) -> None:
        """Fits the standardisation to 5,000 images, or to fewer if their features are large. A captioner from a folder
        takes that folder's weights."""
        if not isinstance(captioner, ImageCaptioner):
            captioner.load_pretrained()
            return
        most = min(5000, FITTED_BYTES // (4 * math.prod(self.feature_shape)))
        some = np.sort(np.random.default_rng(0).permutation(len(training))[:most])
        captioner.fit_standardisation(training.inputs.get(some))

    def words(self, ids: Sequence[int]) -> list[str]:
        return self.vocabulary.decode(ids)


class Reader(VisualTask):
    """Images or clips with the features that the captioner's class names, or as pixels.

    Args:
        folder: artifacts/<task>.
        captioner: the class of the captioners that read it; its `features` name what they read.

    Raises:
        InputError: the class reads no images, or a file is missing or damaged.
    """

    def __init__(self, folder: Path, captioner: type[Captioner]) -> None:
        features = captioner.features
        if not features:
            raise InputError(
                folder, f"holds images or clips, which {captioner.__module__} does not read", "name another task"
            )
        super().__init__(folder, None if features == PIXELS else folder / f"features/{features}.parquet")
