"""Checks the parameter files and writes configs/: one file per stage."""

from pathlib import Path

from seqcap import papers
from seqcap.errors import one_line_errors
from seqcap.pipeline.configure import write_configs
from seqcap.pipeline.params import read_params
from seqcap.system.scratch import alone

if __name__ == "__main__":
    with one_line_errors(), alone("configure"):
        papers.check(path.stem for path in Path("papers").glob("*.yaml"))
        write_configs(read_params())
