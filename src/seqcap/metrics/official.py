"""pycocoevalcap's own scorers and METEOR's jar, for `seqcap score --official` and for tests. Captions must be
tokenized. "CIDEr" means CIDEr-D here, as in pycocoevalcap."""

from collections.abc import Collection, Iterable, Sequence

import numpy as np
from pycocoevalcap.bleu.bleu_scorer import BleuScorer
from pycocoevalcap.cider.cider_scorer import CiderScorer, cook_refs, cook_test
from pycocoevalcap.rouge.rouge import Rouge

from seqcap.metrics.captions import Floats, ImageCaption, References, check_captions, joined, joined_references
from seqcap.metrics.meteor import Meteor, MeteorUnavailable
from seqcap.metrics.quality import Measured, bleu_orders, chosen
from seqcap.metrics.registry import QUALITY, find_metrics
from seqcap.rewards.kernels import ORDERS, STATISTICS
from seqcap.rewards.meteor import meteor_from_statistics, summable

NO_SPICE = "the official SPICE needs Stanford's parser models, which no package holds"


def measure(
    references: References, captions: Sequence[ImageCaption], metrics: Collection[str] = QUALITY
) -> tuple[dict[str, Measured], dict[str, str]]:
    """As `quality.measure`, by the official programs; and the reasons why metrics have no value. METEOR needs Java;
    SPICE and SPIDEr never have a value."""
    check_captions(references, captions)
    metrics = find_metrics(metrics)
    texts = joined_references(references)
    spoken = [(image_id, joined(image_id, tokens)) for image_id, tokens in captions]
    measured: dict[str, Measured] = {}
    reasons: dict[str, str] = {metric: NO_SPICE for metric in ("SPICE", "SPIDEr") if metric in metrics}
    if any(metric.startswith("BLEU") for metric in metrics):
        measured |= bleu_orders(bleu_statistics((text, texts[image_id]) for image_id, text in spoken))
    if "METEOR" in metrics:
        try:
            with Meteor() as meteor:
                values, _, statistics = meteor.score_captions(references, captions)
                measured["METEOR"] = Measured(values, summable(statistics), meteor_from_statistics)
        except MeteorUnavailable as error:
            reasons["METEOR"] = str(error)
    if "ROUGE_L" in metrics:
        rouge = Rouge()
        rouges = [rouge.calc_score([text], texts[image_id]) for image_id, text in spoken]
        measured["ROUGE_L"] = Measured.mean(np.array(rouges, dtype=np.float64))
    if "CIDEr" in metrics:
        measured["CIDEr"] = Measured.mean(cider(texts, spoken))
    return chosen(measured, metrics), reasons


def bleu_statistics(pairs: Iterable[tuple[str, list[str]]]) -> Floats:
    """The counts [pairs, 10] of corpus BLEU of (hypothesis, references) pairs."""
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


def cider(references: dict[int, list[str]], captions: Sequence[tuple[int, str]]) -> Floats:
    """CIDEr of any number of captions per image, with document frequencies of all references."""
    cooked = {image_id: cook_refs(texts) for image_id, texts in references.items()}
    images = list(cooked.values())
    scorer = CiderScorer()
    scorer.crefs = images
    scorer.compute_doc_freq()
    frequencies = scorer.document_frequency
    # Captions repeat: the same caption of the same image is scored once.
    distinct = dict.fromkeys(captions, 0.0)
    todo = list(distinct)
    for start in range(0, len(todo), len(images)):
        part = todo[start : start + len(images)]
        scorer = CiderScorer()
        scorer.document_frequency = frequencies
        scorer.ctest = [cook_test(text) for _, text in part]
        # The scorer takes the number of images from the length of this list, and reads only as far as ctest.
        scorer.crefs = [cooked[image_id] for image_id, _ in part] + images[len(part) :]
        distinct.update(zip(part, scorer.compute_cider(), strict=True))
    return np.array([distinct[caption] for caption in captions], dtype=np.float64)
