"""Resolves the parameters into one configuration per stage (`seqcap.config`).

Only the `configure` stage reads the parameter files. All later stages read their resolved files in configs/. A change
therefore repeats the stages whose files it changes, and what follows from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel

from seqcap import models, objectives, papers, retrieval, rewards
from seqcap.config import CONFIGS, StageConfig, config_path, write_config
from seqcap.config.data import (
    ClipData,
    Corpus,
    EmbeddingsConfig,
    EncoderConfig,
    FeaturesConfig,
    ImageData,
    ProbeConfig,
    SentenceData,
    WordsConfig,
)
from seqcap.config.decoding import DecodeConfig, DecodingRun
from seqcap.config.estimators import EstimatorsConfig
from seqcap.config.evaluation import EvaluationConfig
from seqcap.config.mining import MiningConfig
from seqcap.config.rating import RatingConfig
from seqcap.config.report import PaperConfig, ReportConfig, ReportedEvaluation, ReportedRun, ReportedTask, SectionConfig
from seqcap.config.retrieval import RetrieverConfig, RetrieverTraining
from seqcap.config.retrieval_scores import RetrievalConfig
from seqcap.config.training import TrainConfig, Training, TrainingRun, VarianceConfig
from seqcap.errors import InputError
from seqcap.files.json_file import write_json
from seqcap.files.schemas import SPLITS
from seqcap.pipeline.code import closure
from seqcap.pipeline.params import (
    GENERATED,
    PARAMS,
    ClipTask,
    Features,
    ImageTask,
    Params,
    RetrieverParams,
    RunParams,
    VarianceParams,
    validated,
)
from seqcap.system.machine import MACHINE
from seqcap.tasks import KINDS
from seqcap.world import scenes
from seqcap.world.parallel import LANGUAGES

# The objective of pretraining. A run with it may be the pretrained captioner itself, and it uses no reward.
LIKELIHOOD = "cross_entropy"
# Folders of artifacts/ that belong to no task and no paper.
RESERVED = ("encoder", "mined", "pretrain", "retriever", "sections", "timing", "words")
# What an objective reads that is no word: a retriever, which its group names.
LISTENER = "listener"

Files = dict[Path, StageConfig]


def write_configs(params: Params, folder: Path = CONFIGS, machine: Path = MACHINE) -> None:
    """Writes every stage's configuration, and how to run them to `machine`. Deletes files of stages that are gone.

    Raises:
        InputError: as `resolve`.
    """
    files = {folder / path.relative_to(CONFIGS): config for path, config in resolve(params).items()}
    for stale in set(folder.rglob("*.json")) - set(files):
        stale.unlink()
    for path, config in files.items():
        write_config(path, config)
    shared = params.shared
    write_json(machine, {"device": shared.device, "workers": shared.workers, "launcher": shared.launcher})


def resolve(params: Params) -> Files:
    """Every stage's configuration, by its path.

    Raises:
        InputError: a name does not exist, a setting is wrong, a dataset has no root, or a group's `start` or `reads` is
            not what its runs need.
    """
    _check_groups(params)
    _check_results(params)
    shared = _data(params) | _features(params) | _words(params) | _pretrain(params)
    return shared | _retrievers(params) | _mined(params) | _papers(params)


# --- What captioners read


def _data(params: Params) -> Files:
    files: Files = {}
    for name, task in params.shared.tasks.items():
        path = config_path("data", name)
        generated = task.dataset in GENERATED
        if not generated and task.root is None:
            raise InputError(PARAMS, f"tasks.{name}.root is null, but {task.dataset} is on disk", "name its folder")
        root = f"artifacts/{name}/data" if generated else str(task.root)
        seed, fingerprint = params.shared.seed, {} if generated else _fingerprint(Path(root).glob("*"))
        roots = [KINDS[task.kind].data]
        if isinstance(task, ImageTask):
            files[path] = ImageData(
                dataset=task.dataset,
                root=root,
                min_count=task.min_count,
                max_length=task.max_length,
                scenes=_world(params, name, task) if generated else None,
                seed=seed + task.world.seed_offset,
                fingerprint=fingerprint,
                code=closure([*roots, *(["seqcap.world.scenes"] if generated else [])], ["data.py"]),
            )
            continue
        if isinstance(task, ClipTask):
            files[path] = ClipData(
                dataset=task.dataset,
                root=root,
                min_count=task.min_count,
                max_length=task.max_length,
                clips=params.shared.clips.model_dump() if generated else None,
                seed=seed,
                fingerprint=fingerprint,
                code=closure([*roots, *(["seqcap.world.clips"] if generated else [])], ["data.py"]),
            )
            continue
        corpus = task.model_dump(exclude={"kind", "dataset", "root", "evaluate_on"})
        if generated:
            # Generated text has spaces between all words already.
            corpus |= {"splits": {split: split for split in SPLITS}, "tokenise": False}
        for side in ("source", "target"):
            if generated and corpus[side] not in LANGUAGES:
                allowed = f"scenes are told in {', '.join(LANGUAGES)}"
                raise InputError(PARAMS, f"tasks.{name}.{side} is {corpus[side]!r}", allowed)
        files[path] = SentenceData(
            root=root,
            corpus=Corpus(**corpus),
            parallel=params.shared.parallel.model_dump() if generated else None,
            seed=seed,
            fingerprint=fingerprint,
            code=closure([*roots, *(["seqcap.world.parallel"] if generated else [])], ["data.py"]),
        )
    return files


def _world(params: Params, name: str, task: ImageTask) -> dict[str, Any]:
    """The settings of a task's scenes."""
    own = task.world.model_dump(exclude={"seed_offset"}, exclude_none=True)
    values = params.shared.scenes.model_dump() | own
    return validated(scenes.Config, values, PARAMS, f"tasks.{name}.world").model_dump()


def _features(params: Params) -> Files:
    """The configurations of encoder, features and probe, for every task with pictures or clips."""
    files: Files = {}
    with_pictures = {name for name, task in params.shared.tasks.items() if KINDS[task.kind].features}
    # An experiment on sentences alone extracts none.
    users = (params.shared.pretrain, params.groups, params.variances, params.estimators)
    needed = with_pictures & {entry.task for section in users for entry in section.values()}
    given = set(params.shared.features)
    if not needed <= given <= with_pictures:
        allowed = f"name one section for each of {', '.join(sorted(needed or with_pictures))}"
        raise InputError(PARAMS, f"features has {', '.join(params.shared.features) or 'nothing'}", allowed)
    for name, features in params.shared.features.items():
        data = _data(params)[config_path("data", name)]
        assert isinstance(data, ImageData | ClipData)
        _check_features(name, features, data)
        of_encoder = ["seqcap.training.encoders"] if features.weights == "scenes" else []
        files[config_path("encoder", name)] = EncoderConfig(
            task=name,
            fingerprint=_fingerprint([Path(features.weights)]),
            seed=params.shared.seed,
            **features.model_dump(exclude={"grid", "dtype"}),
            code=closure(of_encoder, ["encoder.py"]),
        )
        files[config_path("features", name)] = FeaturesConfig(
            task=name,
            root=data.root,
            **features.model_dump(include={"grid", "dtype", "batch_size", "image_size", "frames"}),
            code=closure([], ["features.py"]),
        )
        of_probe = ["seqcap.features.probe"] if data.dataset in GENERATED else []
        files[config_path("probe", name)] = ProbeConfig(
            task=name,
            dataset=data.dataset,
            code=closure(of_probe, ["probe.py"]),
        )
    return files


def _check_features(name: str, features: Features, data: ImageData | ClipData) -> None:
    """Checks that a task's features can be made of its data."""
    place, clips = f"features.{name}", isinstance(data, ClipData)
    if features.weights == "scenes" and data.dataset not in GENERATED:
        what = f"{place}.weights is 'scenes', but the pictures are {data.dataset}'s"
        raise InputError(PARAMS, what, "use imagenet, or a checkpoint")
    if (features.frames is not None) != clips:
        fix = "say how many frames of a clip are read" if clips else "only clips have frames: remove it"
        raise InputError(PARAMS, f"{place}.frames is {features.frames}", fix)
    if features.backbone == "clips_cnn" and not clips:
        raise InputError(PARAMS, f"{place}.backbone is 'clips_cnn'", "it reads clips: use scenes_cnn")


def _words(params: Params) -> Files:
    """The configurations of word embeddings for every task, and of paraphrases for every task with pictures."""
    files: Files = {}
    glove = params.shared.embeddings.glove.model_copy(update={"seed": params.shared.seed})
    if set(params.shared.embeddings.files) != set(params.shared.tasks):
        given = ", ".join(params.shared.embeddings.files)
        raise InputError(PARAMS, f"embeddings.files has {given}", f"name {', '.join(params.shared.tasks)}")
    for name, file in params.shared.embeddings.files.items():
        files[config_path("embeddings", name)] = EmbeddingsConfig(
            task=name,
            kind=params.shared.tasks[name].kind,
            glove=glove,
            source=file,
            fingerprint={} if file is None else _fingerprint([Path(file)]),
            code=closure([], ["embeddings.py"]),
        )
    for name in params.shared.features:
        files[config_path("paraphrases", name)] = WordsConfig(task=name, code=closure([], ["paraphrases.py"]))
    return files


def _fingerprint(paths: Iterable[Path]) -> dict[str, tuple[int, int]]:
    """Sizes and times of change of the files among `paths`."""
    files = sorted(path for path in paths if path.is_file())
    return {path.name: (path.stat().st_size, path.stat().st_mtime_ns) for path in files}


# --- What is trained


def _pretrain(params: Params) -> Files:
    files: Files = {}
    for name, pretrain in params.shared.pretrain.items():
        run = TrainingRun(
            **_captioner(params, name),
            name=name,
            paper="",
            objective=LIKELIHOOD,
            settings={},
            reward={},
            training=pretrain.training,
            start=None,
            reads={},
            weights=f"artifacts/pretrain/{name}",
        )
        files[config_path("pretrain", name)] = TrainConfig(runs=(run,), code=_training_code(params, [run]))
    return files


def _retrievers(params: Params) -> Files:
    files: Files = {}
    for name, retriever in params.shared.retrievers.items():
        place = f"retrievers.{name}"
        task = params.shared.tasks.get(retriever.task)
        if not isinstance(task, ImageTask):
            raise InputError(PARAMS, f"{place}.task is {retriever.task!r}", "name a task with pictures")
        what = f"{place}.architecture is {retriever.architecture!r}"
        config = _config_class(retrieval, retriever.architecture, PARAMS, what)
        trained = retriever.folder is None
        if trained == (retriever.architecture == "clip"):
            fix = "a CLIP is read from a folder, other retrievers are trained (null)"
            raise InputError(PARAMS, f"{place}.folder is {retriever.folder!r}", fix)
        training = validated(RetrieverTraining, retriever.training, PARAMS, f"{place}.training") if trained else None
        data = _data(params)[config_path("data", retriever.task)]
        assert isinstance(data, ImageData)
        first = params.shared.seed + retriever.seed_offset
        modules = ["seqcap.training.retrievers"] if trained else []
        files[config_path("retriever", name)] = RetrieverConfig(
            name=name,
            task=retriever.task,
            architecture=retriever.architecture,
            # A CLIP's stage names the files itself.
            model=validated(config, retriever.model, PARAMS, f"{place}.model").model_dump() if trained else {},
            training=training,
            seeds=tuple(first + i for i in range(retriever.seeds)),
            evaluate_on=task.evaluate_on,
            max_length=task.max_length + 1,
            folder=retriever.folder,
            fingerprint={} if retriever.folder is None else _fingerprint(Path(retriever.folder).glob("*")),
            root=data.root,
            weights=f"artifacts/retriever/{name}",
            code=closure([*modules, f"seqcap.retrieval.{retriever.architecture}"], ["retriever.py"]),
        )
    return files


def _mined(params: Params) -> Files:
    files: Files = {}
    for name, mined in params.shared.mined.items():
        retriever = params.shared.retrievers.get(name)
        if retriever is None or retriever.task != mined.task:
            known = [key for key, value in params.shared.retrievers.items() if value.task == mined.task]
            what = f"mined.{name} is no retriever of the task {mined.task}"
            raise InputError(PARAMS, what, f"allowed: {', '.join(known)}")
        files[config_path("mine", name)] = MiningConfig(
            name=name,
            task=mined.task,
            retriever=f"artifacts/retriever/{name}",
            seeds=tuple(params.shared.seed + i for i in range(retriever.seeds)),
            seed_offset=retriever.seed_offset,
            neighbours=mined.neighbours,
            max_length=params.shared.tasks[mined.task].max_length + 1,
            mined=f"artifacts/mined/{name}",
            code=closure([f"seqcap.retrieval.{retriever.architecture}"], ["mine.py"]),
        )
    return files


def _captioner(params: Params, name: str) -> dict[str, Any]:
    """What a run takes from its captioner."""
    captioner = params.shared.captioners[name]
    own = f"captioners.{name}"
    task = params.shared.tasks[captioner.task]
    what = f"{own}.architecture is {captioner.architecture!r}"
    config = _config_class(models, captioner.architecture, PARAMS, what)
    if task.kind not in models.model_class(captioner.architecture).kinds:
        raise InputError(PARAMS, what, f"it cannot read the task {captioner.task}")
    return {
        "task": captioner.task,
        "kind": task.kind,
        "captioner": name,
        "architecture": captioner.architecture,
        "model": validated(config, captioner.model, PARAMS, f"{own}.model").model_dump(),
        "seeds": tuple(params.shared.seed + i for i in range(captioner.seeds)),
        # One more than the words of a caption: EOS.
        "max_length": task.max_length + 1,
        "precision": params.shared.precision,
    }


def _group_runs(params: Params, group: str) -> dict[str, TrainingRun]:
    """The runs of a group, by name."""
    names = [name for name, run in params.runs.items() if run.group == group]
    if not names:
        raise InputError(params.source(group), f"groups.{group} has no run", "give it one, or remove it")
    runs = {name: _run(params, name, params.runs[name]) for name in names}
    needed = {path for run in runs.values() for path in run.reads.values()}
    _check_reads(params, group, needed)
    return runs


def _run(params: Params, name: str, run: RunParams) -> TrainingRun:
    """A training run, from its own parameters and its group's."""
    source, place = params.source(name), f"runs.{name}"
    group = params.groups[str(run.group)]
    given = _captioner(params, group.captioner)
    start_seeds = _start_seeds(params, str(run.group))
    if not run.label:
        raise InputError(source, f"{place}.label is missing", "say what the report calls it")
    if run.seeds is not None:
        if start_seeds is not None and run.seeds > start_seeds:
            raise InputError(source, f"{place}.seeds is {run.seeds}", f"{group.start} has {start_seeds}")
        given["seeds"] = tuple(params.shared.seed + i for i in range(run.seeds))
    settings = objective_settings(run.objective, run.settings, source, place)
    weights = _reward(params, run.reward, group.task, source, place)
    words = f"artifacts/words/{group.task}"
    needed = objectives.model_class(run.objective).reads
    reads = {what: f"{words}/{what}.parquet" for what in needed if what != LISTENER}
    if LISTENER in needed:
        reads[LISTENER] = _listener(params, str(run.group), len(given["seeds"]))
    if weights.get("meteor"):
        reads["paraphrases"] = f"{words}/paraphrases.parquet"
    return TrainingRun(
        **given,
        name=name,
        paper=group.paper,
        objective=run.objective,
        settings=settings,
        reward=weights,
        training=validated(Training, run.training, source, f"{place}.training"),
        start=None if start_seeds is None else f"artifacts/{group.start}",
        reads=reads,
        weights=f"artifacts/{group.paper}/train/{run.group}/{name}",
    )


def _start_seeds(params: Params, name: str) -> int | None:
    """How many seeds a group can continue from; None: its runs start from scratch.

    Raises:
        InputError: there is no such start, or it is no captioner of the group's kind.
    """
    group = params.groups[name]
    captioner = params.shared.captioners[group.captioner]
    pretrained = {name: captioner.seeds for name in params.shared.pretrain if name == group.captioner}
    starts: dict[str, int | None] = {f"pretrain/{name}": seeds for name, seeds in pretrained.items()}
    starts[f"{group.task}/data"] = None
    for other, run in params.runs.items():
        of_other = params.groups.get(str(run.group))
        if of_other is not None and run.group != name and of_other.captioner == group.captioner:
            starts[f"{of_other.paper}/train/{run.group}/{other}"] = run.seeds or captioner.seeds
    if group.start not in starts:
        allowed = f"allowed: {', '.join(list(starts)[:10])}{', ...' if len(starts) > 10 else ''}"
        raise InputError(params.source(name), f"groups.{name}.start is {group.start!r}", allowed)
    return starts[group.start]


def _listener(params: Params, name: str, seeds: int) -> str:
    """The folder of the listeners that a group's runs start with.

    Raises:
        InputError: it names none, or one of another task, with other seeds or without weights to train on.
    """
    group = params.groups[name]
    allowed = _listeners(params, group.task)
    what = f"groups.{name}.reads is {group.reads!r}"
    if group.reads not in allowed:
        fix = f"its runs read a listener; allowed: {', '.join(allowed) or 'none, add one to retrievers in params.yaml'}"
        raise InputError(params.source(name), what, fix)
    retriever = allowed[group.reads]
    # What was mined has the seeds of runs.
    if (group.reads.startswith("retriever/") and retriever.seed_offset != 0) or retriever.seeds < seeds:
        fix = f"run and listener share their seed: name one with seed_offset 0 and at least {seeds} of `seeds`"
        if group.reads.startswith("mined/"):
            fix = f"each run needs what its own seed mined: give the retriever at least {seeds} of `seeds`"
        raise InputError(params.source(name), what, fix)
    return f"artifacts/{group.reads}"


def _listeners(params: Params, task: str) -> dict[str, RetrieverParams]:
    """The retrievers that a task's runs may start with, by their paths below artifacts/: those that can be trained, and
    what mined similar pictures, which may be a user's CLIP."""
    known = {name: value for name, value in params.shared.retrievers.items() if value.task == task}
    trained = {f"retriever/{name}": value for name, value in known.items() if not value.folder}
    return trained | {f"mined/{name}": value for name, value in known.items() if name in params.shared.mined}


def objective_settings(objective: str, settings: dict[str, Any], source: Path, place: str) -> dict[str, Any]:
    """An objective's settings as its own Config checks and completes them.

    Raises:
        InputError: there is no such objective, or a setting is wrong.
    """
    config = _config_class(objectives, objective, source, f"{place}.objective is {objective!r}")
    return validated(config, settings, source, f"{place}.settings").model_dump()


def _config_class(package: ModuleType, name: str, source: Path, what: str) -> type[BaseModel]:
    """The settings of a module of `package`: a captioner, objective or retriever.

    Raises:
        InputError: there is no such module; `what` names the parameter.
    """
    try:
        return package.config_class(name)  # type: ignore[no-any-return]
    except ModuleNotFoundError as error:
        # An import that is missing in the module itself is a fault of its code, not of the parameters.
        if error.name != f"{package.__name__}.{name}":
            raise
        folder = package.__name__.replace(".", "/")
        raise InputError(source, what, f"there is no such file in src/{folder}") from None


def _reward(params: Params, reward: str | None, task: str, source: Path, place: str) -> dict[str, float]:
    """A reward's weights, after a check that the task allows it; empty without a reward."""
    if reward is None:
        return {}
    if reward not in params.shared.rewards:
        raise InputError(source, f"{place}.reward is {reward!r}", f"allowed: {', '.join(params.shared.rewards)}")
    weights = params.shared.rewards[reward]
    english = [metric for metric, weight in weights.items() if weight and metric in rewards.ENGLISH]
    if english and not KINDS[params.shared.tasks[task].kind].english:
        what = f"{place}.reward is {reward!r}, with {english[0]}"
        raise InputError(source, what, f"{english[0]} is not for translations")
    return weights


def _training_code(params: Params, runs: Iterable[TrainingRun]) -> dict[str, str]:
    return closure((module for run in runs for module in training_modules(params, run)), ["train.py"])


def training_modules(params: Params, run: TrainingRun) -> Iterator[str]:
    """What training a run imports by name."""
    yield f"seqcap.models.{run.architecture}"
    yield f"seqcap.objectives.{run.objective}"
    yield from KINDS[run.kind].modules
    yield from rewards.modules(run.reward)
    if "embeddings" in run.reads:
        yield "seqcap.data.embeddings"
    if LISTENER in run.reads:
        listener = _listeners(params, run.task)[run.reads[LISTENER].removeprefix("artifacts/")]
        yield f"seqcap.retrieval.{listener.architecture}"


def _check_groups(params: Params) -> None:
    """Checks that what is named is there, and that what is named together belongs together."""
    tasks, captioners = params.shared.tasks, params.shared.captioners
    for section, key, allowed in (
        ("captioners", "task", tasks),
        ("papers", "pictures", tasks),
        ("evaluations", "paper", params.papers),
        ("evaluations", "task", tasks),
        ("groups", "paper", params.papers),
        ("groups", "task", tasks),
        ("groups", "evaluation", params.evaluations),
        ("groups", "captioner", captioners),
        ("retrievals", "paper", params.papers),
        ("retrievals", "task", tasks),
        ("retrievals", "evaluation", params.evaluations),
        ("variances", "paper", params.papers),
        ("variances", "task", tasks),
        ("variances", "captioner", captioners),
        ("estimators", "paper", params.papers),
        ("estimators", "task", tasks),
        ("runs", "group", params.groups),
        ("ensembles", "run", params.runs),
    ):
        for name, entry in getattr(params.shared if section == "captioners" else params, section).items():
            value = getattr(entry, key)
            if value not in allowed:
                what = f"{section}.{name}.{key} is {value!r}"
                raise InputError(params.source(name), what, f"allowed: {', '.join(allowed)}")
    for name, pretrain in params.shared.pretrain.items():
        if name not in captioners:
            raise InputError(PARAMS, f"pretrain.{name} is no captioner", f"allowed: {', '.join(captioners)}")
        if pretrain.task != captioners[name].task:
            what = f"pretrain.{name}.task is {pretrain.task!r}"
            raise InputError(PARAMS, what, f"captioner {name} is for the task {captioners[name].task}")
    for name in [*tasks, *params.papers]:
        if name in RESERVED or (name in tasks and name in params.papers):
            raise InputError(params.source(name), f"{name!r} is the name of another folder", "choose another name")
    for name in params.ratings:
        if name not in params.papers:
            raise InputError(params.source(name), f"ratings.{name} is no paper", f"allowed: {', '.join(params.papers)}")
    for name in params.ensembles:
        if name in params.runs:
            raise InputError(params.source(name), f"ensembles.{name} is the name of a run, too", "give it another")
    for section in ("groups", "variances"):
        for name, entry in getattr(params, section).items():
            of_captioner = captioners[entry.captioner].task
            if of_captioner != entry.task:
                what = f"{section}.{name}.captioner is {entry.captioner!r}"
                raise InputError(params.source(name), what, f"it is for the task {of_captioner}, not {entry.task}")
    for name, group in params.groups.items():
        evaluation = params.evaluations[group.evaluation]
        if (evaluation.paper, evaluation.task) != (group.paper, group.task):
            what = f"groups.{name}.evaluation is {group.evaluation!r}"
            raise InputError(params.source(name), what, f"it is of {evaluation.paper}, task {evaluation.task}")
    for name in params.evaluations:
        if name not in {group.evaluation for group in params.groups.values()}:
            raise InputError(params.source(name), f"evaluations.{name} has no group", "give it one, or remove it")


def _check_results(params: Params) -> None:
    """Checks that no two entries of a paper write the same file of results."""
    written: dict[tuple[str, str], str] = {}
    for section, ending in (("evaluations", ""), ("retrievals", "_retrieval"), ("variances", ""), ("estimators", "")):
        for name, entry in getattr(params, section).items():
            other = written.setdefault((entry.paper, f"{name}{ending}"), f"{section}.{name}")
            if other != f"{section}.{name}":
                problem = f"{section}.{name} writes the same results as {other}"
                raise InputError(params.source(name), problem, "give one of them another name")


def _check_reads(params: Params, name: str, needed: set[str]) -> None:
    """Checks that `reads`, the one dependency of a group besides its data, covers what its runs read."""
    group = params.groups[name]
    declared = f"artifacts/{group.reads}"
    if not needed:
        wanted = f"{group.task}/data/vocabulary.json"
    elif len(needed) == 1:
        wanted = needed.pop().removeprefix("artifacts/")
    else:
        wanted = f"words/{group.task}"
    if declared != f"artifacts/{wanted}":
        raise InputError(params.source(name), f"groups.{name}.reads is {group.reads!r}", f"its runs read {wanted}")


# --- The papers


def _papers(params: Params) -> Files:
    files: Files = {}
    training: dict[str, dict[str, TrainingRun]] = {name: _group_runs(params, name) for name in params.groups}
    decoding = {name: _decoding_runs(params, name, runs) for name, runs in training.items()}
    for name, runs in training.items():
        code = _training_code(params, runs.values())
        files[config_path("train", name)] = TrainConfig(runs=tuple(runs.values()), code=code)
        modules = [KINDS[params.shared.tasks[params.groups[name].task].kind].reader]
        modules += {f"seqcap.models.{run.architecture}" for run in runs.values()}
        code = closure(modules, ["decode.py"])
        files[config_path("decode", name)] = DecodeConfig(runs=tuple(decoding[name]), code=code)
    for name in params.evaluations:
        groups = [group for group, of_group in params.groups.items() if of_group.evaluation == name]
        files[config_path("evaluate", name)] = _evaluation(params, name, [run for g in groups for run in decoding[g]])
    for name in params.retrievals:
        evaluation = params.retrievals[name].evaluation
        groups = [group for group, of_group in params.groups.items() if of_group.evaluation == evaluation]
        files[config_path("retrieve", name)] = _retrieval(params, name, [run for g in groups for run in decoding[g]])
    for name, variance in params.variances.items():
        files[config_path("variance", name)] = _variance(params, name, variance)
    for name in params.estimators:
        files[config_path("estimators", name)] = _estimators(params, name)
    for name in params.papers:
        groups = [group for group, of_group in params.groups.items() if of_group.paper == name]
        own = {run.name: run for group in groups for run in _reported(params, group, decoding[group])}
        # In the order of the parameters; ensembles after the runs.
        order = [run for run in (*params.runs, *params.ensembles) if run in own]
        files |= _paper_files(params, name, [own[run] for run in order])
    files[config_path("report")] = ReportConfig(
        scale=params.shared.scale,
        papers=tuple(params.papers),
        pictures=tuple(params.shared.features),
        beside=params.shared.report.beside or {},
        code=closure([], ["report.py"]),
    )
    return files


def _decoding_runs(params: Params, group: str, runs: dict[str, TrainingRun]) -> list[DecodingRun]:
    """What a group decodes: its ensembles, or each of its runs with every seed."""
    evaluation = params.evaluations[params.groups[group].evaluation]
    ensembles = {name: value for name, value in params.ensembles.items() if value.run in runs}
    teams = {name: (runs[value.run], _teams(params, name, runs[value.run].seeds)) for name, value in ensembles.items()}
    if not ensembles:
        teams = {name: (run, tuple((seed,) for seed in run.seeds)) for name, run in runs.items()}
    return [
        DecodingRun(
            name=name,
            task=run.task,
            kind=run.kind,
            split=_split(params, params.groups[group].evaluation),
            max_length=run.max_length,
            weights=run.weights,
            teams=of_run,
            beam=evaluation.beam,
            samples=evaluation.samples,
            no_repeat_ngram=evaluation.no_repeat_ngram,
            batch_size=params.shared.decoding.batch_size,
            decoded=f"artifacts/{run.paper}/decode/{params.groups[group].evaluation}/{group}/{name}.parquet",
        )
        for name, (run, of_run) in teams.items()
    ]


def _teams(params: Params, name: str, seeds: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """The seeds of each of an entry's ensembles."""
    ensemble = params.ensembles[name]
    if ensemble.members * ensemble.number > len(seeds):
        what = f"ensembles.{name} takes {ensemble.number} x {ensemble.members} seeds"
        raise InputError(params.source(name), what, f"run {ensemble.run} has {len(seeds)}")
    starts = range(0, ensemble.members * ensemble.number, ensemble.members)
    return tuple(seeds[start : start + ensemble.members] for start in starts)


def _split(params: Params, evaluation: str) -> str:
    """The split that is decoded. Only scenes have the split "server". Other datasets use `evaluate_on` instead."""
    task = params.shared.tasks[params.evaluations[evaluation].task]
    split = params.evaluations[evaluation].split
    return task.evaluate_on if split is None or (split == "server" and task.dataset != "scenes") else split


def _evaluation(params: Params, name: str, runs: list[DecodingRun]) -> EvaluationConfig:
    evaluation = params.evaluations[name]
    task = params.shared.tasks[evaluation.task]
    rewards_of_runs = (params.runs[run.name].reward for run in runs if run.name in params.runs)
    paid = dict.fromkeys(reward for reward in rewards_of_runs if reward is not None)
    return EvaluationConfig(
        name=name,
        paper=evaluation.paper,
        task=evaluation.task,
        kind=task.kind,
        dataset=task.dataset,
        split=_split(params, name),
        references=None if evaluation.references is None else tuple(evaluation.references),
        rewards={reward: params.shared.rewards[reward] for reward in paid},
        decoded={run.name: run.decoded for run in runs},
        code=closure([KINDS[task.kind].evaluator], ["evaluate.py"]),
    )


def _retrieval(params: Params, name: str, runs: list[DecodingRun]) -> RetrievalConfig:
    """The scores of what an evaluation's captions tell retrievers."""
    wanted, source = params.retrievals[name], params.source(name)
    evaluation = params.evaluations[wanted.evaluation]
    if (evaluation.paper, evaluation.task) != (wanted.paper, wanted.task):
        what = f"retrievals.{name}.evaluation is {wanted.evaluation!r}"
        raise InputError(source, what, f"it is of {evaluation.paper}, task {evaluation.task}")
    retrievers = {
        f"retriever/{key}": value for key, value in params.shared.retrievers.items() if value.task == wanted.task
    } | _listeners(params, wanted.task)
    for key in ("listener", "judge"):
        if getattr(wanted, key) not in retrievers:
            what = f"retrievals.{name}.{key} is {getattr(wanted, key)!r}"
            raise InputError(source, what, f"allowed: {', '.join(retrievers)}")
    starts = [f"pretrain/{key}" for key in params.shared.pretrain if _captioner(params, key)["task"] == wanted.task]
    if wanted.start not in starts:
        raise InputError(source, f"retrievals.{name}.start is {wanted.start!r}", f"allowed: {', '.join(starts)}")
    task = params.shared.tasks[wanted.task]
    modules = [f"seqcap.retrieval.{retrievers[key].architecture}" for key in (wanted.listener, wanted.judge)]
    captioner = params.shared.captioners[wanted.start.removeprefix("pretrain/")]
    return RetrievalConfig(
        name=name,
        paper=wanted.paper,
        task=wanted.task,
        dataset=task.dataset,
        split=_split(params, wanted.evaluation),
        decoded={run.name: run.decoded for run in runs},
        weights={run.name: run.weights for run in runs},
        decoder=wanted.decoder,
        listener=f"artifacts/{wanted.listener}",
        judge=f"artifacts/{wanted.judge}",
        captioner=f"artifacts/{wanted.start}",
        max_length=task.max_length + 1,
        code=closure(
            ["seqcap.evaluation.retrieval", f"seqcap.models.{captioner.architecture}", *modules], ["retrieve.py"]
        ),
    )


def _variance(params: Params, name: str, variance: VarianceParams) -> VarianceConfig:
    """The measurement of the gradient's variance."""
    source, place = params.source(name), f"variances.{name}"
    objective = "rollout_policy_gradient"
    captioner = _captioner(params, variance.captioner)
    if variance.start != f"pretrain/{variance.captioner}" or variance.captioner not in params.shared.pretrain:
        raise InputError(source, f"{place}.start is {variance.start!r}", f"allowed: pretrain/{variance.captioner}")
    weights = _reward(params, variance.reward, variance.task, source, place)
    if weights.get("meteor"):
        raise InputError(source, f"{place}.reward is {variance.reward!r}", "name one without meteor")
    settings = [
        objective_settings(objective, variance.settings | {"rollouts": k}, source, place) for k in variance.rollouts
    ]
    modules = [f"seqcap.models.{captioner['architecture']}", *KINDS[captioner["kind"]].modules]
    return VarianceConfig(
        **variance.model_dump(include={"paper", "task", "images", "replicates", "batch_size", "learning_rate"}),
        kind=captioner["kind"],
        reward=weights,
        settings=tuple(settings),
        max_length=captioner["max_length"],
        seed=params.shared.seed,
        start=f"artifacts/{variance.start}",
        code=closure([*modules, *rewards.modules(weights)], ["variance.py"]),
    )


def _estimators(params: Params, name: str) -> EstimatorsConfig:
    """The measurement of gradients through a listener, which share its seed with the captioner."""
    wanted, source = params.estimators[name], params.source(name)
    retrievers = {
        f"retriever/{key}": value
        for key, value in params.shared.retrievers.items()
        if value.task == wanted.task and value.seed_offset == 0 and not value.folder
    }
    captioners = {f"pretrain/{key}": _captioner(params, key) for key in params.shared.pretrain}
    starts = [start for start, captioner in captioners.items() if captioner["task"] == wanted.task]
    for key, allowed in (("listener", list(retrievers)), ("start", starts)):
        if getattr(wanted, key) not in allowed:
            what = f"estimators.{name}.{key} is {getattr(wanted, key)!r}"
            raise InputError(source, what, f"allowed: {', '.join(allowed)}")
    captioner = captioners[wanted.start]
    modules = [
        KINDS[captioner["kind"]].reader,
        f"seqcap.models.{captioner['architecture']}",
        f"seqcap.retrieval.{retrievers[wanted.listener].architecture}",
    ]
    return EstimatorsConfig(
        **wanted.model_dump(exclude={"listener", "start"}),
        listener=f"artifacts/{wanted.listener}",
        start=f"artifacts/{wanted.start}",
        max_length=captioner["max_length"],
        seed=params.shared.seed,
        code=closure(modules, ["estimators.py"]),
    )


def _reported(params: Params, group: str, runs: list[DecodingRun]) -> Iterator[ReportedRun]:
    """What the report says of a group's runs or ensembles."""
    of_group = params.groups[group]
    for decoded in runs:
        ensemble = params.ensembles.get(decoded.name)
        run = params.runs[ensemble.run if ensemble else decoded.name]
        source, place = params.source(decoded.name), f"runs.{decoded.name}"
        settings = objective_settings(run.objective, run.settings, source, place)
        training = validated(Training, run.training, source, f"{place}.training")
        yield ReportedRun(
            name=decoded.name,
            label=ensemble.label if ensemble else run.label,
            row=run.row,
            task=of_group.task,
            captioner=of_group.captioner,
            objective=run.objective,
            settings=settings,
            # A run may inherit a reward from the others of its paper, but cross-entropy does not use it.
            reward=None if run.objective == LIKELIHOOD else run.reward,
            epochs=training.epochs,
            learning_rate=training.learning_rate,
            seeds=tuple(team[0] for team in decoded.teams),
            evaluation=of_group.evaluation,
            members=ensemble.members if ensemble else 0,
            start=None if _start_seeds(params, group) is None else f"artifacts/{of_group.start}",
            weights=decoded.weights,
            decoded=decoded.decoded,
        )


def _paper_files(params: Params, name: str, runs: list[ReportedRun]) -> Files:
    """The configurations of a paper's tables, figures and section, which differ in `code` only, and of its page for
    raters."""
    if not runs:
        raise InputError(params.source(name), f"papers.{name} has no run", "give it a group, or remove it")
    results = f"artifacts/{name}/results"
    common: dict[str, Any] = {
        "paper": name,
        "scale": params.shared.scale,
        "pictures": params.papers[name].pictures,
        "clips": _clips(params, name, runs),
        "tasks": {
            # Only generated pictures may be shown: photographs belong to others.
            task: ReportedTask(kind=value.kind, dataset=_dataset(params, task), show=value.dataset in GENERATED)
            for task, value in params.shared.tasks.items()
            if task in {params.papers[name].pictures, *(run.task for run in runs)}
        },
        "evaluations": {
            key: ReportedEvaluation(
                task=value.task,
                split=_split(params, key),
                references=None if value.references is None else tuple(value.references),
                beam=value.beam,
                samples=value.samples,
                scores=f"{results}/{key}.parquet",
                retrieval=tuple(
                    f"{results}/{other}_retrieval.parquet"
                    for other, retrieved in params.retrievals.items()
                    if retrieved.evaluation == key
                ),
            )
            for key, value in params.evaluations.items()
            if value.paper == name
        },
        "results": results,
        "runs": tuple(runs),
    }
    files: Files = {}
    for stage in ("tables", "figures", "section"):
        modules, data = papers.sources(name, stage)
        code = closure(modules, [f"{stage}.py"], data)
        if stage == "section":
            comparisons = _comparisons(params, name, runs)
            files[config_path(stage, name)] = SectionConfig(**common, comparisons=comparisons, code=code)
        else:
            files[config_path(stage, name)] = PaperConfig(**common, code=code)
    if name in params.ratings:
        judge = _judge(params, name)
        modules, data = papers.sources(name, "rating")
        modules.append(f"seqcap.retrieval.{params.shared.retrievers[judge].architecture}")
        code = closure(modules, ["rating.py"], [*data, *(f"rating/*.{kind}" for kind in ("css", "html", "js"))])
        files[config_path("rating", name)] = RatingConfig(**common, judge=f"artifacts/retriever/{judge}", code=code)
    return files


def _comparisons(params: Params, name: str, runs: list[ReportedRun]) -> tuple[tuple[str, str], ...]:
    """The pairs of runs that a paper's section compares.

    Raises:
        InputError: one of them is not trained.
    """
    pairs = params.papers[name].comparisons
    known = [run.name for run in runs]
    for run in (run for pair in pairs for run in pair):
        if run not in known:
            place = f"papers.{name}.comparisons"
            raise InputError(params.source(name), f"{place} names {run!r}", f"choose among {', '.join(known)}")
    return pairs


def _clips(params: Params, name: str, runs: list[ReportedRun]) -> str | None:
    """The task whose clips a paper's figures show, of those that it captions.

    Raises:
        InputError: `reads`, the one dependency of the figures besides pictures, names something else.
    """
    paper, kinds = params.papers[name], {run.task: params.shared.tasks[run.task].kind for run in runs}
    allowed = {f"{task}/data": task for task, kind in kinds.items() if kind == "clips"}
    nothing = f"{paper.pictures}/data/vocabulary.json"
    if paper.reads not in (*allowed, nothing):
        problem = f"papers.{name}.reads is {paper.reads!r}"
        raise InputError(params.source(name), problem, f"allowed: {', '.join((*allowed, nothing))}")
    return allowed.get(paper.reads)


def _judge(params: Params, name: str) -> str:
    """The retriever of a paper's page for raters.

    Raises:
        InputError: it is none of the task's, or the task is not that of the paper's pictures.
    """
    wanted, source, place = params.ratings[name], params.source(name), f"ratings.{name}"
    pictures = params.papers[name].pictures
    if wanted.task != pictures:
        raise InputError(source, f"{place}.task is {wanted.task!r}", f"papers.{name}.pictures is {pictures!r}")
    known = {f"retriever/{key}": key for key, value in params.shared.retrievers.items() if value.task == wanted.task}
    if wanted.judge not in known:
        raise InputError(source, f"{place}.judge is {wanted.judge!r}", f"allowed: {', '.join(known)}")
    return known[wanted.judge]


def _dataset(params: Params, name: str) -> str:
    """The name of a task's dataset. Text files have the name of their folder."""
    task = params.shared.tasks[name]
    return Path(task.root).name if task.dataset == "text" and task.root is not None else task.dataset
