"""From parameters to the configurations of the stages that report: tables, figures, section, rating and report."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seqcap import papers
from seqcap.config.rating import RatingConfig
from seqcap.config.report import (
    PaperConfig,
    ReportConfig,
    ReportedEvaluation,
    ReportedRun,
    ReportedTask,
    SectionConfig,
    Trained,
)
from seqcap.config.training import TrainConfig
from seqcap.errors import InputError
from seqcap.pipeline.code import closure
from seqcap.pipeline.params import GENERATED, Params, RatingParams, Task
from seqcap.pipeline.resolve_results import Decoded, split_of
from seqcap.pipeline.resolve_training import LIKELIHOOD, find_retriever, retriever_module
from seqcap.pipeline.validation import find


def paper_fields(params: Params, name: str, trained: dict[str, TrainConfig], decoded: Decoded) -> dict[str, Any]:
    """The fields that the configurations of a paper's tables, figures, section and page for raters share."""
    runs = _reported_runs(params, name, trained, decoded)
    if not runs:
        raise InputError(params.source(name), "has no run that is trained", "give one a group, or remove the file")
    pictures, results = params.papers[name].pictures, f"artifacts/{name}/results"
    find(params.shared.tasks, pictures, params.source(name), "pictures")
    shown = {pictures, *(run.task for run in runs)}
    tasks = {task: value for task, value in params.shared.tasks.items() if task in shown}
    return {
        "paper": name,
        "scale": params.shared.scale,
        "pictures": pictures,
        "clips": next((task for task, value in tasks.items() if value.kind == "clips"), None),
        "tasks": {
            # Only generated images may be shown: photographs belong to others.
            task: ReportedTask(
                kind=value.kind,
                dataset=dataset_of(value),
                show=value.dataset in GENERATED,
            )
            for task, value in tasks.items()
        },
        "evaluations": {
            key: ReportedEvaluation(
                **value.model_dump(include={"task", "references", "beam", "samples"}),
                split=split_of(params, key),
                scores=f"{results}/{key}.parquet",
                retrieval=tuple(
                    f"{results}/{other}_retrieval.parquet"
                    for other, retrieved in params.retrievals.items()
                    if retrieved.evaluation == key
                ),
            )
            for key, value in params.evaluations.items()
            if params.paper(key) == name
        },
        "results": results,
        "runs": tuple(runs),
    }


def dataset_of(task: Task) -> str:
    """Text files have the name of their folder."""
    return Path(str(task.root)).name if task.dataset == "text" else task.dataset


def _reported_runs(params: Params, paper: str, trained: dict[str, TrainConfig], decoded: Decoded) -> list[ReportedRun]:
    """A paper's runs and then its ensembles, in the order of the parameters."""
    training = {run.name: run for config in trained.values() for run in config.runs}
    found = {}
    for evaluation in (key for key in params.evaluations if params.paper(key) == paper):
        for one in decoded[evaluation]:
            ensemble = params.ensembles.get(one.name)
            name = ensemble.run if ensemble else one.name
            run, own = params.runs[name], training[name]
            found[one.name] = ReportedRun(
                **own.model_dump(include={"task", "captioner", "objective", "settings", "start"}),
                **own.training.model_dump(include={"epochs", "learning_rate"}),
                name=one.name,
                label=ensemble.label if ensemble else run.label,
                row=run.row,
                # A run may inherit a reward from the others of its paper, but cross-entropy does not use it.
                reward=None if run.objective == LIKELIHOOD else run.reward,
                seeds=tuple(team[0] for team in one.teams),
                evaluation=evaluation,
                members=ensemble.members if ensemble else 0,
                weights=one.weights,
                decoded=one.decoded,
            )
    return [found[name] for name in (*params.runs, *params.ensembles) if name in found]


def paper_config(fields: dict[str, Any], stage: str) -> PaperConfig:
    return PaperConfig(**fields, code=_code(fields["paper"], stage))


def section_config(params: Params, fields: dict[str, Any]) -> SectionConfig:
    name, known = fields["paper"], {run.name: run for run in fields["runs"]}
    comparisons = params.papers[name].comparisons
    for run in (run for pair in comparisons for run in pair):
        find(known, run, params.source(name), "a run of comparisons")
    return SectionConfig(**fields, comparisons=comparisons, code=_code(name, "section"))


def rating_config(params: Params, fields: dict[str, Any], wanted: RatingParams) -> RatingConfig:
    name = fields["paper"]
    judge = find_retriever(params, wanted.judge, fields["pictures"], params.source(name), "rating.judge")
    code = _code(name, "rating", [retriever_module(params, judge)])
    return RatingConfig(**fields, judge=judge, code=code)


def report_config(
    params: Params, trained: Mapping[str, TrainConfig], pretrained: Mapping[str, TrainConfig]
) -> ReportConfig:
    runs = [run for config in trained.values() for run in config.runs]
    found = _trained(params, trained)
    return ReportConfig(
        scale=params.shared.scale,
        proves=params.shared.report.proves,
        papers=tuple(params.papers),
        pictures=tuple(params.shared.features),
        tasks={run.task: dataset_of(params.shared.tasks[run.task]) for run in runs},
        runs={paper: {run.name: found[run.name] for run in runs if run.paper == paper} for paper in params.papers},
        captioners=_trained(params, pretrained),
        beside=params.shared.report.beside or {},
        code=closure([], ["report.py"]),
    )


def _trained(params: Params, configs: Mapping[str, TrainConfig]) -> dict[str, Trained]:
    return {
        run.name: Trained(
            label=params.runs[run.name].label if run.name in params.runs else run.name,
            objective=run.objective,
            stage=stage,
            epochs=run.training.epochs,
            seeds=run.seeds,
        )
        for stage, config in configs.items()
        for run in config.runs
    }


def _code(paper: str, stage: str, others: Sequence[str] = ()) -> dict[str, str]:
    modules, files = papers.sources(paper, stage)
    return closure([*modules, *others], [f"{stage}.py"], files)
