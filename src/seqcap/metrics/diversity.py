"""How different the captions of one image are, and how many captions and words a captioner has at all."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from seqcap.errors import InputError
from seqcap.metrics.captions import Caption, Floats, Scores, joined_references, mean_scores
from seqcap.metrics.quality import bleu_from_statistics, bleu_statistics, corpus_bleu_from_statistics

# Per image, the captions of its slots (samples, or ranks of a beam).
Sets = Mapping[int, Sequence[Caption]]


class MutualBleu(NamedTuple):
    """mBLEU-4 over images.

    Attributes:
        image_ids: ascending.
        per_image: [images] sentence BLEU-4 of each caption against the image's others, mean over slots.
        corpus: mBLEU-4, computed from `statistics` by `corpus_bleu_from_statistics`; not the mean of `per_image`.
        statistics: [images, slots, 10].
    """

    image_ids: list[int]
    per_image: Floats
    corpus: float
    statistics: Floats


def distinct_ngrams(sets: Sets, order: int) -> Scores:
    """Div-n: distinct n-grams of an image's captions / number of their *words* (whatever n), mean over images.

    Source: Shetty et al., ICCV 2017 (as computed by the field's code). Higher is more diverse. An image whose
    captions are all empty has 0.

    Raises:
        InputError: no image, an image without captions, or a token with white space.
    """

    def value(captions: Sequence[str]) -> float:
        words = [caption.split() for caption in captions]
        ngrams = {
            tuple(caption[start : start + order]) for caption in words for start in range(len(caption) - order + 1)
        }
        return len(ngrams) / max(1, sum(map(len, words)))

    texts = joined_references(sets)
    return mean_scores(list(texts), map(value, texts.values()))


def mutual_bleu(sets: Sets) -> MutualBleu:
    """mBLEU-4: for slot i, corpus BLEU-4 of caption i against the same image's other captions; mean over slots.

    Source: Wang and Chan, CVPR 2019, and Shetty et al., ICCV 2017. Lower is more diverse.

    Raises:
        InputError: images with different numbers of captions, fewer than 2 captions, or as `distinct_ngrams`.
    """
    texts = joined_references(sets)
    image_ids = list(texts)
    slots = len(texts[image_ids[0]])
    for image_id, captions in texts.items():
        if len(captions) != slots or slots < 2:
            raise InputError(
                "captions",
                f"image {image_id} has {len(captions)} captions and image {image_ids[0]} has {slots}",
                "pass the same number, at least 2, for every image",
            )
    pairs = ((captions[i], captions[:i] + captions[i + 1 :]) for captions in texts.values() for i in range(slots))
    statistics = bleu_statistics(pairs).reshape(len(image_ids), slots, -1)
    per_image = bleu_from_statistics(statistics)[..., -1].mean(axis=1)
    return MutualBleu(image_ids, per_image, corpus_bleu_from_statistics(statistics), statistics)


def novel(sets: Sets, training: Collection[tuple[str, ...]]) -> Scores:
    """Percentage of captions that are no training caption, per image and over all captions.

    Args:
        sets: captions of each image.
        training: the training captions as tuples of tokens (a set, or it is slow).

    Raises:
        InputError: as `distinct_ngrams`.
    """
    image_ids = list(joined_references(sets))
    is_new = [[tuple(tokens) not in training for tokens in sets[image_id]] for image_id in image_ids]
    per_image = np.array([100 * np.mean(captions) for captions in is_new])
    return Scores(image_ids, per_image, 100 * float(np.mean(np.concatenate(is_new))))


def unique(sets: Sets) -> float:
    """Percentage of distinct captions among all captions of all images.

    Raises:
        InputError: as `distinct_ngrams`.
    """
    captions = [caption for captions in joined_references(sets).values() for caption in captions]
    return 100 * len(set(captions)) / len(captions)


def vocabulary_size(sets: Sets) -> int:
    """Number of distinct words in all captions of all images."""
    return len({token for captions in sets.values() for caption in captions for token in caption})


def mean_length(sets: Sets) -> Scores:
    """Words per caption, per image and over all captions.

    Raises:
        InputError: as `distinct_ngrams`.
    """
    image_ids = list(joined_references(sets))
    lengths = [[len(tokens) for tokens in sets[image_id]] for image_id in image_ids]
    return Scores(
        image_ids, np.array([np.mean(captions) for captions in lengths]), float(np.mean(np.concatenate(lengths)))
    )
