"""Writing files so that neither a kill nor a power loss leaves half a file behind.

A file appears under its final name only when it is complete and on the disk.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from seqcap.errors import InputError

if TYPE_CHECKING:
    pass


# Bytes of the name of a file that another one can be named after: file systems allow 255.
LONGEST_NAME = 230


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


def copy_file(source: str | Path, path: str | Path) -> None:
    """Copies a file."""
    with Path(source).open("rb") as content, atomic(path) as temporary, temporary.open("wb") as copy:
        shutil.copyfileobj(content, copy)
