"""BLEU, ROUGE-L and CIDEr of captions against references, computed by pycocoevalcap's own scorers.

Tokens are taken as they are: run a tokenizer before, not here. "CIDEr" is what pycocoevalcap calls so: CIDEr-D.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from pycocoevalcap.bleu.bleu_scorer import BleuScorer
from pycocoevalcap.cider.cider_scorer import CiderScorer, cook_refs, cook_test
from pycocoevalcap.rouge.rouge import Rouge

from seqcap.errors import InputError
from seqcap.metrics.captions import (
    Caption,
    Floats,
    Hypotheses,
    References,
    Scores,
    joined,
    joined_pairs,
    joined_references,
    mean_scores,
)

ORDERS = 4
# Per caption: matches of orders 1-4, guesses of orders 1-4, its length, the closest reference length.
STATISTICS = 2 * ORDERS + 2


class BleuScores(NamedTuple):
    """BLEU-1..4 over images.

    Attributes:
        image_ids: ascending.
        per_image: [images, 4] sentence BLEU-1..4.
        corpus: [4] corpus BLEU-1..4, which is not the mean of the sentences'.
        statistics: [images, 10] what corpus BLEU is computed from, see `bleu_from_statistics`.
    """

    image_ids: list[int]
    per_image: Floats
    corpus: Floats
    statistics: Floats


def bleu_statistics(pairs: Iterable[tuple[str, list[str]]]) -> Floats:
    """Sufficient statistics of corpus BLEU of (hypothesis, references) pairs: [pairs, 10]."""
    scorer = BleuScorer(n=ORDERS)
    for pair in pairs:
        scorer += pair
    rows = [
        [
            *cooked["correct"],
            *cooked["guess"],
            cooked["testlen"],
            scorer._single_reflen(cooked["reflen"], "closest", cooked["testlen"]),
        ]
        for cooked in scorer.ctest
    ]
    return np.array(rows, dtype=np.float64).reshape(len(rows), STATISTICS)


def bleu_from_statistics(totals: Floats) -> Floats:
    """BLEU-1..4 from summed statistics, with pycocoevalcap's smoothing (Papineni et al., ACL 2002, section 2.3).

    Args:
        totals: [..., 10] statistics of one caption, or summed over a corpus (or over a bootstrap's resample of it).

    Returns:
        [..., 4].
    """
    matches, guesses = totals[..., :ORDERS], totals[..., ORDERS : 2 * ORDERS]
    ratio = (totals[..., -2] + 1e-15) / (totals[..., -1] + 1e-9)
    penalty = np.exp(np.minimum(0.0, 1 - 1 / ratio))
    precisions = np.cumprod((matches + 1e-15) / (guesses + 1e-9), axis=-1)
    scores: Floats = precisions ** (1 / np.arange(1, ORDERS + 1)) * penalty[..., None]
    return scores


def corpus_bleu_from_statistics(statistics: Floats) -> float:
    """Corpus BLEU-4 of each slot, averaged over slots: mBLEU-4, or plain corpus BLEU-4 with one slot.

    Args:
        statistics: [images, slots, 10]; index images with repetition for a bootstrap over images.
    """
    return float(bleu_from_statistics(statistics.sum(axis=0))[:, -1].mean())


def bleu(references: References, hypotheses: Hypotheses) -> BleuScores:
    """BLEU-1..4 per image and of the corpus. An empty hypothesis has BLEU 0.

    Raises:
        InputError: the two hold different images, an image has no references, or a token holds white space.
    """
    texts, captions = joined_pairs(references, hypotheses)
    statistics = bleu_statistics((captions[image_id][0], texts[image_id]) for image_id in texts)
    return BleuScores(
        list(texts), bleu_from_statistics(statistics), bleu_from_statistics(statistics.sum(axis=0)), statistics
    )


def rouge_l(references: References, hypotheses: Hypotheses) -> Scores:
    """ROUGE-L (Lin and Och, ACL 2004) with beta = 1.2; best precision and best recall may come from two references.

    An empty hypothesis scores 0, unless a reference is empty too.

    Raises:
        InputError: as `bleu`.
    """
    texts, captions = joined_pairs(references, hypotheses)
    scorer = Rouge()
    return mean_scores(list(texts), (scorer.calc_score(captions[image_id], texts[image_id]) for image_id in texts))


class _Frequencies(dict[tuple[str, ...], float]):
    """Document frequencies that do not grow when an unknown n-gram is looked up."""

    def __missing__(self, ngram: tuple[str, ...]) -> float:
        return 0.0


class CiderEvaluator:
    """CIDEr against fixed references, for any number of captions per image.

    Document frequencies are those of all references given, counted once.

    Raises:
        InputError: no image, an image without references, or a token with white space.
    """

    def __init__(self, references: References) -> None:
        self._cooked = {image_id: cook_refs(texts) for image_id, texts in joined_references(references).items()}
        scorer = CiderScorer()
        scorer.crefs = list(self._cooked.values())
        scorer.compute_doc_freq()
        self._frequencies = _Frequencies(scorer.document_frequency)

    def score(self, captions: Sequence[tuple[int, Caption]]) -> Floats:
        """CIDEr of each (image id, tokens): [captions]. An empty caption scores 0.

        Raises:
            InputError: an image without references, or a token with white space.
        """
        # Decoders often agree: what is the same caption of the same image is scored once.
        distinct: dict[tuple[int, str], float] = {}
        for image_id, tokens in captions:
            if image_id not in self._cooked:
                raise InputError("captions", f"image {image_id} has no references", "score only images that have them")
            distinct[image_id, joined(image_id, tokens)] = 0.0
        todo = list(distinct)
        images = list(self._cooked.values())
        for start in range(0, len(todo), len(images)):
            part = todo[start : start + len(images)]
            scorer = CiderScorer()
            scorer.document_frequency = self._frequencies
            scorer.ctest = [cook_test(text) for _, text in part]
            # The scorer takes the number of images from the length of this list and reads only as far as ctest.
            scorer.crefs = [self._cooked[image_id] for image_id, _ in part] + images[len(part) :]
            distinct.update(zip(part, scorer.compute_cider(), strict=True))
        return np.array([distinct[image_id, " ".join(tokens)] for image_id, tokens in captions], dtype=np.float64)


def cider(references: References, hypotheses: Hypotheses) -> Scores:
    """CIDEr with document frequencies of the given references. With one image it is 0: every weight is log 1.

    Raises:
        InputError: as `bleu`.
    """
    image_ids = list(joined_pairs(references, hypotheses)[0])
    scores = CiderEvaluator(references).score([(image_id, hypotheses[image_id]) for image_id in image_ids])
    return mean_scores(image_ids, scores)
