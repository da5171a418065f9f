"""`python -m seqcap.pipeline.quiet_dvc <arguments>`: `dvc <arguments>`, without its hints on git and on remote storage.
After every stage `dvc repro` says how to track dvc.lock and how to push. It also parses all of dvc.lock and writes it
anew, which takes most of a second. Here only the stage's own lines are written anew; the file has the same bytes."""

import logging
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dvc.cli import main
from dvc.dvcfile import Lockfile
from dvc.stage import PipelineStage
from dvc.stage.serialize import to_lockfile
from dvc.ui import ui
from dvc.utils.serialize import dumps_yaml

PUSH = "Use `dvc push` to send your updates to remote storage."
HEAD = "schema: '2.0'\nstages:\n"

_written, _dump_stages = ui.write, Lockfile.dump_stages


def _write(*objects: Any, **settings: Any) -> None:
    if objects != (PUSH,):
        _written(*objects, **settings)


def dump_stages(lockfile: Lockfile, stages: Sequence[PipelineStage], **settings: Any) -> None:
    """Writes the entries of stages in dvc.lock; as `Lockfile.dump_stages` does, but for the rest of the file."""
    path = Path(lockfile.path)
    before = text = path.read_text(encoding="utf-8") if path.exists() else ""
    if not text.startswith(HEAD):
        _dump_stages(lockfile, stages, **settings)
        return
    for stage in stages:
        entry = dumps_yaml({"schema": "2.0", "stages": to_lockfile(stage, **settings)}).removeprefix(HEAD)
        # Its first line, and all that are indented by more.
        found = re.search(rf"(?m)^{re.escape(entry.splitlines()[0])}\n(?:   .*\n)*", text)
        start, end = found.span() if found else (len(text), len(text))
        text = text[:start] + entry + text[end:]
    if text != before:
        logging.getLogger("dvc.dvcfile").info("Updating lock file '%s'", lockfile.relpath)
        path.write_text(text, encoding="utf-8")
        lockfile.repo.scm_context.track_file(lockfile.relpath)


if __name__ == "__main__":
    logging.getLogger("dvc.repo.scm_context").setLevel(logging.WARNING)
    ui.write = _write
    Lockfile.dump_stages = dump_stages
    sys.exit(main(sys.argv[1:]))
