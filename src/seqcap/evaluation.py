"""Scores of decoded captions: one row per caption, metric and variant (`artifacts.SCORES`), x1 scale.

Metrics: `CIDEr`, `precision_true` and `recall_true` of every caption; `METEOR`, `ROUGE_L` of greedy captions and the
best of the beam; `Div1`, `Div2` and `recall_true` of the set of captions a decoder gives for an image (rank null); and
over the split (image_id null) `BLEU1`-`BLEU4`, `METEOR`, `ROUGE_L`, `CIDEr`, `mBleu4`, `vocabulary`, `length` (words),
`log_prob_mean`, `novel` and `unique` (percent). The true ones exist where every image has a scene graph. Human
captions are scored as variant `human` by what their scene says; against themselves nothing else would mean anything.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from seqcap.artifacts import DECODED, REFERENCES, read_json, read_table
from seqcap.data.scenes import Scene, read_scenes
from seqcap.data.scenes.checker import check, recall_of_set
from seqcap.errors import InputError
from seqcap.metrics import diversity, quality
from seqcap.metrics.captions import Caption, Scores
from seqcap.metrics.meteor import Meteor, MeteorUnavailable

CONFIGS = Path("configs")
DATA = Path("artifacts/image/data")
NO_SPICE = "SPICE needs a parser that this version does not have"

Captions = dict[str, dict[int, list[Caption]]]


def variants(paper: str) -> list[str]:
    """The paper's variants that configs/ lists. What else lies in artifacts/ is left over from other parameters."""
    return [read_json(path)["variant"] for path in sorted(CONFIGS.glob(f"{paper}_*.json"))]


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
    runs = [run for variant in variants(paper) for run in decoded_runs(paper, variant)]
    rows: list[dict[str, Any]] = []
    score = partial(score_run, references=references, training=training_captions(), scenes=scenes)
    # pycocoevalcap is pure Python: the runs are shared out among the cores.
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), get_context("spawn")) as pool:
        for scored in tqdm(pool.map(score, runs), total=len(runs), desc="evaluate", unit="run"):
            rows += scored
    reasons = {"SPICE": NO_SPICE}
    try:
        with Meteor() as meteor:
            for run in tqdm(runs, desc="METEOR", unit="run"):
                for decoder in ("greedy", "beam"):
                    scores = meteor.score(references, first(run.captions[decoder]))
                    rows += run.per_image(decoder, "METEOR", scores, rank=0)
    except MeteorUnavailable as error:
        rows = [row for row in rows if row["metric"] != "METEOR"]
        reasons["METEOR"] = str(error)
    if scenes is not None:
        rows += human_rows(references, scenes)
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

    def per_image(self, decoder: str, metric: str, scores: Scores, rank: int | None = None) -> list[dict[str, Any]]:
        """A row for every image and one for the split."""
        images = zip(scores.image_ids, scores.per_image, strict=True)
        rows = [self.row(decoder, metric, value, image, rank) for image, value in images]
        return [*rows, self.row(decoder, metric, scores.corpus)]


def score_run(
    run: DecodedRun,
    references: dict[int, list[Caption]],
    training: set[tuple[str, ...]],
    scenes: dict[int, Scene] | None,
) -> list[dict[str, Any]]:
    """All scores of one run but METEOR, which one Java process computes for all."""
    rows: list[dict[str, Any]] = []
    cider = quality.CiderEvaluator(references)
    for decoder, sets in run.captions.items():
        places = [(image, rank) for image, captions in sets.items() for rank in range(len(captions))]
        scores = cider.score([(image, sets[image][rank]) for image, rank in places])
        rows += [run.row(decoder, "CIDEr", v, image, rank) for (image, rank), v in zip(places, scores, strict=True)]
        rows.append(run.row(decoder, "log_prob_mean", run.log_prob[decoder]))
        if decoder in ("greedy", "beam"):
            rows += corpus_rows(run, decoder, references, rows)
        if decoder in ("sample", "beam"):
            for order in (1, 2):
                rows += run.per_image(decoder, f"Div{order}", diversity.distinct_ngrams(sets, order))
            rows.append(run.row(decoder, "mBleu4", diversity.mutual_bleu(sets).corpus))
            rows.append(run.row(decoder, "vocabulary", diversity.vocabulary_size(sets)))
            rows.append(run.row(decoder, "novel", diversity.novel(sets, training).corpus))
            rows.append(run.row(decoder, "unique", diversity.unique(sets)))
            rows.append(run.row(decoder, "length", diversity.mean_length(sets).corpus))
        if scenes is not None:
            rows += truth_rows(run, decoder, sets, scenes)
    return rows


def corpus_rows(
    run: DecodedRun, decoder: str, references: dict[int, list[Caption]], scored: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """BLEU, ROUGE-L and corpus CIDEr of a decoder's first captions."""
    hypotheses = first(run.captions[decoder])
    bleu = quality.bleu(references, hypotheses).corpus
    ciders = [
        row["value"] for row in scored if row["decoder"] == decoder and row["metric"] == "CIDEr" and row["rank"] == 0
    ]
    return [
        *(run.row(decoder, f"BLEU{order}", value) for order, value in enumerate(bleu, start=1)),
        *run.per_image(decoder, "ROUGE_L", quality.rouge_l(references, hypotheses), rank=0),
        run.row(decoder, "CIDEr", sum(ciders) / len(ciders)),
    ]


def truth_rows(
    run: DecodedRun, decoder: str, sets: dict[int, list[Caption]], scenes: dict[int, Scene]
) -> Iterable[dict[str, Any]]:
    """How much of what captions say is true of their scene, and how much of the scene they say."""
    for image, captions in sets.items():
        verdicts = [check(caption, scenes[image]) for caption in captions]
        for rank, verdict in enumerate(verdicts):
            yield run.row(decoder, "precision_true", verdict.precision, image, rank)
            yield run.row(decoder, "recall_true", verdict.recall, image, rank)
        if len(verdicts) > 1:
            yield run.row(decoder, "recall_true", recall_of_set(verdicts), image)


def human_rows(references: dict[int, list[Caption]], scenes: dict[int, Scene]) -> list[dict[str, Any]]:
    """The references' own truth, as if they were samples."""
    human = DecodedRun("human", 0, {"sample": references})
    return list(truth_rows(human, "sample", references, scenes))


def first(sets: dict[int, list[Caption]]) -> dict[int, Caption]:
    """Every image's caption of rank 0."""
    return {image: captions[0] for image, captions in sets.items()}


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


def decoded_runs(paper: str, variant: str) -> list[DecodedRun]:
    """The captions of every seed of a variant.

    Raises:
        InputError: the file is missing or malformed.
    """
    table = read_table(Path(f"artifacts/{paper}/decode/{variant}.parquet"), DECODED).to_pandas()
    runs = []
    for seed, of_seed in table.groupby("seed"):
        run = DecodedRun(variant, int(seed), {})
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
