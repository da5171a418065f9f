"""Trains a captioner or a group of runs, side by side: `train.py pretrain <captioner>`, `train.py train <group>`."""

import shutil
import sys
from pathlib import Path

from seqcap import machine
from seqcap.artifacts import CURVES, write_json, write_rows
from seqcap.config.training import TrainConfig
from seqcap.errors import one_line_errors
from seqcap.training import train_all

# Not tracked by DVC: measured times are different each time. Run -> seconds of its first seed's epochs.
TIMING = Path("artifacts/timing")

if __name__ == "__main__":
    with one_line_errors():
        machine.relaunch()
        stage, name = sys.argv[1:]
        config = TrainConfig.read(stage, name)
        trained = train_all(config.runs, config.code)
        if machine.join_group()[0] == 0:
            for run, seeds in zip(config.runs, trained, strict=True):
                curves = [row for seed in seeds for row in seed.curves]
                write_rows(Path(run.weights) / "curves.parquet", curves, CURVES)
                if run.start is not None:
                    # The learning curves of what it continues from, for whoever looks at its own.
                    shutil.copyfile(Path(run.start) / "curves.parquet", Path(run.weights) / "start.parquet")
            times = {run.name: seeds[0].seconds_per_epoch for run, seeds in zip(config.runs, trained, strict=True)}
            write_json(TIMING / f"{name}.json", times)
