"""From parameters to the configurations of the stages that train: pretrain, retriever, mine and train."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel

from seqcap import models, objectives, retrieval, rewards
from seqcap.config.mining import MiningConfig
from seqcap.config.retrieval import RetrieverConfig, RetrieverTraining
from seqcap.config.training import TrainConfig, TrainingRun
from seqcap.errors import InputError
from seqcap.pipeline.code import closure
from seqcap.pipeline.params import PARAMS, PRETRAINED, SCRATCH, ImageTask, Params, RetrieverParams, RunParams
from seqcap.pipeline.resolve_data import data_root, fingerprint
from seqcap.pipeline.validation import find, validated
from seqcap.tasks import KINDS

LIKELIHOOD = "cross_entropy"  # the objective of pretraining; it uses no reward
# What objectives and rewards may read, by the name that they declare it with: the run's `listener`, its captioner as it
# was "pretrained", and files about a task's words.
LISTENER = "listener"
WORDS = {name: f"artifacts/words/{{task}}/{name}.parquet" for name in ("embeddings", "paraphrases")}


def pretrain_config(params: Params, name: str) -> TrainConfig:
    if name in params.shared.captioners and params.shared.captioners[name].architecture == PRETRAINED:
        fix = "train cross_entropy in a run, and name that as `start` of others"
        raise InputError(PARAMS, f"pretrain.{name} is of a captioner that is trained already", fix)
    run = TrainingRun(
        **captioner_fields(params, name, PARAMS, f"pretrain.{name}"),
        name=name,
        paper="",
        objective=LIKELIHOOD,
        settings={},
        reward={},
        training=params.shared.pretrain[name].training,
        start=None,
        reads={},
        weights=f"starts/pretrain/{name}",
    )
    return TrainConfig(runs=(run,), code=closure(training_modules(params, run), ["train.py"]))


def train_config(params: Params, group: str) -> TrainConfig:
    runs = [training_run(params, name) for name, run in params.runs.items() if run.group == group]
    if not runs:
        raise InputError(params.source(group), f"groups.{group} has no run", "give it one, or remove it")
    modules = [module for run in runs for module in training_modules(params, run)]
    return TrainConfig(runs=tuple(runs), code=closure(modules, ["train.py"]))


def training_run(params: Params, name: str) -> TrainingRun:
    run, source, place = params.runs[name], params.source(name), f"runs.{name}"
    fields = captioner_fields(params, run.captioner, source, f"{place}.captioner")
    evaluation = params.groups[run.group]
    if params.evaluations[evaluation].task != fields["task"]:
        what = f"{place}.captioner is {run.captioner!r}"
        raise InputError(source, what, f"it is for the task {fields['task']}, not that of {evaluation}")
    seeds = _count_seeds(params, run)
    weights = reward_weights(params, run.reward, fields["task"], source, place)
    return TrainingRun(
        **fields | {"seeds": _seeds(params, seeds)},
        name=name,
        paper=params.paper(name),
        objective=run.objective,
        settings=objective_settings(run.objective, run.settings, source, place),
        reward=weights,
        training=run.training,
        start=_start(params, name),
        reads=_reads(params, name, fields["task"], seeds, weights),
        weights=weights_folder(params, name),
    )


def weights_folder(params: Params, run: str) -> str:
    return f"artifacts/{params.paper(run)}/train/{params.runs[run].group}/{run}"


def captioner_fields(params: Params, name: str, source: Path, place: str) -> dict[str, Any]:
    captioner = find(params.shared.captioners, name, source, place)
    task = find(params.shared.tasks, captioner.task, PARAMS, f"captioners.{name}.task")
    what = f"captioners.{name}.architecture is {captioner.architecture!r}"
    config = _config_class(models, captioner.architecture, PARAMS, what)
    if task.kind not in models.model_class(captioner.architecture).kinds:
        raise InputError(PARAMS, what, f"it cannot read the task {captioner.task}")
    if captioner.architecture == PRETRAINED:
        folder, own = captioner.model.get("folder"), task.pretrained if isinstance(task, ImageTask) else None
        if folder != own:
            place = f"captioners.{name}.model.folder is {folder!r}"
            raise InputError(PARAMS, place, f"tasks.{captioner.task}.pretrained is {own!r}: name one folder in both")
    return {
        "task": captioner.task,
        "kind": task.kind,
        "captioner": name,
        "architecture": captioner.architecture,
        "model": validated(config, captioner.model, PARAMS, f"captioners.{name}.model").model_dump(),
        "seeds": _seeds(params, captioner.seeds),
        "max_length": task.max_length + 1,
        "precision": params.shared.precision,
    }


def pretrained(params: Params, captioner: str, source: Path, place: str) -> str:
    find(params.shared.pretrain, captioner, source, place)
    return f"starts/pretrain/{captioner}"


def _seeds(params: Params, number: int, offset: int = 0) -> tuple[int, ...]:
    return tuple(params.shared.seed + offset + i for i in range(number))


def _count_seeds(params: Params, run: RunParams) -> int:
    return run.seeds or params.shared.captioners[run.captioner].seeds


def _start(params: Params, name: str) -> str | None:
    """The folder of the weights that a run continues from."""
    run, source, place = params.runs[name], params.source(name), f"runs.{name}"
    if run.start == SCRATCH or (run.start is None and run.captioner not in params.shared.pretrain):
        return None
    if run.start is None:
        start, seeds = f"starts/pretrain/{run.captioner}", params.shared.captioners[run.captioner].seeds
    else:
        # The runs of a group train side by side: none can wait for another.
        others = {
            other: value
            for other, value in params.runs.items()
            if value.captioner == run.captioner and value.group != run.group
        }
        other = find({SCRATCH: run} | others, run.start, source, f"{place}.start")
        start, seeds = weights_folder(params, run.start), _count_seeds(params, other)
    if _count_seeds(params, run) > seeds:
        raise InputError(source, f"{place}.seeds is {_count_seeds(params, run)}", f"{start} has {seeds}")
    return start


def objective_settings(objective: str, settings: dict[str, Any], source: Path, place: str) -> dict[str, Any]:
    """An objective's settings as its own Config checks and completes them."""
    config = _config_class(objectives, objective, source, f"{place}.objective is {objective!r}")
    return validated(config, settings, source, f"{place}.settings").model_dump()


def reward_weights(params: Params, reward: str | None, task: str, source: Path, place: str) -> dict[str, float]:
    if reward is None:
        return {}
    weights = find(params.shared.rewards, reward, source, f"{place}.reward")
    english = [metric for metric, weight in weights.items() if weight and metric in rewards.ENGLISH]
    if english and not KINDS[params.shared.tasks[task].kind].english:
        what = f"{place}.reward is {reward!r}, with {english[0]}"
        raise InputError(source, what, f"{english[0]} is not for translations")
    return weights


def _reads(params: Params, name: str, task: str, seeds: int, weights: Mapping[str, float]) -> dict[str, str]:
    """What a run's objective and reward read -> its path."""
    run, source, place = params.runs[name], params.source(name), f"runs.{name}"
    paths = {}
    captioner = params.shared.captioners[run.captioner]
    if captioner.architecture == PRETRAINED:
        # Its weights, tokenizer and image processor.
        paths[PRETRAINED] = str(captioner.model["folder"])
    for key in (*objectives.model_class(run.objective).reads, *rewards.reads(weights)):
        if key == LISTENER:
            paths[key] = find_listener(params, run.listener or "none", task, source, f"{place}.listener", seeds)
        elif key == "pretrained":
            paths[key] = pretrained(params, run.captioner, source, f"{place}.captioner")
        else:
            declared, known = (
                Path(f"src/seqcap/objectives/{run.objective}.py"),
                {LISTENER: "", "pretrained": ""} | WORDS,
            )
            paths[key] = find(known, key, declared, "an entry of Model.reads").format(task=task)
    return paths


def find_listener(params: Params, name: str, task: str, source: Path, place: str, seeds: int = 1) -> str:
    """The folder of a task's retriever that runs start with: of the run's own seed, or that which has mined for it."""
    mined = params.shared.mined
    retrievers = {key: value for key, value in params.shared.retrievers.items() if key in mined or not value.folder}
    retriever = find(_of_task(retrievers, task), name, source, place)
    _check_one_vector(retriever, source, f"{place} is {name!r}", "name")
    if name not in mined and retriever.seed_offset != 0:
        fix = "run and listener share their seed: name a retriever with seed_offset 0"
        raise InputError(source, f"{place} is {name!r}", fix)
    if retriever.seeds < seeds:
        fix = f"each seed of the run needs its own: give the retriever at least {seeds} seeds"
        raise InputError(source, f"{place} is {name!r}", fix)
    return f"artifacts/mined/{name}" if name in mined else f"starts/retriever/{name}"


def _check_one_vector(retriever: RetrieverParams, source: Path, place: str, verb: str) -> None:
    """InputError for a retriever that compares words with cells: objectives and mining need one vector."""
    what = f"{place}, whose architecture is {retriever.architecture}"
    _config_class(retrieval, retriever.architecture, PARAMS, what)
    if not retrieval.model_class(retriever.architecture).one_vector:
        raise InputError(source, what, f"{verb} a dual_encoder or a clip")


def listener_of(params: Params, name: str) -> str | None:
    """The folder of the retriever that the objective of a run, or of an ensemble's runs, reads, if it reads one."""
    name = params.ensembles[name].run if name in params.ensembles else name
    run = params.runs[name]
    if LISTENER not in objectives.model_class(run.objective).reads:
        return None
    task = params.shared.captioners[run.captioner].task
    return find_listener(params, run.listener or "none", task, params.source(name), f"runs.{name}.listener")


def find_retriever(params: Params, name: str, task: str, source: Path, place: str) -> str:
    """The folder of a task's retriever."""
    find(_of_task(params.shared.retrievers, task), name, source, place)
    return f"starts/retriever/{name}"


def _of_task(retrievers: Mapping[str, RetrieverParams], task: str) -> dict[str, RetrieverParams]:
    return {name: retriever for name, retriever in retrievers.items() if retriever.task == task}


def retriever_module(params: Params, folder: str) -> str:
    return f"seqcap.retrieval.{params.shared.retrievers[Path(folder).name].architecture}"


def training_modules(params: Params, run: TrainingRun) -> Iterator[str]:
    """What training a run imports by name."""
    yield from task_modules(params, run.task)
    yield f"seqcap.models.{run.architecture}"
    yield f"seqcap.objectives.{run.objective}"
    yield from KINDS[run.kind].modules
    yield from rewards.modules(run.reward)
    if "embeddings" in run.reads:
        yield "seqcap.data.embeddings"
    if LISTENER in run.reads:
        yield retriever_module(params, run.reads[LISTENER])


def task_modules(params: Params, name: str) -> Iterator[str]:
    """What reading a task imports by name, besides its reader."""
    task = params.shared.tasks[name]
    if isinstance(task, ImageTask) and task.pretrained is not None:
        yield "seqcap.data.tokens"
        yield "seqcap.features.pixels"


def retriever_config(params: Params, name: str) -> RetrieverConfig:
    retriever, place = params.shared.retrievers[name], f"retrievers.{name}"
    task = params.shared.tasks.get(retriever.task)
    if not isinstance(task, ImageTask):
        raise InputError(PARAMS, f"{place}.task is {retriever.task!r}", "name a task with images")
    what = f"{place}.architecture is {retriever.architecture!r}"
    config = _config_class(retrieval, retriever.architecture, PARAMS, what)
    trained = retriever.folder is None
    if trained == (retriever.architecture == "clip"):
        fix = "a CLIP is read from a folder, other retrievers are trained (null)"
        raise InputError(PARAMS, f"{place}.folder is {retriever.folder!r}", fix)
    modules = [f"seqcap.retrieval.{retriever.architecture}", *(["seqcap.training.retrievers"] if trained else [])]
    modules += task_modules(params, retriever.task)
    return RetrieverConfig(
        name=name,
        task=retriever.task,
        architecture=retriever.architecture,
        # A CLIP's stage names the files itself.
        model=validated(config, retriever.model, PARAMS, f"{place}.model").model_dump() if trained else {},
        training=validated(RetrieverTraining, retriever.training, PARAMS, f"{place}.training") if trained else None,
        seeds=_seeds(params, retriever.seeds, retriever.seed_offset),
        evaluate_on=task.evaluate_on,
        max_length=task.max_length + 1,
        folder=retriever.folder,
        fingerprint={} if retriever.folder is None else fingerprint(Path(retriever.folder).glob("*")),
        root=data_root(params, retriever.task),
        weights=f"starts/retriever/{name}",
        code=closure(modules, ["retriever.py"]),
    )


def mine_config(params: Params, name: str) -> MiningConfig:
    retriever = find(params.shared.retrievers, name, PARAMS, f"mined.{name}")
    _check_one_vector(retriever, PARAMS, f"mined.{name}", "mine with")
    return MiningConfig(
        name=name,
        task=retriever.task,
        retriever=f"starts/retriever/{name}",
        seeds=_seeds(params, retriever.seeds),
        seed_offset=retriever.seed_offset,
        neighbours=params.shared.mined[name].neighbours,
        max_length=params.shared.tasks[retriever.task].max_length + 1,
        mined=f"artifacts/mined/{name}",
        code=closure([f"seqcap.retrieval.{retriever.architecture}"], ["mine.py"]),
    )


def _config_class(package: ModuleType, name: str, source: Path, what: str) -> type[BaseModel]:
    try:
        return package.config_class(name)  # type: ignore[no-any-return]
    except ModuleNotFoundError as error:
        # An import that is missing in the module itself is a fault of its code, not of the parameters.
        if error.name != f"{package.__name__}.{name}":
            raise
        folder = package.__name__.replace(".", "/")
        raise InputError(source, what, f"there is no such file in src/{folder}") from None
