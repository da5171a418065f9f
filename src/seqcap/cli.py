"""`seqcap score` scores captions, `seqcap frequencies` counts what CIDEr weighs words by, `seqcap repro` runs the
pipeline, `seqcap graph` renews its graph, `seqcap show` prints one of its runs, `seqcap verify` trains a run again to
see that it is as published, `seqcap register` lays down seeds for a paper's next run, `seqcap compare` compares two of
its runs, `seqcap caption` captions images with it, `seqcap export` writes a captioner of Hugging Face back, `seqcap
submit` writes its captions for COCO's server, `seqcap rating` counts people's judgements of them, and `seqcap doctor`
tells what this machine has."""

import argparse
import gc
import os
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from seqcap.errors import InputError, one_line_errors, printable
from seqcap.system.extras import extras_named

# Everything else is imported by the command that needs it: a mistake in the command line is told at once.

COMMANDS = Path(__file__).with_name("cli.toml")


def main() -> None:
    """Entry point of the `seqcap` command. Exits with status 2 on bad input."""
    if sys.stdout is None:
        # Closed by who started this, as `>&-` does.
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115  it stays open
    options = vars(make_parser().parse_args())
    call = options.pop("call")
    with one_line_errors(), extras_named(f"seqcap {call.__name__}"):
        call(**options)


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands; `call` is the function that takes a command's options and runs it."""
    functions = (
        *(repro, graph, show, verify, score, frequencies, doctor, register),
        *(compare, caption, export, submit, rating),
    )
    calls = {function.__name__: function for function in functions}
    types = {"path": Path, "int": int} | {f"from 1 to {most}": partial(number, most) for most in (100, 9999)}
    parser = Parser(prog="seqcap", description=__doc__)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, command in tomllib.loads(COMMANDS.read_text(encoding="utf-8")).items():
        arguments = command.pop("arguments")
        added = commands.add_parser(name, formatter_class=argparse.RawDescriptionHelpFormatter, **command)
        added.set_defaults(call=calls[name])
        for flag, settings in arguments.items():
            if "type" in settings:
                settings["type"] = types[settings["type"]]
            added.add_argument(flag, **settings)
    return parser


def repro(
    jobs: int | None,
    papers: list[str],
    dry: bool,
    cluster: str | None,
    experiment: Path | None,
    publish: Path | None,
    **options: Any,
) -> None:
    from seqcap.pipeline import experiment as experiments
    from seqcap.pipeline import repro as pipeline

    if experiment is not None:
        if dry:
            raise InputError(
                "seqcap repro", "--dry looks at this checkout, not at an experiment's clone", "leave it out"
            )
        if publish is None:
            raise InputError("seqcap repro", "--experiment needs --publish", "name a folder for its reports")
        experiments.run_experiment(experiment, publish_to=publish, jobs=jobs, papers=papers, cluster=cluster, **options)
    elif dry:
        pipeline.check_checkout(Path())
        # With the checkout's own code.
        arguments = ("-m", "seqcap.pipeline.dry", *pipeline.sections(papers))
        raise SystemExit(pipeline.run_python(Path(), *arguments))
    else:
        pipeline.repro(Path(), jobs, pipeline.sections(papers), then_report=True, cluster=cluster)


def graph(check: bool) -> None:
    from seqcap.pipeline.configure import check_graph, write_graph

    if check:
        check_graph()
    else:
        write_graph()


def show(run: str) -> None:
    from seqcap.tools.show import show

    print("\n".join(show(run)))


def verify(run: str) -> None:
    from seqcap.tools.verify import verify

    lines, fits = verify(run)
    print("\n".join(lines))
    raise SystemExit(0 if fits else 1)


def score(metrics: Sequence[str] | None, **options: Any) -> None:
    from seqcap.metrics.registry import find_metrics

    wanted = None if metrics is None else find_metrics(metrics)
    if options["per_image"] and options["json_file"] is None and options["form"] != "json":
        raise InputError("seqcap score", "--per-image needs --json or --format json", "add one of them")
    if [*options["references"], *options["candidates"]].count(Path("-")) > 1:
        raise InputError("seqcap score", "standard input can be read once", "name files")
    with without_collector():
        from seqcap.tools import score

        score.score(metrics=wanted, **options)


@contextmanager
def without_collector() -> Iterator[None]:
    """Python does not look for cycles of objects: it would look through all captions, again and again, in a sixth of a
    command's time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def frequencies(references: list[Path], split: str | None, out: Path) -> None:
    from seqcap.tools.frequencies import count

    print(count(references, split, out))


def doctor() -> None:
    from seqcap.tools import doctor

    print("\n".join(doctor.doctor()))


def register(papers: list[str]) -> None:
    from datetime import UTC, datetime

    from seqcap import papers as known
    from seqcap.report.registration import register

    day = f"{datetime.now(UTC):%Y-%m-%d}"
    for name in papers:
        print("\n".join(register(known.load(name), day)))


def compare(left: str, right: str, experiment: str | None, report: bool) -> None:
    from seqcap.tools import compare

    with compare.scored(experiment):
        lines = [compare.compare(left, right)]
        if report:
            # Before anything is printed: the reader may be `head`, and gone.
            lines.append(compare.keep(left, right))
        print("\n".join(lines))


def caption(images: list[Path], weights: list[Path], beam: int) -> None:
    from seqcap.tools.caption import caption_files

    for path, text in caption_files(images, weights, beam):
        # A file name need not be valid text, nor one line.
        print(f"{printable(str(path))}\t{text}")


def export(weights: Path, out: Path) -> None:
    from seqcap.tools.export import export

    print(export(weights, out))


def submit(**options: Any) -> None:
    from seqcap.tools import submit

    print(submit.submit(**options))


def rating(action: str, key: Path, answers: list[Path]) -> None:
    from seqcap.rating.aggregate import aggregate, as_table

    print(as_table(aggregate(key, answers)))


def number(most: int, text: str) -> int:
    """An option's value as a number from 1 to `most`."""
    if not re.fullmatch("[0-9]{1,9}", text) or not 1 <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {most}")
    return int(text)


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
