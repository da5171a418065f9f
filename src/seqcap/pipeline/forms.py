"""What the parameter files may say, where several kinds of stages read it: params.yaml holds what papers share,
papers/<paper>/runs.yaml what one paper trains. Each kind adds its own keys (`kind.Key`)."""

import shlex
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, get_origin

from pydantic import AfterValidator, Field, create_model

from seqcap.data import datasets
from seqcap.data.pairs import Corpus
from seqcap.evaluation.search import Search
from seqcap.features.extraction import Extraction
from seqcap.pipeline.kind import kinds
from seqcap.pipeline.validation import Label, Name, Positive, Section, Seeds
from seqcap.rewards import MODULES
from seqcap.system.machine import Device, Launcher, Workers
from seqcap.training.encoders import EncoderSettings
from seqcap.training.run import Precision, Training
from seqcap.world import scenes
from seqcap.world.clips import ClipsConfig
from seqcap.world.parallel import ParallelConfig

S = TypeVar("S", bound=Section)


def _dataset(kind: str) -> AfterValidator:
    def check(value: str) -> str:
        datasets.find(value, kind)
        return value

    return AfterValidator(check)


def _names_a_program(launcher: str) -> str:
    if not shlex.split(launcher)[0]:
        raise ValueError("its program has no name")
    return launcher


Reward = Annotated[
    dict[Annotated[str, Field(pattern=f"^({'|'.join(MODULES)})$")], float],
    Field(min_length=1),
]


class TaskParams(Section):
    """What params.yaml says of every task."""

    root: str | None
    min_count: Positive
    max_length: int = Field(ge=2, le=100)
    evaluate_on: Literal["val", "test"]


class ImageTask(TaskParams):
    """What params.yaml says of a task with images."""

    kind: Literal["images"]
    dataset: Annotated[Name, _dataset("images")]
    # What differs from `scenes` in its generated world. `seed_offset` is added to `seed`: no image is in two worlds.
    world: dict[str, Any] = Field(default_factory=dict)
    # Folder of a captioner of Hugging Face, whose tokens the captions are. None: captions are words.
    pretrained: str | None = None


class ClipTask(TaskParams):
    """What params.yaml says of a task with clips."""

    kind: Literal["clips"]
    dataset: Annotated[Name, _dataset("clips")]


class SentenceTask(TaskParams, Corpus):
    """What params.yaml says of a task of translation."""

    kind: Literal["sentences"]
    dataset: Literal["scenes", "text"]
    subwords: Annotated[int, Field(ge=1, le=200_000)] | None
    max_words: Annotated[int, Field(ge=1, le=65_000)] | None  # the rewards know 16-bit ids
    min_count: Positive
    max_length: int = Field(ge=2, le=1000)


Task = Annotated[ImageTask | ClipTask | SentenceTask, Field(discriminator="kind")]


class Features(Section, Extraction, EncoderSettings):
    """The visual features of a task, and their encoder."""


class CaptionerParams(Section):
    """What params.yaml says of a captioner."""

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


class Shared(Section):
    """params.yaml."""

    alpha: float  # what a run's `$alpha` is; its objective knows the range
    scale: Name
    seed: int = Field(ge=0, lt=2**31)
    device: Device
    workers: Workers
    launcher: Annotated[Launcher, AfterValidator(_names_a_program)]
    precision: Precision
    tasks: dict[Name, Task]
    scenes: scenes.Config
    parallel: ParallelConfig
    clips: ClipsConfig
    features: dict[Name, Features]
    captioners: dict[Name, CaptionerParams]
    pretrain: dict[Name, PretrainParams]
    retrievers: dict[Name, RetrieverParams]
    rewards: dict[Name, Reward]


class EvaluationParams(Section, Search):
    """How the captions of some groups of runs are decoded and scored."""

    task: Name
    split: Literal["train", "val", "test", "server"] | None = None  # None: the task's `evaluate_on`
    # None: all metrics, against all references of an item. Else those of COCO's server, against so many references.
    references: Annotated[tuple[Positive, ...], Field(min_length=1)] | None = None


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


class PaperFile(Section):
    """papers/<paper>/runs.yaml."""

    pictures: Name  # the task whose images its figures show
    # Pairs of its runs that the report compares, although the paper does not.
    comparisons: tuple[tuple[Name, Name], ...] = ()
    evaluations: dict[Name, EvaluationParams] = Field(default_factory=dict)
    groups: dict[Name, Name] = Field(default_factory=dict)  # group -> the evaluation of its runs
    runs: dict[Name, RunParams] = Field(default_factory=dict)
    ensembles: dict[Name, EnsembleParams] = Field(default_factory=dict)


@cache
def shared_form() -> type[Shared]:
    """`Shared` with the keys of all kinds of stages."""
    return _with_keys(Shared, of_papers=False)


@cache
def paper_form() -> type[PaperFile]:
    """`PaperFile` with the keys of all kinds of stages."""
    return _with_keys(PaperFile, of_papers=True)


def _with_keys(form: type[S], of_papers: bool) -> type[S]:
    keys = [key for kind in kinds().values() for key in kind.keys if key.of_papers == of_papers]
    fields: dict[str, Any] = {key.name: (key.type, key.default if of_papers else ...) for key in keys}
    return create_model(form.__name__, __base__=form, **fields)


@cache
def named_sections() -> frozenset[str]:
    """The keys with named entries, of both files."""
    fields = shared_form().model_fields | paper_form().model_fields
    return frozenset(name for name, field in fields.items() if get_origin(field.annotation) is dict)
