"""pycocoevalcap's own tokenizer, scorers and METEOR's jar, for `seqcap score --official` and for tests. What is scored
must be tokenized. "CIDEr" means CIDEr-D here, as in pycocoevalcap."""

import subprocess
import tempfile
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import numpy as np
from pycocoevalcap.bleu.bleu_scorer import BleuScorer
from pycocoevalcap.cider.cider_scorer import CiderScorer, cook_refs, cook_test
from pycocoevalcap.rouge.rouge import Rouge
from pycocoevalcap.tokenizer import ptbtokenizer

from seqcap.errors import InputError
from seqcap.metrics.captions import Caption, Floats, ImageCaption, References, check_captions, joined, joined_references
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


def tokenized(captions: Sequence[Sequence[str | Caption]]) -> list[list[Caption]]:
    """The words of each image's captions by the original Java tokenizer, on the raw text; those that are words already
    stay. InputError if Java cannot be run."""
    texts = [" ".join(text.splitlines()) for group in captions for text in group if isinstance(text, str)]
    words = iter(_java_words(texts)) if texts else iter([])
    return [[next(words) if isinstance(text, str) else text for text in group] for group in captions]


def _java_words(texts: Sequence[str]) -> list[list[str]]:
    """As pycocoevalcap's `PTBTokenizer`, which writes into its own folder."""
    jar = Path(ptbtokenizer.__file__).with_name(ptbtokenizer.STANFORD_CORENLP_3_4_1_JAR)
    with tempfile.NamedTemporaryFile(suffix=".txt") as file:
        file.write("\n".join(texts).encode("utf-8", "replace"))
        file.flush()
        options = ["-preserveLines", "-lowerCase", file.name]
        program = ["java", "-Dfile.encoding=UTF-8", "-cp", str(jar), "edu.stanford.nlp.process.PTBTokenizer", *options]
        try:
            done = subprocess.run(program, capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise InputError("--official", f"cannot run the Java tokenizer ({error})", "install Java") from None
    lines = done.stdout.decode("utf-8", "replace").split("\n")[: len(texts)]
    return [[word for word in line.split() if word not in ptbtokenizer.PUNCTUATIONS] for line in lines]


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
