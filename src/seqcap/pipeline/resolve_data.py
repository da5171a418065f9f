"""From parameters to the configurations of the stages that make what captioners read: data, encoder, features, probe,
embeddings and paraphrases."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from seqcap.config import data as configs
from seqcap.errors import InputError
from seqcap.files.schemas import SPLITS
from seqcap.pipeline.code import closure
from seqcap.pipeline.params import GENERATED, PARAMS, PRETRAINED, ClipTask, ImageTask, Params, SentenceTask
from seqcap.pipeline.validation import find, validated
from seqcap.tasks import KINDS
from seqcap.world import scenes
from seqcap.world.parallel import LANGUAGES


def data_config(params: Params, name: str) -> configs.ImageData | configs.ClipData | configs.SentenceData:
    task, shared = params.shared.tasks[name], params.shared
    generated = task.dataset in GENERATED
    modules = [KINDS[task.kind].data]
    pretrained = task.pretrained if isinstance(task, ImageTask) else None
    if not isinstance(task, SentenceTask):
        modules.append(f"seqcap.data.datasets.{task.dataset}")
    elif generated:
        modules.append("seqcap.world.parallel")
    files = [] if generated else list(Path(str(task.root)).glob("*"))
    if pretrained is not None:
        modules += ["seqcap.features.captioner_folder"]
        files += Path(pretrained).glob("*.json")
    common: dict[str, Any] = {
        "root": data_root(params, name),
        "seed": shared.seed,
        "fingerprint": fingerprint(files),
        "code": closure(modules, ["data.py"]),
    }
    if isinstance(task, SentenceTask):
        corpus = task.model_dump(exclude={"kind", "dataset", "root", "evaluate_on"})
        if generated:
            # Generated text has spaces between all words already.
            corpus |= {"splits": {split: split for split in SPLITS}, "tokenise": False}
            for side in ("source", "target"):
                find(dict.fromkeys(LANGUAGES), corpus[side], PARAMS, f"tasks.{name}.{side}")
        parallel = shared.parallel.model_dump() if generated else None
        return configs.SentenceData(corpus=configs.Corpus(**corpus), parallel=parallel, **common)
    common |= task.model_dump(include={"dataset", "min_count", "max_length"})
    if isinstance(task, ClipTask):
        return configs.ClipData(clips=shared.clips.model_dump() if generated else None, **common)
    values = shared.scenes.model_dump() | task.world
    common["seed"] += values.pop("seed_offset", 0)
    world = validated(scenes.Config, values, PARAMS, f"tasks.{name}.world").model_dump() if generated else None
    return configs.ImageData(scenes=world, pretrained=pretrained, **common)


def data_root(params: Params, name: str) -> str:
    task = params.shared.tasks[name]
    if task.dataset in GENERATED:
        return f"artifacts/{name}/data"
    if task.root is None:
        raise InputError(PARAMS, f"tasks.{name}.root is null, but {task.dataset} is on disk", "name its folder")
    return task.root


def encoder_config(params: Params, name: str) -> configs.EncoderConfig:
    features, task, place = params.shared.features[name], params.shared.tasks[name], f"features.{name}"
    clips = isinstance(task, ClipTask)
    if features.weights == "scenes" and task.dataset not in GENERATED:
        what = f"{place}.weights is 'scenes', but the images are {task.dataset}'s"
        raise InputError(PARAMS, what, "use imagenet, or a checkpoint")
    if (features.frames is not None) != clips or (features.backbone == "clips_cnn" and not clips):
        what = f"{place}.frames is {features.frames}, and the backbone {features.backbone}"
        raise InputError(PARAMS, what, "clips have frames, and images have neither these nor clips_cnn")
    return configs.EncoderConfig(
        task=name,
        fingerprint=fingerprint([Path(features.weights)]),
        seed=params.shared.seed,
        **features.model_dump(exclude={"grid", "dtype"}),
        code=closure(["seqcap.training.encoders"] if features.weights == "scenes" else [], ["encoder.py"]),
    )


def features_config(params: Params, name: str) -> configs.FeaturesConfig:
    values = params.shared.features[name].model_dump(include={"grid", "dtype", "batch_size", "image_size", "frames"})
    return configs.FeaturesConfig(task=name, root=data_root(params, name), **values, code=closure([], ["features.py"]))


def probe_config(params: Params, name: str) -> configs.ProbeConfig:
    dataset = params.shared.tasks[name].dataset
    modules = ["seqcap.features.probe"] if dataset in GENERATED else []
    return configs.ProbeConfig(task=name, dataset=dataset, code=closure(modules, ["probe.py"]))


def embeddings_config(params: Params, name: str) -> configs.EmbeddingsConfig:
    file = params.shared.embeddings.files.get(name)
    return configs.EmbeddingsConfig(
        task=name,
        kind=params.shared.tasks[name].kind,
        glove=params.shared.embeddings.glove.model_copy(update={"seed": params.shared.seed}),
        source=file,
        fingerprint={} if file is None else fingerprint([Path(file)]),
        code=closure([], ["embeddings.py"]),
    )


def check_features(params: Params) -> None:
    """Checks that every task with images or clips whose features a captioner reads has a section in `features`, and no
    task without images."""
    allowed = {name for name, task in params.shared.tasks.items() if KINDS[task.kind].features}
    entries = (params.runs, params.variances, params.estimators)
    used = {entry.captioner for section in entries for entry in section.values()} | set(params.shared.pretrain)
    captioners = [captioner for name, captioner in params.shared.captioners.items() if name in used]
    needed = allowed & {captioner.task for captioner in captioners if captioner.architecture != PRETRAINED}
    if not needed <= set(params.shared.features) <= allowed:
        given = ", ".join(params.shared.features) or "nothing"
        raise InputError(PARAMS, f"features has {given}", f"name each of {', '.join(sorted(needed or allowed))}")


def fingerprint(paths: Iterable[Path]) -> dict[str, tuple[int, int]]:
    """Sizes and times of change of the files among `paths`."""
    files = sorted(path for path in paths if path.is_file())
    return {path.name: (path.stat().st_size, path.stat().st_mtime_ns) for path in files}
