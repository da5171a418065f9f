"""Checks params.yaml and writes configs/: one file per stage and training run."""

from seqcap.config import write_configs
from seqcap.errors import one_line_errors
from seqcap.params import read_params

if __name__ == "__main__":
    with one_line_errors():
        write_configs(read_params())
