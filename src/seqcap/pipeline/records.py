"""What a kill or a full disk may have left damaged: DVC's locks in .dvc/tmp, and its records, the files dvc.lock."""

import json
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

import psutil
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from seqcap.files.writing import copy_file, unwritable

BUSY = 75  # the status of a DVC (`quiet_dvc`) that has found another at work
DVC = Path(".dvc/tmp")  # where DVC has its locks
KEPT = DVC / "seqcap-records"  # where copies of the files dvc.lock are


def wait_for_dvc(folder: Path) -> None:
    """Waits until no DVC works in a checkout: a kill may have left one behind. Then deletes DVC's lock of paths."""
    told = set[str]()
    while True:
        with dvc_waits(folder):
            working = _working(folder / DVC / "rwlock")
            if not working:
                (folder / DVC / "rwlock").unlink(missing_ok=True)
                return
        for line in working - told:
            print(line, file=sys.stderr, flush=True)
        told |= working
        time.sleep(1)


def _working(rwlock: Path) -> set[str]:
    """A line about each DVC that holds the lock."""
    try:
        content = json.loads(rwlock.read_text(encoding="utf-8"))
        holders = [*content.get("write", {}).values(), *chain(*content.get("read", {}).values())]
        return {f"waiting: process {one['pid']} runs {one['cmd']}" for one in holders if _is_dvc(one["pid"])}
    except FileNotFoundError:
        pass
    except (OSError, ValueError, AttributeError, KeyError, TypeError):
        print(f"{rwlock}: is damaged, as after a full disk; deleted", file=sys.stderr, flush=True)
    return set()


def _is_dvc(process: int) -> bool:
    """Whether a process is a running DVC. A process that was killed may have left its id to another program."""
    try:
        return any("dvc" in argument for argument in psutil.Process(process).cmdline())
    except psutil.Error:
        return False


def keep_records(folder: Path, records: Collection[Path]) -> None:
    """Copies files dvc.lock of a checkout that are whole, in two generations, or puts the copy back of one that a kill
    or a full disk has cut off: DVC writes them in place. Leaves those that somebody has changed or merged to DVC, which
    will complain. `records` are relative to the checkout."""
    with dvc_waits(folder):
        for path in records:
            _keep(folder / path, folder / KEPT / path)


def _keep(records: Path, kept: Path) -> None:
    if not records.exists():
        return
    content, older = records.read_bytes(), kept.with_name(f"{kept.name}.older")
    if _is_whole(content):
        if kept.exists() and kept.read_bytes() != content:
            copy_file(kept, older)
        copy_file(records, kept)
        return
    if not _is_cut_off(content):
        return
    whole = [copy for copy in (kept, older) if copy.exists() and _is_whole(copy.read_bytes())]
    if whole:
        done = "put back as it was"
        copy_file(whole[0], records)
    else:
        # What its cache holds DVC takes from there.
        done = "deleted"
        records.unlink()
    print(f"{records}: was cut off, as by a kill or a full disk; {done}", file=sys.stderr, flush=True)


def _is_whole(content: bytes) -> bool:
    return _fits(content) is True and content.endswith(b"\n")


def _is_cut_off(content: bytes) -> bool:
    return _fits(content) is False or not content.endswith(b"\n")


def _fits(content: bytes) -> bool | None:
    """Whether records have DVC's layout; None if they are no YAML, as where a merge has left its marks."""
    from dvc.schema import COMPILED_LOCKFILE_SCHEMA
    from voluptuous import Invalid

    try:
        COMPILED_LOCKFILE_SCHEMA(YAML(typ="safe").load(content.decode(errors="replace")))
    except Invalid:
        return False
    except (YAMLError, ValueError):
        return None
    return True


@contextmanager
def dvc_waits(folder: Path) -> Iterator[None]:
    """Keeps every DVC of a checkout waiting between the commands of its stages."""
    from dvc.lock import make_lock

    path = folder / DVC / "lock"
    lock = make_lock(str(path), wait=True)
    try:
        lock.lock()
    except OSError as error:
        raise unwritable(path, error) from None
    try:
        yield
    finally:
        lock.unlock()
