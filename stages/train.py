"""Trains a captioner, or the runs of a group side by side: `train.py pretrain <captioner>` ->
starts/pretrain/<captioner>, `train.py train <group>` -> artifacts/<paper>/train/<group>."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from seqcap import models, objectives, rewards
from seqcap.errors import InputError
from seqcap.files.json_file import read_json, write_json
from seqcap.files.parquet import write_rows
from seqcap.files.schemas import CURVES
from seqcap.files.writing import copy_file
from seqcap.pipeline.kind import Kind, Project, Stage, Stages, main
from seqcap.pipeline.parameter_files import LISTENER, PARAMS, PRETRAINED
from seqcap.pipeline.validation import config_class, find, validated
from seqcap.system import machine
from seqcap.system.scratch import checkpoints
from seqcap.tasks import KINDS
from seqcap.training.captioners import train_all
from seqcap.training.run import LIKELIHOOD, TrainConfig, TrainingRun

if TYPE_CHECKING:
    from seqcap.pipeline.forms import RunParams

# Run -> seconds per epoch, a mean over its seeds. DVC does not track it: measured times vary.
TIMING = Path("artifacts/timing")
SCRATCH = "scratch"  # a run's `start` if it does not continue from any weights
# What objectives and rewards may read, by the name that they declare it with: `LISTENER`, the run's captioner as it was
# "pretrained", and files about a task's words, which are kinds of stages.
START = "pretrained"
WORDS = ("embeddings", "paraphrases")


# --- pretrain


def pretrain_stages(project: Project) -> Stages:
    for name, pretrain in project.shared.pretrain.items():
        if name in project.shared.captioners and project.shared.captioners[name].architecture == PRETRAINED:
            fix = "train cross_entropy in a run, and name that as `start` of others"
            raise InputError(PARAMS, f"pretrain.{name} is of a captioner that is trained already", fix)
        run = TrainingRun(
            **_captioner(project, name, PARAMS, f"pretrain.{name}"),
            name=name,
            paper="",
            objective=LIKELIHOOD,
            settings=objectives.config_class(LIKELIHOOD)(),
            reward={},
            training=pretrain.training,
            start=None,
            reads={},
            weights=f"starts/pretrain/{name}",
        )
        yield Stage(
            name,
            f"Train captioner {name} with cross-entropy",
            TrainConfig(runs=(run,)),
            reads=project.origins(run.task),
            writes=[run.weights],
            cached=False,
            modules=_modules(run),
        )


# --- train


def train_stages(project: Project) -> Stages:
    params = project.params
    _check(project)
    for group in params.groups:
        paper = params.paper(group)
        names = [name for name, run in params.runs.items() if run.group == group]
        if not names:
            raise InputError(params.source(group), f"groups.{group} has no run", "give it one, or remove it")
        runs, modules, reads = [], [], []
        for name in names:
            run, listeners = _run(project, name)
            runs.append(run)
            modules += [*_modules(run), *listeners]
            reads += [path for path in (run.start, *run.reads.values()) if path is not None]
        yield Stage(
            group,
            f"Train the runs of group {group}, side by side",
            TrainConfig(runs=tuple(runs)),
            reads=[*project.task(runs[0].task), *reads],
            writes=[f"artifacts/{paper}/train/{group}"],
            paper=paper,
            modules=modules,
        )


def _check(project: Project) -> None:
    """Checks that evaluations, groups, runs and ensembles name each other."""
    params = project.params
    for name, evaluation in params.evaluations.items():
        find(project.shared.tasks, evaluation.task, params.source(name), f"evaluations.{name}.task")
        if name not in params.groups.values():
            raise InputError(params.source(name), f"evaluations.{name} has no group", "give it one, or remove it")
    for name, group in params.groups.items():
        own = {key: value for key, value in params.evaluations.items() if params.paper(key) == params.paper(name)}
        find(own, group, params.source(name), f"groups.{name}")
    for name, run in params.runs.items():
        find(params.groups, run.group, params.source(name), f"runs.{name}.group")
    for name, ensemble in params.ensembles.items():
        find(params.runs, ensemble.run, params.source(name), f"ensembles.{name}.run")


def _run(project: Project, name: str) -> tuple[TrainingRun, list[str]]:
    """A run, and the modules of the listeners that it reads."""
    params = project.params
    run, source, place = params.runs[name], params.source(name), f"runs.{name}"
    fields = _captioner(project, run.captioner, source, f"{place}.captioner")
    task, evaluation = fields["task"], params.groups[run.group]
    if params.evaluations[evaluation].task != task:
        what = f"{place}.captioner is {run.captioner!r}"
        raise InputError(source, what, f"it is for the task {task}, not that of {evaluation}")
    weights = project.reward(run.reward, task, source, place)
    config = config_class(objectives, run.objective, source, f"{place}.objective is {run.objective!r}")
    settings = validated(config, run.settings, source, f"{place}.settings")
    start = _start(project, name)
    reads, listeners = _reads(project, name, task, weights)
    made = TrainingRun(
        **fields | {"seeds": project.seeds(_count_seeds(project, run))},
        name=name,
        paper=params.paper(name),
        objective=run.objective,
        settings=settings,
        reward=weights,
        training=run.training,
        start=start,
        reads=reads,
        weights=_weights(project, name),
    )
    return made, listeners


def _weights(project: Project, run: str) -> str:
    """The folder of a run's weights."""
    return f"artifacts/{project.params.paper(run)}/train/{project.params.runs[run].group}/{run}"


def _count_seeds(project: Project, run: RunParams) -> int:
    return run.seeds or project.shared.captioners[run.captioner].seeds


def _start(project: Project, name: str) -> str | None:
    """The folder of the weights that a run continues from."""
    params = project.params
    run, source, place = params.runs[name], params.source(name), f"runs.{name}"
    if run.start == SCRATCH or (run.start is None and run.captioner not in project.shared.pretrain):
        return None
    if run.start is None:
        pretrained = project.pretrained(run.captioner, source, f"{place}.captioner")
        start, seeds = pretrained.weights, len(pretrained.seeds)
    else:
        # The runs of a group train side by side: none can wait for another.
        others = {
            other: value
            for other, value in params.runs.items()
            if value.captioner == run.captioner and value.group != run.group
        }
        other = find({SCRATCH: run} | others, run.start, source, f"{place}.start")
        start, seeds = _weights(project, run.start), _count_seeds(project, other)
    if _count_seeds(project, run) > seeds:
        raise InputError(source, f"{place}.seeds is {_count_seeds(project, run)}", f"{start} has {seeds}")
    return start


def _reads(project: Project, name: str, task: str, weights: Mapping[str, float]) -> tuple[dict[str, str], list[str]]:
    """What a run's captioner, objective and reward read -> its path; and the modules of listeners among it."""
    run, source = project.params.runs[name], project.params.source(name)
    paths: dict[str, str] = {}
    modules = []
    captioner = project.shared.captioners[run.captioner]
    if captioner.architecture == PRETRAINED:
        # Its weights, tokenizer and image processor.
        paths[PRETRAINED] = str(captioner.model["folder"])
    for key in (*objectives.model_class(run.objective).reads, *rewards.reads(weights)):
        if key == LISTENER:
            seeds = _count_seeds(project, run)
            listener = project.listener(run.listener or "none", task, source, f"runs.{name}.listener", seeds)
            paths[key] = listener.folder
            modules.append(listener.module)
        elif key == START:
            paths[key] = project.pretrained(run.captioner, source, f"runs.{name}.captioner").weights
        else:
            declared = Path(f"src/seqcap/objectives/{run.objective}.py")
            find(dict.fromkeys((LISTENER, START, *WORDS)), key, declared, "an entry of Model.reads")
            (paths[key],) = project.written(key, task)
    return paths, modules


# --- Both


def _captioner(project: Project, name: str, source: Path, place: str) -> dict[str, Any]:
    """The fields of a run that its captioner gives; `place` names it."""
    captioner = find(project.shared.captioners, name, source, place)
    task = find(project.shared.tasks, captioner.task, PARAMS, f"captioners.{name}.task")
    what = f"captioners.{name}.architecture is {captioner.architecture!r}"
    config = config_class(models, captioner.architecture, PARAMS, what)
    if task.kind not in models.model_class(captioner.architecture).kinds:
        raise InputError(PARAMS, what, f"it cannot read the task {captioner.task}")
    if captioner.architecture == PRETRAINED:
        folder, own = captioner.model.get("folder"), task.pretrained if task.kind == "images" else None
        if folder != own:
            what = f"captioners.{name}.model.folder is {folder!r}"
            raise InputError(PARAMS, what, f"tasks.{captioner.task}.pretrained is {own!r}: name one folder in both")
    return {
        "task": captioner.task,
        "kind": task.kind,
        "captioner": name,
        "architecture": captioner.architecture,
        "model": validated(config, captioner.model, PARAMS, f"captioners.{name}.model").model_dump(),
        "seeds": project.seeds(captioner.seeds),
        "max_length": task.max_length + 1,
        "precision": project.shared.precision,
    }


def _modules(run: TrainingRun) -> list[str]:
    """The modules that a run names."""
    chosen = [f"seqcap.models.{run.architecture}", f"seqcap.objectives.{run.objective}"]
    return [*chosen, *KINDS[run.kind].modules, *rewards.modules(run.reward)]


def run(config: TrainConfig, name: str) -> None:
    machine.relaunch()
    kind = "train" if config.runs[0].paper else "pretrain"
    trained = train_all(config.runs, config.code, checkpoints(f"{kind}-{name}"))
    if machine.join_group()[0] > 0:
        return
    for run, seeds in zip(config.runs, trained, strict=True):
        curves = [row for seed in seeds for row in seed.curves]
        write_rows(Path(run.weights) / "curves.parquet", curves, CURVES)
        if run.start is not None:
            # The learning curves of the weights that it starts from, for its own plots.
            copy_file(Path(run.start) / "curves.parquet", Path(run.weights) / "start.parquet")
    path = TIMING / f"{name}.json"
    # A run that had ended before the stage was killed takes no step now, and keeps its earlier time.
    times = dict[str, float | None](read_json(path) if path.exists() else {})
    times = {run.name: times.get(run.name) for run in config.runs}
    for run, seeds in zip(config.runs, trained, strict=True):
        measured = [seed.seconds_per_epoch for seed in seeds if seed.seconds_per_epoch is not None]
        if measured:
            times[run.name] = fmean(measured)
    write_json(path, times)


PRETRAIN = Kind("pretrain", TrainConfig, pretrain_stages, run, on_gpu=True)
TRAIN = Kind("train", TrainConfig, train_stages, run, on_gpu=True)

if __name__ == "__main__":
    main(PRETRAIN, TRAIN)
