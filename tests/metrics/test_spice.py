"""SPICE (spaCy) on words: hand-made cases, invariants, and captions of any kind."""

import numpy as np

from seqcap.metrics.spice import spice

REFERENCES = {
    7: ["a brown dog is sleeping on a couch", "a dog on a sofa", "there is a puppy on the couch"],
    2: ["two men are riding horses", "a man on a horse"],
    5: ["!!!", ""],
}


def words(texts: dict[int, list[str]]) -> dict[int, list[list[str]]]:
    return {image_id: [text.split() for text in captions] for image_id, captions in texts.items()}


def test_scores_by_hand(uncached):
    said = [(2, "a man rides a horse"), (5, "a cat"), (7, "a cat on a red couch"), (2, "a man rides a horse"), (2, "")]
    captions = [(image, text.split()) for image, text in said]
    # 2: man, horse and man-ride-horse, of man, man-two, horse, man-ride-horse, man-on-horse.
    # 7: couch, of cat, couch, couch-red and cat-on-couch; the references hold dog, couch (a sofa too), puppy,
    # dog-brown, dog-sleep, dog-on-couch and puppy-on-couch.
    expected = [2 * 3 / (3 + 5), 0, 2 * 1 / (4 + 7), 3 / 4, 0]
    np.testing.assert_allclose(spice(words(REFERENCES), captions, uncached), expected, rtol=0, atol=1e-12)
    assert spice(words(REFERENCES), [], uncached).shape == (0,)


def test_a_reference_of_its_own_scores_one(uncached):
    texts = [text for texts in REFERENCES.values() for text in texts]
    scores = spice(words({i: [text] for i, text in enumerate(texts)}), [*enumerate(map(str.split, texts))], uncached)
    assert scores.tolist() == [bool(uncached.parse([text])[text]) for text in texts]


ODD = [[], [""], ["\n"], ["dog\ncat"], ["\0"], ["🙂"], ["\ud800"], ["..."], ["a", "dog"] * 100, ["<unk>"], ["a b"]]


def test_any_caption_has_a_score(uncached):
    scores = spice(words(REFERENCES), [(image, tokens) for image in REFERENCES for tokens in ODD], uncached)
    dogs = [(place, ["a", "dog"]) for place in range(len(ODD))]
    backwards = spice({place: [tokens] for place, tokens in enumerate(ODD)}, dogs, uncached)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert ((backwards >= 0) & (backwards <= 1)).all()
