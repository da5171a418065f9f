"""Extraction: the right features in the right rows, the same bytes however it was interrupted or shared out."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from PIL import Image

from seqcap.data.frames import ClipSource
from seqcap.data.images import ImageSource
from seqcap.errors import InputError
from seqcap.features import extraction
from seqcap.features.encoders import Encoder, with_weights
from seqcap.features.extraction import ExtractionPlan, extract
from seqcap.features.store import FeatureStore
from seqcap.files.schemas import features_schema

N = 21
CPU = torch.device("cpu")
NAMES = ("pooled.parquet", "grid.parquet")


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extraction, "PART", 6)
    monkeypatch.setattr(extraction, "ROW_GROUP", 4)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "images").mkdir()
    rng = np.random.default_rng(0)
    for i in range(N):
        Image.fromarray(rng.integers(0, 256, (16, 20, 3), dtype=np.uint8)).save(tmp_path / "images" / f"{i}.png")
    return tmp_path


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return with_weights("scenes_cnn", "random", seed=1)


def plan(**changes: Any) -> ExtractionPlan:
    settings = {"grid": 2, "dtype": "float16", "batch_size": 4, "image_size": 16}
    return ExtractionPlan(
        image_ids=[100 - i for i in range(N)], files=[f"{i}.png" for i in range(N)], **{**settings, **changes}
    )


def run(root: Path, name: str, encoder: Encoder, the_plan: ExtractionPlan | None = None, **share: int) -> list[bytes]:
    extract(encoder, ImageSource(root), the_plan or plan(), root / name, root / "kept", CPU, **share)
    return [(root / name / file).read_bytes() for file in NAMES]


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_rows_are_the_encoders_features_in_the_order_of_the_ids(root, encoder, dtype):
    run(root, "out", encoder, plan(dtype=dtype))
    source = ImageSource(root)
    pooled, grid = (FeatureStore(root / "out" / name) for name in NAMES)
    assert pooled.image_ids.tolist() == grid.image_ids.tolist() == [100 - i for i in range(N)]
    assert (pooled.shape, grid.shape) == ((384,), (2, 2, 192))
    tolerance = 1e-5 if dtype == "float32" else 2e-3
    for row in (0, 5, 6, N - 1):
        image = np.array(source.read(f"{row}.png").resize((16, 16), Image.Resampling.BICUBIC))
        with torch.inference_mode():
            features = encoder(torch.from_numpy(image).permute(2, 0, 1)[None])
            expected = encoder.pooled(features), encoder.grid(features, 2)
        for store, values in zip((pooled, grid), expected, strict=True):
            np.testing.assert_allclose(store.get(np.array([row])), values, rtol=tolerance, atol=tolerance)


def test_features_of_clips_are_means_over_their_frames(root, encoder):
    (root / "frames").mkdir()
    for i in range(N):
        (root / f"frames/{i}").mkdir()
        for place in range(6):
            shutil.copy(root / f"images/{(i + place) % N}.png", root / f"frames/{i}/{place}.png")
    files = [f"{i}.gif" for i in range(N)]
    clips = ExtractionPlan(
        [100 - i for i in range(N)], files, grid=2, dtype="float32", batch_size=4, image_size=16, frames=3
    )
    source = ClipSource(root, 3)
    extract(encoder, source, clips, root / "out", root / "kept", CPU)
    # The first frame, one in the middle and the last one.
    run(root, "stills", encoder, plan(dtype="float32"))
    for name in NAMES:
        of_clips, of_stills = (FeatureStore(root / folder / name) for folder in ("out", "stills"))
        assert of_clips.shape == of_stills.shape
        chosen = np.array([[(i + place) % N for place in (0, 3, 5)] for i in range(N)])
        stills = of_stills.get(chosen.ravel()).reshape(N, 3, *of_stills.shape)
        # scenes_cnn's maximum is taken of the mean, not of each frame.
        part = slice(192, None) if name == "pooled.parquet" else slice(None)
        np.testing.assert_allclose(
            of_clips.get(np.arange(N))[..., part], stills.mean(1)[..., part], rtol=1e-4, atol=1e-5
        )
    assert clips.key(encoder, source) != replace(clips, frames=4).key(encoder, source)


def test_row_groups_are_small_and_uncompressed(root, encoder):
    run(root, "out", encoder)
    metadata = pq.ParquetFile(root / "out" / "grid.parquet").metadata
    assert max(metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)) == 4
    assert metadata.row_group(0).column(1).compression == "UNCOMPRESSED"


def test_a_killed_run_is_taken_up_and_gives_the_same_bytes(root, encoder, monkeypatch):
    expected = run(root, "a", encoder)
    shutil.rmtree(root / "kept")
    read = ImageSource.read
    seen: list[str] = []

    def until(limit: int) -> Callable[[ImageSource, str], Image.Image]:
        def counting(source: ImageSource, file: str) -> Image.Image:
            if file == f"{limit}.png":
                raise KeyboardInterrupt
            seen.append(file)
            return read(source, file)

        return counting

    monkeypatch.setattr(ImageSource, "read", until(14))
    with pytest.raises(KeyboardInterrupt):
        run(root, "b", encoder)
    assert not (root / "b").exists()
    seen.clear()
    monkeypatch.setattr(ImageSource, "read", until(-1))
    assert run(root, "b", encoder) == expected
    assert sorted(seen) == sorted(f"{i}.png" for i in range(12, N))
    # What has ended is not extracted again.
    monkeypatch.setattr(ImageSource, "read", lambda *_: pytest.fail("read again"))
    assert run(root, "c", encoder) == expected


def test_parts_of_another_plan_are_not_taken_up(root, encoder):
    source = ImageSource(root)
    keys = [the_plan.key(encoder, source) for the_plan in (plan(), plan(grid=3), plan(image_size=20))]
    keys.append(plan().key(with_weights("scenes_cnn", "random", seed=2), source))
    assert len(set(keys)) == 4
    assert plan().key(encoder, source) == keys[0]


def test_ranks_share_the_parts_and_give_the_same_bytes(root, encoder, monkeypatch):
    expected = run(root, "a", encoder)
    shutil.rmtree(root / "kept")
    monkeypatch.setattr(torch.distributed, "barrier", lambda: None)
    extract(encoder, ImageSource(root), plan(), root / "b", root / "kept", CPU, rank=1, world=2)
    folder = root / "kept" / plan().key(encoder, ImageSource(root))
    assert sorted(path.name for path in folder.iterdir()) == ["part-00001.parquet", "part-00003.parquet"]
    assert run(root, "b", encoder, rank=0, world=2) == expected


def test_a_truncated_image_is_named_and_nothing_is_written(root, encoder):
    path = root / "images" / "13.png"
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(InputError, match=r"image '13\.png' cannot be decoded"):
        run(root, "out", encoder)
    assert not (root / "out").exists()


def test_features_beyond_float16_name_the_image(root):
    encoder = with_weights("scenes_cnn", "random", seed=1)
    with torch.no_grad():
        list(encoder.body.modules())[-2].weight.fill_(1e9)  # the last batch normalisation
    with pytest.raises(InputError, match=r"image '0\.png' has a pooled feature out of float16; use float32"):
        run(root, "out", encoder)
    assert len(run(root, "out", encoder, plan(dtype="float32"))) == 2


@pytest.mark.parametrize(("size", "rows"), [(3, 32), (2048, 32), (4096, 32), (4097, 31), (62_720, 2), (401_408, 1)])
def test_a_row_group_is_small_where_images_are_large(size, rows, monkeypatch):
    """A reader of one image reads a row group: of grids it would be many times what is needed."""
    monkeypatch.undo()
    assert extraction.rows_per_group(features_schema((size,), pa.float16())) == rows


def test_grids_are_in_smaller_row_groups_than_pooled_features(root, encoder, monkeypatch):
    # Two grids of 2 x 2 cells; pooled features have two values a channel.
    monkeypatch.setattr(extraction, "ROW_GROUP_BYTES", 2 * 4 * encoder.channels * 2)
    run(root, "out", encoder)
    most = [
        max(file.row_group(i).num_rows for i in range(file.num_row_groups))
        for file in (pq.read_metadata(root / "out" / name) for name in NAMES)
    ]
    assert most == [4, 2]
