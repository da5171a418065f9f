"""The command line: what is wrong with it is told at once, in one line after the usage."""

import re

import pytest

from seqcap.cli import make_parser
from seqcap.files.schemas import COCO_SPLITS, DECODERS, SERVER, SPLITS
from seqcap.metrics.registry import QUALITY, find_metrics

SCORE = ("score", "--references", "a", "--candidates", "b")
CAPTION = ("caption", "a.png", "--weights", "a")
SUBMIT = ("submit", "decoded", "--out", "folder")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        # Argparse would take the last one, and say nothing.
        ((*SCORE, "--candidates", "c"), "argument --candidates: it is given twice"),
        ((*SCORE, "--metrics", "CIDEr", "--metrics", "BLEU4"), "argument --metrics: it is given twice"),
        ((*CAPTION, "--weights", "b"), "argument --weights: it is given twice"),
        ((*SCORE, "--split", "dev"), "argument --split: invalid choice: 'dev'"),
        ((*SUBMIT, "--split", "test"), "argument --split: invalid choice: 'test'"),
        ((*SUBMIT, "--decoder", "best"), "argument --decoder: invalid choice: 'best'"),
        (("score", "--references", "-", "--candidates", "-"), "standard input can be read once"),
        ((*SCORE, "--per-image"), "--per-image needs --json or --format json"),
        (("repro", "--jobs", "0"), "argument --jobs: '0' is not a number from 1 to 9999"),
        (("repro", "--experiment", "e.yaml"), "--experiment needs --publish"),
        (("repro", "--experiment", "e.yaml", "--dry"), "--dry looks at this checkout"),
        *(
            ((*CAPTION, f"--beam={beam}"), f"argument --beam: {beam!r} is not a number from 1 to 100")
            for beam in ("0", "-1", "101", "1000000", "9" * 5000, "five", "1.5", "²")
        ),
    ],
    ids=lambda value: value[:60] if isinstance(value, str) else "",
)
def test_a_wrong_command_line_is_told_at_once(command, arguments, message):
    done = command(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.search(rf"error: (seqcap \w+: )?{re.escape(message)}", done.stderr.splitlines()[-1])


def test_choices_are_those_of_the_files():
    """They are written out, so that a wrong one is told before anything is imported."""
    for option, values in (("split", COCO_SPLITS), ("decoder", DECODERS)):
        for value in values:
            assert vars(make_parser().parse_args([*SUBMIT, f"--{option}", value]))[option] == value
    for split in (*SPLITS, SERVER):
        assert make_parser().parse_args([*SCORE, "--split", split]).split == split


def test_the_help_names_every_metric(command):
    said = command("score", "--help").stdout
    named = said[said.index("metrics, in any case") : said.index("files, of")].splitlines()[1]
    assert find_metrics(re.findall(r"[\w-]+(?=[,: (]|$)", named.replace("(bleu: all four)", "").partition("(CIDEr")[0]))
    for metric in QUALITY:
        assert re.search(rf"\b{metric.replace('_', '-')}\b", named, re.IGNORECASE)
