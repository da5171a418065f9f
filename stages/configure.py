"""Checks the parameter files and writes configs/: one file per stage."""

from seqcap.errors import one_line_errors
from seqcap.pipeline import graph
from seqcap.pipeline.configure import resolve, write_configs
from seqcap.pipeline.params import read_params
from seqcap.system.scratch import alone

if __name__ == "__main__":
    with one_line_errors(), alone("configure"):
        params = read_params()
        stages = resolve(params)
        graph.check(params, stages)
        write_configs(stages, params)
        graph.note_checked()
