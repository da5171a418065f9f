"""`seqcap score` scores captions, `seqcap repro` runs the pipeline, `seqcap graph` renews its graph, `seqcap compare`
compares two of its runs, `seqcap caption` captions images with it, `seqcap submit` writes its captions for COCO's
server, `seqcap rating` counts what people think of them."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

from seqcap.errors import one_line_errors

# Everything else is imported by the command that needs it: a mistake in the command line is told at once.


def main() -> None:
    """Entry point of the `seqcap` command. Exits with status 2 on bad input."""
    parser = Parser(prog="seqcap", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("repro", help="run the DVC graph, several stages at a time")
    command.add_argument("--jobs", type=positive, default=1, help="independent stages at a time")
    command.add_argument("--papers", nargs="+", default=[], help="only their parts of the report; all by default")
    command.add_argument("--dry", action="store_true", help="only say which stages would run")
    command.add_argument("--experiment", type=Path, help="YAML of changed parameters: run in a clone under runs/")
    command.add_argument("--root", type=Path, help="the experiment's dataset folder")
    command.add_argument("--publish", type=Path, help="where its reports go: a new or empty folder, or an earlier one")
    commands.add_parser("graph", help="renew graph.yaml, what DVC knows of the parameters")
    add_score(commands)
    command = commands.add_parser("compare", help="the difference between two runs that are scored already")
    command.add_argument("left", help="a run of papers/<paper>.yaml, such as sll_sle")
    command.add_argument("right", help="another run of the same paper")
    command.add_argument("--report", action="store_true", help="keep the comparison in the report, too")
    command = commands.add_parser("caption", help="caption image files, or GIFs with what was trained on clips")
    command.add_argument("images", type=Path, nargs="+")
    command.add_argument(
        "--weights",
        type=Path,
        nargs="+",
        required=True,
        help="a trained captioner, e.g. under artifacts/sle/train; several decode together, as an ensemble",
    )
    command.add_argument("--beam", type=beam_width, default=5, help="beam width, at most 100")
    command = commands.add_parser("submit", help="write captions as COCO's server takes them")
    command.add_argument("decoded", type=Path, help="our decoded Parquet")
    command.add_argument("--decoder", default="beam", help="whose first captions are submitted: greedy, beam or sample")
    command.add_argument("--variant", help="of the file; not needed where it holds one")
    command.add_argument("--seed", type=int, help="of the file; not needed where it holds one")
    command.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where the file goes")
    command.add_argument("--name", help="of the algorithm, in the file's name; by default the variant's")
    command.add_argument("--split", default="test2014", help="which of COCO's splits it is: test2014 or val2014")
    command.add_argument("--images", type=Path, help="the dataset's images; by default those of task `image`")
    command = commands.add_parser("rating", help="people's judgements of captions")
    action = command.add_subparsers(dest="action", required=True).add_parser("aggregate", help="count raters' answers")
    action.add_argument("key", type=Path, help="key.json, written with the page")
    action.add_argument("answers", type=Path, nargs="+", help="the CSV files that raters sent")
    arguments = parser.parse_args()
    with one_line_errors():
        if arguments.command == "caption":
            from seqcap.tools.caption import caption_files

            for path, caption in caption_files(arguments.images, arguments.weights, arguments.beam):
                # A file's name may be no text.
                print(f"{os.fsencode(path).decode(errors='replace')}\t{caption}")
        elif arguments.command == "compare":
            from seqcap.tools.compare import compare, keep

            print(compare(arguments.left, arguments.right))
            if arguments.report:
                print(keep(arguments.left, arguments.right))
        elif arguments.command == "submit":
            submit(parser, arguments)
        elif arguments.command == "score":
            score(parser, arguments)
        elif arguments.command == "rating":
            from seqcap.rating.aggregate import aggregate, as_table

            print(as_table(aggregate(arguments.key, arguments.answers)))
        elif arguments.command == "graph":
            from seqcap.pipeline.graph import write_graph

            write_graph()
        else:
            run(parser, arguments)


def add_score(commands: Any) -> None:
    """The `score` command's options."""
    command = commands.add_parser(
        "score",
        help="score captions against references: no Java, no downloads",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="""\
metrics, in any case and spelling:
  bleu1, bleu2, bleu3, bleu4 (bleu: all four), meteor, rouge-l, cider (CIDEr-D), spice, spider (CIDEr + SPICE)

files; - is standard input, JSON or plain text:
  COCO's JSON, coco-caption's {id: [captions]}, Karpathy's JSON, our Parquet, and plain text (.txt) with a caption a
  line. Several text files of references hold one reference of every image each.
""",
    )
    command.add_argument("--references", type=Path, nargs="+", required=True, metavar="FILE", help="people's captions")
    command.add_argument("--candidates", type=Path, nargs="+", required=True, metavar="FILE", help="what is scored")
    command.add_argument("--split", default="test", help="of Karpathy's and our references: train, val, test or server")
    command.add_argument("--metrics", nargs="+", metavar="METRIC", help="some of the metrics; all by default")
    command.add_argument("--format", default="text", metavar="FORMAT", help="text (default), json, markdown or latex")
    command.add_argument(
        "--paired",
        default="bs",
        metavar="TEST",
        help="how systems are compared with the first: bs (default), the paired bootstrap, or ar, approximate "
        "randomisation, both as sacreBLEU's",
    )
    command.add_argument("--json", type=Path, metavar="OUT", help="write everything as JSON, x1 scale")
    command.add_argument("--per-image", action="store_true", help="with --json: the scores of every caption too")
    command.add_argument("--official", action="store_true", help="by pycocoevalcap and its jars (Java), as an oracle")


def run(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """The `repro` command."""
    from seqcap.pipeline.experiment import run_experiment
    from seqcap.pipeline.repro import repro, sections

    if arguments.experiment is None:
        repro(Path(), arguments.jobs, sections(arguments.papers), arguments.dry)
    elif arguments.dry:
        parser.error("--dry looks at this checkout, not at an experiment's clone")
    elif arguments.publish is None:
        parser.error("--experiment needs --publish")
    else:
        run_experiment(arguments.experiment, arguments.root, arguments.publish, arguments.jobs, arguments.papers)


def submit(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """The `submit` command."""
    from seqcap.files.schemas import COCO_SPLITS, DECODERS
    from seqcap.tools import submit as submission

    check_choice(parser, "--decoder", arguments.decoder, DECODERS)
    check_choice(parser, "--split", arguments.split, COCO_SPLITS)
    options = {name: value for name, value in vars(arguments).items() if name != "command" and value is not None}
    print(submission.submit(**options))


def score(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """The `score` command."""
    from seqcap.metrics.registry import QUALITY, find_metrics

    metrics = find_metrics(arguments.metrics or QUALITY)
    from seqcap.files.schemas import SERVER, SPLITS
    from seqcap.files.writing import check_output

    check_choice(parser, "--split", arguments.split, (*SPLITS, SERVER))
    check_choice(parser, "--format", arguments.format, ("text", "json", "markdown", "latex"))
    check_choice(parser, "--paired", arguments.paired, ("bs", "ar"))
    if arguments.per_image and arguments.json is None and arguments.format != "json":
        parser.error("--per-image needs --json or --format json")
    read = [*arguments.references, *arguments.candidates]
    if read.count(Path("-")) > 1:
        parser.error("standard input can be read once")
    if arguments.json is not None:
        # Before the work, which can take long.
        check_output(arguments.json, read=[path for path in read if path != Path("-")])
    from seqcap.tools import score as scoring
    from seqcap.tools import score_tables

    systems = scoring.score_files(
        arguments.references, arguments.candidates, arguments.split, metrics, arguments.official, arguments.paired
    )
    for warning in (line for system in systems for line in system.warnings):
        print(f"warning: {warning}", file=sys.stderr)
    signatures = score_tables.signatures(systems, arguments.official)
    if arguments.format == "json":
        print(json.dumps(scoring.as_json(systems, signatures, arguments.per_image), indent=2))
    else:
        show = getattr(score_tables, f"as_{arguments.format}")
        print(show(systems, signatures, arguments.paired))
    if arguments.json is not None:
        scoring.write_scores(arguments.json, scoring.as_json(systems, signatures, arguments.per_image))


def positive(text: str) -> int:
    """An option's value as a number from 1 on."""
    if not re.fullmatch("0*[1-9][0-9]{0,3}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 9999")
    return int(text)


def beam_width(text: str) -> int:
    """An option's value as the width of a beam: time and memory grow with it."""
    if not re.fullmatch("0*([1-9][0-9]?|100)", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 100")
    return int(text)


class Once(argparse.Action):
    """Stores a value, as argparse does, but refuses a second one: the first would be lost unseen."""

    given = False

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        if self.given:
            parser.error(f"argument {option_string}: it is given twice")
        self.given = True
        setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
    """A parser whose options, and those of its commands, can be given once."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.register("action", None, Once)


def check_choice(parser: argparse.ArgumentParser, option: str, value: str, allowed: Collection[str]) -> None:
    """Ends with the usage and one line if an option's value is not allowed. Argparse would need all that is at once."""
    if value not in allowed:
        parser.error(f"argument {option}: {value!r} is not one of {', '.join(allowed)}")
