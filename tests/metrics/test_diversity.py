"""Diversity: hand-computed values, mBLEU equal to pycocoevalcap's Bleu slot by slot, Self-BLEU to NLTK's."""

import numpy as np
import pytest
from plain_rewards import cider_d, document_frequencies
from pycocoevalcap.bleu.bleu import Bleu

from seqcap.errors import InputError
from seqcap.metrics.diversity import (
    bad_endings,
    distinct_ngrams,
    mean_length,
    mutual_bleu,
    novel,
    self_bleu,
    self_cider,
    unique,
    vocabulary_size,
)
from seqcap.metrics.self_bleu import self_bleus
from seqcap.rewards.corpus import mutual_bleu_from_totals

Images = dict[int, list[list[str]]]
SETS = {
    2: [["a", "cat"], ["a", "cat"], ["a", "black", "cat"]],
    1: [["a", "dog", "runs"], ["a", "dog"], []],
}


def test_distinct_ngrams_are_counted_per_word():
    unigrams, bigrams = distinct_ngrams(SETS, 1), distinct_ngrams(SETS, 2)
    assert unigrams.image_ids == [1, 2]
    np.testing.assert_allclose(unigrams.per_image, [3 / 5, 3 / 7])
    # Bigrams: "a dog", "dog runs" and "a cat", "a black", "black cat"; the divisor stays the number of words.
    np.testing.assert_allclose(bigrams.per_image, [2 / 5, 3 / 7])
    assert bigrams.corpus == pytest.approx((2 / 5 + 3 / 7) / 2)
    assert distinct_ngrams({1: [[], []]}, 1).corpus == 0


def test_mutual_bleu_is_the_mean_of_pycocoevalcaps_slots(coco_captions):
    sets = {image_id: captions[:5] for image_id, captions in coco_captions.items()}
    sets[next(iter(sets))][2:4] = [[], ["a"]]
    texts = {image_id: [" ".join(tokens) for tokens in captions] for image_id, captions in sets.items()}
    corpora = []
    for slot in range(5):
        corpus, _ = Bleu(4).compute_score(
            {image_id: captions[:slot] + captions[slot + 1 :] for image_id, captions in texts.items()},
            {image_id: [captions[slot]] for image_id, captions in texts.items()},
            verbose=0,
        )
        corpora.append(corpus)
    scores = mutual_bleu(sets)
    assert scores.statistics.shape == (100, 5, 10)
    np.testing.assert_allclose(scores.corpus, np.mean(corpora, axis=0), rtol=0, atol=1e-12)
    half = mutual_bleu({image_id: sets[image_id] for image_id in scores.image_ids[:50]}).corpus
    np.testing.assert_allclose(mutual_bleu_from_totals(scores.statistics[:50].sum(axis=0)), half, rtol=0, atol=1e-12)
    assert mutual_bleu({1: [[], []]}).corpus.max() == 0


def test_self_bleu_is_nltks(coco_captions):
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    sets = {image_id: captions[:2] for image_id, captions in list(coco_captions.items())[:30]}
    sets[next(iter(sets))] = [["a", "zzz"], ["yyy", "xxx", "www", "vvv"]]
    expected = []
    for image_id, captions in sets.items():
        others = [tokens for other, texts in sets.items() if other != image_id for tokens in texts]
        smoothing = SmoothingFunction().method1
        expected += [sentence_bleu(others, tokens, smoothing_function=smoothing) for tokens in captions]
    assert self_bleu(sets) == pytest.approx(np.mean(expected), abs=1e-12)
    # Of each caption, its image beside it, in the order of the images.
    found = self_bleus(sets, 4)
    assert [value for _, value in sorted(found, key=lambda pair: list(sets).index(pair[0]))] == pytest.approx(expected)
    assert [image for image, _ in found] == sorted(image for image in sets for _ in range(2))
    assert self_bleu({1: [["a", "dog"]]}) == 0
    assert self_bleu({1: [[]], 2: [["a"]]}) == 0


def test_self_cider_is_the_entropy_of_the_kernels_roots(monkeypatch):
    references = {1: [["a", "dog", "runs"]], 2: [["a", "cat", "sits"], ["the", "cat"]], 3: [["two", "birds"]]}
    sets = {1: [["a", "dog", "runs"], ["two", "birds"]], 2: [["a", "cat", "sits"]] * 2, 3: [[], []]}
    frequencies = document_frequencies([[tuple(c) for c in captions] for captions in references.values()])
    kernel = np.array([[cider_d(h, [r], frequencies, 3) / 10 for r in sets[1]] for h in sets[1]])
    roots = np.sqrt(np.linalg.eigvalsh((kernel + kernel.T) / 2).clip(min=0))
    # Two images at a time, then the third.
    monkeypatch.setattr("seqcap.metrics.diversity._CHUNK", 2)
    scores = self_cider(sets, references)
    assert scores.per_image[0] == pytest.approx(-np.log(roots.max() / roots.sum()) / np.log(2), abs=1e-12)
    assert scores.per_image[0] > 0.8
    # Identical captions, and captions that say nothing, do not spread.
    np.testing.assert_allclose(scores.per_image[1:], 0, atol=1e-7)
    assert self_cider({1: [["x", "y"], ["z", "w"]]}, references).corpus == pytest.approx(1)


def test_whole_sets_are_counted():
    assert novel(SETS, {("a", "cat"), ("a", "dog")}) == pytest.approx(50)
    assert unique(SETS) == pytest.approx(100 * 5 / 6)
    assert vocabulary_size(SETS) == 5
    assert mean_length(SETS) == pytest.approx(2)
    assert bad_endings({1: [["a", "dog", "on"], ["a", "dog"]], 2: [[], ["the"]]}) == 50


def test_wrong_sets_are_named():
    with pytest.raises(InputError, match="image 3 has the token 'x y'"):
        distinct_ngrams({3: [["x y"]]}, 1)
    with pytest.raises(InputError, match="no image"):
        unique({})
    for metric in (mutual_bleu, lambda sets: self_cider(sets, {1: [["a"]]})):
        with pytest.raises(InputError, match="image 2 has 1 captions"):
            metric({1: [["a"], ["b"]], 2: [["a"]]})
