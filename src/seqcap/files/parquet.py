"""Parquet files: written as a whole, and checked against their schema when they are read."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from seqcap.errors import InputError
from seqcap.files.advice import find, mend
from seqcap.files.schemas import NULLABLE, NULLABLE_SCORES, SCORES
from seqcap.files.writing import atomic

# What pyarrow raises for damaged files; UnicodeDecodeError is for text that is not UTF-8.
PARQUET_ERRORS = (pa.ArrowException, OSError, UnicodeDecodeError)


def write_table(path: str | Path, table: pa.Table, schema: pa.Schema) -> None:
    """Writes a table with the columns of `schema`; values are cast."""
    with atomic(path) as temporary:
        pq.write_table(table.select(schema.names).cast(schema), temporary, compression="zstd")


def write_rows(path: str | Path, rows: list[dict[str, Any]], schema: pa.Schema) -> None:
    """Writes records with the columns of `schema`."""
    write_table(path, pa.Table.from_pylist(rows, schema=schema), schema)


@contextmanager
def parquet_stream(path: str | Path, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    """A writer of row groups, uncompressed for memory-mapping. The file appears when the block ends."""
    with atomic(path) as temporary, pq.ParquetWriter(temporary, schema, compression="none", use_dictionary=False) as w:
        yield w


def open_parquet(path: str | Path, mapped: bool = True) -> pq.ParquetFile:
    """Opens a Parquet file. Of a `mapped` file, the pages that are read count as memory of the process."""
    try:
        file = pq.ParquetFile(path, memory_map=mapped)
        # A damaged schema raises only when it is first read.
        file.schema_arrow  # noqa: B018
    except FileNotFoundError:
        raise InputError(path, "does not exist", find(path)) from None
    except PARQUET_ERRORS as error:
        raise InputError(path, f"is not a Parquet file ({error})", mend(path)) from None
    return file


def check_columns(path: str | Path, found: pa.Schema, names: Sequence[str]) -> None:
    """Raises an `InputError` unless each of the columns `names` exists exactly once."""
    for name in names:
        number = found.names.count(name)
        if number != 1:
            problem = f"has {f'{number} columns' if number else 'no column'} {name!r}"
            raise InputError(path, problem, f"expected columns {', '.join(names)}")


def read_table(path: str | Path, schema: pa.Schema, dictionaries: Collection[str] = ()) -> pa.Table:
    """Reads a Parquet file; an `InputError` if a column is missing, has another type or has nulls where it must not.
    `dictionaries`: columns of repeated strings to keep dictionary-encoded, for a fraction of the time and memory."""
    file = open_parquet(path)
    check_columns(path, file.schema_arrow, schema.names)
    for field in schema:
        actual = file.schema_arrow.field(field.name).type
        if not (actual == field.type or _same_list(actual, field.type)):
            raise InputError(path, f"column {field.name!r} is {actual}", f"expected {field.type}")
    try:
        if dictionaries:
            coded = pq.ParquetFile(path, memory_map=True, read_dictionary=list(dictionaries))
            table = coded.read(columns=schema.names)
        else:
            # The file may have another order of columns.
            table = file.read(columns=schema.names).select(schema.names).cast(schema)
        # This also checks that text is UTF-8.
        table.validate(full=True)
    except PARQUET_ERRORS as error:
        raise InputError(path, f"is damaged ({error})", mend(path)) from None
    _check_nulls(path, table, schema)
    return table


def _same_list(left: pa.DataType, right: pa.DataType) -> bool:
    """Whether two list types differ only in the name of their item field."""
    return bool(pa.types.is_list(left) and pa.types.is_list(right) and left.value_type == right.value_type)


def _check_nulls(path: str | Path, table: pa.Table, schema: pa.Schema) -> None:
    for field in schema:
        if field.name in NULLABLE or (schema.equals(SCORES) and field.name in NULLABLE_SCORES):
            continue
        column = table[field.name]
        if column.null_count:
            row = pc.index(column.is_null(), True).as_py()
            raise InputError(path, f"column {field.name!r} is null in row {row}", mend(path))
        if pa.types.is_list(column.type) and pc.list_flatten(column).null_count:
            raise InputError(path, f"column {field.name!r} has a list with a null in it", mend(path))
