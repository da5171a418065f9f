"""Everything that passes between stages: Parquet schemas, JSON and weights, written atomically.

A file appears under its final name only when it is complete, so killing a stage never leaves half an
artifact behind. The same content gives the same bytes: DVC's cache and `dvc status` depend on it.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from seqcap.errors import InputError

if TYPE_CHECKING:
    import torch

# Where the image task's captions and splits are.
DATA = Path("artifacts/image/data")


SPLITS = ("train", "val", "test")
# An extra split of some datasets: images with many references each, or without public ones, like those of COCO's
# server. Nothing is trained, standardised or selected on it.
SERVER = "server"
# COCO's own splits. Its server takes captions of a whole split.
COCO_SPLITS = ("test2014", "val2014")
DECODERS = ("greedy", "beam", "sample")

# One row per image: `file` is the name inside the image folder or tar; `coco_id` is what COCO calls the image, null in
# other datasets.
IMAGES = pa.schema([("item", pa.int64()), ("split", pa.string()), ("file", pa.string()), ("coco_id", pa.int64())])

# One row per human (or generated) caption. `tokens` are words, not ids.
REFERENCES = pa.schema(
    [
        ("item", pa.int64()),
        ("split", pa.string()),
        ("caption_id", pa.int64()),
        ("text", pa.string()),
        ("tokens", pa.list_(pa.string())),
    ]
)

# One row per sentence pair. `source` and `target` are what the translator reads and writes, words or subwords;
# `reference` is the target as words. Beside them in a task's data/: the vocabularies, and the merges of subwords.
PAIRS = pa.schema(
    [
        ("item", pa.int64()),
        ("split", pa.string()),
        ("source", pa.list_(pa.string())),
        ("target", pa.list_(pa.string())),
        ("reference", pa.list_(pa.string())),
    ]
)

SOURCE_VOCABULARY, VOCABULARY = "source_vocabulary.json", "vocabulary.json"
SOURCE_SUBWORDS, SUBWORDS = "source_subwords.json", "subwords.json"

# One row per decoded caption; rank counts from 0 within (variant, seed, item, decoder).
# log_prob is the sum over tokens up to and including EOS, in nats.
DECODED = pa.schema(
    [
        ("variant", pa.string()),
        ("seed", pa.int64()),
        ("item", pa.int64()),
        ("decoder", pa.string()),
        ("rank", pa.int64()),
        ("text", pa.string()),
        ("tokens", pa.list_(pa.string())),
        ("log_prob", pa.float64()),
    ]
)

# One row per score; corpus metrics have a null item, metrics of a set of captions a null rank. What a corpus metric is
# computed from has a row per item: `statistics`, counts that add up over items, and no value (their metric is
# `Metric.statistics` of the registry).
SCORES = pa.schema(
    [
        ("variant", pa.string()),
        ("seed", pa.int64()),
        ("item", pa.int64()),
        ("decoder", pa.string()),
        ("rank", pa.int64()),
        ("metric", pa.string()),
        ("value", pa.float64()),
        ("statistics", pa.list_(pa.float64())),
    ]
)

# Learning curves: one row per (variant, seed, step, quantity); `images` counts training images seen so far.
CURVES = pa.schema(
    [
        ("variant", pa.string()),
        ("seed", pa.int64()),
        ("step", pa.int64()),
        ("images", pa.int64()),
        ("quantity", pa.string()),
        ("value", pa.float64()),
    ]
)

# One row per replicate of a policy gradient: its squared distance from the mean gradient of its setting (rollouts,
# baseline), and the squared norm of that mean.
VARIANCE = pa.schema(
    [
        ("rollouts", pa.int64()),
        ("baseline", pa.bool_()),
        ("replicate", pa.int64()),
        ("squared_distance", pa.float64()),
        ("squared_mean", pa.float64()),
    ]
)

# One row per parsed caption: the scene-graph tuples that SPICE compares, and the parser they come from.
SCENE_GRAPHS = pa.schema([("text", pa.string()), ("parser", pa.string()), ("tuples", pa.list_(pa.list_(pa.string())))])

# METEOR's paraphrases, filtered to a vocabulary: phrases as words separated by spaces, in METEOR's own order.
PARAPHRASES = pa.schema([("left", pa.string()), ("right", pa.string())])


def features_schema(shape: tuple[int, ...], dtype: pa.DataType) -> pa.Schema:
    """Schema of a feature file.

    Args:
        shape: per image, (channels,) for pooled features or (height, width, channels) for a grid.
        dtype: `pa.float16()` or `pa.float32()`.
    """
    size = 1
    for extent in shape:
        size *= extent
    return pa.schema(
        [("item", pa.int64()), ("features", pa.list_(dtype, size))],
        metadata={b"shape": json.dumps(list(shape)).encode()},
    )


def embeddings_schema(dimension: int) -> pa.Schema:
    """Schema of word embeddings: one row per word that has a vector [dimension]; the specials have none."""
    return pa.schema([("word", pa.string()), ("vector", pa.list_(pa.float32(), dimension))])


def in_split(split: str, image_split: str, file: str) -> bool:
    """Whether an image (a row of `IMAGES`) is in a split: one of ours, or one of COCO's, which its file name holds."""
    return split in file if split in COCO_SPLITS else split == image_split


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """Yields a temporary path whose content becomes that of `path` when the block ends without an error.

    A link stays a link: the file that it points to is replaced, or created. A device, a FIFO and the file that this
    process prints to are not replaced either: the content is written to them.

    Raises:
        InputError: see `check_output`.
    """
    path = Path(path)
    found = check_output(path)
    if found is not None and (not stat.S_ISREG(found.st_mode) or _printed_to(found) is not None):
        # Not beside it: nothing else belongs in /dev. Not directly into it: some formats are not written front to back.
        with tempfile.TemporaryDirectory() as folder:
            temporary = Path(folder) / "content"
            yield temporary
            _send(temporary, path, found)
        return
    if path.is_symlink():
        path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def check_output(path: Path) -> os.stat_result | None:
    """The status of the file that is already at `path`, with links followed; None if there is none.

    Raises:
        InputError: it is a folder, or cannot be reached.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(path, f"cannot be written ({error.strerror})", "choose another file") from None
    if stat.S_ISDIR(found.st_mode):
        raise InputError(path, "is a folder", "name a file in it")
    return found


def _printed_to(found: os.stat_result) -> int | None:
    """The descriptor (standard output or standard error) that writes to a file; None if neither does."""
    for descriptor in (1, 2):
        try:
            if os.path.samestat(found, os.fstat(descriptor)):
                return descriptor
        except OSError:  # closed
            continue
    return None


def _send(content: Path, path: Path, found: os.stat_result) -> None:
    """Writes a file's content to `path`, after what was printed there before; `found` is the status of `path`."""
    if sys.stdout is not None:
        sys.stdout.flush()
    descriptor = _printed_to(found)
    # A newly opened file would overwrite what this process has printed there.
    target: int | Path = path if descriptor is None else os.dup(descriptor)
    with content.open("rb") as source, open(target, "wb") as sink:  # noqa: PTH123
        shutil.copyfileobj(source, sink)


def write_json(path: str | Path, value: Any) -> None:
    """Writes `value` as JSON with sorted keys and a final newline."""
    with atomic(path) as temporary:
        temporary.write_text(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def read_json(path: str | Path) -> Any:
    """Reads a JSON file.

    Raises:
        InputError: the file is missing, not UTF-8 or not JSON.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})", "check the path") from None
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise InputError(path, f"is not JSON ({error})", "restore or re-download the file") from None


def write_table(path: str | Path, table: pa.Table, schema: pa.Schema) -> None:
    """Writes a table that must fit `schema` (same columns; values are cast)."""
    with atomic(path) as temporary:
        pq.write_table(table.select(schema.names).cast(schema), temporary, compression="zstd")


def write_rows(path: str | Path, rows: list[dict[str, Any]], schema: pa.Schema) -> None:
    """Writes a list of records that must fit `schema`."""
    write_table(path, pa.Table.from_pylist(rows, schema=schema), schema)


@contextmanager
def parquet_stream(path: str | Path, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    """A writer of row groups; the file appears when the block ends. Uncompressed, so that it can be memory-mapped."""
    with atomic(path) as temporary, pq.ParquetWriter(temporary, schema, compression="none", use_dictionary=False) as w:
        yield w


def open_parquet(path: str | Path) -> pq.ParquetFile:
    """Opens a Parquet file, memory-mapped.

    Raises:
        InputError: the file is missing or not Parquet.
    """
    try:
        return pq.ParquetFile(path, memory_map=True)
    except FileNotFoundError:
        raise InputError(path, "does not exist", "run `dvc repro` to make it") from None
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(path, f"is not a Parquet file ({error})", "delete it and run `dvc repro`") from None


def check_schema(path: str | Path, found: pa.Schema, expected: pa.Schema) -> None:
    """Checks that every expected column is there with its type.

    Raises:
        InputError: names the first column that is missing or of another type.
    """
    for field in expected:
        if field.name not in found.names:
            raise InputError(path, f"has no column {field.name!r}", f"expected columns {', '.join(expected.names)}")
        actual = found.field(field.name).type
        if not (actual == field.type or _same_list(actual, field.type)):
            raise InputError(path, f"column {field.name!r} is {actual}", f"expected {field.type}")


def _same_list(left: pa.DataType, right: pa.DataType) -> bool:
    """List types whose only difference is the name of their item field ("item" or "element")."""
    return bool(pa.types.is_list(left) and pa.types.is_list(right) and left.value_type == right.value_type)


def read_table(path: str | Path, schema: pa.Schema, dictionaries: Collection[str] = ()) -> pa.Table:
    """Reads a Parquet file and checks it against `schema`.

    Args:
        path: the file.
        schema: its columns.
        dictionaries: columns of strings that come again and again: they stay numbers with a dictionary, which takes a
            fraction of the time and of the memory.

    Raises:
        InputError: the file is missing, damaged, or a column is missing or of another type.
    """
    file = open_parquet(path)
    check_schema(path, file.schema_arrow, schema)
    try:
        if dictionaries:
            coded = pq.ParquetFile(path, memory_map=True, read_dictionary=list(dictionaries))
            return coded.read(columns=schema.names)
        return file.read(columns=schema.names).cast(schema)
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(path, f"is damaged ({error})", "delete it and run `dvc repro`") from None


def save_weights(path: str | Path, tensors: Mapping[str, torch.Tensor], metadata: dict[str, Any]) -> None:
    """Writes tensors as safetensors. The metadata are one sorted JSON string: the order of several keys would change
    from process to process, and the bytes with it."""
    from safetensors.torch import save_file

    on_cpu = {name: tensor.detach().cpu().contiguous() for name, tensor in sorted(tensors.items())}
    with atomic(path) as temporary:
        save_file(on_cpu, temporary, metadata={"seqcap": json.dumps(metadata, sort_keys=True)})


def load_weights(path: str | Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Reads what `save_weights` wrote: tensors on the CPU, and the metadata.

    Raises:
        InputError: the file is missing or not safetensors. Pickled checkpoints are never read.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            metadata = json.loads((file.metadata() or {}).get("seqcap", "{}"))
            return {name: file.get_tensor(name) for name in file.keys()}, metadata  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise InputError(path, f"is not a safetensors file ({error})", "delete it and run `dvc repro`") from None
