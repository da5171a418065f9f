"""Trains one variant: `train.py configs/<name>.json <output folder>`."""

import sys
from pathlib import Path

from seqcap import machine
from seqcap.artifacts import CURVES, read_json, write_rows
from seqcap.errors import one_line_errors
from seqcap.training import train_all

if __name__ == "__main__":
    with one_line_errors():
        machine.relaunch()
        config, folder = Path(sys.argv[1]), Path(sys.argv[2])
        curves = train_all(read_json(config), folder)
        if machine.join_group()[0] == 0:
            write_rows(folder / "curves.parquet", curves, CURVES)
