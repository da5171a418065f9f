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

from seqcap.files.writing import copy_file

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
    """Copies files dvc.lock of a checkout, or puts the copy back of one that a kill or a full disk has cut off: DVC
    writes them in place. `records` are relative to the checkout."""
    with dvc_waits(folder):
        for path in records:
            _keep(folder / path, folder / KEPT / path)


def _keep(records: Path, kept: Path) -> None:
    if not records.exists():
        return
    if not _is_cut_off(records):
        copy_file(records, kept)
        return
    if kept.exists():
        done = "put back as it was"
        copy_file(kept, records)
    else:
        # What its cache holds DVC takes from there.
        done = "deleted"
        records.unlink()
    print(f"{records}: was cut off, as by a kill or a full disk; {done}", file=sys.stderr, flush=True)


def _is_cut_off(records: Path) -> bool:
    from dvc.schema import COMPILED_LOCKFILE_SCHEMA
    from voluptuous import Invalid

    text = records.read_text(encoding="utf-8", errors="replace")
    try:
        COMPILED_LOCKFILE_SCHEMA(YAML(typ="safe").load(text))
    except Invalid:
        return True
    except YAMLError:
        # A merge has left its marks, say. DVC will complain.
        pass
    return not text.endswith("\n")


@contextmanager
def dvc_waits(folder: Path) -> Iterator[None]:
    """Keeps every DVC of a checkout waiting between the commands of its stages."""
    from dvc.lock import make_lock

    with make_lock(str(folder / DVC / "lock"), wait=True):
        yield
