"""What the report is made from: the run's configs, scores, decoded captions and learning curves, checked on reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from seqcap import artifacts
from seqcap.artifacts import DATA
from seqcap.errors import InputError

if TYPE_CHECKING:
    from seqcap.reporting.papers import Paper

CONFIGS = Path("configs")
REPORTS = Path("reports")
SCORES_FILE = "scores.parquet"

# Which of the decoded captions of an image a number is about: all of them, the first, or the set as a whole.
Captions = Literal["every", "best", "set"]
# Key of a JSON file -> the types it may have.
Kinds = dict[str, type | tuple[type, ...]]

KARPATHY_TEST = "COCO Karpathy test"
# The objective that pretraining has, too: a variant of it may be the pretrained captioner itself.
LIKELIHOOD = "cross_entropy"
# The task that every dataset with pictures is for; others translate.
IMAGE = "image"

_DATASETS = {
    "scenes": "scenes (generated)",
    "flickr8k": "Flickr8k (photographs; official splits)",
    "flickr30k": "Flickr30k (photographs; Karpathy's splits)",
    "coco": "COCO (Karpathy's splits)",
}
# Of translation; the name of a real corpus says enough.
_CORPORA = {"scenes": "scenes (sentences that a grammar writes of generated scenes)"}


@dataclass(frozen=True)
class ReportConfig:
    """configs/report.json: which papers there are, what stood in for their data, and what may be shown.

    Attributes:
        datasets: task -> its dataset; that of "image" is "scenes", "flickr8k", "flickr30k" or "coco".
        split: the split of the images that was decoded and scored.
        scale: "laptop" or "paper".
        show_images: whether pictures may appear in figures.
        papers: paper -> its variants, in the order of params.yaml.
    """

    datasets: dict[str, str]
    split: str
    scale: str
    show_images: bool
    papers: dict[str, list[str]]

    @classmethod
    def read(cls) -> ReportConfig:
        """Reads configs/report.json from the current directory."""
        path = CONFIGS / "report.json"
        kinds: Kinds = {"datasets": dict, "split": str, "scale": str, "show_images": bool, "papers": dict}
        config = cls(**checked(path, artifacts.read_json(path), kinds))
        for task, name in config.datasets.items():
            if not isinstance(name, str):
                raise InputError(path, f"datasets.{task} is {name!r}", "expected a dataset's name")
        if config.datasets.get(IMAGE) not in _DATASETS:
            found = config.datasets.get(IMAGE)
            raise InputError(path, f"datasets.{IMAGE} is {found!r}", f"allowed: {', '.join(_DATASETS)}")
        if not config.papers:
            raise InputError(path, "papers is empty", "params.yaml must define a paper's variants")
        for paper, names in config.papers.items():
            if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
                raise InputError(path, f"papers.{paper} is {names!r}", "expected the names of its variants")
        return config

    @property
    def dataset(self) -> str:
        """The images' dataset."""
        return self.datasets[IMAGE]

    def stand_in(self, published_on: str, task: str = IMAGE, split: str | None = None) -> str:
        """Which data stood in for `published_on`, where a paper measured, and of images the split that was scored.

        Args:
            published_on: the paper's data.
            task: of `datasets`.
            split: of the images, where it is not the one that most numbers are of.
        """
        if task != IMAGE:
            return f"{_CORPORA.get(self.datasets[task], self.datasets[task])}, stands in for {published_on}"
        split = split or self.split
        here = f"{_DATASETS[self.dataset]}, {split} split"
        as_published = published_on == KARPATHY_TEST and self.dataset == "coco" and split == "test"
        return here if as_published else f"{here}, stands in for {published_on}"


@dataclass(frozen=True)
class Variant:
    """One objective on one captioner: configs/<paper>_<variant>.json.

    Attributes:
        weights: folder of its weights and learning curves.
        decoded: file of its captions.
        task: "image", or the one that it translates for.
        settings: the objective's own.
        reward: the name in params.yaml of the reward that it was trained on; None for cross-entropy, which has none.
    """

    variant: str
    label: str
    captioner: str
    objective: str
    seeds: list[int]
    weights: str = ""
    decoded: str = ""
    task: str = IMAGE
    settings: dict[str, Any] = field(default_factory=dict)
    reward: str | None = None


def read_variants(paper: str, names: Sequence[str]) -> list[Variant]:
    """The named variants of a paper, in the order of their names."""
    kinds: Kinds = {"variant": str, "label": str, "captioner": str, "objective": str, "seeds": list, "settings": dict}
    kinds |= {"weights": str, "decoded": str, "task": str, "reward_name": (str, type(None))}
    variants = []
    for name in names:
        path = CONFIGS / f"{paper}_{name}.json"
        config = checked(path, artifacts.read_json(path), kinds)
        reward = config.pop("reward_name")
        # Every variant may have its paper's default reward; cross-entropy does not look at it.
        variants.append(Variant(**config, reward=None if config["objective"] == LIKELIHOOD else reward))
    return variants


def checked(path: Path, record: Any, kinds: Kinds) -> dict[str, Any]:
    """The keys of `kinds` in a JSON object read from `path`.

    Raises:
        InputError: it is no object, or a key is missing or of another type.
    """
    if not isinstance(record, dict):
        raise InputError(path, "is not a JSON object", "run `dvc repro configure`")
    for key, kind in kinds.items():
        if key not in record:
            raise InputError(path, f"has no key {key!r}", f"expected {', '.join(kinds)}")
        if not isinstance(record[key], kind):
            raise InputError(path, f"{key} is {record[key]!r}", "run `dvc repro configure`")
    return {key: record[key] for key in kinds}


class Scores:
    """The scores of one paper's variants, and why some metrics have none.

    Args:
        frame: columns of `artifacts.SCORES`; metrics in the scale of their definition (CIDEr about 1, not 100).
        reasons: metric -> why it was not computed.
        source: the file they come from, for error messages.
    """

    def __init__(self, frame: pd.DataFrame, reasons: dict[str, str], source: str | Path = "scores") -> None:
        self.source = source
        self._reasons = reasons
        keys = ["variant", "seed", "image_id", "decoder", "rank", "metric"]
        if frame.duplicated(keys).any():
            twice = frame.loc[frame.duplicated(keys), keys].iloc[0].to_dict()
            raise InputError(source, f"holds two scores for {twice}", "run the evaluate stage again")
        if np.isinf(frame["value"].to_numpy(dtype=float)).any():
            wrong = frame.loc[np.isinf(frame["value"].to_numpy(dtype=float)), keys].iloc[0].to_dict()
            raise InputError(source, f"the score of {wrong} is infinite", "run the evaluate stage again")
        self._groups: dict[tuple[str, str, str], pd.DataFrame] = {
            (str(variant), str(decoder), str(metric)): group
            for (variant, decoder, metric), group in frame.groupby(["variant", "decoder", "metric"], sort=False)
        }

    @classmethod
    def read(cls, paper: str, files: Sequence[str] = (SCORES_FILE,)) -> Scores:
        """Reads the named files of artifacts/<paper>, and the reasons.json that comes with scores.parquet."""
        folder = Path("artifacts") / paper
        reasons: Any = {}
        if SCORES_FILE in files:
            path = folder / "reasons.json"
            reasons = artifacts.read_json(path)
            if not isinstance(reasons, dict) or not all(isinstance(reason, str) for reason in reasons.values()):
                raise InputError(path, "does not map metrics to reasons", "run `dvc repro`")
        tables = [artifacts.read_table(folder / file, artifacts.SCORES) for file in files]
        source = folder / files[0] if len(files) == 1 else folder
        return cls(_frame(pa.concat_tables(tables)), reasons, source)

    def per_image(self, variant: str, decoder: str, metric: str, captions: Captions) -> pd.DataFrame | None:
        """Scores [images x seeds], averaged over an image's captions; None where there are none.

        A value is NaN where the metric is undefined for an image (the precision of a caption that states nothing).

        Raises:
            InputError: two seeds were scored on different images.
        """
        group = self._groups.get((variant, decoder, metric))
        if group is None:
            return None
        group = group[group["image_id"].notna()]
        if captions == "set":
            group = group[group["rank"].isna()]
        elif captions == "best":
            group = group[group["rank"] == 0]
        else:
            group = group[group["rank"].notna()]
        if group.empty:
            return None
        by_image = group.groupby(["image_id", "seed"])
        if by_image.size().unstack().isna().any(axis=None):
            raise InputError(
                self.source,
                f"the seeds of {variant} have {metric} ({decoder}) for different images",
                "run the decode and evaluate stages again",
            )
        return by_image["value"].mean().unstack().astype(float)

    def corpus(self, variant: str, decoder: str, metric: str) -> pd.Series[float] | None:
        """A corpus metric's value per seed, or None where there is none."""
        group = self._groups.get((variant, decoder, metric))
        if group is None:
            return None
        group = group[group["image_id"].isna() & group["value"].notna()]
        return None if group.empty else group.set_index("seed")["value"].sort_index().astype(float)

    def why_missing(self, variant: str, decoder: str, metric: str) -> str:
        """Why there is no such score, in words fit for a table's note."""
        if metric in self._reasons:
            return f"{metric}: {self._reasons[metric].removeprefix(f'{metric}: ')}"
        if not any(name == variant for name, _, _ in self._groups):
            return f"no scores of variant {variant}"
        return f"the evaluate stage wrote no {metric} for {variant} ({decoder})"


def read_decoded(variant: Variant) -> pd.DataFrame:
    """Decoded captions of one variant, columns of `artifacts.DECODED`."""
    return _frame(artifacts.read_table(variant.decoded, artifacts.DECODED))


def read_curves(variants: Sequence[Variant]) -> pd.DataFrame:
    """Learning curves of every variant that was trained, and of the captioners' pretraining; columns of
    `artifacts.CURVES`.

    Cross-entropy variants may have none of their own: they are the pretrained captioner.
    """
    paths = []
    for variant in variants:
        path = Path(variant.weights) / "curves.parquet"
        if path.exists() or variant.objective != LIKELIHOOD:
            paths.append(path)
    pretrained = {(variant.task, variant.captioner) for variant in variants}
    paths += [Path(f"artifacts/{task}/pretrain/{captioner}/curves.parquet") for task, captioner in sorted(pretrained)]
    return pd.concat([_frame(artifacts.read_table(path, artifacts.CURVES)) for path in paths], ignore_index=True)


def read_images(split: str) -> pd.DataFrame:
    """A split's images in the order of their ids: image_id, file, longest_reference (words of the longest caption)."""
    images = _frame(artifacts.read_table(DATA / "images.parquet", artifacts.IMAGES))
    references = artifacts.read_table(DATA / "references.parquet", artifacts.REFERENCES)
    lengths = pd.DataFrame(
        {
            "image_id": references["image_id"].to_numpy(),
            "longest_reference": pc.list_value_length(references["tokens"]).to_numpy(),
        }
    )
    longest = lengths.groupby("image_id", as_index=False)["longest_reference"].max()
    chosen = images[images["split"] == split].merge(longest, on="image_id")
    return chosen.sort_values("image_id").reset_index(drop=True)


def _frame(table: pa.Table) -> pd.DataFrame:
    frame: pd.DataFrame = table.to_pandas()
    return frame


@dataclass(frozen=True)
class Run:
    """What one paper's part of the report is made from. What only some tables or figures need is read on first use.

    Attributes:
        variants: in the order of params.yaml.
        entries: what is scored beside them, as `Paper.entries`.
    """

    paper: Paper
    config: ReportConfig
    variants: list[Variant]
    scores: Scores
    entries: list[Variant] = field(default_factory=list)

    @classmethod
    def read(cls, paper: Paper) -> Run:
        """Reads the configs and scores of a paper.

        Raises:
            InputError: a file is missing or malformed, the paper is not part of this run, or a variant's task is not.
        """
        config = ReportConfig.read()
        if paper.name not in config.papers:
            raise InputError(
                CONFIGS / "report.json", f"papers has no {paper.name!r}", f"this run has {', '.join(config.papers)}"
            )
        variants = read_variants(paper.name, config.papers[paper.name])
        for variant in variants:
            if variant.task not in config.datasets:
                path = CONFIGS / f"{paper.name}_{variant.variant}.json"
                raise InputError(path, f"task is {variant.task!r}", f"report.json has {', '.join(config.datasets)}")
        entries = list(paper.entries())
        return cls(paper, config, variants, Scores.read(paper.name, paper.score_files(variants)), entries)

    def stand_in(self, task: str = IMAGE) -> str:
        """Which data stood in for the paper's."""
        published_on = self.paper.published_on[task]
        if not any(variant.task == task for variant in self.variants):
            return f"{published_on}: not part of this run"
        return self.config.stand_in(published_on, task)

    @property
    def datasets(self) -> str:
        """The names of the datasets that it is about."""
        return ", ".join(dict.fromkeys(self.config.datasets[variant.task] for variant in self.variants))

    @cached_property
    def by_name(self) -> dict[str, Variant]:
        return {variant.variant: variant for variant in self.variants}

    @cached_property
    def scored(self) -> dict[str, Variant]:
        """Variants and entries by name."""
        return self.by_name | {entry.variant: entry for entry in self.entries}

    @cached_property
    def decoded(self) -> dict[str, pd.DataFrame]:
        """Variant -> its captions, columns of `artifacts.DECODED`."""
        return {variant.variant: read_decoded(variant) for variant in self.variants}

    @cached_property
    def curves(self) -> pd.DataFrame:
        """Learning curves of training and pretraining, columns of `artifacts.CURVES`."""
        return read_curves(self.variants)

    @cached_property
    def images(self) -> pd.DataFrame:
        """The scored split's images, as `read_images`."""
        return read_images(self.config.split)
