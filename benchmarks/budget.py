"""How many epochs of papers/across/runs.yaml a budget of one core's time pays: milliseconds of a step of every run.

    python stages/configure.py
    python benchmarks/budget.py [RUN ...]

Trains each run for some steps from its captioner as pretrained, and takes its process's CPU time: what else the machine
does hardly changes that. The rest of an epoch, scoring val, is in no budget. Writes nothing: `budgets` of
src/seqcap/papers/across/methods.yaml and the epochs of runs.yaml are set by hand from what it prints.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import torch

from seqcap.errors import one_line_errors
from seqcap.files.json_file import read_json
from seqcap.pipeline.validation import validated
from seqcap.system.progress import progress
from seqcap.training import loop
from seqcap.training.captioners import Job
from seqcap.training.run import TrainConfig, TrainingRun

CONFIGS = Path("configs/train")
SECONDS = 90
UNTIMED, STEPS = 5, 40  # steps: before the measurement, and in it


def milliseconds(run: TrainingRun) -> float:
    """Of one step of a run's first seed: the mean of STEPS steps, in CPU time."""
    job = Job(run, run.seeds[0])
    job.steps = UNTIMED + STEPS
    state = job.begin()
    started = 0.0
    for step, batch in enumerate(job.read(state)):
        if step == UNTIMED:
            started = time.process_time()
        loop.update(job, state, batch)
    return 1000 * (time.process_time() - started) / STEPS


def declared(wanted: Sequence[str]) -> list[TrainingRun]:
    """The runs of the table that train, or those of these names."""
    found = list[TrainingRun]()
    for path in sorted(CONFIGS.glob("across_*.json")):
        found += validated(TrainConfig, read_json(path), path).runs
    return [run for run in found if run.training.epochs > 0 and (not wanted or run.name in wanted)]


def main() -> None:
    torch.set_num_threads(1)
    print("| run | ms of a step | epochs in the budget |\n|---|---|---|")
    for run in progress(declared(sys.argv[1:]), desc="budget", unit="run"):
        of_step = milliseconds(run)
        batches = Job(run, run.seeds[0]).batches
        print(f"| {run.name} | {of_step:.1f} | {SECONDS * 1000 / of_step / batches:.1f} |", flush=True)


if __name__ == "__main__":
    with one_line_errors():
        main()
