"""Variance and bias of gradients through a listener: `estimators.py <name>` -> artifacts/<paper>/results/."""

from seqcap.evaluation.estimators import EstimatorsConfig, Sizes, measure
from seqcap.files.parquet import write_rows
from seqcap.files.schemas import ESTIMATES
from seqcap.pipeline.kind import Kind, Project, Stage, Stages, entries, main
from seqcap.pipeline.validation import Name, Section
from seqcap.tasks import ARTIFACTS, KINDS


class EstimatorsParams(Section, Sizes):
    """The measurement of how noisy and how biased gradients through a listener are."""

    listener: Name
    captioner: Name  # a pretrained one; the listener has its seed


ESTIMATORS = entries("estimators", EstimatorsParams, of_papers=True)


def stages(project: Project) -> Stages:
    params = project.params
    for name, wanted in params[ESTIMATORS].items():
        paper, source, place = params.paper(name), params.source(name), f"estimators.{name}"
        start = project.pretrained(wanted.captioner, source, f"{place}.captioner")
        listener = project.listener(wanted.listener, start.task, source, f"{place}.listener")
        config = EstimatorsConfig(
            **wanted.model_dump(include=set(Sizes.model_fields)),
            paper=paper,
            task=start.task,
            max_length=start.max_length,
            listener=listener.folder,
            start=start.weights,
            seed=project.shared.seed,
        )
        yield Stage(
            name,
            "How noisy and how biased the gradient through a listener is, against rho",
            config,
            reads=[*project.task(config.task), config.listener, config.start],
            writes=[f"artifacts/{paper}/results/{name}.parquet"],
            paper=paper,
            modules=[KINDS[start.kind].reader, f"seqcap.models.{start.architecture}", listener.module],
        )


def run(config: EstimatorsConfig, name: str) -> None:
    write_rows(ARTIFACTS / config.paper / f"results/{name}.parquet", measure(config), ESTIMATES)


KIND = Kind("estimators", EstimatorsConfig, stages, run, keys=[ESTIMATORS], on_gpu=True)

if __name__ == "__main__":
    main(KIND)
