"""Reads files as a whole. A device or a pipe may have no end, so of what is no regular file a limit is read."""

import os
import stat
from pathlib import Path
from typing import IO, AnyStr

from seqcap.errors import InputError

# Bytes or characters: three times COCO's captions in Karpathy's layout.
LONGEST_STREAM = 500_000_000


def read_text(path: str | Path, encoding: str = "utf-8", newline: str | None = None) -> str:
    """The text of a file; an `InputError` if it is no regular file and holds more than `LONGEST_STREAM`. OSError or
    UnicodeDecodeError if it cannot be read; `encoding` and `newline` as for `open`."""
    with Path(path).open(encoding=encoding, newline=newline) as file:
        return _read(file, path)


def read_bytes(path: str | Path) -> bytes:
    """The bytes of a file; errors as `read_text`."""
    with Path(path).open("rb") as file:
        return _read(file, path)


def _read(file: IO[AnyStr], path: str | Path) -> AnyStr:
    is_regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
    return file.read() if is_regular else read_stream(file, path)


def read_stream(stream: IO[AnyStr], name: str | Path) -> AnyStr:
    """What a device or a pipe holds; an `InputError` if that is more than `LONGEST_STREAM`."""
    content = stream.read(LONGEST_STREAM + 1)
    if len(content) > LONGEST_STREAM:
        problem = f"does not end within {LONGEST_STREAM:,} bytes, the limit of what is no regular file"
        raise InputError(name, problem, "save it as a file, and name that")
    return content
