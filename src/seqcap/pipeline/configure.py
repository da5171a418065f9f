"""Writes one configuration per stage (`seqcap.config`), a file of configs/, and the graph. Only the stage `configure`
reads the parameter files. A change repeats the stages whose files of configs/ it changes."""

from pathlib import Path

from seqcap.config import CONFIGS, config_path, write_config
from seqcap.files.json_file import write_json
from seqcap.pipeline import graph
from seqcap.pipeline.params import read_params
from seqcap.pipeline.project import Project
from seqcap.system.machine import MACHINE


def write_configs(project: Project, folder: Path = CONFIGS, machine: Path = MACHINE) -> None:
    """Writes every stage's configuration, and how to run them to `machine`. Deletes files of stages that are gone."""
    files = {
        folder / config_path(kind, name).relative_to(CONFIGS): stage.config
        for kind, stages in project.all_stages().items()
        for name, stage in stages.items()
    }
    for stale in set(folder.rglob("*.json")) - set(files):
        stale.unlink()
    for path, config in files.items():
        write_config(path, config)
    shared = project.shared
    write_json(machine, {"device": shared.device, "workers": shared.workers, "launcher": shared.launcher})


def write_graph(root: Path = Path()) -> None:
    """Writes the graph of the parameters in a checkout."""
    graph.write(Project(read_params(root)), root)


def check_graph(root: Path = Path()) -> None:
    """Checks that the graph in a checkout fits its parameters."""
    graph.check(Project(read_params(root)), root)
