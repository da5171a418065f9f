"""What the report is made from: the run's configs, scores, decoded captions and learning curves, checked on reading."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from seqcap import artifacts
from seqcap.errors import InputError

CONFIGS = Path("configs")
DATA = Path("artifacts/image/data")
PRETRAIN = Path("artifacts/image/pretrain")
REPORTS = Path("reports")

# The paper's order of objectives; whatever else params.yaml defines follows them.
_ORDER = ("xe", "sll", "sll_me", "sll_sle")

# Which of the decoded captions of an image a number is about: all of them, the first, or the set as a whole.
Captions = Literal["every", "best", "set"]


_DATASETS = {
    "scenes": "scenes (generated)",
    "flickr8k": "Flickr8k (photographs; official splits)",
    "flickr30k": "Flickr30k (photographs; Karpathy's splits)",
    "coco": "COCO (Karpathy's splits)",
}


@dataclass(frozen=True)
class ReportConfig:
    """configs/report.json: what stood in for the papers' data, and what may be shown.

    Attributes:
        dataset: "scenes", "flickr8k", "flickr30k" or "coco".
        split: the split that was decoded and scored.
        scale: "laptop" or "paper".
        alpha: SLE's balance.
        show_images: whether pictures may appear in figures.
    """

    dataset: str
    split: str
    scale: str
    alpha: float
    show_images: bool

    @classmethod
    def read(cls) -> ReportConfig:
        """Reads configs/report.json from the current directory."""
        path = CONFIGS / "report.json"
        kinds: dict[str, type | tuple[type, ...]] = {
            "dataset": str,
            "split": str,
            "scale": str,
            "alpha": (int, float),
            "show_images": bool,
        }
        config = cls(**_checked(path, artifacts.read_json(path), kinds))
        if config.dataset not in _DATASETS:
            raise InputError(path, f"dataset is {config.dataset!r}", f"allowed: {', '.join(_DATASETS)}")
        return config

    @property
    def stand_in(self) -> str:
        """Which data stood in for the paper's, and the split that was scored."""
        here = f"{_DATASETS[self.dataset]}, {self.split} split"
        as_published = self.dataset == "coco" and self.split == "test"
        return here if as_published else f"{here}, stands in for COCO Karpathy test"


@dataclass(frozen=True)
class Variant:
    """One objective on one captioner: configs/<paper>_<variant>.json."""

    variant: str
    label: str
    captioner: str
    objective: str
    seeds: list[int]


def read_variants(paper: str) -> list[Variant]:
    """The variants that params.yaml defines now, in the paper's order; those with attention last."""
    kinds: dict[str, type | tuple[type, ...]] = {
        "variant": str,
        "label": str,
        "captioner": str,
        "objective": str,
        "seeds": list,
    }
    paths = sorted(CONFIGS.glob(f"{paper}_*.json"))
    if not paths:
        raise InputError(CONFIGS, f"has no {paper}_*.json", "run `dvc repro configure`")
    variants = [Variant(**_checked(path, artifacts.read_json(path), kinds)) for path in paths]
    return sorted(variants, key=_paper_order)


def _paper_order(variant: Variant) -> tuple[bool, int, str]:
    name = variant.variant.removesuffix("_att")
    return variant.variant.endswith("_att"), _ORDER.index(name) if name in _ORDER else len(_ORDER), name


def _checked(path: Path, record: Any, kinds: dict[str, type | tuple[type, ...]]) -> dict[str, Any]:
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
    def read(cls, paper: str) -> Scores:
        """Reads artifacts/<paper>/scores.parquet and the reasons.json beside it."""
        path = Path("artifacts") / paper / "scores.parquet"
        reasons = artifacts.read_json(path.with_name("reasons.json"))
        if not isinstance(reasons, dict) or not all(isinstance(reason, str) for reason in reasons.values()):
            raise InputError(path.with_name("reasons.json"), "does not map metrics to reasons", "run `dvc repro`")
        return cls(_frame(artifacts.read_table(path, artifacts.SCORES)), reasons, path)

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


def read_decoded(paper: str, variant: str) -> pd.DataFrame:
    """Decoded captions of one variant, columns of `artifacts.DECODED`."""
    path = Path("artifacts") / paper / "decode" / f"{variant}.parquet"
    return _frame(artifacts.read_table(path, artifacts.DECODED))


def read_curves(paper: str, variants: list[Variant]) -> pd.DataFrame:
    """Learning curves of every variant that was trained, and of their pretraining; columns of `artifacts.CURVES`.

    Cross-entropy variants may have none of their own: they are the pretrained captioner.
    """
    train = Path("artifacts") / paper / "train"
    paths = []
    for variant in variants:
        path = train / variant.variant / "curves.parquet"
        if path.exists() or variant.variant.removesuffix("_att") != "xe":
            paths.append(path)
    paths += [PRETRAIN / captioner / "curves.parquet" for captioner in sorted({v.captioner for v in variants})]
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
