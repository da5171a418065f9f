"""Trains a captioner or the runs of a group, side by side: `train.py pretrain <captioner>` or `train <group>`."""

import sys
from pathlib import Path

from seqcap.config.training import TrainConfig
from seqcap.errors import one_line_errors
from seqcap.files.json_file import read_json, write_json
from seqcap.files.parquet import write_rows
from seqcap.files.schemas import CURVES
from seqcap.files.writing import copy_file
from seqcap.system import machine
from seqcap.system.processes import start_server
from seqcap.system.scratch import alone, checkpoints

# Run -> seconds per epoch of its first seed. DVC does not track it: measured times vary.
TIMING = Path("artifacts/timing")


def main(stage: str, name: str) -> None:
    config = TrainConfig.read(stage, name)
    if machine.workers() > 1 and sum(len(run.seeds) for run in config.runs) > 1:
        # The server imports the same modules meanwhile.
        start_server("seqcap.training.captioners")
    from seqcap.training.captioners import train_all

    trained = train_all(config.runs, config.code, checkpoints(f"{stage}-{name}"))
    if machine.join_group()[0] > 0:
        return
    for run, seeds in zip(config.runs, trained, strict=True):
        curves = [row for seed in seeds for row in seed.curves]
        write_rows(Path(run.weights) / "curves.parquet", curves, CURVES)
        if run.start is not None:
            # The learning curves of the weights that it starts from, for its own plots.
            copy_file(Path(run.start) / "curves.parquet", Path(run.weights) / "start.parquet")
    path = TIMING / f"{name}.json"
    # A run that had ended before the stage was killed takes no step now, and keeps its earlier time.
    earlier = read_json(path) if path.exists() else {}
    times = {run.name: seeds[0].seconds_per_epoch for run, seeds in zip(config.runs, trained, strict=True)}
    write_json(path, {run: earlier.get(run) if seconds is None else seconds for run, seconds in times.items()})


if __name__ == "__main__":
    with one_line_errors():
        machine.relaunch()
        with alone("-".join(sys.argv[1:])):
            main(*sys.argv[1:])
