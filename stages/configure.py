"""Checks params.yaml and writes configs/: one file per stage and training run."""

from seqcap.config import read_params, write_configs
from seqcap.errors import one_line_errors

if __name__ == "__main__":
    with one_line_errors():
        write_configs(read_params())
