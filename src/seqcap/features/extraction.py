"""Extracts pooled and grid features of every image or clip in one pass, in parts that survive a kill."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Never

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from PIL import Image
from pydantic import Field

from seqcap.config import StageConfig
from seqcap.data.frames import ClipSource
from seqcap.data.images import ImageSource, pixels
from seqcap.errors import InputError
from seqcap.features.encoders import Encoder, Reading
from seqcap.files.parquet import parquet_stream
from seqcap.files.schemas import features_schema
from seqcap.system.progress import progress

if TYPE_CHECKING:
    from tqdm import tqdm

PART = 256  # images per part: about 500 parts for COCO. A kill loses a few seconds of a GPU's work.
# The largest row group in images and, unless a single image is larger, in bytes: to read one image of a large file
# means to read a row group.
ROW_GROUP, ROW_GROUP_BYTES = 32, 256 << 10
# Batches that are decoded ahead of the network, by so many threads (Pillow releases the GIL).
AHEAD, DECODERS = 2, 4
Source = ImageSource | ClipSource
TYPES = {"float16": pa.float16(), "float32": pa.float32()}


class Extraction(Reading):
    """What of an encoder's features is kept."""

    grid: int = Field(ge=1, le=32)  # side of the grid
    dtype: Literal["float16", "float32"]


class FeaturesConfig(StageConfig, Extraction):
    """What the stage `features` extracts: a task's features by a trained or a given encoder."""

    task: str
    root: str  # of the images or clips


@dataclass(frozen=True)
class ExtractionPlan:
    """The images and settings that decide the features.

    Attributes:
        image_ids: in the order of the output.
        files: names for the source's `read`, one per id.
        grid: side of the grid, in cells.
        dtype: "float16" or "float32", as stored.
        batch_size: images or clips per step.
        image_size: images are squashed to this side, in pixels: usually 224; 299 for inception_v3.
        frames: how many of a clip; None for images.
    """

    image_ids: list[int]
    files: list[str]
    grid: int
    dtype: str
    batch_size: int
    image_size: int
    frames: int | None = None

    def key(self, encoder: Encoder, source: Source) -> str:
        """The name of the parts' folder; it differs for every encoder and set of images."""
        digest = hashlib.sha256(json.dumps([*vars(self).values(), encoder.backbone]).encode())
        for name, tensor in encoder.body.state_dict().items():
            digest.update(name.encode() + tensor.cpu().numpy().tobytes())
        status = source.path.stat()
        digest.update(f"{source.path.resolve()} {status.st_size} {status.st_mtime_ns}".encode())
        return digest.hexdigest()[:12]


def extract(
    encoder: Encoder,
    source: Source,
    plan: ExtractionPlan,
    output: Path,
    kept: Path,
    device: torch.device,
    rank: int = 0,
    world: int = 1,
) -> None:
    """Writes `output/pooled.parquet` and `output/grid.parquet`, rows in the order of `plan.image_ids`.

    Parts of `PART` images stay in `kept/<key of the plan>` (`system.scratch`), and later calls use them. No batch spans
    two parts, so the bytes do not depend on where a run was killed. Under torchrun, each rank extracts every `world`-th
    part and rank 0 merges them; torch.distributed must be initialised. An `InputError` names a damaged image; others
    are for images too small for the encoder and for features that are not finite.
    """
    if plan.image_size < encoder.smallest:
        fix = f"{encoder.backbone} needs at least {encoder.smallest} pixels"
        raise InputError("params.yaml", f"the features' image_size is {plan.image_size}", fix)
    encoder = encoder.to(device).eval()
    folder = kept / plan.key(encoder, source)
    starts = range(0, len(plan.files), PART)
    parts = [folder / f"part-{i:05d}.parquet" for i in range(len(starts))]
    todo = [(s, p) for s, p in list(zip(starts, parts, strict=True))[rank::world] if not p.exists()]
    total = sum(len(plan.files[start : start + PART]) for start, _ in todo)
    with progress(total=total, desc="features", unit="image", disable=rank != 0) as done:
        for start, part in todo:
            _write_part(encoder, source, plan, start, part, device, done)
    if world > 1:
        torch.distributed.barrier()
    if rank == 0:
        _merge(parts, output, encoder, plan)


def _schemas(encoder: Encoder, plan: ExtractionPlan) -> dict[str, pa.Schema]:
    dtype = TYPES[plan.dtype]
    return {
        "pooled": features_schema((encoder.dim,), dtype),
        "grid": features_schema((plan.grid, plan.grid, encoder.channels), dtype),
    }


def _write_part(
    encoder: Encoder,
    source: Source,
    plan: ExtractionPlan,
    start: int,
    part: Path,
    device: torch.device,
    done: tqdm[Never],
) -> None:
    ids = plan.image_ids[start : start + PART]
    files = plan.files[start : start + PART]
    pooled, grid = [], []
    with torch.inference_mode():
        for images in _batches(source, files, plan.batch_size, plan.image_size):
            features = encoder(images.to(device))
            pooled.append(encoder.pooled(features).cpu().numpy())
            grid.append(encoder.grid(features, plan.grid).flatten(1).cpu().numpy())
            done.update(len(images))
    columns = [pa.array(ids, pa.int64())]
    schemas = _schemas(encoder, plan)
    for name, batches in (("pooled", pooled), ("grid", grid)):
        # Overflow is reported below, with the image's name, and not by a numpy warning.
        with np.errstate(over="ignore"):
            values = np.concatenate(batches).astype(plan.dtype)
        finite = np.isfinite(values).all(1)
        if not finite.all():
            file = files[int(np.argmin(finite))]
            raise InputError(source.path, f"image {file!r} has a {name} feature out of {plan.dtype}", "use float32")
        columns.append(pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), type=schemas[name].field(1).type))
    schema = pa.schema([("item", pa.int64()), *((name, s.field(1).type) for name, s in schemas.items())])
    with parquet_stream(part, schema) as writer:
        writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def _batches(source: Source, files: list[str], size: int, side: int) -> Iterator[torch.Tensor]:
    """Batches [n, 3, side, side] of images or [n, frames, 3, side, side] of clips, uint8, decoded ahead by threads."""

    def decode(file: str) -> npt.NDArray[np.uint8]:
        found = source.read(file)
        return pixels(found, side) if isinstance(found, Image.Image) else np.stack([pixels(f, side) for f in found])

    with ThreadPoolExecutor(DECODERS) as pool:
        queue: deque[list[Future[npt.NDArray[np.uint8]]]] = deque()
        try:
            for start in range(0, len(files) + AHEAD * size, size):
                if start < len(files):
                    queue.append([pool.submit(decode, file) for file in files[start : start + size]])
                if queue and (len(queue) > AHEAD or start + size >= len(files)):
                    images = np.stack([future.result() for future in queue.popleft()])
                    yield torch.from_numpy(images).movedim(-1, -3)
        finally:
            # After a damaged image nobody needs the rest of the queue.
            pool.shutdown(cancel_futures=True)


def rows_per_group(schema: pa.Schema) -> int:
    """How many images a row group of a feature file has."""
    kind = schema.field("features").type
    row_bytes: int = kind.list_size * kind.value_type.byte_width
    return max(1, min(ROW_GROUP, ROW_GROUP_BYTES // row_bytes))


def _merge(parts: list[Path], output: Path, encoder: Encoder, plan: ExtractionPlan) -> None:
    schemas = _schemas(encoder, plan)
    for name, schema in schemas.items():
        with parquet_stream(output / f"{name}.parquet", schema) as writer:
            for part in parts:
                ids, features = pq.read_table(part, columns=["item", name], memory_map=True).columns
                table = pa.Table.from_arrays([ids, features], schema=schema)
                writer.write_table(table, row_group_size=rows_per_group(schema))
