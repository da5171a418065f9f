"""`python -m seqcap.quiet_dvc <arguments>`: `dvc <arguments>` without its hints on git and on remote storage.

After every stage `dvc repro` says how to track dvc.lock and how to push: over a whole graph some thousand lines.
"""

import logging
import sys
from typing import Any

from dvc.cli import main
from dvc.ui import ui

PUSH = "Use `dvc push` to send your updates to remote storage."


def _write(*objects: Any, **settings: Any) -> None:
    if objects != (PUSH,):
        _written(*objects, **settings)


if __name__ == "__main__":
    logging.getLogger("dvc.repo.scm_context").setLevel(logging.WARNING)
    _written, ui.write = ui.write, _write
    sys.exit(main(sys.argv[1:]))
