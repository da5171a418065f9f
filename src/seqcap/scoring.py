"""`seqcap score`: scores captions in files against references in files, without the pipeline."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from seqcap.artifacts import write_json
from seqcap.errors import InputError
from seqcap.metrics import diversity, quality
from seqcap.metrics.captions import Caption, Floats
from seqcap.metrics.files import Captions, read_candidates, read_references
from seqcap.metrics.quality import Measured
from seqcap.metrics.registry import METRICS

RESAMPLES = 1000
# What is 0 by definition where a single image is scored: every word is in all of the references.
OF_SEVERAL = ("CIDEr", METRICS["SPIDEr"].shown, "self-CIDEr")
# Metrics that are shown as they are: percentages and numbers of words.
UNSCALED = {name for name, metric in METRICS.items() if metric.unit}


@dataclass(frozen=True)
class Score:
    """One metric of one system, x1 scale, with the 95% bootstrap interval over images where it has one."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class System:
    """What was measured of one set of captions.

    Attributes:
        images: scored; missing: images with references that have no caption.
        captions: per image.
        scores: metric -> value.
        per_caption: (image, rank, caption) and metric -> value, in the candidates' order.
        reasons: metric -> why it has no value.
    """

    name: str
    images: int
    missing: int
    captions: int
    scores: dict[str, Score]
    per_caption: list[dict[str, Any]]
    reasons: dict[str, str]


def score_files(
    references: Path, candidates: Path, split: str, metrics: Sequence[str], by_official: bool
) -> list[System]:
    """Scores every system of a candidates file.

    Args:
        references: see `files.read_references`; `split` is that of a Karpathy or Parquet file.
        candidates: see `files.read_candidates`.
        metrics: of `registry.QUALITY`.
        by_official: by pycocoevalcap and its jars instead of the engine.

    Raises:
        InputError: a file is wrong, an image has no references, or images have different numbers of captions.
    """
    known = read_references(references, split)
    return [
        score_system(name, known, captions, metrics, by_official, (references, candidates))
        for name, captions in read_candidates(candidates).items()
    ]


def score_system(
    name: str,
    references: Captions,
    captions: Captions,
    metrics: Sequence[str],
    by_official: bool,
    sources: tuple[Path, Path],
) -> System:
    """Scores one system: the mean over an image's captions, their best (oracle), and their diversity."""
    unknown = [image_id for image_id in captions if image_id not in references]
    if unknown:
        raise InputError(
            sources[1],
            f"image {unknown[0]!r} and {len(unknown) - 1} others have no references in {sources[0]}",
            "score captions of the same images, or choose the split with --split",
        )
    first = next(iter(captions))
    number = len(captions[first])
    for image_id, of_image in captions.items():
        if len(of_image) != number:
            raise InputError(
                sources[1],
                f"{name}: image {image_id!r} has {len(of_image)} captions and image {first!r} has {number}",
                "give every image the same number",
            )
    # The metrics' document frequencies, like coco-caption's, are those of the images that are scored.
    order = {image_id: index for index, image_id in enumerate(captions)}
    truth = {index: references[image_id] for image_id, index in order.items()}
    sets = {index: captions[image_id] for image_id, index in order.items()}
    flat = [(index, tokens) for index, of_image in sets.items() for tokens in of_image]
    reasons: dict[str, str] = {}
    if by_official:
        from seqcap.metrics import official

        measured, reasons = official.measure(truth, flat, metrics)
    else:
        measured = quality.measure(truth, flat, metrics, cache_folder() / "scene_graphs.parquet")
    measured = {METRICS[metric].shown: values for metric, values in measured.items()}
    scores = {metric: _mean(values, number) for metric, values in measured.items()}
    if number > 1:
        for metric, values in measured.items():
            best = values.per_caption.reshape(-1, number).max(axis=1)
            scores[f"{metric} oracle@{number}"] = _mean(Measured.mean(best), 1)
        scores |= _of_sets(sets, truth)
    if len(captions) == 1:
        reasons = {metric: "needs several images" for metric in OF_SEVERAL if metric in scores} | reasons
        scores = {metric: score for metric, score in scores.items() if metric.partition(" oracle@")[0] not in reasons}
        measured = {metric: values for metric, values in measured.items() if metric not in reasons}
    scores |= {
        "vocabulary": Score(diversity.vocabulary_size(sets)),
        "length": Score(diversity.mean_length(sets).corpus),
        "unique": Score(diversity.unique(sets)),
        "bad_endings": Score(diversity.bad_endings(sets)),
        "Self-BLEU4": Score(diversity.self_bleu(sets)),
    }
    return System(
        name, len(captions), len(references) - len(captions), number, scores, _rows(captions, measured), reasons
    )


def cache_folder() -> Path:
    """Where parses are kept between runs: the user's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "seqcap"


def _of_sets(sets: Mapping[int, Sequence[Caption]], references: Mapping[int, Sequence[Caption]]) -> dict[str, Score]:
    mutual = diversity.mutual_bleu(sets)
    per_image = {"Div1": diversity.distinct_ngrams(sets, 1), "Div2": diversity.distinct_ngrams(sets, 2)}
    per_image["self-CIDEr"] = diversity.self_cider(sets, references)
    scores = {metric: _mean(Measured.mean(values.per_image), 1) for metric, values in per_image.items()}
    return scores | {f"mBLEU{order}": Score(float(value)) for order, value in enumerate(mutual.corpus, start=1)}


def _mean(measured: Measured, number: int) -> Score:
    """The corpus value with its bootstrap interval: whole images are drawn, with all their captions."""
    statistics = measured.statistics.reshape(-1, number, measured.statistics.shape[1]).sum(axis=1)
    images = len(statistics)
    drawn = np.random.default_rng(0).multinomial(images, np.full(images, 1 / images), size=RESAMPLES)
    values: Floats = measured.aggregate(drawn @ statistics)
    low, high = np.quantile(values, [0.025, 0.975])
    return Score(measured.corpus(), float(low), float(high))


def _rows(captions: Captions, measured: Mapping[str, Measured]) -> list[dict[str, Any]]:
    places = [
        {"image_id": image_id, "rank": rank, "caption": " ".join(tokens)}
        for image_id, of_image in captions.items()
        for rank, tokens in enumerate(of_image)
    ]
    values = {metric: values.per_caption.tolist() for metric, values in measured.items()}
    return [place | {metric: of_metric[i] for metric, of_metric in values.items()} for i, place in enumerate(places)]


def as_table(systems: Sequence[System]) -> str:
    """A table for reading, one block per system; quality and diversity are x100."""
    lines = []
    for system in systems:
        several = f", {system.captions} captions each" if system.captions > 1 else ""
        lines.append(f"{system.name}: {system.images:,} images{several}")
        if system.missing:
            lines.append(f"  {system.missing:,} images of the references have no caption here and are not scored")
        for metric, score in system.scores.items():
            scale = 1 if metric in UNSCALED else 100
            interval = ""
            if score.low is not None and score.high is not None:
                interval = f"  [{score.low * scale:6.2f}, {score.high * scale:6.2f}]"
            lines.append(f"  {metric:<20} {score.value * scale:8.2f}{interval}")
        lines += [f"  {metric:<20}        –  {reason}" for metric, reason in system.reasons.items()]
    return "\n".join(lines)


def write_scores(path: Path, systems: Sequence[System], per_image: bool) -> None:
    """Writes everything as JSON, x1 scale; with `per_image` every caption's scores too.

    Raises:
        InputError: the file cannot be written.
    """
    value = {
        system.name: {
            "images": system.images,
            "images_without_caption": system.missing,
            "captions_per_image": system.captions,
            "scores": {
                metric: {"value": score.value, "low": score.low, "high": score.high}
                for metric, score in system.scores.items()
            },
            "not_computed": system.reasons,
            **({"captions": system.per_caption} if per_image else {}),
        }
        for system in systems
    }
    try:
        write_json(path, value)
    except OSError as error:
        raise InputError(path, f"cannot be written ({error.strerror})", "choose another file") from None
