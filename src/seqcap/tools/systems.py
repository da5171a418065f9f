"""Scores of the systems whose captions are in some files, and how far they are from the first system's."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from seqcap.errors import InputError, printable
from seqcap.library.evaluation import FEW, ONE_IMAGE, why_without
from seqcap.library.texts import cache_folder
from seqcap.metrics import diversity, notes, quality
from seqcap.metrics.captions import Caption
from seqcap.metrics.files import References, Text, read_candidates, read_references, words_of
from seqcap.metrics.layouts import ImageId
from seqcap.metrics.quality import Measured
from seqcap.metrics.registry import METRICS, QUALITY
from seqcap.metrics.significance import Difference, Score, differences, with_intervals
from seqcap.rewards.frequencies import DocumentFrequencies

TEST_SPLIT = "test"
Captions = Mapping[ImageId, Sequence[Text]]


@dataclass(frozen=True)
class System:
    """The scores of one set of captions, by metric.

    Attributes:
        name: its file's, or what a file of several calls it.
        images: those that are scored, in the references' order.
        missing: images with references that have no caption.
        references: per image, the fewest and the most.
        captions: per image.
        scores: metric -> its value, with an interval if it has one.
        measured: metric -> its values with the statistics of images.
        texts: the captions of each image, in words.
        reasons: metric -> why it has no value.
        differences: metric -> how far it is from the first system; empty for the first, and if `unpaired`.
        notes: what was left out, merged or ignored, and what does not fit the metrics.
        unpaired: why it cannot be compared with the first; "" if it can.
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
    notes: Sequence[str] = ()
    unpaired: str = ""


@dataclass(frozen=True)
class Request:
    """What to score by.

    Attributes:
        metrics: of `registry.QUALITY`; None: all that are installed.
        official: by pycocoevalcap and its jars on the raw text.
        split: of references that hold several; None: test.
        frequencies: CIDEr's document frequencies; None: those of the references that are scored.
    """

    metrics: Sequence[str] | None = None
    official: bool = False
    split: str | None = None
    frequencies: DocumentFrequencies | None = None


def score_files(references: Sequence[Path], candidates: Sequence[Path], request: Request) -> list[System]:
    """Scores every system of some candidates files, and compares all with the first. InputError if files cannot be read
    or do not belong together."""
    known = read_references(references, request.split or TEST_SPLIT)
    scorer = _Scorer(known, references[0], request)
    systems: list[System] = []
    for path in candidates:
        for given, captions in read_candidates(path).items():
            is_taken = any(system.name == given for system in systems)
            name = printable(f"{path}: {given}") if is_taken else given
            system = scorer.score(name, _placed(name, known, captions, references[0], path), path)
            systems.append(_compare(systems[0], system) if systems else system)
    return systems


@dataclass(frozen=True)
class _Placed:
    """Candidates by the references' images, in their order."""

    captions: Captions
    rejected: int  # images all of whose references the dataset's makers rejected


def _placed(name: str, known: References, captions: Captions, source: Path, path: Path) -> _Placed:
    found: dict[ImageId, list[Text]] = {}
    unknown, rejected = [], 0
    for image, texts in captions.items():
        place = known.find(image)
        if place is not None:
            found.setdefault(place, []).extend(texts)
        elif str(image) in known.emptied:
            rejected += 1
        else:
            unknown.append(image)
    if unknown:
        number = f"{len(unknown)} of {len(captions)} images"
        problem = f"{number} have no references in {source}, the first is {unknown[0]!r}"
        fix = f"name images as there, such as {known.examples()}, or choose the split with --split"
        raise InputError(path, problem, fix)
    if not found:
        raise InputError(
            path, f"captions no image that has references in {source}", "score captions of the same images"
        )
    _check_numbers(name, found, path)
    return _Placed({image: found[image] for image in known if image in found}, rejected)


def _check_numbers(name: str, captions: Captions, path: Path) -> None:
    """InputError unless all images have the same number of captions, and not one caption several times."""
    numbers = Counter(len(texts) for texts in captions.values())
    usual = min(number for number, images in numbers.items() if images == max(numbers.values()))
    same = {image: len(set(map(str, texts))) == 1 for image, texts in captions.items()}
    if usual > 1 and all(same.values()):
        first, texts = next(iter(captions.items()))
        problem = f"{name}: image {first!r} occurs {_times(len(texts))}, with the same caption, and so do all others"
        raise InputError(path, problem, "write each image once")
    for image, texts in captions.items():
        if len(texts) == usual:
            continue
        if usual == 1 and same[image]:
            problem = f"{name}: image {image!r} occurs {_times(len(texts))}, with the same caption"
            raise InputError(path, problem, "write each image once (distributed samplers repeat some)")
        other = next(other for other, others in captions.items() if len(others) == usual)
        counts = f"has {len(texts)} captions and image {other!r} has {usual}"
        raise InputError(path, f"{name}: image {image!r} {counts}", "give every image the same number")


def _times(number: int) -> str:
    return "twice" if number == 2 else f"{number} times"


class _Scorer:
    """Scores systems against the same references, whose words are found once."""

    def __init__(self, references: References, source: Path, request: Request) -> None:
        self._references, self._source, self._request = references, source, request
        self._words: dict[ImageId, list[Caption]] = {}

    def score(self, name: str, placed: _Placed, path: Path) -> System:
        """One system: the mean over an image's captions, their best (oracle), and their diversity."""
        images = list(placed.captions)
        number = len(placed.captions[images[0]])
        truth = self._truth(images)
        sets = dict(enumerate(self._tokenized(placed.captions, images, path)))
        measured, reasons = self._measure(truth, sets, number)
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
        missing, fewest_and_most = len(self._references) - len(images), (min(counts), max(counts))
        said = self._notes(placed, truth, sets, missing, [name for name in QUALITY if METRICS[name].shown in measured])
        texts = list(sets.values())
        return System(name, images, missing, fewest_and_most, number, scores, measured, texts, reasons, {}, said)

    def _truth(self, images: Sequence[ImageId]) -> dict[int, list[Caption]]:
        new = [image for image in images if image not in self._words]
        own = {image: self._references[image] for image in new}
        self._words.update(zip(new, self._tokenized(own, new, self._source), strict=True))
        return {place: self._words[image] for place, image in enumerate(images)}

    def _tokenized(self, captions: Captions, images: Sequence[ImageId], path: Path) -> list[list[Caption]]:
        if self._request.official:
            from seqcap.metrics import official

            return official.tokenized([captions[image] for image in images])
        return [[words_of(text, path, image) for text in captions[image]] for image in images]

    def _measure(
        self, truth: dict[int, list[Caption]], sets: dict[int, list[Caption]], number: int
    ) -> tuple[dict[str, Measured], dict[str, str]]:
        """Metric -> its values with the statistics of images; and metric -> why it has none."""
        flat = [(index, tokens) for index, texts in sets.items() for tokens in texts]
        request = self._request
        wanted = list(request.metrics or QUALITY)
        if request.official:
            from seqcap.metrics import official

            found, reasons = official.measure(truth, flat, wanted)
        else:
            alone = len(sets) == 1 and request.frequencies is None
            reasons = why_without(wanted, request.metrics is not None, alone)
            wanted = [metric for metric in wanted if metric not in reasons]
            found = quality.measure(truth, flat, wanted, cache_folder(), request.frequencies) if wanted else {}
        measured = {METRICS[metric].shown: values.by_image(number) for metric, values in found.items()}
        reasons = {METRICS[metric].shown: reason for metric, reason in reasons.items()}
        if number > 1:
            for metric, values in list(measured.items()):
                best = values.per_caption.reshape(-1, number).max(axis=1)
                measured[f"{metric} oracle@{number}"] = Measured.mean(best)
            per_image = {"Div1": diversity.distinct_ngrams(sets, 1), "Div2": diversity.distinct_ngrams(sets, 2)}
            if len(sets) > 1:
                per_image["self-CIDEr"] = diversity.self_cider(sets, truth)
            else:
                reasons["self-CIDEr"] = ONE_IMAGE
            measured |= {metric: Measured.mean(values.per_image) for metric, values in per_image.items()}
        return measured, reasons

    def _notes(
        self,
        placed: _Placed,
        truth: Mapping[int, Sequence[Caption]],
        sets: Mapping[int, Sequence[Caption]],
        missing: int,
        metrics: Sequence[str],
    ) -> list[str]:
        known, request = self._references, self._request
        empty = sum(not tokens for texts in sets.values() for tokens in texts)
        counted = {
            "images of the references have no caption here and are not scored": missing,
            "references that the dataset rejects are left out": known.left_out,
            "captions are of images all of whose references are rejected, and not scored": placed.rejected,
            "images are written in two ways in the references, and merged": known.merged,
            "captions have no words and score 0": empty,
        }
        said = [f"{number:,} {what}" for what, number in counted.items() if number]
        if request.split is not None and not known.splits:
            said.append(f"--split {request.split} is ignored: {self._source} holds one split")
        if request.official and request.frequencies is not None:
            said.append("--frequencies is ignored: pycocoevalcap counts its own")
        said += notes.of_language(truth.values(), metrics)
        if {"CIDEr", "SPIDEr"} & set(metrics):
            said += notes.of_lengths(sets.values(), truth.values())
            if len(sets) < FEW and (request.frequencies is None or request.official):
                said.append(f"CIDEr's document frequencies come from {len(sets)} images: scores of other images differ")
        return said


def _compare(first: System, system: System) -> System:
    if system.images != first.images:
        return replace(system, unpaired=f"other images than {first.name}")
    return replace(system, differences=differences(first.measured, system.measured, len(system.images)))
