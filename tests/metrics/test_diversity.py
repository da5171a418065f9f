"""Diversity: hand-computed values, and mBLEU equal to pycocoevalcap's Bleu slot by slot."""

from __future__ import annotations

import numpy as np
import pytest
from pycocoevalcap.bleu.bleu import Bleu

from seqcap.errors import InputError
from seqcap.metrics.diversity import distinct_ngrams, mean_length, mutual_bleu, novel, unique, vocabulary_size
from seqcap.metrics.quality import corpus_bleu_from_statistics

Images = dict[int, list[list[str]]]
SETS = {
    2: [["a", "cat"], ["a", "cat"], ["a", "black", "cat"]],
    1: [["a", "dog", "runs"], ["a", "dog"], []],
}


def test_distinct_ngrams_are_counted_per_word() -> None:
    unigrams, bigrams = distinct_ngrams(SETS, 1), distinct_ngrams(SETS, 2)
    assert unigrams.image_ids == [1, 2]
    np.testing.assert_allclose(unigrams.per_image, [3 / 5, 3 / 7])
    # Bigrams: "a dog", "dog runs" and "a cat", "a black", "black cat"; the divisor stays the number of words.
    np.testing.assert_allclose(bigrams.per_image, [2 / 5, 3 / 7])
    assert bigrams.corpus == pytest.approx((2 / 5 + 3 / 7) / 2)
    assert distinct_ngrams({1: [[], []]}, 1).corpus == 0


def test_mutual_bleu_is_the_mean_of_pycocoevalcaps_slots(coco_captions: Images) -> None:
    sets = {image_id: captions[:5] for image_id, captions in coco_captions.items()}
    sets[next(iter(sets))][2:4] = [[], ["a"]]
    texts = {image_id: [" ".join(tokens) for tokens in captions] for image_id, captions in sets.items()}
    corpora, sentences = [], []
    for slot in range(5):
        corpus, per_image = Bleu(4).compute_score(
            {image_id: captions[:slot] + captions[slot + 1 :] for image_id, captions in texts.items()},
            {image_id: [captions[slot]] for image_id, captions in texts.items()},
            verbose=0,
        )
        corpora.append(corpus[3])
        sentences.append(per_image[3])
    scores = mutual_bleu(sets)
    assert scores.statistics.shape == (100, 5, 10)
    assert scores.corpus == pytest.approx(np.mean(corpora), abs=1e-12)
    np.testing.assert_allclose(scores.per_image, np.mean(sentences, axis=0), rtol=0, atol=1e-12)
    assert corpus_bleu_from_statistics(scores.statistics[:50]) == pytest.approx(
        mutual_bleu({image_id: sets[image_id] for image_id in scores.image_ids[:50]}).corpus, abs=1e-12
    )


def test_identical_captions_have_the_highest_mutual_bleu() -> None:
    same = mutual_bleu({1: [["a", "cat", "on", "a", "mat"]] * 3, 2: [["two", "dogs", "in", "snow"]] * 3})
    assert same.corpus == pytest.approx(1, abs=1e-6)
    different = mutual_bleu({1: [["a", "b", "c", "d"], ["e", "f", "g", "h"]]})
    assert different.corpus < 1e-3
    assert mutual_bleu({1: [[], []]}).corpus == 0


def test_mutual_bleu_needs_the_same_slots_everywhere() -> None:
    with pytest.raises(InputError, match="image 2 has 1 captions"):
        mutual_bleu({1: [["a"], ["b"]], 2: [["a"]]})
    with pytest.raises(InputError, match="image 1 has 1 captions"):
        mutual_bleu({1: [["a"]], 2: [["a"]]})


def test_whole_sets_are_counted() -> None:
    training = {("a", "cat"), ("a", "dog")}
    new = novel(SETS, training)
    np.testing.assert_allclose(new.per_image, [200 / 3, 100 / 3])
    assert new.corpus == pytest.approx(50)
    assert unique(SETS) == pytest.approx(100 * 5 / 6)
    assert vocabulary_size(SETS) == 5
    lengths = mean_length(SETS)
    np.testing.assert_allclose(lengths.per_image, [5 / 3, 7 / 3])
    assert lengths.corpus == pytest.approx(2)


def test_wrong_sets_are_named() -> None:
    with pytest.raises(InputError, match="image 3 has the token 'x y'"):
        distinct_ngrams({3: [["x y"]]}, 1)
    with pytest.raises(InputError, match="no image"):
        unique({})
