"""Text files, plain or gzipped, line by line."""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from seqcap.errors import InputError


@contextmanager
def open_text(path: str | Path) -> Iterator[IO[bytes]]:
    """The file's bytes, unpacked if it is gzipped; an `InputError` if it is damaged or no text."""
    try:
        with Path(path).open("rb") as raw:
            start = raw.read(4096)
            zipped = start.startswith(b"\x1f\x8b")
            if not zipped and b"\0" in start:
                raise InputError(path, "is not a text file", "expected UTF-8 text, plain or gzipped")
            raw.seek(0)
            with gzip.open(raw) if zipped else raw as file:
                yield cast("IO[bytes]", file)
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise InputError(path, f"is damaged ({error})", "restore or re-download the file") from None
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})", "check the path") from None


def lines(path: str | Path) -> Iterator[str]:
    """The lines of a UTF-8 file, without their newlines; an `InputError` if it is not UTF-8."""
    number = 0
    try:
        with open_text(path) as file:
            # Only \n ends a line: a sentence may hold other Unicode line separators.
            for number, line in enumerate(file, 1):
                yield line.decode("utf-8-sig" if number == 1 else "utf-8").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise InputError(path, f"line {number} is not UTF-8 ({error.reason})", "convert the file") from None
