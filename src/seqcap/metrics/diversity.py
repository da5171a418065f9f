"""How different the captions of an image are, and how many captions and words a captioner has. All functions raise
`InputError` if there is no image, an image has no captions, or a token is empty or holds spaces."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from seqcap.errors import InputError
from seqcap.metrics.captions import Caption, Floats, References, Scores, joined_references, mean_scores
from seqcap.metrics.quality import Coder
from seqcap.metrics.self_bleu import ngrams, self_bleus
from seqcap.rewards.bleu import multi_reference_statistics
from seqcap.rewards.ciderd import CiderD, document_frequencies
from seqcap.rewards.corpus import mutual_bleu_from_totals

Sets = Mapping[int, Sequence[Caption]]  # per image, its captions (samples, or ranks of a beam); their places are slots
_CHUNK = 10_000  # images at a time: each caption is scored against all of its image's
# A caption with one of these as its last word was cut off (list of the field's self-critical code).
BAD_ENDINGS = frozenset(["a", "an", "the", "with", "in", "on", "of", "at", "to", "for", "this", "his", "her", "that"])


class MutualBleu(NamedTuple):
    """mBLEU: how like each of an image's captions is to the others of that image.

    Attributes:
        image_ids: ascending.
        corpus: mBLEU-1..4, [4].
        statistics: [images, slots, 10]; `mutual_bleu_from_totals` of their sum over images gives `corpus`.
    """

    image_ids: list[int]
    corpus: Floats
    statistics: Floats


def distinct_ngrams(sets: Sets, order: int) -> Scores:
    """Div-n: distinct n-grams of an image's captions / number of their *words* (for every n), mean over images. Higher
    is more diverse; an image with only empty captions has 0. (Shetty et al., ICCV 2017, by the field's code.)"""

    def value(captions: Sequence[str]) -> float:
        words = [caption.split() for caption in captions]
        distinct = set[tuple[str, ...]]()
        for caption in words:
            distinct.update(zip(*(caption[start:] for start in range(order)), strict=False))
        return len(distinct) / max(1, sum(map(len, words)))

    texts = joined_references(sets)
    return mean_scores(list(texts), map(value, texts.values()))


def mutual_bleu(sets: Sets) -> MutualBleu:
    """mBLEU-n: for slot i, corpus BLEU-n of caption i against the same image's other captions; mean over slots. Lower
    is more diverse. (Wang and Chan, CVPR 2019, and Shetty et al., ICCV 2017.) InputError if images have different
    numbers of captions, or fewer than 2."""
    image_ids, ids = _same_slots(sets)
    statistics = multi_reference_statistics(ids, eos=False)
    return MutualBleu(image_ids, mutual_bleu_from_totals(statistics.sum(axis=0)), statistics)


def self_cider(sets: Sets, references: References) -> Scores:
    """Self-CIDEr: how evenly an image's captions spread over the directions of their CIDEr kernel.
        -ln(sqrt(l_max) / sum sqrt(l)) / ln k
    with l the eigenvalues of the k x k matrix of CIDEr-D between an image's captions (/ 10). Identical captions have 0,
    captions with nothing in common 1. (Wang and Chan, CVPR 2019, section 3.3, with the square roots of their code.)
    Document frequencies are those of `references`. InputError if images have different numbers of captions, or fewer
    than 2."""
    coder = Coder()
    frequencies = document_frequencies(coder.cook(references.values()))
    image_ids, ids = _same_slots(sets, coder)
    b, k, time = ids.shape
    lone = CiderD(coder.cook([[tokens] for image_id in image_ids for tokens in sets[image_id]]), frequencies)
    against = np.arange(b * k).reshape(b, 1, k).repeat(k, axis=1)
    kernel = np.empty((b, k, k))
    for first in range(0, b, _CHUNK):
        some = slice(first, first + _CHUNK)
        rows = ids[some].repeat(k, axis=1).reshape(-1, time)
        kernel[some] = lone.score(rows, against[some].ravel()).reshape(-1, k, k) / 10
    # The clipped similarity is not quite symmetric.
    eigenvalues = np.linalg.eigvalsh((kernel + kernel.transpose(0, 2, 1)) / 2).clip(min=0)
    roots = np.sqrt(eigenvalues)
    total = roots.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = -np.log(roots[:, -1] / total) / math.log(k)
    # Captions without any weight (all empty) count as equal.
    return mean_scores(image_ids, np.where(total > 0, spread, 0.0).clip(min=0.0).tolist())


def self_bleu(sets: Sets, order: int = 4) -> float:
    """Self-BLEU: the mean of `self_bleus`; 0 without captions."""
    values = [value for _, value in self_bleus(sets, order)]
    return float(np.mean(values)) if values else 0.0


def repeated_bigrams(caption: Caption) -> float:
    """seq-rep-2 (Welleck et al., ICLR 2020): the share of a caption's bigrams that occurred earlier in it."""
    bigrams = ngrams(caption, 2)
    total = sum(bigrams.values())
    return 1 - len(bigrams) / total if total else 0.0


def bad_endings(sets: Sets) -> float:
    """Percentage of captions whose last word is one of `BAD_ENDINGS`."""
    captions = [caption.split() for captions in joined_references(sets).values() for caption in captions]
    return 100 * sum(bool(words) and words[-1] in BAD_ENDINGS for words in captions) / len(captions)


def novel(sets: Sets, training: Collection[tuple[str, ...]]) -> float:
    """Percentage of captions that are not in `training`, a set of tuples of tokens."""
    image_ids = list(joined_references(sets))
    return 100 * float(np.mean([tuple(tokens) not in training for image_id in image_ids for tokens in sets[image_id]]))


def unique(sets: Sets) -> float:
    """Percentage of distinct captions among all captions of all images."""
    captions = [caption for captions in joined_references(sets).values() for caption in captions]
    return 100 * len(set(captions)) / len(captions)


def vocabulary_size(sets: Sets) -> int:
    return len({token for captions in sets.values() for caption in captions for token in caption})


def mean_length(sets: Sets) -> float:
    return float(np.mean([len(tokens) for image_id in joined_references(sets) for tokens in sets[image_id]]))


def _same_slots(sets: Sets, coder: Coder | None = None) -> tuple[list[int], npt.NDArray[np.int64]]:
    image_ids = list(joined_references(sets))
    slots = len(sets[image_ids[0]])
    for image_id in image_ids:
        if len(sets[image_id]) != slots or slots < 2:
            raise InputError(
                "captions",
                f"image {image_id} has {len(sets[image_id])} captions and image {image_ids[0]} has {slots}",
                "pass the same number, at least 2, for every image",
            )
    ids = (coder or Coder()).rows([tokens for image_id in image_ids for tokens in sets[image_id]])
    return image_ids, ids.reshape(len(image_ids), slots, -1)
