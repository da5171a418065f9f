"""Trains a run, or a group of them side by side: `train.py configs/<name>.json [<file for the time they took>]`."""

import sys
from pathlib import Path

from seqcap import machine
from seqcap.artifacts import CURVES, read_json, write_json, write_rows
from seqcap.errors import one_line_errors
from seqcap.training import train_all

if __name__ == "__main__":
    with one_line_errors():
        machine.relaunch()
        config = read_json(sys.argv[1])
        runs = config.get("runs", [config])
        trained = train_all(runs)
        if machine.join_group()[0] == 0:
            for run, seeds in zip(runs, trained, strict=True):
                curves = [row for seed in seeds for row in seed.curves]
                write_rows(Path(run["weights"]) / "curves.parquet", curves, CURVES)
            if len(sys.argv) > 2:
                first = {run["variant"]: seeds[0].seconds_per_epoch for run, seeds in zip(runs, trained, strict=True)}
                write_json(sys.argv[2], {variant: {"seconds_per_epoch": value} for variant, value in first.items()})
