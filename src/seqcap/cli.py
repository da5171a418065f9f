"""`seqcap repro` runs the pipeline; `seqcap caption` captions images with what it trained."""

from __future__ import annotations

import argparse
from pathlib import Path

from seqcap.errors import one_line_errors
from seqcap.pipeline import repro, run_experiment


def main() -> None:
    """Entry point of the `seqcap` command. Exits with status 2 on bad input."""
    parser = argparse.ArgumentParser(prog="seqcap", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("repro", help="run the DVC graph, several stages at a time")
    command.add_argument("--jobs", type=int, default=1, help="independent stages at a time")
    command.add_argument("--experiment", type=Path, help="YAML of changed parameters: run in a clone under runs/")
    command.add_argument("--root", type=Path, help="the experiment's dataset folder")
    command.add_argument("--publish", type=Path, help="where the experiment's reports go")
    command = commands.add_parser("caption", help="caption image files")
    command.add_argument("images", type=Path, nargs="+")
    command.add_argument(
        "--weights", type=Path, required=True, help="a trained captioner, e.g. under artifacts/sle/train"
    )
    command.add_argument("--beam", type=int, default=5, help="beam width")
    arguments = parser.parse_args()
    with one_line_errors():
        if arguments.command == "caption":
            # Only this command needs torch, which takes seconds to import.
            from seqcap.inference import caption_files

            for path, caption in caption_files(arguments.images, arguments.weights, arguments.beam):
                print(f"{path}\t{caption}")
        elif arguments.experiment is None:
            repro(Path(), arguments.jobs)
        elif arguments.publish is None:
            parser.error("--experiment needs --publish")
        else:
            run_experiment(arguments.experiment, arguments.root, arguments.publish, arguments.jobs)
