"""Mines similar training images with a retriever: `mine.py <retriever>` -> artifacts/mined/<retriever>/."""

from pydantic import Field

from seqcap.pipeline.kind import Kind, Project, Stage, Stages, entries, main
from seqcap.pipeline.parameter_files import PARAMS
from seqcap.pipeline.validation import Section, find
from seqcap.retrieval.mining import MiningConfig, make


class MinedParams(Section):
    """The retriever of the same name mines so many similar images for each training image."""

    neighbours: int = Field(ge=1, le=1000)


MINED = entries("mined", MinedParams)


def stages(project: Project) -> Stages:
    for name, mined in project.params[MINED].items():
        retriever = find(project.shared.retrievers, name, PARAMS, f"mined.{name}")
        project.check_one_vector(retriever, PARAMS, f"mined.{name}", "mine with")
        (folder,) = project.written("retriever", name)
        config = MiningConfig(
            name=name,
            task=retriever.task,
            retriever=folder,
            seeds=project.seeds(retriever.seeds),
            seed_offset=retriever.seed_offset,
            neighbours=mined.neighbours,
            max_length=project.shared.tasks[retriever.task].max_length + 1,
            mined=f"artifacts/mined/{name}",
        )
        yield Stage(
            name,
            f"The training images that retriever {name} finds similar",
            config,
            reads=[*project.task(config.task), folder],
            writes=[config.mined],
            modules=[f"seqcap.retrieval.{retriever.architecture}"],
        )


def run(config: MiningConfig, name: str) -> None:
    make(config)


KIND = Kind("mine", MiningConfig, stages, run, keys=[MINED], on_gpu=True)

if __name__ == "__main__":
    main(KIND)
