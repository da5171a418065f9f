"""FeatureStore: the same features from memory and from the file, and every way the file can be wrong."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from small_task import write_features

from seqcap.errors import InputError
from seqcap.features.store import FeatureStore

SHAPE = (2, 2, 3)
IDS = [70, 10, 40, 20, 60, 30, 50]


def write(path: Path, values: npt.NDArray[np.floating]) -> Path:
    write_features(path, values.reshape(-1, *SHAPE), IDS, 3)
    return path


def values(dtype: str = "float16") -> npt.NDArray[np.floating]:
    return np.random.default_rng(0).normal(size=(len(IDS), 12)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("limit", [1 << 20, 200, 0])
def test_every_mode_gives_the_features_of_the_rows(tmp_path, dtype, limit):
    expected = values(dtype)
    store = FeatureStore(write(tmp_path / "f.parquet", expected), memory_limit_bytes=limit)
    assert (store.shape, store.dim, len(store)) == (SHAPE, 3, 7)
    assert store.image_ids.tolist() == IDS
    assert store.image_ids.dtype == np.int64
    for rows in ([0, 1, 2, 3, 4, 5, 6], [6, 0, 6, 3], [5, 2, 3, 0], [2], []):
        found = store.get(np.array(rows, np.int64))
        assert found.dtype == np.float32
        assert found.shape == (len(rows), *SHAPE)
        assert np.array_equal(found, expected[rows].astype(np.float32).reshape(-1, *SHAPE))


def test_row_groups_used_last_are_kept_within_the_limit(tmp_path, monkeypatch):
    path = write(tmp_path / "f.parquet", values())
    # A full row group takes 3 rows * 12 values * 2 bytes: two of the three fit.
    store = FeatureStore(path, memory_limit_bytes=144)
    reads: list[int] = []
    read = store._read
    monkeypatch.setattr(store, "_read", lambda group: reads.append(group) or read(group))
    for row in (0, 1, 3, 2, 6, 0, 3):
        store.get(np.array([row]))
    assert reads == [0, 1, 2, 1]


def test_rows_of(tmp_path):
    store = FeatureStore(write(tmp_path / "f.parquet", values()))
    assert store.rows_of([10, 70, 10, 50]).tolist() == [1, 0, 1, 6]
    for unknown in (5, 45, 99):
        with pytest.raises(InputError, match=rf"f\.parquet: has no image {unknown};"):
            store.rows_of([10, unknown])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_feature_that_is_not_finite_names_its_image(tmp_path, bad):
    damaged = values()
    damaged[4, 7] = bad
    path = write(tmp_path / "f.parquet", damaged)
    with pytest.raises(InputError, match="image 60 has a feature that is NaN"):
        FeatureStore(path)
    store = FeatureStore(path, memory_limit_bytes=0)
    assert store.get(np.array([0])).shape == (1, *SHAPE)
    with pytest.raises(InputError, match="image 60 has a feature that is NaN"):
        store.get(np.array([3]))
