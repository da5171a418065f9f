"""Reads features by row, in any order: from memory if they are few, else row group by row group from the file."""

import json
import weakref
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch

from seqcap.errors import InputError
from seqcap.files.parquet import check_columns, open_parquet
from seqcap.files.schemas import features_schema

# COCO's take 480 MiB pooled and 92 GiB as grids of 14 x 14 cells, with 2,048 channels in float16.
MEMORY_LIMIT = 256 << 20
FIX = "delete it and run `dvc repro features`"


class FeatureStore:
    """The features of one Parquet file (`schemas.features_schema`).

    `image_ids` is [n] int64, in the file's order; `shape` that of one image's features, (channels,) or (height, width,
    channels), and `dim` its last.

    Args:
        path: the Parquet file.
        memory_limit_bytes: up to this size, as stored, all features stay in memory; of a larger file, the row groups
            that were used last.

    Raises:
        InputError: the file is no feature file, or a feature is NaN or infinite, which may show only in `get`.
    """

    def __init__(self, path: str | Path, memory_limit_bytes: int = MEMORY_LIMIT) -> None:
        self.path = Path(path)
        self._file = open_parquet(self.path, mapped=False)
        self.shape, self._dtype = _layout(self.path, self._file.schema_arrow)
        self.dim = self.shape[-1]
        self._size = int(np.prod(self.shape))
        self.image_ids = self._column("item", None)
        self._order = np.argsort(self.image_ids, kind="stable")
        metadata = self._file.metadata
        counts = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        # Row group i has the rows from _starts[i] up to _starts[i + 1].
        self._starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        row_bytes = self._size * np.dtype(self._dtype).itemsize
        self._everything: npt.NDArray[Any] | None = None
        if len(self) * row_bytes <= memory_limit_bytes:
            self._everything = np.empty((len(self), self._size), self._dtype)
            for group in range(len(counts)):
                self._everything[self._starts[group] : self._starts[group + 1]] = self._read(group)
        kept = max(1, memory_limit_bytes // max(1, row_bytes * max(counts, default=1)))
        # Through a proxy, so that the row groups are freed with the store.
        store = weakref.proxy(self)
        self._group = lru_cache(maxsize=kept)(lambda group: store._read(group))

    def __len__(self) -> int:
        return len(self.image_ids)

    def get(self, rows: npt.NDArray[np.integer]) -> npt.NDArray[np.float32]:
        """Features [n, *shape], float32, of rows: positions in `image_ids`, in any order, also repeated."""
        if self._everything is not None:
            found = self._everything[rows]
        else:
            found = np.empty((len(rows), self._size), self._dtype)
            groups = np.searchsorted(self._starts, rows, side="right") - 1
            for group in np.unique(groups):
                here = groups == group
                found[here] = self._group(int(group))[rows[here] - self._starts[group]]
        return _single(found).reshape(len(rows), *self.shape)

    def rows_of(self, image_ids: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Rows of images; an `InputError` names the first image without features."""
        wanted = np.asarray(image_ids, np.int64)
        positions = np.minimum(np.searchsorted(self.image_ids, wanted, sorter=self._order), len(self) - 1)
        rows = self._order[positions]
        absent = self.image_ids[rows] != wanted
        if absent.any():
            raise InputError(self.path, f"has no image {wanted[absent].flat[0]}", FIX)
        return rows

    def _read(self, group: int) -> npt.NDArray[Any]:
        # A copy, because torch takes no read-only arrays, as Arrow's are.
        values = self._column("features", group).reshape(-1, self._size).copy()
        finite = np.isfinite(_single(values)).all(1)
        if not finite.all():
            image_id = self.image_ids[self._starts[group] + int(np.argmin(finite))]
            raise InputError(self.path, f"image {image_id} has a feature that is NaN or infinite", FIX)
        return values

    def _column(self, name: str, group: int | None) -> npt.NDArray[Any]:
        file = self._file
        table = file.read(columns=[name]) if group is None else file.read_row_group(group, columns=[name])
        column = table.column(name).combine_chunks()
        values = column.flatten() if pa.types.is_fixed_size_list(column.type) else column
        array: npt.NDArray[Any] = values.to_numpy(zero_copy_only=False)
        return array


def _single(values: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Values as float32; torch takes a tenth of numpy's time."""
    single: npt.NDArray[np.float32] = torch.from_numpy(values).float().numpy()
    return single


def _layout(path: Path, schema: pa.Schema) -> tuple[tuple[int, ...], npt.DTypeLike]:
    """Shape and type of a feature file, whose columns are checked."""
    check_columns(path, schema, ("item", "features"))
    kind = schema.field("features").type
    try:
        shape = tuple(json.loads(schema.metadata[b"shape"]))
        matches = schema.equals(features_schema(shape, kind.value_type))
    except (AttributeError, KeyError, TypeError, ValueError):
        matches = False
    if not matches:
        raise InputError(path, "has other columns than a feature file, or no `shape` that fits them", FIX)
    return shape, kind.value_type.to_pandas_dtype()
