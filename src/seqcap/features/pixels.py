"""The images of a task as a pretrained captioner's own image processor makes them."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from seqcap.data.images import ImageSource
from seqcap.errors import InputError
from seqcap.features.captioner_folder import Pixels
from seqcap.files.advice import mend
from seqcap.files.json_file import read_json
from seqcap.files.parquet import read_table
from seqcap.files.schemas import IMAGES, PRETRAINED


class Pretrained(BaseModel):
    """A task's file `PRETRAINED`."""

    model_config = ConfigDict(strict=True, extra="forbid")
    folder: str  # of the captioner
    images: str  # the dataset's root


class PixelStore:
    """Pixel values [*shape] of images, read and processed when they are asked for.

    Args:
        task: the folder artifacts/<task>.

    Raises:
        InputError: the task has no pretrained captioner, or a file is missing or damaged.
    """

    def __init__(self, task: Path) -> None:
        path = task / "data" / PRETRAINED
        if not path.is_file():
            fix = "name the captioner's folder as `pretrained` of the task"
            raise InputError(task, "has words of its own, not the tokens of a pretrained captioner", fix)
        try:
            about = Pretrained.model_validate(read_json(path))
        except ValidationError as error:
            raise InputError(path, f"names no captioner ({error.errors()[0]['msg']})", mend(path)) from None
        table = read_table(task / "data/images.parquet", IMAGES)
        self._items, self._files = table["item"].to_numpy(), table["file"].to_pylist()
        self._source, self._pixels = ImageSource(about.images), Pixels(Path(about.folder))
        self.shape = self._pixels.shape

    def rows_of(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of images by their ids."""
        order = np.argsort(self._items)
        return np.asarray(order[np.searchsorted(self._items, ids, sorter=order)])

    def get(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """[n, *shape]."""
        images = [self._source.read(self._files[row]) for row in rows.tolist()]
        return self._pixels.read(images).numpy()
