"""Scores captions by retrieval: `retrieve.py retrieve <group>`, those of a group's runs, and `retrieve.py people
<retrieval>`, people's -> artifacts/<paper>/results/."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from seqcap.evaluation import people
from seqcap.evaluation.people import PeopleConfig
from seqcap.evaluation.retrieval import RetrievalConfig, evaluate
from seqcap.evaluation.search import DecodeConfig
from seqcap.files.parquet import write_table
from seqcap.files.schemas import SCORES
from seqcap.pipeline.kind import Kind, Project, Stage, Stages, entries, main
from seqcap.pipeline.validation import Name, Section, find
from seqcap.tasks import ARTIFACTS

if TYPE_CHECKING:
    from seqcap.pipeline.project import RetrieverFiles
    from seqcap.training.run import TrainingRun


class RetrievalParams(Section):
    """Scores of what an evaluation's captions tell retrievers, and of how far they drift from English."""

    evaluation: Name
    decoder: Literal["greedy", "beam"] = "greedy"  # whose captions: the greedy one, or the beam's best
    listener: Name  # it ranks the captions of runs without a listener of their own
    judge: Name  # the retriever that no run has seen, of another kind than the listener
    twin: Name | None = None  # a retriever like the listener that no run has seen
    captioner: Name  # the pretrained captioner under which captions are more or less probable


RETRIEVALS = entries("retrievals", RetrievalParams, of_papers=True)


@dataclass(frozen=True)
class Asked:
    """Who scores the captions of an evaluation."""

    paper: str
    task: str
    listener: RetrieverFiles
    judge: RetrieverFiles
    twin: RetrieverFiles | None
    captioner: TrainingRun
    shared: dict[str, Any]  # what the configurations of all of its stages hold

    @classmethod
    def of(cls, project: Project, name: str, wanted: RetrievalParams) -> Asked:
        params = project.params
        paper, source, place = params.paper(name), params.source(name), f"retrievals.{name}"
        task = find(params.evaluations, wanted.evaluation, source, f"{place}.evaluation").task
        listener = project.listener(wanted.listener, task, source, f"{place}.listener")
        judge = project.retriever(wanted.judge, task, source, f"{place}.judge")
        twin = None if wanted.twin is None else project.retriever(wanted.twin, task, source, f"{place}.twin")
        captioner = project.pretrained(wanted.captioner, source, f"{place}.captioner")
        shared = {
            "paper": paper,
            "task": task,
            "dataset": project.shared.tasks[task].dataset,
            "split": project.split(wanted.evaluation),
            "listener": listener.folder,
            "judge": judge.folder,
            "twin": None if twin is None else twin.folder,
            "captioner": captioner.weights,
            "max_length": project.shared.tasks[task].max_length + 1,
        }
        return cls(paper, task, listener, judge, twin, captioner, shared)

    def stage(
        self,
        project: Project,
        config: RetrievalConfig | PeopleConfig,
        does: str,
        reads: list[str],
        writes: str,
        payers: list[RetrieverFiles],
    ) -> Stage:
        """A stage that these score in; `payers` are further retrievers."""
        twins = [] if self.twin is None else [self.twin]
        retrievers = list(dict.fromkeys([self.listener, *payers, self.judge, *twins]))
        folders = [retriever.folder for retriever in retrievers]
        return Stage(
            config.name,
            does,
            config,
            reads=[*project.task(self.task), *reads, *folders, self.captioner.weights],
            writes=[f"artifacts/{self.paper}/results/{writes}.parquet"],
            paper=self.paper,
            modules=[f"seqcap.models.{self.captioner.architecture}", *(one.module for one in retrievers)],
        )


def stages(project: Project) -> Stages:
    """A stage for each group of runs, so that the training of another one repeats no scoring."""
    decoding, groups = project.configs("decode", DecodeConfig), project.params.groups
    for name, wanted in project.params[RETRIEVALS].items():
        asked = Asked.of(project, name, wanted)
        for group in (group for group, evaluation in groups.items() if evaluation == wanted.evaluation):
            runs = decoding[group].runs
            paid = {run.name: project.listener_of(run.name) for run in runs}
            payers = {run: payer for run, payer in paid.items() if payer is not None and payer != asked.listener}
            config = RetrievalConfig(
                **asked.shared,
                name=group,
                decoded={run.name: run.decoded for run in runs},
                weights={run.name: run.weights for run in runs},
                decoder=wanted.decoder,
                payers={run: payer.folder for run, payer in payers.items()},
            )
            # Listeners that runs have trained lie beside their weights.
            trained = dict.fromkeys(str(Path(run.weights).parent) for run in runs)
            reads = [*trained, *project.written("decode", group)]
            does = f"How well the captions of group {group} tell images apart, and how far they drift"
            yield asked.stage(project, config, does, reads, f"{group}_retrieval", list(payers.values()))


def people_stages(project: Project) -> Stages:
    for name, wanted in project.params[RETRIEVALS].items():
        asked = Asked.of(project, name, wanted)
        teams = [team for run in project.decoded(wanted.evaluation) for team in run.teams]
        config = PeopleConfig(**asked.shared, name=name, seeds=tuple(sorted({team[0] for team in teams})))
        does = f"How well people's captions of the images of {wanted.evaluation} tell them apart"
        yield asked.stage(project, config, does, [], f"{name}_people", [])


def run(config: RetrievalConfig, group: str) -> None:
    write_table(ARTIFACTS / config.paper / "results" / f"{group}_retrieval.parquet", evaluate(config), SCORES)


def run_people(config: PeopleConfig, name: str) -> None:
    write_table(ARTIFACTS / config.paper / "results" / f"{name}_people.parquet", people.evaluate(config), SCORES)


RETRIEVE = Kind("retrieve", RetrievalConfig, stages, run, keys=[RETRIEVALS], on_gpu=True)
PEOPLE = Kind("people", PeopleConfig, people_stages, run_people, on_gpu=True)

if __name__ == "__main__":
    main(RETRIEVE, PEOPLE)
