"""Scores of decoded translations: tokenised BLEU-4 by sacrebleu, as rows of `artifacts.SCORES`, x1 scale.

Per seed and decoder one row of the corpus (image_id and rank null) and one for each sentence (image_id is its pair_id,
rank 0: the beam's best), metric `BLEU` both. Sentences are smoothed (sacrebleu's default, and orders that a sentence is
too short for are left out): they are there to be resampled, and their mean is not the corpus's. Text is compared as it
was trained on: lower-cased, and tokenised by the corpus or by Moses's rules, not by sacrebleu's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.compute as pc
from sacrebleu.metrics.bleu import BLEU

from seqcap.artifacts import DECODED, PAIRS, read_json, read_table
from seqcap.errors import InputError

CONFIGS = Path("configs")
METRIC = "BLEU"
DECODERS = ("greedy", "beam")


def evaluate_translations(paper: str) -> list[dict[str, Any]]:
    """Scores every seed of every translating variant of a paper.

    Raises:
        InputError: an artifact is missing or malformed, or captions are not those of the split's pairs.
    """
    splits = read_json(CONFIGS / f"evaluate_translation_{paper}.json")["splits"]
    rows: list[dict[str, Any]] = []
    references = {task: read_references(task, split) for task, split in splits.items()}
    for path in sorted(CONFIGS.glob(f"{paper}_*.json")):
        config = read_json(path)
        if config["task"] in references:
            rows += score_variant(Path(config["decoded"]), references[config["task"]])
    return rows


def read_references(task: str, split: str) -> dict[int, str]:
    """pair_id -> the translation, words separated by spaces.

    Raises:
        InputError: the split has none.
    """
    path = Path(f"artifacts/{task}/data/pairs.parquet")
    table = read_table(path, PAIRS)
    table = table.filter(pc.equal(table["split"], split))
    if not len(table):
        raise InputError(path, f"has no pairs in split {split!r}", "choose another split")
    texts = (" ".join(words) for words in table["reference"].to_pylist())
    return dict(zip(table["pair_id"].to_pylist(), texts, strict=True))


def score_variant(path: Path, references: dict[int, str]) -> list[dict[str, Any]]:
    """Scores one variant's translations.

    Args:
        path: rows of `artifacts.DECODED`.
        references: as `read_references`.

    Raises:
        InputError: the file is missing or malformed, or a pair has no translation, or one has that is not there.
    """
    table = read_table(path, DECODED).to_pandas()
    table = table[(table["rank"] == 0) & table.decoder.isin(DECODERS)].sort_values("image_id")
    rows: list[dict[str, Any]] = []
    for (variant, seed, decoder), found in table.groupby(["variant", "seed", "decoder"]):
        if found.image_id.tolist() != sorted(references):
            fix = "delete it and run `dvc repro`"
            raise InputError(path, f"does not hold one {decoder} translation of each of {len(references)} pairs", fix)
        texts = found.text.tolist()
        expected = [references[pair] for pair in found.image_id]
        run = {"variant": variant, "seed": int(seed), "decoder": decoder, "metric": METRIC}
        rows.append(run | {"image_id": None, "rank": None, "value": corpus_bleu(texts, expected)})
        for pair, value in zip(found.image_id.tolist(), sentence_bleu(texts, expected), strict=True):
            rows.append(run | {"image_id": pair, "rank": 0, "value": value})
    return rows


def corpus_bleu(translations: list[str], references: list[str]) -> float:
    """BLEU-4 in 0 .. 1 (Papineni et al., ACL 2002) of tokenised texts, one reference each."""
    return float(BLEU(tokenize="none", force=True).corpus_score(translations, [references]).score) / 100


def sentence_bleu(translations: list[str], references: list[str]) -> list[float]:
    """Smoothed BLEU-4 in 0 .. 1 of each text."""
    metric = BLEU(tokenize="none", force=True, effective_order=True)
    return [metric.sentence_score(t, [r]).score / 100 for t, r in zip(translations, references, strict=True)]
