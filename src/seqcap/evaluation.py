"""Scores of decoded captions: one row per caption, metric and variant (`artifacts.SCORES`), x1 scale.

Metrics: `CIDEr`, `precision_true`, `recall_true` and `all_true` (1 where a caption says something, all of it true) of
every caption; of greedy captions and the best of the beam the others of `quality.METRICS`, `reward_<name>` for every
reward that a variant of the paper is paid, `words` (how many) and `seq-rep-2`; `Div1`, `Div2`, `self-CIDEr` and
`recall_true` of the set of captions a decoder gives for an image (rank null); and over the split (image_id null) all of
`quality.METRICS`, `mBleu1`-`mBleu4`, `Self-BLEU4`, `oracle` (CIDEr of each image's best caption), `vocabulary`,
`length` (words), `log_prob_mean`, `novel`, `unique` and `bad_endings` (percent). The true ones exist where every image
has a scene graph. Human captions are scored as variant `human` by what their scene says; against themselves nothing
else would mean anything.

As COCO's server scores (`evaluate_server`), metrics are computed against several numbers of references and named after
them: `CIDEr c5` is CIDEr against each image's first five.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from tqdm import tqdm

from seqcap.artifacts import DATA, DECODED, REFERENCES, read_json, read_table
from seqcap.data.scenes import Scene, read_scenes
from seqcap.data.scenes.checker import check, recall_of_set
from seqcap.errors import InputError
from seqcap.metrics import diversity, quality
from seqcap.metrics.captions import Caption
from seqcap.metrics.quality import Measured
from seqcap.rewards.mixture import PARSES

CONFIGS = Path("configs")

# Decoders with a best caption, which every quality metric scores.
BEST = ("greedy", "beam")

# What COCO's server reports.
SERVER_METRICS = ("BLEU1", "BLEU2", "BLEU3", "BLEU4", "METEOR", "ROUGE_L", "CIDEr", "SPICE")

Captions = dict[str, dict[int, list[Caption]]]


def variants(paper: str) -> list[dict[str, Any]]:
    """The paper's variants on images that configs/ lists (translations: `translation.py`). What else lies in artifacts/
    is left over from other parameters."""
    configs = (read_json(path) for path in sorted(CONFIGS.glob(f"{paper}_*.json")))
    return [config for config in configs if config["task"] == "image"]


def evaluate(paper: str) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Scores every seed of every variant of a paper.

    Returns:
        rows of `artifacts.SCORES`, and for each metric that could not be computed the reason.

    Raises:
        InputError: a malformed artifact, or captions of an image that has no references.
    """
    config = read_json(CONFIGS / f"evaluate_{paper}.json")
    references = split_references(config["split"])
    scenes = None
    if config["dataset"] == "scenes":
        scenes = {i: s for i, s in read_scenes(DATA / "scenes.parquet").items() if i in references}
    runs = [run for variant in variants(paper) for run in decoded_runs(variant)]
    training = training_captions()
    # One call for all runs: references are cooked, and equal captions parsed, once.
    every = [caption for run in runs for sets in run.captions.values() for caption in flat(sets)]
    best = [caption for run in runs for decoder in BEST for caption in flat(first(run.captions[decoder]))]
    cider, _ = quality.measure(references, every, ["CIDEr"])
    full, reasons = quality.measure(references, best, quality.METRICS, PARSES)
    rewards = {name: mixed(weights, full) for name, weights in config["rewards"].items()}
    rows: list[dict[str, Any]] = []
    at = at_best = 0
    for run in tqdm(runs, desc="evaluate", unit="run"):
        for decoder, sets in run.captions.items():
            captions = len(flat(sets))
            rows += set_rows(run, decoder, sets, cider["CIDEr"].per_caption[at : at + captions])
            at += captions
            if scenes is not None:
                rows += truth_rows(run, decoder, sets, scenes)
            if decoder in ("sample", "beam"):
                rows += diversity_rows(run, decoder, sets, references, training)
        for decoder in BEST:
            images = len(run.captions[decoder])
            chosen = slice(at_best, at_best + images)
            rows += quality_rows(run, decoder, full, chosen)
            rows += best_rows(run, decoder, {name: values[chosen] for name, values in rewards.items()})
            at_best += images
    if scenes is not None:
        rows += human_rows(references, scenes)
    return rows, reasons


def evaluate_server(config: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Scores each seed's beam captions as COCO's server does, against few and against many references.

    BLEU, METEOR, ROUGE-L, CIDEr and SPICE, as coco-caption computes them (Chen et al., "Microsoft COCO Captions: data
    collection and evaluation server", 2015), SPICE with our parser. CIDEr's document frequencies are counted, as there,
    in the very references that are scored against: for c40 in forty references an image, for c5 in five of them.
    SPICE is lower with more references, unlike the others: recall is of all that any of them says.

    Args:
        config: `split`; `references`, the numbers of references to score against (COCO: 5 and 40), the first ones of
            each image; and `runs`, each with its `variant` and the file `decoded` of its captions.

    Returns:
        rows of `artifacts.SCORES` with the metrics "<metric> c<number of references>", of the split and, but for BLEU,
        of each image's best caption; and for each metric that has no value, since images have fewer references, why.

    Raises:
        InputError: a malformed artifact, a split without references, or captions of other images than the split's.
    """
    references = split_references(config["split"])
    runs: list[DecodedRun] = []
    for item in config["runs"]:
        for run in decoded_runs(item):
            if run.captions.get("beam", {}).keys() != references.keys():
                problem = f"the beam captions of seed {run.seed} are not of the images of split {config['split']!r}"
                raise InputError(item["decoded"], problem, "decode it again")
            runs.append(run)
    best = [caption for run in runs for caption in flat(first(run.captions["beam"]))]
    fewest = min(len(captions) for captions in references.values())
    rows: list[dict[str, Any]] = []
    reasons: dict[str, str] = {}
    for number in config["references"]:
        names = {metric: f"{metric} c{number}" for metric in SERVER_METRICS}
        if number > fewest:
            reasons |= dict.fromkeys(names.values(), f"an image has {fewest} references")
            continue
        some = {image: captions[:number] for image, captions in references.items()}
        measured, _ = quality.measure(some, best, SERVER_METRICS, PARSES)
        for at, run in enumerate(runs):
            places = np.arange(at * len(references), (at + 1) * len(references))
            for metric, values in measured.items():
                rows.append(run.row("beam", names[metric], values.corpus(places)))
                if not metric.startswith("BLEU"):
                    for image, value in zip(run.captions["beam"], values.per_caption[places], strict=True):
                        rows.append(run.row("beam", names[metric], value, image, 0))
    return rows, reasons


@dataclass
class DecodedRun:
    """One variant's captions with one seed: decoder -> image -> captions by rank."""

    variant: str
    seed: int
    captions: Captions
    log_prob: dict[str, float] = field(default_factory=dict)

    def row(
        self, decoder: str, metric: str, value: float, image: int | None = None, rank: int | None = None
    ) -> dict[str, Any]:
        """One row of `artifacts.SCORES`."""
        return {
            "variant": self.variant,
            "seed": self.seed,
            "image_id": image,
            "decoder": decoder,
            "rank": rank,
            "metric": metric,
            "value": float(value),
        }


def set_rows(
    run: DecodedRun, decoder: str, sets: dict[int, list[Caption]], cider: npt.NDArray[np.float64]
) -> Iterable[dict[str, Any]]:
    """CIDEr of every caption and of each image's best one, and how probable captions are."""
    places = [(image, rank) for image, captions in sets.items() for rank in range(len(captions))]
    for (image, rank), value in zip(places, cider, strict=True):
        yield run.row(decoder, "CIDEr", value, image, rank)
    yield run.row(decoder, "log_prob_mean", run.log_prob[decoder])
    if decoder in ("sample", "beam"):
        best: dict[int, float] = {}
        for (image, _), value in zip(places, cider, strict=True):
            best[image] = max(value, best.get(image, 0.0))
        yield run.row(decoder, "oracle", float(np.mean(list(best.values()))))


def quality_rows(run: DecodedRun, decoder: str, measured: dict[str, Measured], rows: slice) -> Iterable[dict[str, Any]]:
    """Every quality metric of a decoder's first captions: of the split, and but for CIDEr, which is there already, of
    each image."""
    places = range(len(next(iter(measured.values())).per_caption))[rows]
    for metric, values in measured.items():
        if not metric.startswith("BLEU") and metric != "CIDEr":
            images = run.captions[decoder]
            for image, value in zip(images, values.per_caption[rows], strict=True):
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
    sets: dict[int, list[Caption]],
    references: dict[int, list[Caption]],
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


def truth_rows(
    run: DecodedRun, decoder: str, sets: dict[int, list[Caption]], scenes: dict[int, Scene]
) -> Iterable[dict[str, Any]]:
    """How much of what captions say is true of their scene, and how much of the scene they say."""
    for image, captions in sets.items():
        verdicts = [check(caption, scenes[image]) for caption in captions]
        for rank, verdict in enumerate(verdicts):
            yield run.row(decoder, "precision_true", verdict.precision, image, rank)
            yield run.row(decoder, "recall_true", verdict.recall, image, rank)
            yield run.row(decoder, "all_true", verdict.precision == 1, image, rank)
        if len(verdicts) > 1:
            yield run.row(decoder, "recall_true", recall_of_set(verdicts), image)


def human_rows(references: dict[int, list[Caption]], scenes: dict[int, Scene]) -> list[dict[str, Any]]:
    """The references' own truth, as if they were samples."""
    human = DecodedRun("human", 0, {"sample": references})
    return list(truth_rows(human, "sample", references, scenes))


def flat(sets: dict[int, list[Caption]]) -> list[tuple[int, Caption]]:
    """(image, caption) of every caption."""
    return [(image, tokens) for image, captions in sets.items() for tokens in captions]


def first(sets: dict[int, list[Caption]]) -> dict[int, list[Caption]]:
    """Every image's caption of rank 0."""
    return {image: captions[:1] for image, captions in sets.items()}


def split_references(split: str) -> dict[int, list[Caption]]:
    """Image -> the tokens of its references.

    Raises:
        InputError: the split has none.
    """
    table = read_table(DATA / "references.parquet", REFERENCES).to_pandas()
    table = table[table.split == split]
    if table.empty:
        raise InputError(DATA / "references.parquet", f"has no captions in split {split!r}", "choose another split")
    return {int(image): [list(tokens) for tokens in group] for image, group in table.groupby("image_id").tokens}


def training_captions() -> set[tuple[str, ...]]:
    """The training captions' tokens."""
    table = read_table(DATA / "references.parquet", REFERENCES).to_pandas()
    return {tuple(tokens) for tokens in table.tokens[table.split == "train"]}


def decoded_runs(config: dict[str, Any]) -> list[DecodedRun]:
    """The captions of every seed of a variant, as its configs/<paper>_<variant>.json describes it.

    Raises:
        InputError: the file is missing or malformed.
    """
    table = read_table(config["decoded"], DECODED).to_pandas()
    runs = []
    for seed, of_seed in table.groupby("seed"):
        run = DecodedRun(config["variant"], int(seed), {})
        for decoder, of_decoder in of_seed.sort_values(["image_id", "rank"]).groupby("decoder"):
            run.captions[str(decoder)] = by_image(of_decoder)
            run.log_prob[str(decoder)] = float(of_decoder.log_prob.mean())
        runs.append(run)
    return runs


def by_image(table: pd.DataFrame) -> dict[int, list[Caption]]:
    """Image -> its captions in order of rank."""
    sets: dict[int, list[Caption]] = {}
    tokens: Sequence[Any] = table.tokens.tolist()
    for image, words in zip(table.image_id.tolist(), tokens, strict=True):
        sets.setdefault(image, []).append(list(words))
    return sets
