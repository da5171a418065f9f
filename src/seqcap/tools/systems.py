"""Scores of the systems whose captions are in some files, and how far they are from the first system's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from seqcap.errors import InputError, printable
from seqcap.library.texts import cache_folder
from seqcap.metrics import diversity, quality
from seqcap.metrics.captions import Caption
from seqcap.metrics.files import Captions, ImageId, read_candidates, read_references
from seqcap.metrics.quality import Measured
from seqcap.metrics.registry import METRICS
from seqcap.metrics.significance import Difference, Score, differences, with_intervals

FEW_IMAGES = 100  # with fewer images, words have document frequencies by accident
# Metrics that are 0 by definition if a single image is scored: every word is in all of the references.
_NEEDS_SEVERAL = ("CIDEr", METRICS["SPIDEr"].shown, "self-CIDEr")


@dataclass(frozen=True)
class System:
    """The scores of one set of captions, by metric."""

    name: str
    images: Sequence[ImageId]  # that are scored, in the references' order
    missing: int  # images with references that have no caption
    references: tuple[int, int]  # per image, the fewest and the most
    captions: int  # per image
    scores: Mapping[str, Score]
    measured: Mapping[str, Measured]  # with the statistics of images
    texts: Sequence[Sequence[Caption]]  # the captions of each image
    reasons: Mapping[str, str]  # why a metric has no value
    differences: Mapping[str, Difference]  # from the first system; empty for the first, and if `unpaired`
    unpaired: str = ""  # why it cannot be compared with the first

    @property
    def warnings(self) -> list[str]:
        """Warnings for readers of the scores."""
        few = len(self.images) < FEW_IMAGES and any("CIDEr" in metric for metric in self.scores)
        many = f"CIDEr's document frequencies come from {len(self.images)} images: scores of other images differ"
        return [f"{self.name}: {many}"] if few else []


def score_files(
    references: Sequence[Path],
    candidates: Sequence[Path],
    split: str,
    metrics: Sequence[str],
    by_official: bool,
) -> list[System]:
    """Scores every system of some candidates files, and compares all with the first. `metrics` are of
    `registry.QUALITY`; `by_official`: by pycocoevalcap and its jars instead of the engine."""
    known = read_references(references, split)
    systems: list[System] = []
    for path in candidates:
        for name, captions in read_candidates(path).items():
            if any(system.name == name for system in systems):
                name = printable(f"{path}: {name}")
            _check_images(name, known, captions, references[0], path)
            system = _score(name, known, captions, metrics, by_official)
            systems.append(_compare(systems[0], system) if systems else system)
    return systems


def _check_images(name: str, references: Captions, captions: Captions, source: Path, path: Path) -> None:
    unknown = [image_id for image_id in captions if image_id not in references]
    if unknown:
        problem = f"image {unknown[0]!r} and {len(unknown) - 1} others have no references in {source}"
        if str(unknown[0]) in map(str, references):
            raise InputError(path, problem, "write images the same way in both: as numbers, or as texts")
        raise InputError(path, problem, "score captions of the same images, or choose the split with --split")
    first = next(image_id for image_id in references if image_id in captions)
    for image_id, texts in captions.items():
        if len(texts) != len(captions[first]):
            counts = f"has {len(texts)} captions and image {first!r} has {len(captions[first])}"
            raise InputError(path, f"{name}: image {image_id!r} {counts}", "give every image the same number")


def _score(name: str, references: Captions, captions: Captions, metrics: Sequence[str], by_official: bool) -> System:
    """Scores one system: the mean over an image's captions, their best (oracle), and their diversity."""
    images = [image_id for image_id in references if image_id in captions]
    number = len(captions[images[0]])
    # The metrics' document frequencies, like coco-caption's, are those of the images that are scored.
    truth = {index: references[image_id] for index, image_id in enumerate(images)}
    sets = {index: captions[image_id] for index, image_id in enumerate(images)}
    measured, reasons = _measure(truth, sets, number, metrics, by_official)
    scores = with_intervals(measured, len(images))
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
    counts = [len(texts) for texts in truth.values()]
    missing, fewest_and_most = len(references) - len(images), (min(counts), max(counts))
    return System(name, images, missing, fewest_and_most, number, scores, measured, list(sets.values()), reasons, {})


def _measure(
    truth: dict[int, list[Caption]],
    sets: dict[int, list[Caption]],
    number: int,
    metrics: Sequence[str],
    by_official: bool,
) -> tuple[dict[str, Measured], dict[str, str]]:
    """Metric -> its values with the statistics of images; and metric -> why it has none."""
    flat = [(index, tokens) for index, texts in sets.items() for tokens in texts]
    reasons: dict[str, str] = {}
    if by_official:
        from seqcap.metrics import official

        found, reasons = official.measure(truth, flat, metrics)
    else:
        found = quality.measure(truth, flat, metrics, cache_folder())
    measured = {METRICS[metric].shown: values.by_image(number) for metric, values in found.items()}
    if number > 1:
        for metric, values in list(measured.items()):
            best = values.per_caption.reshape(-1, number).max(axis=1)
            measured[f"{metric} oracle@{number}"] = Measured.mean(best)
        per_image = {"Div1": diversity.distinct_ngrams(sets, 1), "Div2": diversity.distinct_ngrams(sets, 2)}
        per_image["self-CIDEr"] = diversity.self_cider(sets, truth)
        measured |= {metric: Measured.mean(values.per_image) for metric, values in per_image.items()}
    if len(sets) == 1:
        reasons = {metric: "needs several images" for metric in _NEEDS_SEVERAL if metric in measured} | reasons
        measured = {
            metric: values for metric, values in measured.items() if metric.partition(" oracle@")[0] not in reasons
        }
    return measured, reasons


def _compare(first: System, system: System) -> System:
    if system.images != first.images:
        return replace(system, unpaired=f"other images than {first.name}")
    return replace(system, differences=differences(first.measured, system.measured, len(system.images)))
