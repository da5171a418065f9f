"""Scores of decoded translations: tokenised BLEU-4 by sacrebleu.
Per run, seed and decoder (greedy, and the best of the beam), metric `BLEU` has one row of the corpus (item and rank
null), and one of each sentence (rank 0) with its counts: matches and guesses of orders 1-4, its length and its
reference's. Text is lower-cased and tokenised as in training, by the corpus or by Moses's rules."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sacrebleu.metrics.bleu import BLEU

from seqcap.errors import InputError
from seqcap.evaluation.inputs import DecodedRun, EvaluationConfig, first, read_runs
from seqcap.files.parquet import read_table
from seqcap.files.schemas import PAIRS
from seqcap.metrics.registry import METRICS
from seqcap.tasks import ARTIFACTS

METRIC = "BLEU"
DECODERS = ("greedy", "beam")


def evaluate(config: EvaluationConfig) -> pa.Table:
    """Scores every seed of every run: rows of `schemas.SCORES`; InputError for a missing or malformed artifact."""
    references = read_references(config)
    runs = read_runs(config)
    return pa.concat_tables(rows for run in runs for decoder in DECODERS for rows in scored(run, decoder, references))


def read_references(config: EvaluationConfig) -> dict[int, str]:
    """Item -> its reference translation, words separated by spaces; InputError if the split has none."""
    path = ARTIFACTS / config.task / "data/pairs.parquet"
    table = read_table(path, PAIRS)
    table = table.filter(pc.equal(table["split"], config.split))
    if not len(table):
        raise InputError(path, f"has no pairs in split {config.split!r}", "choose another split")
    texts = (" ".join(words) for words in table["reference"].to_pylist())
    return dict(zip(table["item"].to_pylist(), texts, strict=True))


def scored(run: DecodedRun, decoder: str, references: dict[int, str]) -> list[pa.Table]:
    best = first(run.captions[decoder])
    texts = [" ".join(tokens) for _, tokens in best]
    expected = [references[item] for item, _ in best]
    counts = bleu_statistics(texts, expected)
    return [
        run.corpus(decoder, METRIC, corpus_bleu(texts, expected)),
        run.counts(decoder, METRICS[METRIC].statistics, [item for item, _ in best], counts),
    ]


def corpus_bleu(translations: list[str], references: list[str]) -> float:
    """BLEU-4 in 0 .. 1 (Papineni et al., ACL 2002) of tokenised texts, one reference each."""
    return float(BLEU(tokenize="none", force=True).corpus_score(translations, [references]).score) / 100


def bleu_statistics(translations: list[str], references: list[str]) -> npt.NDArray[np.float64]:
    """The counts [n, 10] whose sum gives corpus BLEU (`rewards.corpus.translation_bleu`)."""
    metric = BLEU(tokenize="none", force=True)
    scores = [
        metric.sentence_score(text, [reference]) for text, reference in zip(translations, references, strict=True)
    ]
    return np.array([[*score.counts, *score.totals, score.sys_len, score.ref_len] for score in scores], np.float64)
