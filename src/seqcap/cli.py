"""`seqcap score` scores captions, `seqcap repro` runs the pipeline, `seqcap graph` renews its graph, `seqcap compare`
compares two of its runs, `seqcap caption` captions images with it, `seqcap submit` writes its captions for COCO's
server, `seqcap rating` counts people's judgements of them."""

import argparse
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from seqcap.errors import one_line_errors

# Everything else is imported by the command that needs it: a mistake in the command line is told at once.

METRICS = """\
metrics, in any case and spelling:
  bleu1, bleu2, bleu3, bleu4 (bleu: all four), meteor, rouge-l, cider (CIDEr-D), spice, spider (CIDEr + SPICE)

files; - is standard input, JSON or plain text:
  COCO's JSON, coco-caption's {id: [captions]}, Karpathy's JSON, our Parquet, and plain text (.txt) with a caption a
  line. Several text files of references hold one reference of every image each.
"""


def main() -> None:
    """Entry point of the `seqcap` command. Exits with status 2 on bad input."""
    options = vars(make_parser().parse_args())
    call = options.pop("call")
    with one_line_errors():
        call(**options)


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands; `call` is the function that takes a command's options and runs it."""
    parser = Parser(prog="seqcap", description=__doc__)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for add in (add_repro, add_graph, add_score, add_compare, add_caption, add_submit, add_rating):
        add(commands)
    return parser


def add_repro(commands: Any) -> None:
    command = commands.add_parser("repro", help="run the DVC graph, several stages at a time")
    command.add_argument("--jobs", type=number(9999), default=1, help="independent stages at a time")
    command.add_argument("--papers", nargs="+", default=[], help="only their parts of the report; all by default")
    command.add_argument("--dry", action="store_true", help="only say what an edit changed, and what is absent here")
    command.add_argument("--experiment", type=Path, help="YAML of changed parameters: run in a clone under runs/")
    command.add_argument("--root", type=Path, help="the experiment's dataset folder")
    command.add_argument("--allow-dirty", action="store_true", help="the experiment leaves out uncommitted changes")
    command.add_argument("--publish", type=Path, help="where its reports go: a new or empty folder, or an earlier one")

    def call(
        jobs: int, papers: list[str], dry: bool, experiment: Path | None, publish: Path | None, **options: Any
    ) -> None:
        from seqcap.pipeline.experiment import run_experiment
        from seqcap.pipeline.repro import check_checkout, repro, run_python, sections

        if experiment is None and dry:
            check_checkout(Path())
            # With the checkout's own code.
            raise SystemExit(run_python(Path(), "-m", "seqcap.pipeline.dry", *sections(papers)))
        if experiment is None:
            repro(Path(), jobs, sections(papers))
        elif dry:
            command.error("--dry looks at this checkout, not at an experiment's clone")
        elif publish is None:
            command.error("--experiment needs --publish")
        else:
            run_experiment(experiment, publish_to=publish, jobs=jobs, papers=papers, **options)

    command.set_defaults(call=call)


def add_graph(commands: Any) -> None:
    command = commands.add_parser("graph", help="renew graph.yaml, what DVC knows of the parameters")

    def call() -> None:
        from seqcap.pipeline.graph import write_graph

        write_graph()

    command.set_defaults(call=call)


def add_score(commands: Any) -> None:
    command = commands.add_parser(
        "score",
        help="score captions against references: no Java, no downloads",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=METRICS,
    )
    command.add_argument("--references", type=Path, nargs="+", required=True, metavar="FILE", help="people's captions")
    command.add_argument("--candidates", type=Path, nargs="+", required=True, metavar="FILE", help="captions to score")
    splits = ("train", "val", "test", "server")
    command.add_argument("--split", default="test", choices=splits, help="of Karpathy's and our references")
    command.add_argument("--metrics", nargs="+", metavar="METRIC", help="some of the metrics; all by default")
    command.add_argument("--format", dest="form", default="text", choices=("text", "json", "markdown", "latex"))
    command.add_argument(
        "--paired",
        default="bs",
        choices=("bs", "ar"),
        help="how systems are compared with the first: the paired bootstrap (bs, the default) or approximate "
        "randomisation (ar), both as sacreBLEU's",
    )
    command.add_argument("--json", dest="json_file", type=Path, metavar="OUT", help="write all as JSON, x1 scale")
    command.add_argument("--per-image", action="store_true", help="with --json: the scores of every caption too")
    command.add_argument("--official", action="store_true", help="by pycocoevalcap and its jars (Java), as an oracle")

    def call(metrics: list[str] | None, **options: Any) -> None:
        from seqcap.metrics.registry import QUALITY, find_metrics

        wanted = find_metrics(metrics or QUALITY)
        if options["per_image"] and options["json_file"] is None and options["form"] != "json":
            command.error("--per-image needs --json or --format json")
        if [*options["references"], *options["candidates"]].count(Path("-")) > 1:
            command.error("standard input can be read once")
        from seqcap.tools.score import score

        score(metrics=wanted, **options)

    command.set_defaults(call=call)


def add_compare(commands: Any) -> None:
    command = commands.add_parser("compare", help="the difference between two runs that are scored already")
    command.add_argument("left", help="a run of papers/<paper>.yaml, such as sll_sle")
    command.add_argument("right", help="another run of the same paper")
    command.add_argument("--experiment", metavar="NAME", help="compare them in runs/NAME, an experiment's clone")
    command.add_argument("--report", action="store_true", help="keep the comparison in the report, too")

    def call(left: str, right: str, experiment: str | None, report: bool) -> None:
        from seqcap.tools.compare import compare, keep, scored

        with scored(experiment):
            print(compare(left, right))
            if report:
                print(keep(left, right))

    command.set_defaults(call=call)


def add_caption(commands: Any) -> None:
    command = commands.add_parser("caption", help="caption image files, or GIFs with a captioner of clips")
    command.add_argument("images", type=Path, nargs="+")
    command.add_argument(
        "--weights",
        type=Path,
        nargs="+",
        required=True,
        help="a trained captioner, e.g. under artifacts/sle/train; several decode together, as an ensemble",
    )
    command.add_argument("--beam", type=number(100), default=5, help="beam width, at most 100")

    def call(images: list[Path], weights: list[Path], beam: int) -> None:
        from seqcap.tools.caption import caption_files

        for path, caption in caption_files(images, weights, beam):
            # A file name need not be valid text.
            print(f"{os.fsencode(path).decode(errors='replace')}\t{caption}")

    command.set_defaults(call=call)


def add_submit(commands: Any) -> None:
    command = commands.add_parser("submit", help="write captions as COCO's server takes them")
    command.add_argument("decoded", type=Path, help="our decoded Parquet")
    decoders = ("greedy", "beam", "sample")
    command.add_argument("--decoder", default="beam", choices=decoders, help="whose first captions are submitted")
    command.add_argument("--variant", help="run in the file; not needed if it holds one")
    command.add_argument("--seed", type=int, help="seed in the file; not needed if it holds one")
    command.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where the file goes")
    command.add_argument("--name", help="of the algorithm, in the file's name; by default the run's")
    command.add_argument("--split", default="test2014", choices=("test2014", "val2014"), help="COCO's split")
    command.add_argument("--images", type=Path, help="the dataset's images; by default those of task `image`")

    def call(**options: Any) -> None:
        from seqcap.tools.submit import submit

        print(submit(**options))

    command.set_defaults(call=call)


def add_rating(commands: Any) -> None:
    command = commands.add_parser("rating", help="people's judgements of captions")
    actions = command.add_subparsers(metavar="ACTION", required=True)
    action = actions.add_parser("aggregate", help="count raters' answers")
    action.add_argument("key", type=Path, help="key.json, written with the page")
    action.add_argument("answers", type=Path, nargs="+", help="the CSV files that raters sent")

    def call(key: Path, answers: list[Path]) -> None:
        from seqcap.rating.aggregate import aggregate, as_table

        print(as_table(aggregate(key, answers)))

    command.set_defaults(call=call)


def number(most: int) -> Callable[[str], int]:
    """Reads an option's value as a number from 1 to `most`."""

    def read(text: str) -> int:
        if not re.fullmatch("[0-9]{1,9}", text) or not 1 <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {most}")
        return int(text)

    return read


class Once(argparse.Action):
    """Stores a value, as argparse does, but refuses a second one: the first would be lost unseen."""

    given = False

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        if self.given:
            parser.error(f"argument {option_string}: it is given twice")
        self.given = True
        setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
    """A parser whose options, and those of its commands, can be given once."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.register("action", None, Once)
