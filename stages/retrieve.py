"""Scores captions by retrieval: `retrieve.py <evaluation>` -> artifacts/<paper>/results/."""

from pathlib import Path
from typing import Literal

from seqcap.evaluation.retrieval import RetrievalConfig, evaluate
from seqcap.files.parquet import write_table
from seqcap.files.schemas import SCORES
from seqcap.pipeline.kind import Kind, Project, Stage, Stages, entries, main
from seqcap.pipeline.validation import Name, Section, find
from seqcap.tasks import ARTIFACTS


class RetrievalParams(Section):
    """Scores of what an evaluation's captions tell retrievers, and of how far they drift from English."""

    evaluation: Name
    decoder: Literal["greedy", "beam"] = "greedy"  # whose captions: the greedy one, or the beam's best
    listener: Name  # it ranks the captions of runs without a listener of their own
    judge: Name  # the retriever that no run has seen, of another kind than the listener
    twin: Name | None = None  # a retriever like the listener that no run has seen
    captioner: Name  # the pretrained captioner under which captions are more or less probable


RETRIEVALS = entries("retrievals", RetrievalParams, of_papers=True)


def stages(project: Project) -> Stages:
    params = project.params
    for name, wanted in params[RETRIEVALS].items():
        paper, source, place = params.paper(name), params.source(name), f"retrievals.{name}"
        task = find(params.evaluations, wanted.evaluation, source, f"{place}.evaluation").task
        listener = project.listener(wanted.listener, task, source, f"{place}.listener")
        judge = project.retriever(wanted.judge, task, source, f"{place}.judge")
        twin = None if wanted.twin is None else project.retriever(wanted.twin, task, source, f"{place}.twin")
        captioner = project.pretrained(wanted.captioner, source, f"{place}.captioner")
        runs = project.decoded(wanted.evaluation)
        paid = {run.name: project.listener_of(run.name) for run in runs}
        payers = {run: payer for run, payer in paid.items() if payer is not None and payer != listener}
        retrievers = list(dict.fromkeys([listener, *payers.values(), judge, *([] if twin is None else [twin])]))
        config = RetrievalConfig(
            name=name,
            paper=paper,
            task=task,
            dataset=project.shared.tasks[task].dataset,
            split=project.split(wanted.evaluation),
            decoded={run.name: run.decoded for run in runs},
            weights={run.name: run.weights for run in runs},
            decoder=wanted.decoder,
            listener=listener.folder,
            payers={run: payer.folder for run, payer in payers.items()},
            judge=judge.folder,
            twin=None if twin is None else twin.folder,
            captioner=captioner.weights,
            max_length=project.shared.tasks[task].max_length + 1,
        )
        # Listeners that runs have trained lie beside their weights; other groups of the paper do not matter.
        trained = dict.fromkeys(str(Path(run.weights).parent) for run in runs)
        decoded = f"artifacts/{paper}/decode/{wanted.evaluation}"
        yield Stage(
            name,
            f"How well the captions of {wanted.evaluation} tell images apart, and how far they drift",
            config,
            reads=[
                *project.task(task),
                *trained,
                decoded,
                *(retriever.folder for retriever in retrievers),
                config.captioner,
            ],
            writes=[f"artifacts/{paper}/results/{name}_retrieval.parquet"],
            paper=paper,
            modules=[f"seqcap.models.{captioner.architecture}", *(retriever.module for retriever in retrievers)],
        )


def run(config: RetrievalConfig, name: str) -> None:
    write_table(ARTIFACTS / config.paper / "results" / f"{name}_retrieval.parquet", evaluate(config), SCORES)


KIND = Kind("retrieve", RetrievalConfig, stages, run, keys=[RETRIEVALS], on_gpu=True)

if __name__ == "__main__":
    main(KIND)
