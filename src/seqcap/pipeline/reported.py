"""What the stages of a paper's part of the report are configured with: tables, figures, section and rating."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqcap import objectives
from seqcap.data.datasets import GENERATED
from seqcap.errors import InputError
from seqcap.pipeline.parameter_files import LISTENER
from seqcap.pipeline.validation import find
from seqcap.report.reported import ReportedEvaluation, ReportedRun, ReportedTask
from seqcap.training.run import LIKELIHOOD

if TYPE_CHECKING:
    from seqcap.pipeline.forms import Task
    from seqcap.pipeline.project import Project


def paper_fields(project: Project, paper: str) -> dict[str, Any]:
    """The fields of `PaperConfig`, but for code."""
    params = project.params
    runs = _runs(project, paper)
    if not runs:
        raise InputError(params.source(paper), "has no run that is trained", "give one a group, or remove the file")
    pictures = params.papers[paper].pictures
    find(project.shared.tasks, pictures, params.source(paper), "pictures")
    known = {run.name: run for run in runs}
    for run in (run for pair in params.papers[paper].comparisons for run in pair):
        find(known, run, params.source(paper), "a run of comparisons")
    shown = {pictures, *(run.task for run in runs)}
    tasks = {task: value for task, value in project.shared.tasks.items() if task in shown}
    return {
        "paper": paper,
        "scale": project.shared.scale,
        "pictures": pictures,
        "clips": next((task for task, value in tasks.items() if value.kind == "clips"), None),
        # Only generated images may be shown: photographs belong to others.
        "tasks": {
            task: ReportedTask(kind=value.kind, dataset=_dataset(value), show=value.dataset in GENERATED)
            for task, value in tasks.items()
        },
        "evaluations": {name: _evaluation(project, name) for name in _evaluations(project, paper)},
        "results": f"artifacts/{paper}/results",
        "runs": tuple(runs),
    }


def _evaluations(project: Project, paper: str) -> list[str]:
    return [name for name in project.params.evaluations if project.params.paper(name) == paper]


def _evaluation(project: Project, name: str) -> ReportedEvaluation:
    (scores,) = project.written("evaluate", name)
    return ReportedEvaluation(
        **project.params.evaluations[name].model_dump(include={"task", "references", "beam", "samples"}),
        split=project.split(name),
        scores=scores,
        retrieval=tuple(_retrieval(project, name)),
    )


def _retrieval(project: Project, evaluation: str) -> Iterator[str]:
    """The scores by retrieval of an evaluation's groups, and of people's captions beside them; none without any."""
    groups = [group for group, own in project.params.groups.items() if own == evaluation]
    for group in groups:
        yield from project.written("retrieve", group)
    for name, wanted in project.params.entries["retrievals"].items():
        if wanted.evaluation == evaluation:
            yield from project.written("people", name)


def _dataset(task: Task) -> str:
    """Text files have the name of their folder."""
    return Path(str(task.root)).name if task.dataset == "text" else task.dataset


def _runs(project: Project, paper: str) -> list[ReportedRun]:
    """A paper's runs and then its ensembles, in the order of the parameters."""
    params = project.params
    trained = {name: run for runs in project.trained().values() for name, run in runs.items()}
    runs = {}
    for evaluation in _evaluations(project, paper):
        for decoding in project.decoded(evaluation):
            ensemble = params.ensembles.get(decoding.name)
            name = ensemble.run if ensemble else decoding.name
            run, own = params.runs[name], trained[name]
            runs[decoding.name] = ReportedRun(
                **own.model_dump(include={"task", "captioner", "objective", "settings", "start"}),
                **own.training.model_dump(include={"epochs", "learning_rate"}),
                name=decoding.name,
                label=ensemble.label if ensemble else run.label,
                row=run.row,
                # SLE's objective leaves it to a setting.
                keeps_last=objectives.model_class(own.objective).keeps_last
                or getattr(own.settings, "keep", "") == "last",
                # A run may inherit a reward from the others of its paper, but cross-entropy does not use it.
                reward=None if run.objective == LIKELIHOOD else run.reward,
                payer=run.listener if LISTENER in objectives.model_class(own.objective).reads else None,
                seeds=tuple(team[0] for team in decoding.teams),
                evaluation=evaluation,
                members=ensemble.members if ensemble else 0,
                weights=decoding.weights,
                decoded=decoding.decoded,
            )
    return [runs[name] for name in (*params.runs, *params.ensembles) if name in runs]
