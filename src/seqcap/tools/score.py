"""`seqcap score`: scores captions in files against references in files, without the pipeline."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from seqcap.errors import InputError
from seqcap.files.json_file import write_json
from seqcap.metrics import diversity, quality
from seqcap.metrics.captions import Caption, Floats
from seqcap.metrics.files import Captions, ImageId, read_candidates, read_references
from seqcap.metrics.quality import Measured
from seqcap.metrics.registry import METRICS
from seqcap.tools.significance import Test, p_value

# Of the intervals; and how many of them at a time: of 200,000 images 80 MB.
RESAMPLES, _CHUNK = 1000, 50
# Fewer images give words document frequencies by accident.
FEW_IMAGES = 100
# What is 0 by definition where a single image is scored: every word is in all of the references.
OF_SEVERAL = ("CIDEr", METRICS["SPIDEr"].shown, "self-CIDEr")


@dataclass(frozen=True)
class Score:
    """One metric of one system, x1 scale, with the 95% bootstrap interval over images where it has one."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Difference:
    """How far a system's metric is from the first system's, x1 scale; `p_value` is that of a paired test."""

    value: float
    p_value: float


@dataclass(frozen=True)
class System:
    """What was measured of one set of captions.

    Attributes:
        images: scored, in the references' order.
        missing: images with references that have no caption.
        references: how many an image has, the fewest and the most.
        captions: per image.
        scores: metric -> value.
        measured: metric -> its values; statistics are those of images.
        texts: per image its captions.
        reasons: metric -> why it has no value.
        differences: metric -> from the first system; empty for the first, and where `unpaired` says why.
        unpaired: why it cannot be compared with the first.
    """

    name: str
    images: Sequence[ImageId]
    missing: int
    references: tuple[int, int]
    captions: int
    scores: Mapping[str, Score]
    measured: Mapping[str, Measured]
    texts: Sequence[Sequence[Caption]]
    reasons: Mapping[str, str]
    differences: Mapping[str, Difference]
    unpaired: str = ""

    @property
    def warnings(self) -> list[str]:
        """What a reader must know of the scores."""
        few = len(self.images) < FEW_IMAGES and any("CIDEr" in metric for metric in self.scores)
        many = f"CIDEr's document frequencies come from {len(self.images)} images: scores of other images differ"
        return [f"{self.name}: {many}"] if few else []


def score_files(
    references: Sequence[Path],
    candidates: Sequence[Path],
    split: str,
    metrics: Sequence[str],
    by_official: bool,
    test: Test = "bs",
) -> list[System]:
    """Scores every system of some candidates files, and compares all with the first.

    Args:
        references: see `files.read_references`; `split` is that of a Karpathy or Parquet file.
        candidates: see `files.read_candidates`.
        metrics: of `registry.QUALITY`.
        by_official: by pycocoevalcap and its jars instead of the engine.
        test: of `significance.TESTS`.

    Raises:
        InputError: a file is wrong, an image has no references, or images have different numbers of captions.
    """
    known = read_references(references, split)
    systems: list[System] = []
    for path in candidates:
        for name, captions in read_candidates(path).items():
            if any(system.name == name for system in systems):
                name = f"{path}: {name}"
            system = _score(name, known, captions, metrics, by_official, (references[0], path))
            systems.append(_compared(systems[0], system, test) if systems else system)
    return systems


def _score(
    name: str,
    references: Captions,
    captions: Captions,
    metrics: Sequence[str],
    by_official: bool,
    sources: tuple[Path, Path],
) -> System:
    """Scores one system: the mean over an image's captions, their best (oracle), and their diversity."""
    _check_images(references, captions, sources)
    images = [image_id for image_id in references if image_id in captions]
    number = len(captions[images[0]])
    for image_id, of_image in captions.items():
        if len(of_image) != number:
            raise InputError(
                sources[1],
                f"{name}: image {image_id!r} has {len(of_image)} captions and image {images[0]!r} has {number}",
                "give every image the same number",
            )
    # The metrics' document frequencies, like coco-caption's, are those of the images that are scored.
    truth = {index: references[image_id] for index, image_id in enumerate(images)}
    sets = {index: captions[image_id] for index, image_id in enumerate(images)}
    flat = [(index, tokens) for index, of_image in sets.items() for tokens in of_image]
    reasons: dict[str, str] = {}
    if by_official:
        from seqcap.metrics import official

        found, reasons = official.measure(truth, flat, metrics)
    else:
        found = quality.measure(truth, flat, metrics, cache_folder())
    measured = {METRICS[metric].shown: _of_images(values, number) for metric, values in found.items()}
    if number > 1:
        for metric, values in list(measured.items()):
            best = values.per_caption.reshape(-1, number).max(axis=1)
            measured[f"{metric} oracle@{number}"] = Measured.mean(best)
        per_image = {"Div1": diversity.distinct_ngrams(sets, 1), "Div2": diversity.distinct_ngrams(sets, 2)}
        per_image["self-CIDEr"] = diversity.self_cider(sets, truth)
        measured |= {metric: Measured.mean(values.per_image) for metric, values in per_image.items()}
    if len(images) == 1:
        reasons = {metric: "needs several images" for metric in OF_SEVERAL if metric in measured} | reasons
        measured = {
            metric: values for metric, values in measured.items() if metric.partition(" oracle@")[0] not in reasons
        }
    scores = _with_intervals(measured, len(images))
    if number > 1:
        mutual = diversity.mutual_bleu(sets)
        scores |= {f"mBLEU{order}": Score(float(value)) for order, value in enumerate(mutual.corpus, start=1)}
    scores |= {
        "vocabulary": Score(diversity.vocabulary_size(sets)),
        "length": Score(diversity.mean_length(sets)),
        "unique": Score(diversity.unique(sets)),
        "bad_endings": Score(diversity.bad_endings(sets)),
        "Self-BLEU4": Score(diversity.self_bleu(sets)),
    }
    counts = [len(of_image) for of_image in truth.values()]
    missing, most = len(references) - len(images), (min(counts), max(counts))
    return System(name, images, missing, most, number, scores, measured, list(sets.values()), reasons, {})


def _check_images(references: Captions, captions: Captions, sources: tuple[Path, Path]) -> None:
    """Checks that all images that have captions have references."""
    unknown = [image_id for image_id in captions if image_id not in references]
    if not unknown:
        return
    image_id = unknown[0]
    other: ImageId | None = str(image_id) if isinstance(image_id, int) else None
    if isinstance(image_id, str) and re.fullmatch(r"[0-9]{1,18}", image_id):
        other = int(image_id)
    if other in references:
        kinds = ("a number", "a text") if isinstance(image_id, int) else ("a text", "a number")
        problem = f"image {image_id!r} is {kinds[0]}, and in {sources[0]} it is {kinds[1]}, {other!r}"
        raise InputError(sources[1], problem, "write images the same way in both")
    raise InputError(
        sources[1],
        f"image {image_id!r} and {len(unknown) - 1} others have no references in {sources[0]}",
        "score captions of the same images, or choose the split with --split",
    )


def _compared(first: System, system: System, test: Test) -> System:
    """The system with its differences from the first."""
    if system.images != first.images:
        return replace(system, unpaired=f"other images than {first.name}")
    differences = {}
    for metric, values in system.measured.items():
        base = first.measured.get(metric)
        if base is not None:
            p = p_value(base.statistics, values.statistics, values.aggregate, test)
            differences[metric] = Difference(values.corpus() - base.corpus(), p)
    return replace(system, differences=differences)


def cache_folder() -> Path:
    """Where parses and METEOR's phrases are kept between runs: the user's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "seqcap"


def _of_images(measured: Measured, number: int) -> Measured:
    """A metric with the statistics of images, each of so many captions."""
    statistics = measured.statistics.reshape(-1, number, measured.statistics.shape[1]).sum(axis=1)
    return replace(measured, statistics=statistics)


def _with_intervals(measured: Mapping[str, Measured], images: int) -> dict[str, Score]:
    """The metrics' corpus values with bootstrap intervals: whole images are drawn, with all their captions."""
    random = np.random.default_rng(0)
    drawn: dict[str, list[Floats]] = {metric: [] for metric in measured}
    for _ in range(0, RESAMPLES, _CHUNK):
        times = random.multinomial(images, np.full(images, 1 / images), size=_CHUNK).astype(np.float64)
        for metric, values in measured.items():
            drawn[metric].append(values.aggregate(times @ values.statistics))
    scores = {}
    for metric, values in measured.items():
        low, high = np.quantile(np.concatenate(drawn[metric]), [0.025, 0.975])
        scores[metric] = Score(values.corpus(), float(low), float(high))
    return scores


def captions_of(system: System) -> list[dict[str, Any]]:
    """Every caption with its own scores, the best of an image first."""
    number = system.captions
    # Others have one value for all captions of an image.
    of_caption = {
        metric: values.per_caption.tolist()
        for metric, values in system.measured.items()
        if len(values.per_caption) == number * len(system.images)
    }
    rows = []
    for place, (image_id, texts) in enumerate(zip(system.images, system.texts, strict=True)):
        for rank, tokens in enumerate(texts):
            scores = {metric: values[place * number + rank] for metric, values in of_caption.items()}
            rows.append({"image_id": image_id, "rank": rank, "caption": " ".join(tokens)} | scores)
    return rows


def as_json(systems: Sequence[System], signatures: Mapping[str, str], per_image: bool) -> dict[str, Any]:
    """Everything, x1 scale; with `per_image` every caption's scores too."""
    return {
        system.name: {
            "images": len(system.images),
            "images_without_caption": system.missing,
            "captions_per_image": system.captions,
            "scores": {
                metric: {"value": score.value, "low": score.low, "high": score.high}
                for metric, score in system.scores.items()
            },
            "not_computed": system.reasons,
            "differences_from_the_first": {
                metric: {"value": difference.value, "p_value": difference.p_value}
                for metric, difference in system.differences.items()
            },
            "not_compared": system.unpaired,
            "warnings": system.warnings,
            "signatures": {metric: line for metric, line in signatures.items() if metric in system.scores},
            **({"captions": captions_of(system)} if per_image else {}),
        }
        for system in systems
    }


def write_scores(path: Path, scores: Mapping[str, Any]) -> None:
    """Writes what `as_json` makes.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        write_json(path, scores)
    except OSError as error:
        raise InputError(path, f"cannot be written ({error.strerror})", "choose another file") from None
