"""CIDEr-D and BLEU in plain Python, one caption at a time: the oracle of the compiled kernels.

Captions here are lists of ids exactly as scored (EOS included where it counts).
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

EOS = 2
Caption = Sequence[int]
Gram = tuple[int, ...]


def rows(captions: Sequence[Sequence[int]], time: int = 0) -> np.ndarray:
    """Ids with EOS, padded, as rewards take them."""
    time = max([time, *(len(caption) + 1 for caption in captions)])
    out = np.zeros((len(captions), time), dtype=np.int64)
    for row, caption in zip(out, captions, strict=True):
        row[: len(caption) + 1] = [*caption, EOS]
    return out


def text(ids: Sequence[int]) -> str:
    """Ids with EOS, as pycocoevalcap takes them."""
    return " ".join(map(str, [*ids, EOS]))


def ngrams(caption: Caption, order: int) -> Counter[Gram]:
    """How often each n-gram of one order occurs."""
    return Counter(tuple(caption[start : start + order]) for start in range(len(caption) - order + 1))


def document_frequencies(references: Sequence[Sequence[Caption]]) -> Counter[Gram]:
    """In how many images' references each n-gram of orders 1-4 occurs."""
    frequencies: Counter[Gram] = Counter()
    for captions in references:
        frequencies.update({gram for caption in captions for order in range(1, 5) for gram in ngrams(caption, order)})
    return frequencies


def cider_d(
    hypothesis: Caption, captions: Sequence[Caption], frequencies: Mapping[Gram, int], images: int, sigma: float = 6.0
) -> float:
    """CIDEr-D of one hypothesis (Vedantam et al., CVPR 2015, section 7): eq. 3 clipped, with length penalty."""

    def vector(caption: Caption, order: int) -> dict[Gram, float]:
        return {
            gram: count * (math.log(images) - math.log(max(1, frequencies.get(gram, 0))))
            for gram, count in ngrams(caption, order).items()
        }

    def norm(weights: Mapping[Gram, float]) -> float:
        return math.sqrt(sum(weight**2 for weight in weights.values()))

    total = 0.0
    for reference in captions:
        # The length is the number of bigrams, as in the original code.
        delta = max(len(hypothesis) - 1, 0) - max(len(reference) - 1, 0)
        for order in range(1, 5):
            left, right = vector(hypothesis, order), vector(reference, order)
            dot = sum(min(weight, right.get(gram, 0.0)) * right.get(gram, 0.0) for gram, weight in left.items())
            scale = norm(left) * norm(right)
            if scale > 0:
                total += dot / scale * math.exp(-(delta**2) / (2 * sigma**2))
    return 10 * total / (4 * len(captions))


def bleu(hypothesis: Caption, captions: Sequence[Caption]) -> list[float]:
    """Sentence BLEU-1..4 with the closest reference length (Papineni et al., ACL 2002)."""
    _, closest = min((abs(len(caption) - len(hypothesis)), len(caption)) for caption in captions)
    ratio = (len(hypothesis) + 1e-15) / (closest + 1e-9)
    penalty = math.exp(1 - 1 / ratio) if ratio < 1 else 1.0
    product, scores = 1.0, []
    for order in range(1, 5):
        counts = ngrams(hypothesis, order)
        matches = sum(
            min(count, max(ngrams(caption, order)[gram] for caption in captions)) for gram, count in counts.items()
        )
        product *= (matches + 1e-15) / (max(len(hypothesis) - order + 1, 0) + 1e-9)
        scores.append(product ** (1 / order) * penalty)
    return scores
