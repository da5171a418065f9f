"""Similarity of captions of different images, by their n-grams."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice

from seqcap.metrics.captions import Caption, joined_references

SELF_BLEU_CAPTIONS = 1000  # only the first captions are compared: the cost grows with the square of their number
EPSILON = 0.1  # NLTK's smoothing method 1: zero matches count as this many


def self_bleus(sets: Mapping[int, Sequence[Caption]], order: int) -> list[tuple[int, float]]:
    """(image, sentence BLEU) of each of the first 1,000 captions against those of all other images. Lower means that
    captions tell images apart; a single image has 0. (Zhu et al., SIGIR 2018, as NLTK's `sentence_bleu` with smoothing
    method 1.) InputError if there is no image, an image has no captions, or a token is empty or holds white space."""
    texts = joined_references(sets)
    every = ((image, text.split()) for image, captions in texts.items() for text in captions)
    captions = list(islice(every, SELF_BLEU_CAPTIONS))
    counts = [[ngrams(words, n) for n in range(1, order + 1)] for _, words in captions]
    # The two largest counts of an n-gram with their images; the larger one of another image clips.
    largest: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    lengths: dict[int, Counter[int]] = {}
    for (image, words), orders in zip(captions, counts, strict=True):
        lengths.setdefault(image, Counter())[len(words)] += 1
        for grams in orders:
            for gram, count in grams.items():
                if gram not in largest:
                    # As most are.
                    largest[gram] = [(image, count)]
                    continue
                best = dict(largest[gram])
                best[image] = max(count, best.get(image, 0))
                largest[gram] = sorted(best.items(), key=lambda item: -item[1])[:2]
    if len(lengths) < 2:
        return [(image, 0.0) for image, _ in captions]
    all_lengths = sum(lengths.values(), Counter())
    scores = []
    for (image, words), orders in zip(captions, counts, strict=True):
        if not words:
            scores.append((image, 0.0))
            continue
        others = all_lengths - lengths[image]
        closest = min(others, key=lambda length: (abs(length - len(words)), length))
        log_precision = 0.0
        for n, grams in enumerate(orders, start=1):
            matches = sum(
                min(count, next((c for i, c in largest[gram] if i != image), 0)) for gram, count in grams.items()
            )
            if n == 1 and matches == 0:
                log_precision = -math.inf
                break
            log_precision += math.log((matches or EPSILON) / max(1, len(words) - n + 1)) / order
        penalty = 0.0 if len(words) > closest else 1 - closest / len(words)
        scores.append((image, math.exp(log_precision + penalty)))
    return scores


def ngrams(words: Caption, order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[start : start + order]) for start in range(len(words) - order + 1))
