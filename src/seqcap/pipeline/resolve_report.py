"""From parameters to the configurations of the stages that report: tables, figures, section, rating and report."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seqcap import papers
from seqcap.config import StageConfig
from seqcap.config import report as configs
from seqcap.config.rating import RatingConfig
from seqcap.config.training import TrainConfig
from seqcap.errors import InputError
from seqcap.pipeline.code import closure
from seqcap.pipeline.params import GENERATED, Params, Task
from seqcap.pipeline.resolve_results import Decoded, split_of
from seqcap.pipeline.resolve_training import LIKELIHOOD, find_retriever, retriever_module
from seqcap.pipeline.validation import find


def paper_configs(
    params: Params, name: str, trained: Mapping[str, TrainConfig], decoded: Decoded
) -> dict[str, StageConfig]:
    """Stages `tables`, `figures` and `section` of a paper, and `rating` if people rate its captions."""
    paper, source = params.papers[name], params.source(name)
    fields = _paper_fields(params, name, trained, decoded)
    known = {run.name: run for run in fields["runs"]}
    for run in (run for pair in paper.comparisons for run in pair):
        find(known, run, source, "a run of comparisons")
    codes = {stage: papers.sources(name, stage) for stage in ("tables", "figures", "section", "rating")}
    code = {stage: closure(modules, [f"{stage}.py"], files) for stage, (modules, files) in codes.items()}
    found: dict[str, StageConfig] = {
        "tables": configs.PaperConfig(**fields, code=code["tables"]),
        "figures": configs.PaperConfig(**fields, code=code["figures"]),
        "section": configs.SectionConfig(**fields, comparisons=paper.comparisons, code=code["section"]),
    }
    if paper.rating:
        judge = find_retriever(params, paper.rating.judge, paper.pictures, source, "rating.judge")
        others = closure([retriever_module(params, judge)])
        found["rating"] = RatingConfig(**fields, judge=judge, code=code["rating"] | others)
    return found


def _paper_fields(params: Params, name: str, trained: Mapping[str, TrainConfig], decoded: Decoded) -> dict[str, Any]:
    """The fields that the configurations of a paper's stages share."""
    runs = _reported_runs(params, name, trained, decoded)
    if not runs:
        raise InputError(params.source(name), "has no run that is trained", "give one a group, or remove the file")
    pictures, results = params.papers[name].pictures, f"artifacts/{name}/results"
    find(params.shared.tasks, pictures, params.source(name), "pictures")
    shown = {pictures, *(run.task for run in runs)}
    tasks = {task: value for task, value in params.shared.tasks.items() if task in shown}
    evaluations = {}
    for key in _evaluations(params, name):
        value = params.evaluations[key]
        retrieved = [other for other, retrieval in params.retrievals.items() if retrieval.evaluation == key]
        evaluations[key] = configs.ReportedEvaluation(
            **value.model_dump(include={"task", "references", "beam", "samples"}),
            split=split_of(params, key),
            scores=f"{results}/{key}.parquet",
            retrieval=tuple(f"{results}/{other}_retrieval.parquet" for other in retrieved),
        )
    return {
        "paper": name,
        "scale": params.shared.scale,
        "pictures": pictures,
        "clips": next((task for task, value in tasks.items() if value.kind == "clips"), None),
        "tasks": {
            # Only generated images may be shown: photographs belong to others.
            task: configs.ReportedTask(kind=value.kind, dataset=dataset_of(value), show=value.dataset in GENERATED)
            for task, value in tasks.items()
        },
        "evaluations": evaluations,
        "results": results,
        "runs": tuple(runs),
    }


def _evaluations(params: Params, paper: str) -> list[str]:
    return [key for key in params.evaluations if params.paper(key) == paper]


def dataset_of(task: Task) -> str:
    """Text files have the name of their folder."""
    return Path(str(task.root)).name if task.dataset == "text" else task.dataset


def _reported_runs(
    params: Params, paper: str, trained: Mapping[str, TrainConfig], decoded: Decoded
) -> list[configs.ReportedRun]:
    """A paper's runs and then its ensembles, in the order of the parameters."""
    training = {run.name: run for config in trained.values() for run in config.runs}
    found = {}
    for evaluation in _evaluations(params, paper):
        for one in decoded[evaluation]:
            ensemble = params.ensembles.get(one.name)
            name = ensemble.run if ensemble else one.name
            run, own = params.runs[name], training[name]
            found[one.name] = configs.ReportedRun(
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


def report_config(params: Params) -> configs.ReportConfig:
    return configs.ReportConfig(
        proves=params.shared.report.proves,
        papers=tuple(params.papers),
        pictures=tuple(params.shared.features),
        beside=params.shared.report.beside or {},
        code=closure([], ["report.py"]),
    )
