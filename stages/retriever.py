"""A retriever, trained on captions or read from a folder, and its recalls:
`retriever.py <name>` -> starts/retriever/<name>/{seed<k>.safetensors,curves.parquet,recalls.json}."""

from pathlib import Path

from seqcap import retrieval
from seqcap.errors import InputError
from seqcap.files.json_file import write_json
from seqcap.files.parquet import write_rows
from seqcap.files.schemas import CURVES
from seqcap.pipeline.kind import Kind, Project, Stage, Stages, main
from seqcap.pipeline.parameter_files import PARAMS
from seqcap.pipeline.validation import config_class, fingerprint, validated
from seqcap.retrieval import clip
from seqcap.retrieval.base import RetrieverConfig, RetrieverTraining
from seqcap.retrieval.recalls import recalls_per_seed
from seqcap.system import machine
from seqcap.training import retrievers

CLIP = "clip"  # the architecture that is read from a user's folder


def stages(project: Project) -> Stages:
    for name, retriever in project.shared.retrievers.items():
        place = f"retrievers.{name}"
        task = project.shared.tasks.get(retriever.task)
        if task is None or task.kind != "images":
            raise InputError(PARAMS, f"{place}.task is {retriever.task!r}", "name a task with images")
        what = f"{place}.architecture is {retriever.architecture!r}"
        model = config_class(retrieval, retriever.architecture, PARAMS, what)
        is_trained = retriever.folder is None
        if is_trained == (retriever.architecture == CLIP):
            fix = "a CLIP is read from a folder, other retrievers are trained (null)"
            raise InputError(PARAMS, f"{place}.folder is {retriever.folder!r}", fix)
        config = RetrieverConfig(
            name=name,
            task=retriever.task,
            architecture=retriever.architecture,
            # A CLIP's stage names the files itself.
            model=validated(model, retriever.model, PARAMS, f"{place}.model").model_dump() if is_trained else {},
            training=validated(RetrieverTraining, retriever.training, PARAMS, f"{place}.training")
            if is_trained
            else None,
            seeds=project.seeds(retriever.seeds, retriever.seed_offset),
            evaluate_on=task.evaluate_on,
            max_length=task.max_length + 1,
            folder=retriever.folder,
            fingerprint={} if retriever.folder is None else fingerprint(Path(retriever.folder).glob("*")),
            root=project.data_root(retriever.task),
            weights=f"starts/retriever/{name}",
        )
        yield Stage(
            name,
            f"Train retriever {name} on people's captions, or read the user's CLIP",
            config,
            reads=project.origins(config.task),
            writes=[config.weights],
            cached=False,
            modules=[f"seqcap.retrieval.{config.architecture}"],
        )


def run(config: RetrieverConfig, name: str) -> None:
    curves = clip.make(config) if config.training is None else retrievers.make(config)
    write_rows(Path(config.weights) / "curves.parquet", curves, CURVES)
    write_json(Path(config.weights) / "recalls.json", recalls_per_seed(config, machine.device()))


KIND = Kind("retriever", RetrieverConfig, stages, run, on_gpu=True)

if __name__ == "__main__":
    main(KIND)
