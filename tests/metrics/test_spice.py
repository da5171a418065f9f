"""SPICE (spaCy) on words: hand-made cases, invariants, and captions of any kind."""

from __future__ import annotations

import random

import numpy as np
import pytest

from seqcap.errors import InputError
from seqcap.metrics.spice import NAME, Spice
from seqcap.spice.cache import CachedParser

REFERENCES = {
    7: ["a brown dog is sleeping on a couch", "a dog on a sofa", "there is a puppy on the couch"],
    2: ["two men are riding horses", "a man on a horse"],
    5: ["!!!", ""],
}
HYPOTHESES = {2: "a man rides a horse", 5: "a cat", 7: "a cat on a red couch"}


def words(texts: dict[int, list[str]]) -> dict[int, list[list[str]]]:
    return {image_id: [text.split() for text in captions] for image_id, captions in texts.items()}


hypotheses = {image_id: text.split() for image_id, text in HYPOTHESES.items()}


@pytest.fixture(scope="module")
def spice(uncached: CachedParser) -> Spice:
    return Spice(words(REFERENCES), uncached)


def test_scores_by_hand(spice: Spice) -> None:
    scores = spice.score(hypotheses)
    assert scores.image_ids == [2, 5, 7]
    # 2: man, horse and man-ride-horse, of man, man-two, horse, man-ride-horse, man-on-horse.
    # 7: couch, of cat, couch, couch-red and cat-on-couch; the references hold dog, couch (a sofa too), puppy,
    # dog-brown, dog-sleep, dog-on-couch and puppy-on-couch.
    np.testing.assert_allclose(scores.per_image, [2 * 3 / (3 + 5), 0, 2 * 1 / (4 + 7)], rtol=0, atol=1e-12)
    assert scores.corpus == pytest.approx(np.mean(scores.per_image))
    assert NAME == "SPICE (spaCy)"


def test_categories(spice: Spice) -> None:
    categories = spice.categories(hypotheses)
    overall, objects = categories["All"], categories["Object"]
    np.testing.assert_array_equal(overall.f, spice.score(hypotheses).per_image)
    assert overall.corpus == spice.score(hypotheses).corpus
    assert overall.defined.all()
    np.testing.assert_allclose(objects.precision, [1, 0, 1 / 2])
    np.testing.assert_allclose(objects.recall, [1, 0, 1 / 3])
    assert objects.defined.tolist() == [True, False, True]
    assert objects.corpus == pytest.approx((1 + 0.4) / 2)
    assert categories["Count"].defined.tolist() == [True, False, False]
    assert categories["Size"].defined.tolist() == [False, False, False]
    assert categories["Size"].corpus == 0
    assert all(np.isfinite(values).all() for scores in categories.values() for values in scores[1:4])


def test_any_number_of_captions_per_image(spice: Spice) -> None:
    captions = [(7, hypotheses[7]), (2, hypotheses[2]), (7, hypotheses[7]), (2, []), (7, hypotheses[2])]
    np.testing.assert_allclose(spice.score_captions(captions), [2 / 11, 3 / 4, 2 / 11, 0, 0], rtol=0, atol=1e-12)
    assert spice.score_captions([]).shape == (0,)


def test_the_order_of_references_makes_no_difference(uncached: CachedParser) -> None:
    texts = ["a bicycle near a bike", "a red motorcycle", "a man on a bike", "a crimson bike", "a motorcycle by a man"]
    hypothesis = {1: ["a", "man", "on", "a", "red", "bicycle"]}
    scores = set()
    for seed in range(10):
        random.Random(seed).shuffle(texts)
        scores.add(Spice(words({1: texts}), uncached).score(hypothesis).corpus)
    assert len(scores) == 1
    assert scores.pop() > 0


def test_a_reference_of_its_own_scores_one(uncached: CachedParser) -> None:
    for text in (text for texts in REFERENCES.values() for text in texts):
        has_tuples = bool(uncached.parse([text])[text])
        assert Spice({1: [text.split()]}, uncached).score({1: text.split()}).corpus == float(has_tuples)


@pytest.mark.parametrize(
    "tokens",
    [
        [],
        [""],
        ["\n"],
        ["dog\ncat"],
        ["\0"],
        ["🙂"],
        ["\ud800"],
        ["..."],
        ["dog"],
        ["a", "dog"] * 100,
        ["<unk>"],
        ["a b"],
    ],
    ids=repr,
)
def test_any_caption_has_a_score(tokens: list[str], spice: Spice, uncached: CachedParser) -> None:
    for image_id in REFERENCES:
        assert 0 <= spice.score_captions([(image_id, tokens)])[0] <= 1
    assert 0 <= Spice({1: [tokens]}, uncached).score({1: ["a", "dog"]}).corpus <= 1


def test_wrong_images_are_named(spice: Spice, uncached: CachedParser) -> None:
    with pytest.raises(InputError, match="image 3 has no references"):
        spice.score({**hypotheses, 3: ["a"]})
    with pytest.raises(InputError, match="image 2 has no hypothesis"):
        spice.score({5: ["a"], 7: ["a"]})
    with pytest.raises(InputError, match="image 3 has no references"):
        spice.score_captions([(3, ["a"])])
    with pytest.raises(InputError, match="hold no image"):
        Spice({}, uncached)
    with pytest.raises(InputError, match="image 1 has none"):
        Spice({1: []}, uncached)
