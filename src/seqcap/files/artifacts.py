"""Everything that passes between stages: Parquet schemas, JSON and weights, written atomically.

A file appears under its final name only when it is complete and on the disk, so neither a kill nor a power loss leaves
half an artifact behind. The same content gives the same bytes: DVC's cache and `dvc status` depend on it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
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

# Bytes of the name of a file that another one can be named after: file systems allow 255.
LONGEST_NAME = 230

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

# The columns that may be null, in any table; and those of scores.
NULLABLE = frozenset({"coco_id", "feedback_grad", "group", "rho"})
NULLABLE_SCORES = frozenset({"item", "rank", "value", "statistics"})

# What the library raises for damaged files: text that is no UTF-8 is a UnicodeDecodeError.
PARQUET_ERRORS = (pa.ArrowException, OSError, UnicodeDecodeError)
# Half of a UTF-16 pair, as JSON escapes it.
HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")


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
        InputError: see `check_output`; or the content cannot be written: the disk is full or read-only, a name is too
            long.
    """
    path = Path(path)
    found = check_output(path)
    try:
        if found is None or (stat.S_ISREG(found.st_mode) and _printed_to(found) is None):
            with _replaced(path) as temporary:
                yield temporary
        else:
            # Not beside it: nothing else belongs in /dev. Not directly into it: some formats are not written front to
            # back.
            with tempfile.TemporaryDirectory() as folder:
                temporary = Path(folder) / "content"
                yield temporary
                _send(temporary, path, found)
    except BrokenPipeError:
        # Whoever reads what is printed has seen enough.
        raise
    except OSError as error:
        raise unwritable(path, error) from None


def check_output(path: Path, read: Collection[Path] = ()) -> os.stat_result | None:
    """The status of the file that is already at `path`, with links followed; None if there is none.

    Args:
        read: files that must not be written, because they are read.

    Raises:
        InputError: it is a folder, write-protected or one of `read`, or cannot be reached.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unwritable(path, error) from None
    if stat.S_ISDIR(found.st_mode):
        raise InputError(path, "is a folder", "name a file in it")
    # Its permissions, and not whether this process may write: root always may, and to replace it takes none.
    if stat.S_ISREG(found.st_mode) and not found.st_mode & 0o222:
        raise InputError(path, "is write-protected", "choose another file")
    for other in read:
        # Whoever reads a file says what is wrong with it.
        with suppress(OSError):
            if path.samefile(other):
                raise InputError(path, "is read, too", "choose another file for what is written")
    return found


def unwritable(path: Path, error: OSError) -> InputError:
    """The one line about what the system does not let us write."""
    return InputError(path, f"cannot be written ({error.strerror or error})", "make room, or choose another place")


@contextmanager
def _replaced(path: Path) -> Iterator[Path]:
    """`atomic` of a file that is no link to a device."""
    if path.is_symlink():
        path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    for leftover in leftovers(path, "tmp"):
        leftover.unlink(missing_ok=True)
    temporary = beside(path, "tmp")
    try:
        yield temporary
        if path.exists():
            shutil.copymode(path, temporary)
        # Its content first: a file system may keep a new name through a power loss, and lose what it names.
        to_disk(temporary)
        temporary.replace(path)
        to_disk(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def to_disk(path: Path) -> None:
    """Waits until the content of a file, or the names in a folder, would survive a power loss."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def beside(path: Path, ending: str) -> Path:
    """This process's own name for something beside `path`."""
    return path.with_name(f".{_short_name(path)}.{os.getpid()}.{ending}")


def leftovers(path: Path, ending: str) -> list[Path]:
    """What `beside` named for this process, or for one that no longer runs."""
    name = re.compile(rf"\.{re.escape(_short_name(path))}\.(\d{{1,9}})\.{ending}")
    found = [(entry, name.fullmatch(entry.name)) for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    return [entry for entry, match in found if match and not _is_of_another(int(match[1]))]


def _short_name(path: Path) -> str:
    """A file's name, or a hash of it where no file system would allow a longer one."""
    name = os.fsencode(path.name)
    return path.name if len(name) <= LONGEST_NAME else hashlib.sha256(name).hexdigest()


def _is_of_another(process: int) -> bool:
    """Whether another process with this id is running."""
    if process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


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
        InputError: the file is missing, not UTF-8 or not JSON; an object has a key twice, of which one would be lost
            unseen; or a text has half a character, which nothing can write again.
    """
    fix = "restore or re-download the file"
    try:
        text = Path(path).read_text(encoding="utf-8")
        value = json.loads(text, object_pairs_hook=_object)
        if HALF_CHARACTER.search(text):
            # Two halves make a character, as in most files.
            json.dumps(value, ensure_ascii=False).encode()
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})", "check the path") from None
    except UnicodeEncodeError as error:
        near = error.object[max(0, error.start - 40) : error.start]
        raise InputError(path, f"has half a character after {near!r}", fix) from None
    except (ValueError, RecursionError) as error:
        raise InputError(path, f"is not JSON ({error})", fix) from None
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object of its keys and values.

    Raises:
        ValueError: a key is there twice.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {twice!r:.60} is there twice in one object")
    return found


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


def open_parquet(path: str | Path, mapped: bool = True) -> pq.ParquetFile:
    """Opens a Parquet file.

    Args:
        mapped: whether it is mapped into memory. What was read of a mapped file counts as memory of the process.

    Raises:
        InputError: the file is missing or not Parquet.
    """
    try:
        file = pq.ParquetFile(path, memory_map=mapped)
        # A damaged schema shows when it is first asked for.
        file.schema_arrow  # noqa: B018
    except FileNotFoundError:
        raise InputError(path, "does not exist", find(path)) from None
    except PARQUET_ERRORS as error:
        raise InputError(path, f"is not a Parquet file ({error})", mend(path)) from None
    return file


def mend(path: str | Path) -> str:
    """What to do about a damaged file: the pipeline makes its own again, and no other."""
    return "delete it and run `dvc repro`" if _is_own(path) else "restore it"


def find(path: str | Path) -> str:
    """What to do about a missing file."""
    return "run `dvc repro` to make it" if _is_own(path) else "check the path"


def _is_own(path: str | Path) -> bool:
    return Path(path).parts[:1] in (("artifacts",), ("scratch",))


def check_columns(path: str | Path, found: pa.Schema, names: Sequence[str]) -> None:
    """Checks that every column is there once.

    Raises:
        InputError: names the first that is not.
    """
    for name in names:
        number = found.names.count(name)
        if number != 1:
            problem = f"has {f'{number} columns' if number else 'no column'} {name!r}"
            raise InputError(path, problem, f"expected columns {', '.join(names)}")


def check_schema(path: str | Path, found: pa.Schema, expected: pa.Schema) -> None:
    """Checks that every expected column is there once, with its type.

    Raises:
        InputError: names the first column that is missing, there twice or of another type.
    """
    check_columns(path, found, expected.names)
    for field in expected:
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
        InputError: the file is missing, damaged, or a column is missing, there twice, of another type or has nulls
            where there must be none.
    """
    file = open_parquet(path)
    check_schema(path, file.schema_arrow, schema)
    try:
        if dictionaries:
            coded = pq.ParquetFile(path, memory_map=True, read_dictionary=list(dictionaries))
            table = coded.read(columns=schema.names)
        else:
            # The file may have its columns in another order.
            table = file.read(columns=schema.names).select(schema.names).cast(schema)
        # Among others, that text is UTF-8.
        table.validate(full=True)
    except PARQUET_ERRORS as error:
        raise InputError(path, f"is damaged ({error})", mend(path)) from None
    _check_nulls(path, table, schema)
    return table


def _check_nulls(path: str | Path, table: pa.Table, schema: pa.Schema) -> None:
    """Checks that only columns that may be null are, lists and what is in them."""
    for field in schema:
        if field.name in NULLABLE or (schema.equals(SCORES) and field.name in NULLABLE_SCORES):
            continue
        column = table[field.name]
        if column.null_count:
            row = pc.index(column.is_null(), True).as_py()
            raise InputError(path, f"column {field.name!r} is null in row {row}", mend(path))
        if pa.types.is_list(column.type) and pc.list_flatten(column).null_count:
            raise InputError(path, f"column {field.name!r} has a list with a null in it", mend(path))


def save_weights(path: str | Path, tensors: Mapping[str, torch.Tensor], metadata: dict[str, Any]) -> None:
    """Writes tensors as safetensors. The metadata are one sorted JSON string: the order of several keys would change
    from process to process, and the bytes with it."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    on_cpu = {name: tensor.detach().cpu().contiguous() for name, tensor in sorted(tensors.items())}
    with atomic(path) as temporary:
        try:
            save_file(on_cpu, temporary, metadata={"seqcap": json.dumps(metadata, sort_keys=True)})
        except SafetensorError as error:
            # Its one error for whatever the system says.
            raise OSError(str(error)) from None


def copy_file(source: str | Path, path: str | Path) -> None:
    """Copies a file."""
    with Path(source).open("rb") as content, atomic(path) as temporary, temporary.open("wb") as copy:
        shutil.copyfileobj(content, copy)


def load_weights(path: str | Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Reads what `save_weights` wrote: tensors on the CPU, and the metadata.

    Raises:
        InputError: the file is missing or not safetensors, its metadata are no JSON object, or a weight is NaN or
            infinite. Pickled checkpoints are never read.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            metadata = json.loads((file.metadata() or {}).get("seqcap", "{}"), object_pairs_hook=_object)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise InputError(path, "does not exist", find(path)) from None
    except (OSError, SafetensorError) as error:
        raise InputError(path, f"is not a safetensors file ({error})", mend(path)) from None
    except (ValueError, RecursionError) as error:
        raise InputError(path, f"has metadata that are not JSON ({error})", mend(path)) from None
    if not isinstance(metadata, dict):
        raise InputError(path, f"has metadata that are no object, but {metadata!r:.60}", mend(path))
    for name, tensor in tensors.items():
        try:
            finite = not tensor.is_floating_point() or bool(tensor.isfinite().all())
        except NotImplementedError:
            # Eight bits and less.
            raise InputError(path, f"weight {name!r} is of {tensor.dtype}", "store it as torch.float32") from None
        if not finite:
            raise InputError(path, f"weight {name!r} is NaN or infinite", mend(path))
    return tensors, metadata
