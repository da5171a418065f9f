"""pycocoevalcap's own scorers and METEOR's jar: the oracles of the engine's tests, and `seqcap score --official`.

Captions must be tokenized already. "CIDEr" means CIDEr-D here, as in pycocoevalcap.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np
from pycocoevalcap.bleu.bleu_scorer import BleuScorer
from pycocoevalcap.cider.cider_scorer import CiderScorer, cook_refs, cook_test
from pycocoevalcap.rouge.rouge import Rouge

from seqcap.errors import InputError
from seqcap.metrics.captions import Caption, Floats, References, check_captions, joined, joined_references
from seqcap.metrics.meteor import Meteor, MeteorUnavailable
from seqcap.metrics.quality import ImageCaption, Measured, bleu_orders, chosen
from seqcap.metrics.registry import QUALITY, check
from seqcap.rewards.kernels import ORDERS, STATISTICS
from seqcap.rewards.meteor import meteor_from_statistics, summable

NO_SPICE = "the official SPICE needs Stanford's parser models, which no package holds"


def measure(
    references: References, captions: Sequence[ImageCaption], metrics: Collection[str] = QUALITY
) -> tuple[dict[str, Measured], dict[str, str]]:
    """As `quality.measure`, by the official programs; and for each metric that has no value the reason.

    METEOR needs Java. SPICE and SPIDEr have no value.
    """
    check_captions(references, captions)
    check(metrics)
    texts = joined_references(references)
    spoken = [(image_id, joined(image_id, tokens)) for image_id, tokens in captions]
    measured: dict[str, Measured] = {}
    reasons = {metric: NO_SPICE for metric in ("SPICE", "SPIDEr") if metric in metrics}
    if any(metric.startswith("BLEU") for metric in metrics):
        measured |= bleu_orders(bleu_statistics((text, texts[image_id]) for image_id, text in spoken))
    if "METEOR" in metrics:
        try:
            with Meteor() as meteor:
                values, _ = meteor.score_captions(references, captions)
                statistics = summable(meteor.statistics(references, captions))
                measured["METEOR"] = Measured(values, statistics, meteor_from_statistics)
        except MeteorUnavailable as error:
            reasons["METEOR"] = str(error)
    if "ROUGE_L" in metrics:
        rouge = Rouge()
        rouges = [rouge.calc_score([text], texts[image_id]) for image_id, text in spoken]
        measured["ROUGE_L"] = Measured.mean(np.array(rouges, dtype=np.float64))
    if "CIDEr" in metrics:
        measured["CIDEr"] = Measured.mean(CiderEvaluator(references).score(captions))
    return chosen(measured, metrics), reasons


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
        # Decoders often agree: the same caption of the same image is scored once.
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
