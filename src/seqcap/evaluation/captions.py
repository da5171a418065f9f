"""Scores of captions of images or clips: one row per caption, metric and run (metrics: `seqcap.metrics.registry`).
- every caption: `CIDEr`, `precision_true`, `recall_true`, `f1_true` (their harmonic mean) and `all_true` (1 for a
  caption that says something and nothing false);
- greedy captions and the best of the beam: the others of `registry.QUALITY_TABLE`, `reward_<name>` for every reward of
  the paper's runs, `words` (how many) and `seq-rep-2`;
- a decoder's set of captions of an image (rank null): `Div1`, `Div2`, `self-CIDEr` and `recall_true`;
- the split (item null): all of `registry.QUALITY_TABLE`, `mBleu1`-`mBleu4`, `Self-BLEU4`, `oracle` (CIDEr of each
  image's best caption), `vocabulary`, `length` (words), `log_prob_mean`, `novel`, `unique` and `bad_endings` (percent).
Each image also has its counts of BLEU and mBLEU (`Metric.statistics`). The true ones need scene graphs of all images.
Human captions are run `human`, with the true ones only: against themselves other metrics mean nothing."""

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seqcap.evaluation import server
from seqcap.evaluation.inputs import DecodedRun, EvaluationConfig, Sets, first, flat, read_references, read_runs
from seqcap.metrics import diversity, quality
from seqcap.metrics.quality import Measured
from seqcap.metrics.registry import METRICS, SERVER
from seqcap.rewards import PARSES
from seqcap.system.progress import progress
from seqcap.tasks import ARTIFACTS
from seqcap.world.checker import check, recall_of_set
from seqcap.world.graph import Scene
from seqcap.world.motion import Clip
from seqcap.world.scenes import read_worlds

# Datasets with complete knowledge, and how the graphs of their scenes or clips are read.
WORLDS: Mapping[str, Callable[[str], Scene]] = {"scenes": Scene.from_json, "clips": Clip.from_json}
BEST = ("greedy", "beam")  # decoders whose best caption has every quality metric


def evaluate(config: EvaluationConfig) -> pa.Table:
    """Scores every seed of every run: rows of `schemas.SCORES`, by all metrics, or with `config.references` as COCO's
    server does. InputError for a malformed artifact, or a split without references."""
    if config.references is not None:
        return server.evaluate(config)
    references = read_references(config, config.split)
    scenes = read_truth(config)
    runs = read_runs(config)
    training = {tuple(tokens) for _, tokens in flat(read_references(config, "train"))}
    # One call for all runs: references are prepared, and equal captions parsed, once.
    every = [caption for run in runs for sets in run.captions.values() for caption in flat(sets)]
    best = [caption for run in runs for decoder in BEST for caption in first(run.captions[decoder])]
    cider = quality.measure(references, every, ["CIDEr"])["CIDEr"].per_caption
    full = quality.measure(references, best, SERVER, PARSES.parent)
    full["SPIDEr_sum"] = quality.spider_sum(full)
    rewards = {name: mixed(weights, full) for name, weights in config.rewards.items()}
    rows: list[pa.Table] = []
    start = start_best = 0
    for run in progress(runs, desc="evaluate", unit="run"):
        for decoder, sets in run.captions.items():
            captions = len(flat(sets))
            rows += set_rows(run, decoder, sets, cider[start : start + captions])
            start += captions
            if scenes is not None:
                rows += truth_rows(run, decoder, sets, scenes)
            if several(sets):
                rows += diversity_rows(run, decoder, sets, references, training)
        for decoder in BEST:
            places = slice(start_best, start_best + len(references))
            rows += quality_rows(run, decoder, full, places)
            rows += best_rows(run, decoder, {name: values[places] for name, values in rewards.items()})
            start_best += len(references)
    rows += people_rows(references, scenes)
    return pa.concat_tables(rows)


def people_rows(references: Sets, scenes: Mapping[int, Scene] | None) -> Iterator[pa.Table]:
    """What people's captions are by measures that need no references."""
    human = DecodedRun("human", 0, {})
    images, ranks = places(references)
    yield human.scores("sample", "words", images, (len(caption) for _, caption in flat(references)), ranks)
    if several(references):
        scores = diversity.distinct_ngrams(references, 2)
        yield human.scores("sample", "Div2", scores.image_ids, scores.per_image, None)
    if scenes is not None:
        yield from truth_rows(human, "sample", references, scenes)


def read_truth(config: EvaluationConfig) -> Mapping[int, Scene] | None:
    """The scene or clip of each item; None for photographs. InputError if the file is missing or damaged."""
    if config.dataset not in WORLDS:
        return None
    return read_worlds(ARTIFACTS / config.task / "data/scenes.parquet", WORLDS[config.dataset])


def several(sets: Sets) -> bool:
    return any(len(captions) > 1 for captions in sets.values())


def set_rows(run: DecodedRun, decoder: str, sets: Sets, cider: npt.NDArray[np.float64]) -> Iterator[pa.Table]:
    """CIDEr of every caption and of each image's best one, and the captions' mean log-probability."""
    images, ranks = places(sets)
    yield run.scores(decoder, "CIDEr", images, cider, ranks)
    yield run.corpus(decoder, "log_prob_mean", run.log_prob[decoder])
    if several(sets):
        best: dict[int, float] = {}
        for image, value in zip(images, cider, strict=True):
            best[image] = max(value, best.get(image, 0.0))
        yield run.corpus(decoder, "oracle", float(np.mean(list(best.values()))))


def places(sets: Sets) -> tuple[list[int], list[int]]:
    ranked = [(image, rank) for image, captions in sets.items() for rank in range(len(captions))]
    return [image for image, _ in ranked], [rank for _, rank in ranked]


def quality_rows(run: DecodedRun, decoder: str, measured: dict[str, Measured], rows: slice) -> Iterator[pa.Table]:
    """Every quality metric of a decoder's first captions, of the split and of each image, and each image's counts of
    BLEU. Images' CIDEr is in `set_rows`."""
    chosen = range(len(next(iter(measured.values())).per_caption))[rows]
    images = run.captions[decoder]
    counts = {METRICS[metric].statistics: values.statistics for metric, values in measured.items()}
    for metric, values in measured.items():
        yield run.corpus(decoder, metric, values.corpus(chosen))
        if METRICS[metric].level == "caption" and metric != "CIDEr":
            yield run.scores(decoder, metric, images, values.per_caption[rows])
    for metric, statistics in counts.items():
        if metric:
            yield run.counts(decoder, metric, images, statistics[rows])


def mixed(weights: Mapping[str, float], measured: Mapping[str, Measured]) -> npt.NDArray[np.float64]:
    """A reward, the weighted sum of training's metrics, of every measured caption."""
    # Training uses lower case: bleu4 for BLEU4.
    values = {name.lower(): metric.per_caption for name, metric in measured.items()}
    return np.sum([weight * values[name] for name, weight in weights.items()], axis=0)  # type: ignore[no-any-return]


def best_rows(run: DecodedRun, decoder: str, rewards: dict[str, npt.NDArray[np.float64]]) -> Iterator[pa.Table]:
    images = run.captions[decoder]
    for name, values in rewards.items():
        yield run.scores(decoder, f"reward_{name}", images, values)
    best = [captions[0] for captions in images.values()]
    yield run.scores(decoder, "words", images, map(len, best))
    yield run.scores(decoder, "seq-rep-2", images, map(diversity.repeated_bigrams, best))


def diversity_rows(
    run: DecodedRun, decoder: str, sets: Sets, references: Sets, training: set[tuple[str, ...]]
) -> Iterator[pa.Table]:
    per_image = {f"Div{order}": diversity.distinct_ngrams(sets, order) for order in (1, 2)}
    per_image["self-CIDEr"] = diversity.self_cider(sets, references)
    for metric, scores in per_image.items():
        yield run.scores(decoder, metric, scores.image_ids, scores.per_image, None)
        yield run.corpus(decoder, metric, scores.corpus)
    mutual = diversity.mutual_bleu(sets)
    for order, value in enumerate(mutual.corpus, start=1):
        yield run.corpus(decoder, f"mBleu{order}", value)
    by_image = mutual.statistics.reshape(len(mutual.image_ids), -1)
    yield run.counts(decoder, METRICS["mBleu1"].statistics, mutual.image_ids, by_image, None)
    corpora = {
        "Self-BLEU4": diversity.self_bleu(sets),
        "vocabulary": diversity.vocabulary_size(sets),
        "novel": diversity.novel(sets, training),
        "unique": diversity.unique(sets),
        "length": diversity.mean_length(sets),
        "bad_endings": diversity.bad_endings(sets),
    }
    for metric, value in corpora.items():
        yield run.corpus(decoder, metric, value)


def truth_rows(run: DecodedRun, decoder: str, sets: Sets, scenes: Mapping[int, Scene]) -> Iterator[pa.Table]:
    """How much of what captions say is true of their scene, and how much of the scene they say."""
    verdicts = {image: [check(caption, scenes[image]) for caption in said] for image, said in sets.items()}
    every = [verdict for checked in verdicts.values() for verdict in checked]
    images, ranks = places(sets)
    yield run.scores(decoder, "precision_true", images, (verdict.precision for verdict in every), ranks)
    yield run.scores(decoder, "recall_true", images, (verdict.recall for verdict in every), ranks)
    yield run.scores(decoder, "f1_true", images, (verdict.f1 for verdict in every), ranks)
    yield run.scores(decoder, "all_true", images, (verdict.precision == 1 for verdict in every), ranks)
    together = {image: recall_of_set(checked) for image, checked in verdicts.items() if len(checked) > 1}
    if together:
        yield run.scores(decoder, "recall_true", together, together.values(), None)
