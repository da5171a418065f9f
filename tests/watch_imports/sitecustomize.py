"""Notes at the end of a stage's process which files of the package it has loaded; see tests/pipeline_files.py."""

import atexit
import json
import os
import sys
from pathlib import Path


def note() -> None:
    """Writes one file for the process: the command's arguments and the package's files."""
    loaded = sorted({str(m.__file__) for n, m in sys.modules.items() if n.split(".")[0] == "seqcap" and m.__file__})
    folder = Path(os.environ["WATCH_IMPORTS"])
    (folder / f"{os.getpid()}.json").write_text(json.dumps({"command": sys.argv, "files": loaded}))


if "WATCH_IMPORTS" in os.environ:
    atexit.register(note)
