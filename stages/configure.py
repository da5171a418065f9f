"""Checks the parameter files and writes configs/: one file per stage."""

from seqcap.errors import one_line_errors
from seqcap.pipeline import graph
from seqcap.pipeline.configure import write_configs
from seqcap.pipeline.params import read_params
from seqcap.pipeline.project import Project
from seqcap.system.scratch import alone

if __name__ == "__main__":
    with one_line_errors(), alone("configure"):
        project = Project(read_params())
        graph.check(project)
        write_configs(project)
        graph.note_checked()
