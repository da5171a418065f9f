"""Scores of decoded translations: tokenised BLEU-4 by sacrebleu.

Per run, seed and decoder (greedy, and the best of the beam) one row of the corpus (item and rank null) and one for each
sentence (rank 0), metric `BLEU` both. Sentences are smoothed (sacrebleu's default, and orders that a sentence is too
short for are left out): they are there to be resampled, and their mean is not the corpus's. Text is compared as it was
trained on: lower-cased, and tokenised by the corpus or by Moses's rules, not by sacrebleu's.
"""

from __future__ import annotations

from typing import Any

import pyarrow.compute as pc
from sacrebleu.metrics.bleu import BLEU

from seqcap.artifacts import PAIRS, read_table
from seqcap.config.evaluation import EvaluationConfig
from seqcap.errors import InputError
from seqcap.evaluation.inputs import DecodedRun, first, read_runs
from seqcap.tasks import ARTIFACTS

METRIC = "BLEU"
DECODERS = ("greedy", "beam")


def evaluate(config: EvaluationConfig) -> list[dict[str, Any]]:
    """Scores every seed of every run: rows of `artifacts.SCORES`.

    Raises:
        InputError: an artifact is missing or malformed, or translations are not those of the split's pairs.
    """
    references = read_references(config)
    runs = read_runs(config, references, DECODERS)
    return [row for run in runs for decoder in DECODERS for row in scored(run, decoder, references)]


def read_references(config: EvaluationConfig) -> dict[int, str]:
    """Item -> its translation by people, words separated by spaces.

    Raises:
        InputError: the split has none.
    """
    path = ARTIFACTS / config.task / "data/pairs.parquet"
    table = read_table(path, PAIRS)
    table = table.filter(pc.equal(table["split"], config.split))
    if not len(table):
        raise InputError(path, f"has no pairs in split {config.split!r}", "choose another split")
    texts = (" ".join(words) for words in table["reference"].to_pylist())
    return dict(zip(table["item"].to_pylist(), texts, strict=True))


def scored(run: DecodedRun, decoder: str, references: dict[int, str]) -> list[dict[str, Any]]:
    """The rows of one decoder's first translations."""
    best = first(run.captions[decoder])
    texts = [" ".join(tokens) for _, tokens in best]
    expected = [references[item] for item, _ in best]
    rows = [run.row(decoder, METRIC, corpus_bleu(texts, expected))]
    for (item, _), value in zip(best, sentence_bleu(texts, expected), strict=True):
        rows.append(run.row(decoder, METRIC, value, item, 0))
    return rows


def corpus_bleu(translations: list[str], references: list[str]) -> float:
    """BLEU-4 in 0 .. 1 (Papineni et al., ACL 2002) of tokenised texts, one reference each."""
    return float(BLEU(tokenize="none", force=True).corpus_score(translations, [references]).score) / 100


def sentence_bleu(translations: list[str], references: list[str]) -> list[float]:
    """Smoothed BLEU-4 in 0 .. 1 of each text."""
    metric = BLEU(tokenize="none", force=True, effective_order=True)
    return [metric.sentence_score(t, [r]).score / 100 for t, r in zip(translations, references, strict=True)]
