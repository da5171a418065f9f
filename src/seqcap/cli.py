"""`seqcap score` scores captions, `seqcap repro` runs the pipeline, `seqcap caption` captions images with it,
`seqcap submit` writes its captions for COCO's server."""

from __future__ import annotations

import argparse
from pathlib import Path

from seqcap.artifacts import COCO_SPLITS, DATA, DECODERS, SERVER, SPLITS
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
    command = commands.add_parser("score", help="score captions against references: no Java, no downloads")
    command.add_argument("--references", type=Path, required=True, help="COCO or Karpathy JSON, or our Parquet")
    command.add_argument("--candidates", type=Path, required=True, help="COCO results JSON, or our decoded Parquet")
    command.add_argument("--split", default="test", choices=(*SPLITS, SERVER), help="of Karpathy's and our references")
    command.add_argument("--metrics", nargs="+", metavar="METRIC", help="some of the metrics; all by default")
    command.add_argument("--json", type=Path, metavar="OUT", help="write everything as JSON, x1 scale")
    command.add_argument("--per-image", action="store_true", help="with --json: the scores of every caption too")
    command.add_argument("--official", action="store_true", help="by pycocoevalcap and its jars (Java), as an oracle")
    command = commands.add_parser("caption", help="caption image files")
    command.add_argument("images", type=Path, nargs="+")
    command.add_argument(
        "--weights",
        type=Path,
        nargs="+",
        required=True,
        help="a trained captioner, e.g. under artifacts/sle/train; several decode together, as an ensemble",
    )
    command.add_argument("--beam", type=int, default=5, help="beam width")
    command = commands.add_parser("submit", help="write captions as COCO's server takes them")
    command.add_argument("decoded", type=Path, help="our decoded Parquet")
    command.add_argument("--decoder", default="beam", choices=DECODERS, help="whose first captions are submitted")
    command.add_argument("--variant", help="of the file; not needed where it holds one")
    command.add_argument("--seed", type=int, help="of the file; not needed where it holds one")
    command.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where the file goes")
    command.add_argument("--name", help="of the algorithm, in the file's name; by default the variant's")
    command.add_argument("--split", default=COCO_SPLITS[0], choices=COCO_SPLITS, help="which of COCO's splits it is")
    command.add_argument("--images", type=Path, default=DATA / "images.parquet", help="the dataset's images")
    arguments = parser.parse_args()
    with one_line_errors():
        if arguments.command == "caption":
            # Only this command needs torch, which takes seconds to import.
            from seqcap.inference import caption_files

            for path, caption in caption_files(arguments.images, arguments.weights, arguments.beam):
                print(f"{path}\t{caption}")
        elif arguments.command == "submit":
            from seqcap.submission import submit

            options = {name: value for name, value in vars(arguments).items() if name != "command"}
            print(submit(**options))
        elif arguments.command == "score":
            score(parser, arguments)
        elif arguments.experiment is None:
            repro(Path(), arguments.jobs)
        elif arguments.publish is None:
            parser.error("--experiment needs --publish")
        else:
            run_experiment(arguments.experiment, arguments.root, arguments.publish, arguments.jobs)


def score(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """The `score` command."""
    from seqcap.metrics.quality import METRICS
    from seqcap.scoring import as_table, score_files, write_scores

    if arguments.per_image and arguments.json is None:
        parser.error("--per-image needs --json")
    systems = score_files(
        arguments.references,
        arguments.candidates,
        arguments.split,
        arguments.metrics or METRICS,
        arguments.official,
    )
    print(as_table(systems))
    if arguments.json is not None:
        write_scores(arguments.json, systems, arguments.per_image)
