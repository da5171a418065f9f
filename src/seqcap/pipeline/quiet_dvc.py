"""`python -m seqcap.pipeline.quiet_dvc <arguments>`: `dvc <arguments> --quiet`, but it still says which stage it runs
and why one fails. Without `--quiet`, six lines on git and on remote storage follow every stage. If another DVC works on
the same files, it ends with status `BUSY` and says nothing.

It also checks what it takes from its cache. DVC takes every file there for whole that is write-protected, as all are: a
changed bit would be put back, recorded and used. Here such a file is deleted, and its stage runs.
"""

import logging
import sys
from typing import Any

from dvc.cli import main
from dvc.lock import LockError
from dvc_data.hashfile.db.local import LocalHashFileDB
from dvc_data.hashfile.hash import hash_file
from dvc_objects.errors import ObjectFormatError

from seqcap.pipeline.records import BUSY

_check = LocalHashFileDB.check


class WithoutBusy(logging.Filter):
    """Passes over the error that another DVC works on the same files, and notes that it came."""

    came = False

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        while error is not None and not isinstance(error, LockError):
            error = error.__cause__ or error.__context__
        self.came |= error is not None
        return error is None


def check_content(cache: Any, oid: str, check_hash: bool = True, _info: Any = None) -> Any:
    """As `LocalHashFileDB.check`, whatever a file's permissions, size and time."""
    if check_hash:
        path = cache.oid_to_path(oid)
        _, found = hash_file(path, cache.fs, cache.hash_name)
        if found.value != oid.split(".", maxsplit=1)[0]:
            cache.fs.remove(path)
            print(f"{path}: was damaged; deleted, so that it is made anew", file=sys.stderr, flush=True)
            raise ObjectFormatError(f"{path} is damaged")
    return _check(cache, oid, check_hash, _info)


if __name__ == "__main__":
    busy = WithoutBusy()
    # `--quiet` sets the level of DVC's loggers together; one with a level of its own keeps that.
    logging.getLogger("dvc.stage").setLevel(logging.INFO)
    logging.getLogger("dvc.cli").setLevel(logging.ERROR)
    logging.getLogger("dvc.cli").addFilter(busy)
    LocalHashFileDB.check = check_content  # type: ignore[method-assign, assignment]
    status = main([*sys.argv[1:], "--quiet"])
    sys.exit(BUSY if busy.came else status)
