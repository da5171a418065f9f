"""Linear probes of a task's features for generated scenes or clips:
`probe.py <task>` -> reports/features/<task>.json."""

from typing import Any

from seqcap.config import StageConfig
from seqcap.data.datasets import GENERATED
from seqcap.features.probe import probe_scenes
from seqcap.files.json_file import write_json
from seqcap.pipeline.kind import Kind, Project, Stage, Stages, main
from seqcap.tasks import ARTIFACTS


class ProbeConfig(StageConfig):
    """The features of a task that are probed."""

    task: str
    dataset: str


def stages(project: Project) -> Stages:
    for name in project.shared.features:
        yield Stage(
            name,
            f"What the features of task {name} tell of its images, if these are generated",
            ProbeConfig(task=name, dataset=project.shared.tasks[name].dataset),
            reads=project.task(name),
            writes=[f"reports/features/{name}.json"],
            cached=False,
        )


def run(config: ProbeConfig, task: str) -> None:
    groups: list[dict[str, Any]] = []
    if config.dataset in GENERATED:
        groups = probe_scenes(ARTIFACTS / task, config.dataset)
    write_json(f"reports/features/{task}.json", {"groups": groups})


KIND = Kind("probe", ProbeConfig, stages, run, on_gpu=True)

if __name__ == "__main__":
    main(KIND)
