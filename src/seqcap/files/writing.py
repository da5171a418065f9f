"""Writes files as a whole: a file gets its name when it is complete and on the disk, so a crash leaves no half file."""

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

from seqcap.errors import InputError

LONGEST_NAME = 230  # in bytes. Longer names are hashed for temporary files: file systems allow 255.


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """Yields a temporary path whose content becomes that of `path` when the block ends without an error.

    A link stays a link: the file that it points to is replaced. A device, a pipe and the file that this process prints
    to are written to, not replaced. An `InputError` as `check_output`, or if the disk is full or read-only.
    """
    path = Path(path)
    found = check_output(path)
    try:
        if found is None or (stat.S_ISREG(found.st_mode) and _printed_to(found) is None):
            with _replaced(path) as temporary:
                yield temporary
        else:
            # Not beside `path`, which may be in /dev, nor directly into it: some formats seek while they are written.
            with tempfile.TemporaryDirectory() as folder:
                temporary = Path(folder) / "content"
                yield temporary
                _send(temporary, path, found)
    except BrokenPipeError:
        # `one_line_errors` handles it.
        raise
    except OSError as error:
        raise unwritable(path, error) from None


def check_output(path: Path, read: Collection[Path] = ()) -> os.stat_result | None:
    """The status of the file at `path`, with links followed; None if there is none. An `InputError` if `path` is a
    folder, write-protected, out of reach, or one of the files `read` by the program."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unwritable(path, error) from None
    if stat.S_ISDIR(found.st_mode):
        raise InputError(path, "is a folder", "name a file in it")
    # The permission bits decide: root may always write, and replacing a file needs no right to write it.
    if stat.S_ISREG(found.st_mode) and not found.st_mode & 0o222:
        raise InputError(path, "is write-protected", "choose another file")
    for other in read:
        # Errors of `other` are reported when it is read.
        with suppress(OSError):
            if path.samefile(other):
                raise InputError(path, "is read, too", "choose another file for what is written")
    return found


def unwritable(path: Path, error: OSError) -> InputError:
    """The error for a file that the system does not let us write."""
    return InputError(path, f"cannot be written ({error.strerror or error})", "make room, or choose another place")


@contextmanager
def _replaced(path: Path) -> Iterator[Path]:
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
        # The content before the name: after a power loss a file system may keep the name and lose the content.
        to_disk(temporary)
        temporary.replace(path)
        to_disk(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def to_disk(path: Path) -> None:
    """Waits until a file's content, or a folder's list of names, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def beside(path: Path, ending: str) -> Path:
    """This process's name for a temporary file or folder beside `path`."""
    return path.with_name(f".{_short_name(path)}.{os.getpid()}.{ending}")


def leftovers(path: Path, ending: str) -> list[Path]:
    """Files and folders that `beside` named for this process or for a process that has ended."""
    name = re.compile(rf"\.{re.escape(_short_name(path))}\.(\d{{1,9}})\.{ending}")
    found = [(entry, name.fullmatch(entry.name)) for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    return [entry for entry, match in found if match and not _runs_elsewhere(int(match[1]))]


def _short_name(path: Path) -> str:
    """A file's name, or a hash of a long one."""
    name = os.fsencode(path.name)
    return path.name if len(name) <= LONGEST_NAME else hashlib.sha256(name).hexdigest()


def _runs_elsewhere(process: int) -> bool:
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
    """The descriptor, 1 or 2, that prints to a file; None if neither does."""
    for descriptor in (1, 2):
        try:
            if os.path.samestat(found, os.fstat(descriptor)):
                return descriptor
        except OSError:  # closed
            continue
    return None


def _send(content: Path, path: Path, found: os.stat_result) -> None:
    """Copies `content` to `path`, whose status is `found`, after what was printed there before."""
    if sys.stdout is not None:
        sys.stdout.flush()
    descriptor = _printed_to(found)
    # Opening the file again would overwrite what this process has printed there.
    target: int | Path = path if descriptor is None else os.dup(descriptor)
    with content.open("rb") as source, open(target, "wb") as sink:  # noqa: PTH123
        shutil.copyfileobj(source, sink)


def copy_file(source: str | Path, path: str | Path) -> None:
    with Path(source).open("rb") as content, atomic(path) as temporary, temporary.open("wb") as copy:
        shutil.copyfileobj(content, copy)
