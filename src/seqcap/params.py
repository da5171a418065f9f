"""params.yaml as typed parameters: what may be written where, and one line for whatever may not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from seqcap.data import scenes
from seqcap.data.scenes.parallel import ParallelConfig
from seqcap.errors import InputError

PARAMS = Path("params.yaml")
SCALES = ("laptop", "paper")

M = TypeVar("M", bound=BaseModel)


class Section(BaseModel):
    """A part of params.yaml; keys that are not listed are errors."""

    model_config = ConfigDict(extra="forbid", strict=False)


def _name(value: str) -> str:
    # DVC joins matrix axes with hyphens, and names become file names.
    if not re.fullmatch(r"[a-z0-9_]+", value):
        raise ValueError("only lower-case letters, digits and underscores are allowed")
    return value


Name = Annotated[str, AfterValidator(_name)]


class ImageTask(Section):
    """The dataset that stands for COCO."""

    dataset: Literal["scenes", "flickr8k", "flickr30k", "coco"]
    root: str | None
    min_count: int = Field(ge=1)
    max_length: int = Field(ge=2, le=100)
    evaluate_on: Literal["val", "test"]


class Splits(Section):
    """The names of a corpus's files, without languages."""

    train: str = Field(min_length=1)
    val: str = Field(min_length=1)
    test: str = Field(min_length=1)


class TranslationTask(Section):
    """The corpus that stands for IWSLT'14 or WMT'14."""

    dataset: Literal["scenes", "text"]
    root: str | None
    splits: Splits
    tokenise: bool
    subwords: Annotated[int, Field(ge=1, le=200_000)] | None
    min_count: int = Field(ge=1)
    # The rewards know 16-bit ids.
    max_words: Annotated[int, Field(ge=1, le=65_000)] | None
    max_length: int = Field(ge=2, le=1000)
    beam: int = Field(ge=1, le=100)
    evaluate_on: Literal["val", "test"]


class Tasks(Section):
    """Which dataset stands for each of the papers' tasks."""

    image: ImageTask
    de_en: TranslationTask
    en_fr: TranslationTask

    def __getitem__(self, name: str) -> ImageTask | TranslationTask:
        """The task of that name."""
        return getattr(self, name)  # type: ignore[no-any-return]


class EmbeddingFiles(Section):
    """Text files of word vectors, by task."""

    image: str | None
    de_en: str | None
    en_fr: str | None


class Embeddings(Section):
    """Word embeddings of every task's captions; `glove` is checked by `seqcap.embeddings`."""

    files: EmbeddingFiles
    glove: dict[str, Any]


class Features(Section):
    """Visual features."""

    backbone: Literal[
        "scenes_cnn",
        "resnet18",
        "resnet34",
        "resnet50",
        "resnet101",
        "resnet152",
        "mobilenet_v2",
        "inception_v3",
    ]
    weights: str
    image_size: int = Field(ge=16, le=1024)
    grid: int = Field(ge=1, le=32)
    dtype: Literal["float16", "float32"]
    batch_size: int = Field(ge=1)
    epochs: int = Field(ge=1)
    learning_rate: float = Field(gt=0, lt=1)


class Training(Section):
    """One training run.

    Attributes:
        beta1: Adam's, how slowly the mean of gradients changes.
    """

    epochs: int = Field(ge=0)
    batch_size: int = Field(ge=1)
    learning_rate: float = Field(gt=0, lt=1)
    dropout: float = Field(ge=0, lt=1)
    decay: float = Field(gt=0, le=1)
    decay_every: int = Field(ge=1)
    clip: float = Field(gt=0)
    beta1: float = Field(0.9, ge=0, lt=1)


class CaptionerParams(Section):
    """A captioner and its cross-entropy training; `model` is checked by the architecture's own Config."""

    task: Literal["image", "de_en", "en_fr"] = "image"
    architecture: Name
    seeds: int = Field(ge=1, le=100)
    model: dict[str, Any]
    pretrain: Training


class Decoding(Section):
    """How captions are produced for evaluation."""

    beam: int = Field(ge=1, le=100)
    samples: int = Field(ge=2, le=100)
    batch_size: int = Field(ge=1)


class Variant(Section):
    """One objective on one captioner; `settings` is checked by the objective's own Config."""

    label: str = Field(min_length=1)
    captioner: Name
    objective: Name
    settings: dict[str, Any] = {}
    reward: Name | None = None
    training: dict[str, Any] = {}


Metric = Literal["bleu1", "bleu2", "bleu3", "bleu4", "rouge_l", "cider", "meteor", "spice"]


class Paper(Section):
    """One paper's variants, all trained from the pretrained captioners.

    Attributes:
        seeds: how many of the captioner's seeds are trained further; null: all.
        reward, training: of variants that name none of their own.
    """

    seeds: Annotated[int, Field(ge=1, le=100)] | None = None
    reward: Name
    training: Training
    variants: dict[Name, Variant]


class Variance(Section):
    """The measurement of the policy gradient's variance."""

    captioner: Name
    reward: Name
    settings: dict[str, Any]
    rollouts: list[Annotated[int, Field(ge=1)]]
    images: int = Field(ge=1)
    replicates: int = Field(ge=2)
    batch_size: int = Field(ge=1)
    learning_rate: float = Field(gt=0, lt=1)


class Spider(Paper):
    """Policy gradient of SPIDEr."""

    variance: Variance


class Loss(Section):
    """One loss; `settings` is checked by the objective's own Config, for every captioner that is trained with it."""

    label: str = Field(min_length=1)
    objective: Name
    settings: dict[str, Any] = {}
    reward: Name | None = None


class Losses(Section):
    """Losses, each trained on each of some captioners.

    A value written as a mapping of captioners is a value for each.

    Attributes:
        seeds: how many of a captioner's seeds are trained.
        pretrained: whether they go on from the pretrained captioner, or each from nothing.
        losses: by group; the losses of a group train side by side, in one stage for each captioner.
    """

    captioners: list[Name] = Field(min_length=1)
    seeds: int = Field(ge=1, le=100)
    pretrained: bool
    reward: Name
    training: dict[str, Any]
    losses: dict[Name, Annotated[dict[Name, Loss], Field(min_length=1)]] = Field(min_length=1)


class Server(Section):
    """One loss, as a single model and as an ensemble of seeds, as COCO's server scores it."""

    captioner: Name
    loss: Name
    seeds: int = Field(ge=2, le=100)


class Smoothing(Section):
    """Loss smoothing; a part that is left out is not run."""

    captions: Losses | None = None
    translation: Losses | None = None
    server: Server | None = None


class Params(Section):
    """params.yaml with `scale` and `$alpha` resolved."""

    alpha: float = Field(ge=0, le=1)
    scale: Literal["laptop", "paper"]
    seed: int = Field(ge=0, lt=2**31)
    device: Literal["auto", "cpu", "cuda"]
    workers: Literal["auto"] | Annotated[int, Field(ge=1)]
    launcher: str = Field(min_length=1)
    tasks: Tasks
    scenes: scenes.Config
    parallel: ParallelConfig
    embeddings: Embeddings
    features: Features
    captioners: dict[Name, CaptionerParams]
    translators: dict[Name, CaptionerParams]
    decoding: Decoding
    rewards: dict[Name, dict[Metric, float]]
    # A paper that is left out is not run.
    sle: Paper | None = None
    spider: Spider | None = None
    smoothing: Smoothing | None = None

    @property
    def all_captioners(self) -> dict[str, CaptionerParams]:
        """Those of images and those of sentences."""
        return self.captioners | self.translators


def read_params(path: Path = PARAMS) -> Params:
    """Reads and checks params.yaml.

    Raises:
        InputError: one line naming the key, its value and what is allowed.
    """
    try:
        raw = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})", "run from the repository's root") from None
    except (UnicodeDecodeError, YAMLError) as error:
        raise InputError(path, f"is not YAML ({error})", "see the line named") from None
    if not isinstance(raw, dict):
        raise InputError(path, "is not a mapping of parameters", "restore it from git")
    scale = raw.get("scale")
    if scale not in SCALES:
        raise InputError(path, f"scale is {scale!r}", f"allowed: {', '.join(SCALES)}")
    return validated(Params, _resolve(raw, scale, raw.get("alpha")), path)


def _resolve(value: Any, scale: str, alpha: Any) -> Any:
    """Picks the column of `scale` wherever laptop and paper differ, and fills in `$alpha`."""
    if isinstance(value, dict):
        if set(value) == set(SCALES):
            return _resolve(value[scale], scale, alpha)
        return {key: _resolve(item, scale, alpha) for key, item in value.items()}
    return alpha if value == "$alpha" else value


def validated(model: type[M], value: Any, source: Path, prefix: str = "") -> M:
    """`value` as a `model`.

    Raises:
        InputError: naming the first wrong key, its value and what is allowed.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        # Pydantic adds "[key]" and union tags to the path of a mapping's key: only real keys name a parameter.
        key = ".".join([*([prefix] if prefix else []), *(str(part) for part in first["loc"] if part != "[key]")])
        if first["type"] == "extra_forbidden":
            raise InputError(source, f"{key} is not a parameter", f"remove it{_near(model, first['loc'])}") from None
        if first["type"] == "missing":
            raise InputError(source, f"{key} is missing", "restore it from git") from None
        shown = repr(first["input"])
        raise InputError(source, f"{key} is {shown[:80]}", first["msg"].removeprefix("Value error, ")) from None


def _near(model: type[BaseModel], location: tuple[Any, ...]) -> str:
    """The parameters allowed at the top of `location`'s section, if it is the model's own."""
    return f"; allowed: {', '.join(model.model_fields)}" if len(location) == 1 else ""
