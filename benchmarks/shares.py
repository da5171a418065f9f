"""CPU time of a training step as a share of what an older commit takes: both take a step in turn, each in a process of
its own with one thread, on the same batch of the same run.

    python benchmarks/shares.py                      # beside the code before samples passed the captioner once
    python benchmarks/shares.py --commit 02041f4f^ --runs sll st_w34

In a checkout whose data, features and starts are made (`seqcap repro` makes them), for an idle machine; ten seconds to
a minute a run. Prints a table. A run whose inputs are not here, or that the older code does not know, is named.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from seqcap.errors import InputError, one_line_errors
from seqcap.files.json_file import read_json
from seqcap.pipeline.clone import check_out

ROOT = Path(__file__).parents[1]
BEFORE = "02041f4f^"
# A run of each way to draw captions or to read them.
RUNS = (
    *("sll", "sll_sle", "sll_att", "pg_cider", "mixer_bcmr", "reinforce_w34", "st_w34", "multinomial_w34"),
    *("wtf_rl", "wtf", "lstm_tok", "lstm_seq_cider_refs", "de_en_mle", "de_en_seq_bleu4_batch"),
)
WARM, STEPS = 5, 40


def run_of(name: str, configs: Path) -> dict[str, Any]:
    """A run's configuration."""
    for path in sorted(configs.glob("*.json")):
        for run in read_json(path)["runs"]:
            if run["name"] == name:
                return dict(run)
    raise InputError(configs, f"has no run {name!r}", "call `seqcap repro`, or name another run")


@contextmanager
def stepping(source: Path, run: dict[str, Any]) -> Iterator[subprocess.Popen[str]]:
    """A process that takes a step of a run for each line it is given, with the seqcap of a folder."""
    environment = os.environ | {"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(ROOT / "benchmarks/steps_of.py")]
    process = subprocess.Popen(
        command,
        env=environment,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        tell(process, json.dumps(run))
        yield process
    finally:
        process.kill()
        process.wait()


def tell(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()


def seconds_of_step(process: subprocess.Popen[str]) -> float:
    """CPU seconds of the next step; ValueError if the process has ended."""
    assert process.stdout is not None
    tell(process, "")
    return float(process.stdout.readline())


def compared(run: dict[str, Any], before: Path, after: Path) -> tuple[float, float]:
    """Median CPU seconds of a step before and after; ValueError or OSError if one of the two cannot take it."""
    with ExitStack() as stack:
        both = [stack.enter_context(stepping(source, run)) for source in (before, after)]
        taken = [[seconds_of_step(process) for process in both] for _ in range(WARM + STEPS)][WARM:]
    old, new = (statistics.median(seconds) for seconds in zip(*taken, strict=True))
    return old, new


def line(name: str, before: Path, after: Path, configs: Path) -> str:
    """A row of the table."""
    try:
        old, new = compared(run_of(name, configs), before, after)
    except (ValueError, OSError):
        return f"| {name} | | | its inputs are not here, or one of the two does not know it |"
    return f"| {name} | {1000 * old:.1f} | {1000 * new:.1f} | {new / old:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--commit", default=BEFORE, help="the older code")
    parser.add_argument("--runs", nargs="+", default=RUNS, help="names of training runs")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        older = Path(temporary) / "older"
        check_out(older, arguments.commit, "src")
        print("| run | before, ms | now, ms | share |\n|---|---:|---:|---:|")
        for name in arguments.runs:
            print(line(name, older / "src", ROOT / "src", Path("configs/train")), flush=True)


if __name__ == "__main__":
    with one_line_errors():
        main()
