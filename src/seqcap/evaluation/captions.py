"""Scores of captions of images: one row per caption, metric and run.

Metrics (`seqcap.metrics.registry` says what each is): `CIDEr`, `precision_true`, `recall_true` and `all_true` (1 where
a caption says something, all of it true) of every caption; of greedy captions and the best of the beam the others of
`registry.QUALITY`, `reward_<name>` for every reward that a run of the paper is paid, `words` (how many) and
`seq-rep-2`; `Div1`, `Div2`, `self-CIDEr` and `recall_true` of the set of captions a decoder gives for an image (rank
null); and over the split (item null) all of `registry.QUALITY`, `mBleu1`-`mBleu4`, `Self-BLEU4`, `oracle` (CIDEr of
each image's best caption), `vocabulary`, `length` (words), `log_prob_mean`, `novel`, `unique` and `bad_endings`
(percent). The true ones exist where every image has a scene graph. Human captions are scored as run `human` by what
their scene says; against themselves nothing else would mean anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from seqcap.config.evaluation import EvaluationConfig
from seqcap.data.scenes import Scene, read_scenes
from seqcap.data.scenes.checker import check, recall_of_set
from seqcap.errors import InputError
from seqcap.evaluation import server
from seqcap.evaluation.inputs import DecodedRun, Sets, first, flat, read_references, read_runs
from seqcap.metrics import diversity, quality
from seqcap.metrics.quality import Measured
from seqcap.metrics.registry import METRICS
from seqcap.progress import progress
from seqcap.rewards import PARSES
from seqcap.tasks import ARTIFACTS

# Decoders with a best caption, which every quality metric scores.
BEST = ("greedy", "beam")


def evaluate(config: EvaluationConfig) -> list[dict[str, Any]]:
    """Scores every seed of every run: by all metrics, or with `config.references` as COCO's server does.

    Returns:
        rows of `artifacts.SCORES`.

    Raises:
        InputError: a malformed artifact, or captions of other images than the split's.
    """
    if config.references is not None:
        return server.evaluate(config)
    references = read_references(config, config.split)
    scenes = scenes_of(config, references)
    runs = read_runs(config, references, BEST)
    training = {tuple(tokens) for _, tokens in flat(read_references(config, "train"))}
    # One call for all runs: references are cooked, and equal captions parsed, once.
    every = [caption for run in runs for sets in run.captions.values() for caption in flat(sets)]
    best = [caption for run in runs for decoder in BEST for caption in first(run.captions[decoder])]
    cider = quality.measure(references, every, ["CIDEr"])["CIDEr"].per_caption
    full = quality.measure(references, best, parses=PARSES)
    rewards = {name: mixed(weights, full) for name, weights in config.rewards.items()}
    rows: list[dict[str, Any]] = []
    at = at_best = 0
    for run in progress(runs, desc="evaluate", unit="run"):
        for decoder, sets in run.captions.items():
            captions = len(flat(sets))
            rows += set_rows(run, decoder, sets, cider[at : at + captions])
            at += captions
            if scenes is not None:
                rows += truth_rows(run, decoder, sets, scenes)
            if several(sets):
                rows += diversity_rows(run, decoder, sets, references, training)
        for decoder in BEST:
            places = slice(at_best, at_best + len(references))
            rows += quality_rows(run, decoder, full, places)
            rows += best_rows(run, decoder, {name: values[places] for name, values in rewards.items()})
            at_best += len(references)
    if scenes is not None:
        # As if they were samples.
        rows += truth_rows(DecodedRun("human", 0, {}), "sample", references, scenes)
    return rows


def scenes_of(config: EvaluationConfig, images: Iterable[int]) -> dict[int, Scene] | None:
    """What is true of each image; None of photographs.

    Raises:
        InputError: the file is missing or damaged, or an image has no scene.
    """
    if config.dataset != "scenes":
        return None
    path = ARTIFACTS / config.task / "data/scenes.parquet"
    scenes = read_scenes(path)
    missing = [image for image in images if image not in scenes]
    if missing:
        raise InputError(path, f"has no scene of image {missing[0]}", "run `dvc repro` to make it again")
    return scenes


def several(sets: Sets) -> bool:
    """Whether a decoder gave more than one caption of an image."""
    return any(len(captions) > 1 for captions in sets.values())


def set_rows(run: DecodedRun, decoder: str, sets: Sets, cider: npt.NDArray[np.float64]) -> Iterable[dict[str, Any]]:
    """CIDEr of every caption and of each image's best one, and how probable captions are."""
    places = [(image, rank) for image, captions in sets.items() for rank in range(len(captions))]
    for (image, rank), value in zip(places, cider, strict=True):
        yield run.row(decoder, "CIDEr", value, image, rank)
    yield run.row(decoder, "log_prob_mean", run.log_prob[decoder])
    if several(sets):
        best: dict[int, float] = {}
        for (image, _), value in zip(places, cider, strict=True):
            best[image] = max(value, best.get(image, 0.0))
        yield run.row(decoder, "oracle", float(np.mean(list(best.values()))))


def quality_rows(run: DecodedRun, decoder: str, measured: dict[str, Measured], rows: slice) -> Iterable[dict[str, Any]]:
    """Every quality metric of a decoder's first captions: of the split and, but for BLEU, of each image. Images' CIDEr
    is there already."""
    places = range(len(next(iter(measured.values())).per_caption))[rows]
    for metric, values in measured.items():
        if METRICS[metric].level == "caption" and metric != "CIDEr":
            for image, value in zip(run.captions[decoder], values.per_caption[rows], strict=True):
                yield run.row(decoder, metric, value, image, 0)
        yield run.row(decoder, metric, values.corpus(places))


def mixed(weights: Mapping[str, float], measured: Mapping[str, Measured]) -> npt.NDArray[np.float64]:
    """A reward, the weighted sum of metrics that training pays, of every measured caption."""
    # Training writes them small: bleu4 for BLEU4.
    values = {name.lower(): found.per_caption for name, found in measured.items()}
    return np.sum([weight * values[name] for name, weight in weights.items()], axis=0)  # type: ignore[no-any-return]


def best_rows(run: DecodedRun, decoder: str, rewards: dict[str, npt.NDArray[np.float64]]) -> Iterable[dict[str, Any]]:
    """What a decoder's first captions would be paid, how long they are and how much they repeat themselves."""
    images = run.captions[decoder]
    for name, values in rewards.items():
        for image, value in zip(images, values, strict=True):
            yield run.row(decoder, f"reward_{name}", value, image, 0)
    for image, captions in images.items():
        yield run.row(decoder, "words", len(captions[0]), image, 0)
        yield run.row(decoder, "seq-rep-2", diversity.repeated_bigrams(captions[0]), image, 0)


def diversity_rows(
    run: DecodedRun,
    decoder: str,
    sets: Sets,
    references: Sets,
    training: set[tuple[str, ...]],
) -> Iterable[dict[str, Any]]:
    """The diversity suite of a decoder's sets."""
    per_image = {f"Div{order}": diversity.distinct_ngrams(sets, order) for order in (1, 2)}
    per_image["self-CIDEr"] = diversity.self_cider(sets, references)
    for metric, scores in per_image.items():
        for image, value in zip(scores.image_ids, scores.per_image, strict=True):
            yield run.row(decoder, metric, value, image)
        yield run.row(decoder, metric, scores.corpus)
    for order, value in enumerate(diversity.mutual_bleu(sets).corpus, start=1):
        yield run.row(decoder, f"mBleu{order}", value)
    corpora = {
        "Self-BLEU4": diversity.self_bleu(sets),
        "vocabulary": diversity.vocabulary_size(sets),
        "novel": diversity.novel(sets, training).corpus,
        "unique": diversity.unique(sets),
        "length": diversity.mean_length(sets).corpus,
        "bad_endings": diversity.bad_endings(sets),
    }
    for metric, value in corpora.items():
        yield run.row(decoder, metric, value)


def truth_rows(run: DecodedRun, decoder: str, sets: Sets, scenes: dict[int, Scene]) -> Iterable[dict[str, Any]]:
    """How much of what captions say is true of their scene, and how much of the scene they say."""
    for image, captions in sets.items():
        verdicts = [check(caption, scenes[image]) for caption in captions]
        for rank, verdict in enumerate(verdicts):
            yield run.row(decoder, "precision_true", verdict.precision, image, rank)
            yield run.row(decoder, "recall_true", verdict.recall, image, rank)
            yield run.row(decoder, "all_true", verdict.precision == 1, image, rank)
        if len(verdicts) > 1:
            yield run.row(decoder, "recall_true", recall_of_set(verdicts), image)
