"""The parameter files as typed values: params.yaml holds what papers share, papers/<paper>/runs.yaml what one paper
trains, and scales/<scale>.yaml what another scale changes of both."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from seqcap.config.data import Corpus, Glove
from seqcap.config.training import Precision, Training
from seqcap.data import datasets
from seqcap.errors import InputError
from seqcap.files.reading import read_text
from seqcap.papers import check as check_papers
from seqcap.pipeline.overlay import NAMED, overlay, trained_runs
from seqcap.pipeline.validation import Section, validated
from seqcap.rewards import MODULES
from seqcap.system.machine import Device, Launcher, Workers
from seqcap.world import scenes
from seqcap.world.clips import ClipsConfig
from seqcap.world.parallel import ParallelConfig

PARAMS = Path("params.yaml")
PAPERS = Path("papers")
PAPER_FILE = "runs.yaml"  # the file of parameters in a paper's folder
SCALES = Path("scales")
SCRATCH = "scratch"  # a run's `start` if it does not continue from any weights
PRETRAINED = "huggingface"  # the architecture of captioners that are read from a user's folder
ALPHA = "$alpha"  # the value of a run that stands for `alpha` of params.yaml
GENERATED = ("scenes", "clips")  # datasets that the pipeline makes itself


def _dataset(kind: str) -> AfterValidator:
    def check(value: str) -> str:
        datasets.find(value, kind)
        return value

    return AfterValidator(check)


# DVC joins names with @ and hyphens, and names become file names.
Name = Annotated[str, Field(max_length=100, pattern="^[a-z0-9_]+$")]
Reward = Annotated[
    dict[Annotated[str, Field(pattern=f"^({'|'.join(MODULES)})$")], float],
    Field(min_length=1),
]
Seeds = Annotated[int, Field(ge=1, le=100)]
Positive = Annotated[int, Field(ge=1)]
Rate = Annotated[float, Field(gt=0, lt=1)]


def _check_label(text: str) -> str:
    """Labels go into Markdown and CSV: no line breaks, no HTML, no formula."""
    if not text.isprintable() or set("<>") & set(text) or text.startswith(("=", "+", "-", "@")):
        raise ValueError("a label is one printable line, without < and >, and begins with none of = + - @")
    return text


Label = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_check_label)]


class TaskParams(Section):
    root: str | None
    min_count: Positive
    max_length: int = Field(ge=2, le=100)
    evaluate_on: Literal["val", "test"]


class ImageTask(TaskParams):
    kind: Literal["images"]
    dataset: Annotated[Name, _dataset("images")]
    # What differs from `scenes` in its generated world. `seed_offset` is added to `seed`: no image is in two worlds.
    world: dict[str, Any] = Field(default_factory=dict)
    # Folder of a captioner of Hugging Face, whose tokens the captions are. None: captions are words.
    pretrained: str | None = None


class ClipTask(TaskParams):
    kind: Literal["clips"]
    dataset: Annotated[Name, _dataset("clips")]


class SentenceTask(TaskParams, Corpus):
    kind: Literal["sentences"]
    dataset: Literal["scenes", "text"]
    subwords: Annotated[int, Field(ge=1, le=200_000)] | None
    max_words: Annotated[int, Field(ge=1, le=65_000)] | None  # the rewards know 16-bit ids
    min_count: Positive
    max_length: int = Field(ge=2, le=1000)


Task = Annotated[ImageTask | ClipTask | SentenceTask, Field(discriminator="kind")]


class Embeddings(Section):
    files: dict[Name, str | None]  # task -> a file of vectors; those of the other tasks are trained
    glove: Glove


class Features(Section):
    backbone: str = Field(pattern="^((scenes|clips)_cnn|resnet(18|34|50|101|152)|mobilenet_v2|inception_v3)$")
    weights: str
    image_size: int = Field(ge=16, le=1024)
    # How many of a clip are read, evenly spaced; None for images.
    frames: Annotated[int, Field(ge=2, le=1000)] | None = None
    grid: int = Field(ge=1, le=32)
    dtype: Literal["float16", "float32"]
    batch_size: Positive  # images per step, in extraction and in the encoder's training
    # The rest is of the encoder's own training, if `weights` is "scenes".
    pictures: int = Field(ge=1, le=10_000_000)
    epochs: Positive
    learning_rate: Rate


class CaptionerParams(Section):
    task: Name
    architecture: Name
    seeds: Seeds
    model: dict[str, Any]  # checked by the architecture's own Config


class PretrainParams(Section):
    """The cross-entropy training of a captioner, which its runs continue from."""

    training: Training


class RetrieverParams(CaptionerParams):
    """A dual encoder of images and captions, or a user's CLIP."""

    # Added to `seed`: retrievers that must not know each other have different ones.
    seed_offset: int = Field(ge=0, lt=2**30)
    folder: str | None = None  # of the user's CLIP; None: the retriever is trained on the task's captions
    training: dict[str, Any]


class MinedParams(Section):
    """The retriever of the same name mines so many similar images for each training image."""

    neighbours: int = Field(ge=1, le=1000)


class Decoding(Section):
    batch_size: Positive


class ReportParams(Section):
    proves: bool  # whether its runs are long enough to say anything of the papers
    beside: dict[str, str] | None  # data -> folder that an experiment has published


class Shared(Section):
    """params.yaml."""

    alpha: float = Field(ge=0, le=1)
    scale: Name
    seed: int = Field(ge=0, lt=2**31)
    device: Device
    workers: Workers
    launcher: Launcher
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


class RatingParams(Section):
    judge: Name  # the retriever that says which images are similar


class PaperParams(Section):
    """A paper's part of the report."""

    pictures: Name  # the task whose images its figures show
    rating: RatingParams | None = None
    # Pairs of its runs that the report compares, although the paper does not.
    comparisons: tuple[tuple[Name, Name], ...] = ()


class EvaluationParams(Section):
    """How the captions of some groups of runs are decoded and scored."""

    task: Name
    split: Literal["train", "val", "test", "server"] | None = None  # None: the task's `evaluate_on`
    # None: all metrics, against all references of an item. Else those of COCO's server, against so many references.
    references: Annotated[tuple[Positive, ...], Field(min_length=1)] | None = None
    beam: int = Field(ge=1, le=100)  # width of the beam
    samples: int = Field(ge=0, le=100)  # random captions of each item
    no_repeat_ngram: int = Field(0, ge=0, le=100)  # no caption of the beam repeats so many tokens; 0: it may


class RunParams(Section):
    """One training run: an objective on a captioner. Without `like` and `sweep`, which `trained_runs` resolves."""

    group: Name  # the runs of a group train side by side, in one stage
    label: Label
    row: bool = True  # whether the paper's tables have a row for it where the paper prints none
    captioner: Name
    objective: Name
    settings: dict[str, Any] = Field(default_factory=dict)  # checked by the objective's own Config
    reward: Name | None = None
    listener: Name | None = None  # the retriever that its objective reads, if it reads one
    # The run that it continues from, or `SCRATCH`. None: the pretrained captioner, if it is in `pretrain`.
    start: Name | None = None
    seeds: Seeds | None = None  # None: as many as the captioner has
    training: Training


class EnsembleParams(Section):
    """`number` ensembles of `members` of a run's seeds, in order. A group with ensembles decodes nothing else."""

    run: Name
    label: Label
    members: Seeds
    number: Seeds = 1


class RetrievalParams(Section):
    """Scores of what an evaluation's captions tell retrievers, and of how far they drift from English."""

    evaluation: Name
    decoder: Literal["greedy", "beam"] = "greedy"  # whose captions: the greedy one, or the beam's best
    listener: Name  # it ranks the captions of runs without a listener of their own
    judge: Name  # the retriever that no run has seen, of another kind than the listener
    twin: Name | None = None  # a retriever like the listener that no run has seen
    captioner: Name  # the pretrained captioner under which captions are more or less probable


class VarianceParams(Section):
    captioner: Name
    reward: Name
    settings: dict[str, Any]
    rollouts: list[Positive] = Field(min_length=1)
    images: Positive
    replicates: int = Field(ge=2)
    batch_size: Positive
    learning_rate: Rate


class EstimatorsParams(Section):
    """The measurement of how noisy and how biased gradients through a listener are (`config.estimators`)."""

    listener: Name
    captioner: Name
    margin: float = Field(gt=0, le=2)
    rhos: list[Annotated[float, Field(ge=0, le=1)]] = Field(min_length=1)
    images: int = Field(ge=2)
    replicates: int = Field(ge=2)
    draws: Positive


class Entries(Section):
    """The named entries of papers/<paper>/runs.yaml."""

    evaluations: dict[Name, EvaluationParams] = Field(default_factory=dict)
    groups: dict[Name, Name] = Field(default_factory=dict)  # group -> the evaluation of its runs
    runs: dict[Name, RunParams] = Field(default_factory=dict)
    ensembles: dict[Name, EnsembleParams] = Field(default_factory=dict)
    retrievals: dict[Name, RetrievalParams] = Field(default_factory=dict)
    variances: dict[Name, VarianceParams] = Field(default_factory=dict)
    estimators: dict[Name, EstimatorsParams] = Field(default_factory=dict)


class PaperFile(Entries, PaperParams):
    """papers/<paper>/runs.yaml."""


class Params(Entries):
    """All parameters, with `scale`, `like`, `sweep` and `$alpha` resolved."""

    shared: Shared
    papers: dict[str, PaperParams] = Field(default_factory=dict)
    # Name of a paper or of an entry -> the file that it comes from.
    sources: dict[str, Path] = Field(default_factory=dict)

    def source(self, name: str) -> Path:
        """The file to name in an error about a paper or an entry."""
        return self.sources.get(name, PARAMS)

    def paper(self, name: str) -> str:
        """The paper that an entry belongs to."""
        return self.source(name).parent.name


def parameter_files(root: Path = Path()) -> list[Path]:
    """params.yaml and the papers' files in a checkout, relative to it."""
    return [PARAMS, *(path.relative_to(root) for path in sorted((root / PAPERS).glob(f"*/{PAPER_FILE}")))]


def read_params(root: Path = Path()) -> Params:
    """Reads and checks the parameter files of the project in `root`; an `InputError` names file, key and value."""
    files = {path: read_yaml(root / path) for path in parameter_files(root)}
    check_papers(path.parent.name for path in files if path != PARAMS)
    _apply_scale(files, root)
    shared = validated(Shared, files.pop(PARAMS), PARAMS)
    papers, sources = {}, {}
    merged: dict[str, dict[str, Any]] = {section: {} for section in Entries.model_fields}
    for path, content in files.items():
        if not content:
            # An experiment has left the paper out.
            continue
        runs = trained_runs(content.get("runs", {}), path)
        paper = validated(PaperFile, content | {"runs": _fill(runs, shared.alpha)}, path)
        folder = path.parent.name
        papers[folder] = PaperParams(**{key: getattr(paper, key) for key in PaperParams.model_fields})
        sources[folder] = path
        for section, entries in merged.items():
            for name, value in getattr(paper, section).items():
                if sources.setdefault(name, path) != path:
                    raise InputError(path, f"{section}.{name} is in {sources[name]}, too", "give it another name")
                entries[name] = value
    return Params(shared=shared, papers=papers, sources=sources, **merged)


def is_parameter_file(name: str) -> bool:
    """Whether a path in a checkout is that of params.yaml or of a paper's file."""
    return name == str(PARAMS) or re.fullmatch(rf"{PAPERS}/[^/]+/{re.escape(PAPER_FILE)}", name) is not None


def read_yaml(path: Path) -> dict[str, Any]:
    """The parameters in a YAML file; an `InputError` if it cannot be read, or its sections are no mappings."""
    try:
        content = YAML(typ="safe").load(read_text(path))
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})", "run from the repository's root") from None
    except (UnicodeDecodeError, YAMLError, ValueError) as error:
        raise InputError(path, f"is not YAML ({error})", "see the line named") from None
    if not isinstance(content, dict):
        raise InputError(path, "is not a mapping of parameters", "restore it from git")
    for section in NAMED:
        entries = content.get(section, {})
        runs = entries.values() if section == "runs" and isinstance(entries, dict) else ()
        if not all(isinstance(value, dict) for value in (entries, *runs)):
            raise InputError(path, f"{section} is {entries!r:.80}", "expected a mapping of named entries")
    return content


def _apply_scale(files: dict[Path, dict[str, Any]], root: Path) -> None:
    """Lays the values of `scale` over those of the files. What an experiment has left out is passed over."""
    scale = files[PARAMS].get("scale")
    allowed = ["laptop", *sorted(path.stem for path in (root / SCALES).glob("*.yaml"))]
    if scale not in allowed:
        raise InputError(PARAMS, f"scale is {scale!r}", f"allowed: {', '.join(allowed)}")
    if scale == "laptop":
        return
    path = SCALES / f"{scale}.yaml"
    for name, changes in read_yaml(root / path).items():
        if not is_parameter_file(name):
            raise InputError(path, f"{name!r} is no parameter file", f"allowed: {', '.join(map(str, files))}")
        content = files.get(Path(name), {})
        for section, values in changes.items():
            if section in NAMED:
                values = {key: value for key, value in values.items() if key in content.get(section, {})}
            if section in content:
                overlay(content, {section: values}, path)


def _fill(value: Any, alpha: float) -> Any:
    if isinstance(value, dict):
        return {key: _fill(item, alpha) for key, item in value.items()}
    return alpha if value == ALPHA else value
