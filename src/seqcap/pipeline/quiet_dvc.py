"""`python -m seqcap.pipeline.quiet_dvc <arguments>`: `dvc <arguments> --quiet`, but it still says which stage it runs
and why one fails. Without `--quiet`, six lines on git and on remote storage follow every stage."""

import logging
import sys

from dvc.cli import main

if __name__ == "__main__":
    # `--quiet` sets the level of DVC's loggers together; one with a level of its own keeps that.
    logging.getLogger("dvc.stage").setLevel(logging.INFO)
    logging.getLogger("dvc.cli").setLevel(logging.ERROR)
    sys.exit(main([*sys.argv[1:], "--quiet"]))
