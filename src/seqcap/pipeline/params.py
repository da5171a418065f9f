"""Reads the parameter files as typed values. Whatever is not allowed in them ends in one line.

`params.yaml` holds what papers share, `papers/<paper>.yaml` what one paper trains, and `scales/<scale>.yaml` what
another scale changes of both. DVC loops over `tasks`, `features`, `captioners`, `papers`, `evaluations`, `groups`,
`variances` and `estimators` of the same files, so a scale must not change the graph.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, ScalarEvent

from seqcap.config.data import Glove
from seqcap.config.training import Precision, Training
from seqcap.data import datasets
from seqcap.errors import InputError
from seqcap.rewards import MODULES
from seqcap.world import scenes
from seqcap.world.clips import ClipsConfig
from seqcap.world.parallel import ParallelConfig

PARAMS = Path("params.yaml")
PAPERS = Path("papers")
SCALES = Path("scales")
# A file has some thousand values on a few levels. With aliases, a short one can stand for more than memory holds.
MOST_VALUES, MOST_LEVELS = 100_000, 50
# The sections that are mappings of named entries: first those that dvc.yaml loops over.
ENTRIES = (
    "tasks",
    "features",
    "captioners",
    "pretrain",
    "retrievers",
    "papers",
    "evaluations",
    "groups",
    "retrievals",
    "ratings",
    "variances",
    "estimators",
    "runs",
    "ensembles",
)

M = TypeVar("M", bound=BaseModel)


class Section(BaseModel):
    """A part of the parameters; keys that are not listed are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _name(value: str) -> str:
    # DVC joins names with @ and hyphens, and names become file names.
    if not re.fullmatch(r"[a-z0-9_]+", value):
        raise ValueError("only lower-case letters, digits and underscores are allowed")
    return value


def _path(value: str) -> str:
    if Path(value).is_absolute() or ".." in Path(value).parts:
        raise ValueError("only a path below artifacts/ is allowed")
    return value


def _file(value: str) -> str:
    if "\0" in value or any(len(part.encode(errors="replace")) > 255 for part in Path(value).parts):
        raise ValueError("no file can have this name")
    return value


def _metric(value: str) -> str:
    if value not in MODULES:
        raise ValueError(f"allowed: {', '.join(MODULES)}")
    return value


def _paid(value: dict[str, float]) -> dict[str, float]:
    if not any(value.values()):
        raise ValueError("it pays for nothing: give a metric a weight")
    return value


def _image_dataset(value: str) -> str:
    datasets.find(value, "images")
    return value


def _clip_dataset(value: str) -> str:
    datasets.find(value, "clips")
    return value


Name = Annotated[str, Field(max_length=100), AfterValidator(_name)]
ImageDataset = Annotated[Name, AfterValidator(_image_dataset)]
ClipDataset = Annotated[Name, AfterValidator(_clip_dataset)]
Metric = Annotated[str, AfterValidator(_metric)]
Reward = Annotated[dict[Metric, float], AfterValidator(_paid)]
# A user's file or folder, or the name of one.
File = Annotated[str, AfterValidator(_file)]
# Below artifacts/.
Artifact = Annotated[File, AfterValidator(_path)]
Seeds = Annotated[int, Field(ge=1, le=100)]


class World(Section):
    """A generated world beside the first one; see `scenes.Config`."""

    seed_offset: int = Field(default=0, ge=0, lt=2**30)
    train: int | None = None
    val: int | None = None
    test: int | None = None
    server: int | None = None
    detail: list[float] | None = None


class ImageTask(Section):
    """Pictures and their captions.

    Attributes:
        world: what differs from `scenes` in this task's generated world; `seed_offset` is added to `seed`, so that two
            worlds have no picture in common.
    """

    kind: Literal["images"]
    dataset: ImageDataset
    root: File | None
    world: World = World()
    min_count: int = Field(ge=1)
    max_length: int = Field(ge=2, le=100)
    evaluate_on: Literal["val", "test"]


class ClipTask(Section):
    """Clips and their captions."""

    kind: Literal["clips"]
    dataset: ClipDataset
    root: File | None
    min_count: int = Field(ge=1)
    max_length: int = Field(ge=2, le=100)
    evaluate_on: Literal["val", "test"]


class Splits(Section):
    """The names of a corpus's files, without languages."""

    train: File = Field(min_length=1)
    val: File = Field(min_length=1)
    test: File = Field(min_length=1)


class SentenceTask(Section):
    """Sentences and their translations."""

    kind: Literal["sentences"]
    dataset: Literal["scenes", "text"]
    root: File | None
    source: Annotated[str, Field(pattern="^[a-z]{2,3}$")]
    target: Annotated[str, Field(pattern="^[a-z]{2,3}$")]
    splits: Splits
    tokenise: bool
    subwords: Annotated[int, Field(ge=1, le=200_000)] | None
    min_count: int = Field(ge=1)
    # The rewards know 16-bit ids.
    max_words: Annotated[int, Field(ge=1, le=65_000)] | None
    max_length: int = Field(ge=2, le=1000)
    evaluate_on: Literal["val", "test"]

    @field_validator("target")
    @classmethod
    def _another(cls, target: str, info: ValidationInfo) -> str:
        if target == info.data.get("source"):
            raise ValueError("the source is the same; name two languages")
        return target


# Datasets that the pipeline makes itself.
GENERATED = ("scenes", "clips")

Task = Annotated[ImageTask | ClipTask | SentenceTask, Field(discriminator="kind")]


class Embeddings(Section):
    """Word embeddings of every task; `files` by task."""

    files: dict[Name, File | None]
    glove: Glove


class Features(Section):
    """Visual features of a task's pictures or clips.

    Attributes:
        frames: how many of a clip are read, evenly spaced; null: pictures.
        pictures, epochs, learning_rate: of the encoder's own training, if `weights` is "scenes".
        batch_size: images per step, in extraction and in the encoder's training.
    """

    backbone: Literal[
        "scenes_cnn",
        "clips_cnn",
        "resnet18",
        "resnet34",
        "resnet50",
        "resnet101",
        "resnet152",
        "mobilenet_v2",
        "inception_v3",
    ]
    weights: File
    image_size: int = Field(ge=16, le=1024)
    frames: Annotated[int, Field(ge=2, le=1000)] | None = None
    grid: int = Field(ge=1, le=32)
    dtype: Literal["float16", "float32"]
    batch_size: int = Field(ge=1)
    pictures: int = Field(ge=1, le=10_000_000)
    epochs: int = Field(ge=1)
    learning_rate: float = Field(gt=0, lt=1)


class CaptionerParams(Section):
    """A captioner; `model` is checked by the architecture's own Config."""

    task: Name
    architecture: Name
    seeds: Seeds
    model: dict[str, Any]


class PretrainParams(Section):
    """The cross-entropy training of a captioner that runs continue from. `task`: the captioner's, for dvc.yaml."""

    task: Name
    training: Training


class RetrieverParams(Section):
    """A dual encoder of pictures and captions, or a user's CLIP; `model` is checked by the architecture's own Config.

    Attributes:
        folder: of the user's CLIP; null: the retriever is trained on the task's captions.
        seed_offset: what is added to `seed`: retrievers that must not know each other have different ones.
    """

    task: Name
    architecture: Name
    seeds: Seeds
    seed_offset: int = Field(ge=0, lt=2**30)
    folder: File | None = None
    model: dict[str, Any]
    training: dict[str, Any]


class MinedParams(Section):
    """The training pictures that the retriever of the same name holds for similar.

    Attributes:
        neighbours: how many are found for each picture.
    """

    task: Name
    neighbours: int = Field(ge=1, le=1000)


class Decoding(Section):
    """How captions are produced, whatever paper they are for."""

    batch_size: int = Field(ge=1)


class ReportParams(Section):
    """The report; `beside`: data -> claims that an experiment has published, or null."""

    beside: dict[str, File] | None


class PaperParams(Section):
    """A paper's part of the report.

    Attributes:
        pictures: the task whose pictures its figures show.
        reads: what else its figures show, a path below artifacts/: "<task>/data" of clips, or
            "<pictures>/data/vocabulary.json", nothing else.
        comparisons: pairs of its runs that the report compares, although the paper does not.
    """

    pictures: Name
    reads: Artifact
    comparisons: tuple[tuple[Name, Name], ...] = ()


class EvaluationParams(Section):
    """What some groups of runs decode, how they decode it, and how it is scored.

    Attributes:
        split: null: the task's `evaluate_on`.
        references: null: all metrics, against all references of an item. Numbers: the metrics of COCO's server, against
            that many references.
        beam, samples: width of the beam, and random captions of each item; 0: none.
        no_repeat_ngram: the beam says no so many tokens in a row twice; 0: it may.
    """

    paper: Name
    task: Name
    split: Literal["train", "val", "test", "server"] | None = None
    references: Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1)] | None = None
    beam: int = Field(ge=1, le=100)
    samples: int = Field(ge=0, le=100)
    no_repeat_ngram: int = Field(0, ge=0, le=100)


class Group(Section):
    """Runs that train in one stage, side by side.

    Attributes:
        start: the captioner that they continue from, pretrained or of another group's run, a path below artifacts/;
            "<task>/data": they start from scratch.
        reads: what else they read, words, a retriever or what it mined, a path below artifacts/;
            "<task>/data/vocabulary.json": nothing else.
    """

    paper: Name
    evaluation: Name
    task: Name
    captioner: Name
    start: Artifact
    reads: Artifact


class RunParams(Section):
    """One training run: an objective on its group's captioner.

    Attributes:
        like: runs whose values it takes over. Later ones win over earlier ones, and its own values over all.
        group: null: it is not trained. Other runs of its file may be `like` it.
        label: its name in the report.
        row: whether the paper's tables have a row for it where the paper prints none. false where figures or other
            tables show it, as those of a sweep.
        settings: checked by the objective's own Config.
        reward: one of `rewards`.
        seeds: how many; null: as many as the captioner has. Runs that continue from a captioner cannot have more.
    """

    group: Name | None = None
    label: str = Field("", max_length=100)
    row: bool = True
    objective: Name = ""
    settings: dict[str, Any] = {}
    reward: Name | None = None
    seeds: Seeds | None = None
    training: dict[str, Any] = {}


class EnsembleParams(Section):
    """Seeds of a run that decode together. A group with ensembles decodes nothing else.

    Attributes:
        members: how many seeds each ensemble has.
        number: how many ensembles there are. They take the run's seeds in order, and share none.
    """

    run: Name
    label: str = Field(min_length=1)
    members: Seeds
    number: Seeds = 1


class RetrievalParams(Section):
    """Scores of what an evaluation's captions tell retrievers, and of how far they drift from English.

    Attributes:
        decoder: whose captions: the greedy one, or the beam's best.
        listener: the retriever that runs without a listener of their own are ranked with, a path below artifacts/.
        judge: the retriever that no run has seen, a path below artifacts/.
        start: the pretrained captioner under which captions are more or less probable, a path below artifacts/.
    """

    paper: Name
    evaluation: Name
    task: Name
    decoder: Literal["greedy", "beam"] = "greedy"
    listener: Artifact
    judge: Artifact
    start: Artifact


class RatingParams(Section):
    """A page for people who judge a paper's captions, of the name of the paper.

    Attributes:
        task: whose pictures it shows, the paper's `pictures`.
        judge: the retriever that says which pictures are similar, a path below artifacts/.
    """

    task: Name
    judge: Artifact


class VarianceParams(Section):
    """The measurement of the policy gradient's variance."""

    paper: Name
    task: Name
    captioner: Name
    start: Artifact
    reward: Name
    settings: dict[str, Any]
    rollouts: list[Annotated[int, Field(ge=1)]] = Field(min_length=1)
    images: int = Field(ge=1)
    replicates: int = Field(ge=2)
    batch_size: int = Field(ge=1)
    learning_rate: float = Field(gt=0, lt=1)


class EstimatorsParams(Section):
    """The measurement of how noisy and how biased gradients through a listener are.

    Attributes:
        listener: a path below artifacts/; `start`: the captioner's.
        margin: of the hinge, a cosine.
        rhos: of the estimators that pass captions on.
        draws: captions of each picture that a replicate of the score functions is the mean over.
    """

    paper: Name
    task: Name
    listener: Artifact
    start: Artifact
    margin: float = Field(gt=0, le=2)
    rhos: list[Annotated[float, Field(ge=0, le=1)]] = Field(min_length=1)
    images: int = Field(ge=2)
    replicates: int = Field(ge=2)
    draws: int = Field(ge=1)


class Shared(Section):
    """params.yaml."""

    alpha: float = Field(ge=0, le=1)
    scale: Name
    seed: int = Field(ge=0, lt=2**31)
    device: Literal["auto", "cpu", "cuda"]
    workers: Literal["auto"] | Annotated[int, Field(ge=1)]
    launcher: str = Field(min_length=1)
    precision: Precision
    tasks: dict[Name, Task]
    scenes: scenes.Config
    parallel: ParallelConfig
    clips: ClipsConfig
    features: dict[Name, Features]
    embeddings: Embeddings
    captioners: dict[Name, CaptionerParams]
    pretrain: dict[Name, PretrainParams]
    retrievers: dict[Name, RetrieverParams]
    mined: dict[Name, MinedParams]
    rewards: dict[Name, Reward]
    decoding: Decoding
    report: ReportParams


class PaperFile(Section):
    """papers/<paper>.yaml. DVC merges these files, so names must differ between all papers."""

    papers: dict[Name, PaperParams]
    evaluations: dict[Name, EvaluationParams]
    groups: dict[Name, Group]
    runs: dict[Name, RunParams]
    ensembles: dict[Name, EnsembleParams] = {}
    retrievals: dict[Name, RetrievalParams] = {}
    ratings: dict[Name, RatingParams] = {}
    variances: dict[Name, VarianceParams] = {}
    estimators: dict[Name, EstimatorsParams] = {}


class Params(Section):
    """All parameters, with `scale`, `like` and `$alpha` resolved.

    Attributes:
        runs: those that have a group.
        sources: paper, evaluation, group, run, ensemble or variance -> the file that it comes from.
    """

    shared: Shared
    papers: dict[str, PaperParams] = {}
    evaluations: dict[str, EvaluationParams] = {}
    groups: dict[str, Group] = {}
    runs: dict[str, RunParams] = {}
    ensembles: dict[str, EnsembleParams] = {}
    retrievals: dict[str, RetrievalParams] = {}
    ratings: dict[str, RatingParams] = {}
    variances: dict[str, VarianceParams] = {}
    estimators: dict[str, EstimatorsParams] = {}
    sources: dict[str, Path] = {}

    def source(self, name: str) -> Path:
        """The file to name in an error about a paper, evaluation, group, run, ensemble or variance."""
        return self.sources.get(name, PARAMS)


def read_params(root: Path = Path()) -> Params:
    """Reads and checks the parameter files of the project in `root`.

    Raises:
        InputError: one line naming the file, the key, its value and what is allowed.
    """
    files = {PARAMS: read_yaml(root / PARAMS)}
    files |= {PAPERS / path.name: read_yaml(path) for path in sorted((root / PAPERS).glob("*.yaml"))}
    for path, content in files.items():
        _check_entries(content, path)
    graph = {path: _graph(content) for path, content in files.items()}
    scale = files[PARAMS].get("scale")
    allowed = ["laptop", *sorted(path.stem for path in (root / SCALES).glob("*.yaml"))]
    if scale not in allowed:
        raise InputError(PARAMS, f"scale is {scale!r}", f"allowed: {', '.join(allowed)}")
    if scale != "laptop":
        _apply_scale(files, root, SCALES / f"{scale}.yaml")
    for path, content in files.items():
        if graph[path] != _graph(content):
            raise InputError(SCALES / f"{scale}.yaml", f"changes the graph of {path}", "change it in that file")
    alpha = files[PARAMS].get("alpha")
    shared = validated(Shared, files.pop(PARAMS), PARAMS)
    merged: dict[str, dict[str, Any]] = {name: {} for name in PaperFile.model_fields}
    sources: dict[str, Path] = {}
    for path, content in files.items():
        content["runs"] = {name: _fill(run, alpha) for name, run in inherited(content.get("runs", {}), path).items()}
        paper = validated(PaperFile, content, path)
        for section, entries in merged.items():
            for name, value in getattr(paper, section).items():
                if section == "runs" and value.group is None:
                    # It is not trained: others of its file are `like` it.
                    continue
                if sources.get(name, path) != path:
                    raise InputError(path, f"{section}.{name} is in {sources[name]}, too", "give it another name")
                entries[name] = value
                sources[name] = path
    return Params(shared=shared, sources=sources, **merged)


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML file that is a mapping, of texts, finite numbers, booleans, nulls, and lists and mappings of these.

    Raises:
        InputError: it cannot be read, or is or holds something else.
    """
    try:
        text = path.read_text(encoding="utf-8")
        _check_size(text)
        content = YAML(typ="safe").load(text)
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})", "run from the repository's root") from None
    except Exception as error:  # the library raises whatever a damaged value provokes, not only YAMLError
        raise InputError(path, f"is not YAML ({error})", "see the line named") from None
    if not isinstance(content, dict):
        raise InputError(path, "is not a mapping of parameters", "restore it from git")
    _check_values(content, path)
    return content


def _check_size(text: str) -> None:
    """Checks a YAML file before its values are made.

    Raises:
        ValueError: with what its aliases stand for it has too many values or levels, or one holds itself.
    """
    # Anchor -> number of values and levels.
    known: dict[str, tuple[int, int]] = {}
    # Anchor, values and levels so far of the collections that are open.
    above: list[tuple[str | None, int, int]] = []
    for event in YAML(typ="safe").parse(text):
        if isinstance(event, CollectionStartEvent):
            above.append((event.anchor, 1, 1))
            anchor, size, levels = None, 0, 0
        elif isinstance(event, CollectionEndEvent):
            anchor, size, levels = above.pop()
        elif isinstance(event, ScalarEvent):
            anchor, size, levels = event.anchor, 1, 1
        elif isinstance(event, AliasEvent):
            if event.anchor not in known:
                raise ValueError(f"*{event.anchor} stands for nothing, or is part of what it stands for")
            anchor, (size, levels) = None, known[event.anchor]
        else:
            continue
        if anchor is not None:
            known[anchor] = size, levels
        if len(above) + levels > MOST_LEVELS:
            raise ValueError(f"it has more than {MOST_LEVELS} levels")
        if above:
            outer, values, depth = above.pop()
            above.append((outer, values + size, max(depth, levels + 1)))
            if above[-1][1] > MOST_VALUES:
                raise ValueError(f"it stands for more than {MOST_VALUES:,} values")


def _check_values(value: Any, path: Path, place: str = "") -> None:
    """Checks that a YAML file holds only what JSON has, too: no dates, no sets, no NaN."""
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise InputError(path, f"{place or 'the file'} has the key {key!r:.60}", "write it in quotes")
            _check_values(item, path, f"{place}.{key}" if place else key)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            _check_values(item, path, f"{place}.{number}")
    elif isinstance(value, float) and not math.isfinite(value):
        raise InputError(path, f"{place} is {value}", "only finite numbers are allowed")
    elif isinstance(value, int) and abs(value) >= 2**63:
        raise InputError(path, f"{place} is {value!r:.60}", "only numbers below 2^63 are allowed")
    elif value is not None and not isinstance(value, str | int | float):
        raise InputError(path, f"{place} is {value!r:.60}, a {type(value).__name__}", "write it in quotes")


def _check_entries(content: Mapping[str, Any], source: Path, prefix: str = "") -> None:
    """Checks the shape of what is read before all is validated."""
    for section in ENTRIES:
        entries = content.get(section, {})
        if not isinstance(entries, dict):
            raise InputError(source, f"{prefix}{section} is {entries!r:.80}", "expected a mapping")
        for name, entry in entries.items():
            if not isinstance(entry, dict):
                raise InputError(source, f"{prefix}{section}.{name} is {entry!r:.80}", "expected a mapping")


def inherited(runs: Mapping[str, Any], source: Path) -> dict[str, dict[str, Any]]:
    """Every run's values, over those of the runs that `like` names.

    Raises:
        InputError: `like` names a run that does not exist, or leads back to the run itself.
    """
    found: dict[str, dict[str, Any]] = {}

    def look_up(name: str, below: tuple[str, ...]) -> dict[str, Any]:
        if name in found:
            return found[name]
        own = runs[name]
        like = own.get("like", [])
        values: dict[str, Any] = {}
        for other in like if isinstance(like, list) else [like]:
            if other not in list(runs):
                raise InputError(source, f"runs.{name}.like is {other!r}", f"allowed: {', '.join(runs)}")
            if other in (*below, name):
                fix = "let one of them be like no other"
                raise InputError(source, f"runs.{name}.like leads back to {other!r}", fix)
            values = overlaid(values, look_up(other, (*below, name)))
        found[name] = overlaid(values, {key: value for key, value in own.items() if key != "like"})
        return found[name]

    return {name: look_up(name, ()) for name in runs}


def overlaid(values: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """`values` with `changes` over them, key by key."""
    both = {key for key, value in changes.items() if isinstance(value, dict) and isinstance(values.get(key), dict)}
    return values | {key: overlaid(values[key], value) if key in both else value for key, value in changes.items()}


def _graph(content: Mapping[str, Any]) -> dict[str, Any]:
    """What dvc.yaml reads from a file: a scale cannot change it."""
    graph = {}
    for section, keys in (
        ("tasks", ()),
        ("features", ()),
        ("papers", ("pictures", "reads")),
        ("pretrain", ("task",)),
        ("retrievers", ("task",)),
        ("mined", ("task",)),
        ("evaluations", ("paper", "task")),
        ("groups", ("paper", "evaluation", "task", "start", "reads")),
        ("retrievals", ("paper", "evaluation", "task", "listener", "judge", "start")),
        ("ratings", ("task", "judge")),
        ("variances", ("paper", "task", "start")),
        ("estimators", ("paper", "task", "listener", "start")),
    ):
        graph[section] = {name: [value.get(key) for key in keys] for name, value in content.get(section, {}).items()}
    return graph


def _apply_scale(files: dict[Path, dict[str, Any]], root: Path, path: Path) -> None:
    """Replaces values of the files by those of a scale.

    Raises:
        InputError: it names a file that does not exist, or something is no mapping.
    """
    for name, changes in read_yaml(root / path).items():
        file = Path(str(name))
        if file not in files:
            # This checkout does not have the paper.
            if file.parent == PAPERS:
                continue
            raise InputError(path, f"{name!r} is no parameter file", f"allowed: {', '.join(map(str, files))}")
        if not isinstance(changes, dict):
            raise InputError(path, f"{name} is {changes!r}", "expected a mapping")
        _check_entries(changes, path, f"{name}: ")
        content = files[file]
        for section in set(ENTRIES) & set(changes):
            # An experiment may have removed some of them.
            changes[section] = {key: v for key, v in changes[section].items() if key in content.get(section, {})}
        files[file] = overlaid(content, changes)


def _fill(value: Any, alpha: Any) -> Any:
    """Fills in `$alpha`."""
    if isinstance(value, dict):
        return {key: _fill(item, alpha) for key, item in value.items()}
    return alpha if value == "$alpha" else value


def validated(model: type[M], value: Any, source: Path, prefix: str = "") -> M:
    """`value` as a `model`. True is no number, and '1' neither.

    Raises:
        InputError: naming the first wrong key, its value and what is allowed.
    """
    try:
        # As JSON, whose lists may become tuples: strict Python would refuse them.
        return model.model_validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        first, *others = error.errors()
        keys = _keys(value, first)
        key = ".".join([*([prefix] if prefix else []), *keys])
        if first["type"] == "extra_forbidden":
            raise InputError(source, f"{key} is not a parameter", f"remove it{_near(model, first['loc'])}") from None
        if first["type"] == "missing":
            raise InputError(source, f"{key} is missing", "restore it from git") from None
        discriminator = str(first.get("ctx", {}).get("discriminator", "")).strip("'")
        if discriminator:
            what = f"{key}.{discriminator} is {first['input'].get(discriminator)!r}"
            raise InputError(source, what, first["msg"]) from None
        # Where several kinds of values are allowed, each has said what it is.
        alike = [other["msg"] for other in others if _keys(value, other) == keys]
        allowed = [first["msg"], *(message.removeprefix("Input should be ") for message in alike)]
        fix = " or ".join(dict.fromkeys(allowed)).removeprefix("Value error, ")
        raise InputError(source, f"{key} is {first['input']!r:.80}", fix) from None


def _keys(value: Any, error: ErrorDetails) -> list[str]:
    """The keys that lead to a wrong or missing value. Pydantic's location has the names of types among them."""
    location = error["loc"]
    keys = []
    for part in location[:-1] if error["type"] == "missing" else location:
        known: Any = value if isinstance(value, Mapping) else dict(enumerate(value)) if isinstance(value, list) else {}
        if part in known:
            value = known[part]
            keys.append(str(part))
    return [*keys, str(location[-1])] if error["type"] == "missing" else keys


def _near(model: type[BaseModel], location: tuple[Any, ...]) -> str:
    """The parameters allowed at the top of `location`'s section, if it is the model's own."""
    return f"; allowed: {', '.join(model.model_fields)}" if len(location) == 1 else ""
