"""The resolution of the parameters into one file per stage and training run.

`params.yaml` is read once, by the `configure` stage. Everything later reads only the resolved JSON files in configs/,
so that changing one objective's learning rate re-runs that objective and what follows from it, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from seqcap import embeddings, models, objectives
from seqcap.artifacts import LANGUAGES, SPLITS, write_json
from seqcap.errors import InputError
from seqcap.models.base import ImageCaptioner
from seqcap.params import (
    PARAMS,
    Loss,
    Losses,
    Metric,
    Paper,
    Params,
    Server,
    Smoothing,
    Training,
    TranslationTask,
    Variance,
    validated,
)

CONFIGS = Path("configs")
# Where to run, not what: no stage depends on this file, so moving to a GPU repeats nothing.
MACHINE = Path("artifacts/machine.json")


def write_configs(params: Params, folder: Path = CONFIGS, machine: Path = MACHINE) -> None:
    """Writes every stage's configuration, and apart from those how to run. Files of variants that no longer exist are
    removed.

    Raises:
        InputError: as `resolve`.
    """
    files = resolve(params)
    folder.mkdir(exist_ok=True)
    for stale in set(folder.glob("*.json")) - {folder / f"{name}.json" for name in files}:
        stale.unlink()
    for name, content in files.items():
        write_json(folder / f"{name}.json", content)
    write_json(machine, {"device": params.device, "workers": params.workers, "launcher": params.launcher})


def resolve(params: Params, source: Path = PARAMS) -> dict[str, dict[str, Any]]:
    """The content of every file in configs/, by name without ".json".

    Raises:
        InputError: an unknown architecture, objective or captioner, a wrong setting, a missing dataset root.
    """
    _check_names(params, source)
    image, features = params.tasks.image, params.features
    if image.dataset == "scenes":
        root = "artifacts/image/data"
    elif image.root is None:
        raise InputError(source, f"tasks.image.root is null, but {image.dataset} is on disk", "name its folder")
    else:
        root = image.root
    where = {"dataset": image.dataset, "root": root}
    files: dict[str, dict[str, Any]] = {
        "data_image": {
            **where,
            "min_count": image.min_count,
            "max_length": image.max_length,
            "scenes": params.scenes.model_dump() if image.dataset == "scenes" else None,
            "seed": params.seed,
            "fingerprint": _fingerprint(Path(root).glob("*")) if image.dataset != "scenes" else None,
        },
        "encoder_image": {
            **where,
            "backbone": features.backbone,
            "weights": features.weights,
            "fingerprint": _fingerprint([Path(features.weights)]),
            "image_size": features.image_size,
            "epochs": features.epochs,
            "learning_rate": features.learning_rate,
            "batch_size": features.batch_size,
            "seed": params.seed,
        },
        "features_image": {
            **where,
            "backbone": features.backbone,
            "grid": features.grid,
            "dtype": features.dtype,
            "batch_size": features.batch_size,
            "image_size": features.image_size,
        },
        "report": {
            "datasets": {"image": image.dataset} | {name: _corpus_name(params, name) for name in LANGUAGES},
            "split": image.evaluate_on,
            "scale": params.scale,
            "papers": {},
            # Only generated pictures may be shown: photographs belong to others.
            "show_images": image.dataset == "scenes",
        },
    }
    for name in LANGUAGES:
        files[f"data_{name}"] = _corpus(params, name, source)
    for name, file in params.embeddings.files.model_dump().items():
        glove = validated(
            embeddings.Config, params.embeddings.glove | {"seed": params.seed}, source, "embeddings.glove"
        )
        fingerprint = None if file is None else _fingerprint([Path(file)])
        files[f"embeddings_{name}"] = {**glove.model_dump(), "source": file, "fingerprint": fingerprint}
    for name, captioner in params.all_captioners.items():
        files[f"pretrain_{name}"] = {
            **_captioner(params, name, source, "captioners"),
            "variant": name,
            "objective": "cross_entropy",
            "settings": {},
            "reward": {},
            "reward_name": None,
            "embeddings": None,
            "training": captioner.pretrain.model_dump(),
            "start_from": None,
            "weights": f"artifacts/{captioner.task}/pretrain/{name}",
        }
    papers = {"sle": params.sle, "spider": params.spider}
    for name, paper in papers.items():
        if paper is not None:
            files |= _paper(params, name, paper, source)
            files["report"]["papers"][name] = list(paper.variants)
    if params.spider is not None:
        files["variance_spider"] = _variance(params, params.spider.variance, source)
    if params.smoothing is not None:
        files |= _smoothing(params, params.smoothing, source)
        files["report"]["papers"]["smoothing"] = [
            file["variant"] for name, file in files.items() if name.startswith("smoothing_")
        ]
    return files


def _evaluation(params: Params, rewards: dict[str, dict[Metric, float]]) -> dict[str, Any]:
    image = params.tasks.image
    return {"split": image.evaluate_on, "dataset": image.dataset, "rewards": rewards}


def _decoding(params: Params, run: dict[str, Any], decoded: str) -> dict[str, Any]:
    """How a run's captions are produced. Of translations the papers have no samples."""
    task = params.tasks[run["task"]]
    own = {"beam": task.beam, "samples": 0} if isinstance(task, TranslationTask) else {}
    return {
        "variant": run["variant"],
        "task": run["task"],
        "split": task.evaluate_on,
        "max_length": run["max_length"],
        "seeds": run["seeds"],
        "weights": run["weights"],
        "decoded": decoded,
        **params.decoding.model_dump(),
        **own,
    }


def _beam_of_three(decoding: dict[str, Any]) -> dict[str, Any]:
    """Elbayad et al.'s beam for captions, without samples; translations have their task's."""
    return decoding | ({"beam": 3, "samples": 0} if decoding["task"] == "image" else {})


def _smoothing(params: Params, smoothing: Smoothing, source: Path) -> dict[str, dict[str, Any]]:
    """The configurations of the parts of loss smoothing that are run."""
    files: dict[str, dict[str, Any]] = {}
    if smoothing.captions is not None:
        files |= _losses(params, smoothing.captions, source, "smoothing.captions")
        files["evaluate_smoothing"] = _evaluation(params, {})
    if smoothing.translation is not None:
        files |= _losses(params, smoothing.translation, source, "smoothing.translation")
        tasks = dict.fromkeys(params.all_captioners[name].task for name in smoothing.translation.captioners)
        files["evaluate_translation_smoothing"] = {"splits": {task: params.tasks[task].evaluate_on for task in tasks}}
    if smoothing.server is not None:
        if smoothing.captions is None:
            raise InputError(source, "smoothing.server is of one of smoothing.captions, which is null", "set both null")
        files |= _server(params, smoothing.server, smoothing.captions, source)
    if not files:
        raise InputError(source, "smoothing has no part that is run", "set all of smoothing null")
    return files


def _losses(params: Params, losses: Losses, source: Path, place: str) -> dict[str, dict[str, Any]]:
    """The configurations of losses on captioners: a file for every variant, and one for each group that trains
    together, with its variants' content."""
    files: dict[str, dict[str, Any]] = {}
    for name in losses.captioners:
        seeds = _first_seeds(_captioner(params, name, source, f"{place}.captioners"), losses.seeds, source, place)
        for group, members in losses.losses.items():
            folder = f"{name}_{group}"
            runs = []
            for key, loss in members.items():
                run = _loss(params, losses, name, loss, source, place, f"{place}.losses.{group}.{key}")
                # Captioners are told apart by how they see an image, translators by their task.
                variant = f"{name if run['task'] == 'image' else run['task']}_{key}"
                weights = f"artifacts/smoothing/train/{folder}/{variant}"
                decoded = f"artifacts/smoothing/decode/{folder}/{variant}.parquet"
                run |= {"variant": variant, "seeds": seeds, "weights": weights, "decoded": decoded}
                files[f"smoothing_{variant}"] = run
                runs.append(run)
            files[f"train_smoothing_{folder}"] = {"runs": runs}
            decodes = [_beam_of_three(_decoding(params, run, run["decoded"])) for run in runs]
            files[f"decode_smoothing_{folder}"] = {"runs": decodes}
    return files


def _loss(
    params: Params, losses: Losses, captioner: str, loss: Loss, source: Path, place: str, at: str
) -> dict[str, Any]:
    """A loss on a captioner; `place` names the losses in params.yaml, `at` this one."""
    settings = _of_captioner(loss.settings, params, captioner, source, f"{at}.settings")
    training = _of_captioner(losses.training, params, captioner, source, f"{place}.training")
    base = _captioner(params, captioner, source, f"{place}.captioners")
    task = base["task"]
    return {
        **base,
        "label": loss.label,
        "objective": loss.objective,
        "settings": _settings(loss.objective, settings, source, at),
        "reward": _reward(params, loss.reward or losses.reward, task, source, f"{at}.reward"),
        "reward_name": loss.reward or losses.reward,
        "embeddings": f"artifacts/{task}/embeddings.parquet",
        "training": validated(Training, training, source, f"{place}.training").model_dump(),
        "start_from": f"artifacts/{task}/pretrain/{captioner}" if losses.pretrained else None,
    }


def _server(params: Params, server: Server, losses: Losses, source: Path) -> dict[str, dict[str, Any]]:
    """The configurations of what is scored as on COCO's server: a single model and an ensemble of its seeds."""
    known = {key: (group, loss) for group, members in losses.losses.items() for key, loss in members.items()}
    if server.loss not in known:
        raise InputError(source, f"smoothing.server.loss is {server.loss!r}", f"allowed: {', '.join(known)}")
    if server.captioner not in losses.captioners:
        raise InputError(
            source, f"smoothing.server.captioner is {server.captioner!r}", f"allowed: {', '.join(losses.captioners)}"
        )
    group, loss = known[server.loss]
    at = f"smoothing.captions.losses.{group}.{server.loss}"
    run = _loss(params, losses, server.captioner, loss, source, "smoothing.captions", at)
    seeds = _first_seeds(run, server.seeds, source, "smoothing.server")
    run |= {"variant": "server", "seeds": seeds, "weights": "artifacts/smoothing/train_server"}
    # Other datasets have no pictures of many captions: the split that all are scored on stands in.
    split = "server" if params.tasks.image.dataset == "scenes" else params.tasks.image.evaluate_on
    members = {"tok_seq_cider": seeds[:1], "tok_seq_cider_ensemble": seeds}
    runs = [
        _beam_of_three(_decoding(params, run, f"artifacts/smoothing/server/{variant}.parquet"))
        | {"variant": variant, "seeds": chosen, "ensemble": len(chosen) > 1, "split": split}
        for variant, chosen in members.items()
    ]
    return {
        "train_server": run,
        "decode_server": {"runs": runs},
        "evaluate_server": {
            "split": split,
            "references": [5, 40],
            "runs": [{key: item[key] for key in ("variant", "decoded")} for item in runs],
            "members": members,
            "captioner": server.captioner,
        },
    }


def _of_captioner(value: Any, params: Params, name: str, source: Path, place: str) -> Any:
    """Picks the value of one captioner wherever there is one for each."""
    if not isinstance(value, dict):
        return value
    if not value or not set(value) <= set(params.all_captioners):
        return {key: _of_captioner(item, params, name, source, f"{place}.{key}") for key, item in value.items()}
    if name not in value:
        raise InputError(source, f"{place} has no value for captioner {name!r}", "add one")
    return value[name]


def _paper(params: Params, name: str, paper: Paper, source: Path) -> dict[str, dict[str, Any]]:
    """The configurations of a paper's training runs, of their decoding and of their evaluation."""
    files: dict[str, dict[str, Any]] = {}
    # Those that image captioners are paid: the other tasks' are scored apart.
    rewards: dict[str, dict[Metric, float]] = {}
    for key, variant in paper.variants.items():
        place = f"{name}.variants.{key}"
        captioner = _captioner(params, variant.captioner, source, f"{place}.captioner")
        if paper.seeds is not None:
            captioner["seeds"] = _first_seeds(captioner, paper.seeds, source, name)
        own = f"{place}.reward" if variant.reward else f"{name}.reward"
        reward = variant.reward or paper.reward
        weights = _reward(params, reward, captioner["task"], source, own)
        if captioner["task"] == "image":
            rewards[reward] = weights
        training = paper.training.model_dump() | variant.training
        files[f"{name}_{key}"] = {
            **captioner,
            "variant": key,
            "label": variant.label,
            "objective": variant.objective,
            "settings": _settings(variant.objective, variant.settings, source, place),
            "reward": weights,
            "reward_name": reward,
            "embeddings": None,
            "training": validated(Training, training, source, f"{place}.training").model_dump(),
            "start_from": f"artifacts/{captioner['task']}/pretrain/{variant.captioner}",
            "weights": f"artifacts/{name}/train/{key}",
            "decoded": f"artifacts/{name}/decode/{key}.parquet",
        }
        run = files[f"{name}_{key}"]
        files[f"decode_{name}_{key}"] = _decoding(params, run, run["decoded"])
    files[f"evaluate_{name}"] = _evaluation(params, rewards)
    return files


def _first_seeds(run: dict[str, Any], number: int, source: Path, place: str) -> list[int]:
    """The first of a captioner's seeds; `place` is the parameter that says how many."""
    seeds: list[int] = run["seeds"]
    if number > len(seeds):
        allowed = f"captioner {run['captioner']} has {len(seeds)}"
        raise InputError(source, f"{place}.seeds is {number}", allowed)
    return seeds[:number]


def _variance(params: Params, variance: Variance, source: Path) -> dict[str, Any]:
    """The configuration of the measurement of the gradient's variance."""
    place = "spider.variance"
    objective = "rollout_policy_gradient"
    settings = {
        k: _settings(objective, variance.settings | {"rollouts": k}, source, place) for k in set(variance.rollouts)
    }
    captioner = _captioner(params, variance.captioner, source, f"{place}.captioner")
    return {
        **variance.model_dump(exclude={"settings", "rollouts", "reward"}),
        "settings": [settings[k] for k in variance.rollouts],
        "reward": _reward(params, variance.reward, "image", source, f"{place}.reward"),
        "max_length": captioner["max_length"],
        "seed": params.seed,
        "start_from": f"artifacts/image/pretrain/{variance.captioner}",
    }


def _settings(objective: str, settings: dict[str, Any], source: Path, place: str) -> dict[str, Any]:
    """An objective's settings as its own Config checks and completes them."""
    try:
        config = objectives.config_class(objective)
    except ModuleNotFoundError:
        raise InputError(
            source, f"{place}.objective is {objective!r}", "there is no such file in src/seqcap/objectives"
        ) from None
    return validated(config, settings, source, f"{place}.settings").model_dump()


def _reward(params: Params, reward: str, task: str, source: Path, place: str) -> dict[Metric, float]:
    """A reward's weights, if it can be paid on the task."""
    if reward not in params.rewards:
        raise InputError(source, f"{place} is {reward!r}", f"allowed: {', '.join(params.rewards)}")
    weights = params.rewards[reward]
    english = [metric for metric, weight in weights.items() if weight and metric in ("meteor", "spice")]
    if task != "image" and english:
        raise InputError(source, f"{place} is {reward!r}, with {english[0]}", f"{english[0]} is not for translations")
    return weights


def _corpus_name(params: Params, name: str) -> str:
    """What a translation task's data are called: files go by their folder."""
    task = params.tasks[name]
    return Path(task.root).name if task.dataset == "text" and task.root is not None else task.dataset


def _corpus(params: Params, name: str, source: Path) -> dict[str, Any]:
    """The configuration of a translation task's data."""
    task = params.tasks[name]
    assert isinstance(task, TranslationTask)
    generated = task.dataset == "scenes"
    if not generated and task.root is None:
        raise InputError(source, f"tasks.{name}.root is null, but {task.dataset} is on disk", "name its folder")
    root = f"artifacts/{name}/data" if generated else str(task.root)
    corpus = task.model_dump(exclude={"dataset", "root", "beam", "evaluate_on"})
    if generated:
        # As they are written: words with spaces between them.
        corpus |= {"splits": {split: split for split in SPLITS}, "tokenise": False}
    from_language, to_language = LANGUAGES[name]
    return {
        "root": root,
        "corpus": corpus | {"source": from_language, "target": to_language},
        "parallel": params.parallel.model_dump() if generated else None,
        "seed": params.seed,
        "fingerprint": None if generated else _fingerprint(Path(root).glob("*")),
    }


def _check_names(params: Params, source: Path) -> None:
    """Captioners of images and of sentences are pretrained by stages of their own, but variants name either."""
    for section, captioners in (("captioners", params.captioners), ("translators", params.translators)):
        for name, captioner in captioners.items():
            if (captioner.task == "image") != (section == "captioners"):
                allowed = "image" if section == "captioners" else ", ".join(LANGUAGES)
                raise InputError(source, f"{section}.{name}.task is {captioner.task!r}", f"allowed here: {allowed}")
    for name in params.captioners.keys() & params.translators.keys():
        raise InputError(source, f"translators.{name} is the name of a captioner, too", "give it another")


def _captioner(params: Params, name: str, source: Path, place: str) -> dict[str, Any]:
    """What pretraining and every objective share; `place` is the parameter that names the captioner."""
    captioners = params.all_captioners
    if name not in captioners:
        raise InputError(source, f"{place} is {name!r}", f"allowed: {', '.join(captioners)}")
    captioner = captioners[name]
    own = f"captioners.{name}" if name in params.captioners else f"translators.{name}"
    what = f"{own}.architecture is {captioner.architecture!r}"
    try:
        config = models.config_class(captioner.architecture)
    except ModuleNotFoundError:
        raise InputError(source, what, "there is no such file in src/seqcap/models") from None
    if issubclass(models.model_class(captioner.architecture), ImageCaptioner) != (captioner.task == "image"):
        raise InputError(source, what, f"it cannot read the task {captioner.task}")
    return {
        "captioner": name,
        "task": captioner.task,
        "architecture": captioner.architecture,
        "model": validated(config, captioner.model, source, f"{own}.model").model_dump(),
        "seeds": [params.seed + i for i in range(captioner.seeds)],
        # One more than the words of a caption: EOS.
        "max_length": params.tasks[captioner.task].max_length + 1,
    }


def _fingerprint(paths: Iterable[Path]) -> dict[str, list[int]]:
    """Sizes and modification times of the files among `paths`: DVC does not track what lies outside the project."""
    files = sorted(path for path in paths if path.is_file())
    return {path.name: [path.stat().st_size, path.stat().st_mtime_ns] for path in files}
