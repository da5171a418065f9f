"""`seqcap.coco`: pycocoevalcap's classes, digit for digit, on captions of every kind."""

import numpy as np
import pytest
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge

from seqcap import DocumentFrequencies, coco
from seqcap.errors import InputError


@pytest.fixture(scope="module")
def captions(coco_captions):
    """Tokens in strings: real ones, empty ones, and some with several spaces."""
    gts, res = {}, {}
    for place, (image, texts) in enumerate(coco_captions.items()):
        gts[image] = [" ".join(text) for text in texts[:-1]]
        own = " ".join(texts[-1])
        res[image] = [[own, own.replace(" ", "  ", 2), f" {own}", "", "a", own + " unseen words"][place % 6]]
        if place % 7 == 0:
            gts[image][0] = gts[image][0].replace(" ", "  ", 1)
        if place % 11 == 0:
            gts[image].append("")
    return gts, res


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(coco.Bleu(4), Bleu(4)), (coco.Bleu(2), Bleu(2)), (coco.Cider(), Cider()), (coco.Rouge(), Rouge())],
    ids=["Bleu", "Bleu2", "Cider", "Rouge"],
)
def test_scores_are_those_of_pycocoevalcap(ours, theirs, captions):
    options = {"verbose": 0} if isinstance(theirs, Bleu) else {}
    expected, each = theirs.compute_score(*captions, **options)
    value, values = ours.compute_score(*captions, **options)
    assert ours.method() == theirs.method()
    np.testing.assert_allclose(value, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(values, each, rtol=0, atol=1e-12)
    assert type(value) is type(expected) or isinstance(expected, float)
    assert type(values) is type(each)


@pytest.mark.usefixtures("loaded_once")
def test_meteor_is_that_of_java(captions, meteor):
    gts, res = ({image: texts for image, texts in part.items() if "  " not in "".join(texts)} for part in captions)
    gts = {image: [text for text in gts[image] if text] for image in gts if image in res}
    res = {image: res[image] for image in gts}
    value, values = coco.Meteor().compute_score(gts, res)
    split = {image: [text.split() for text in texts] for image, texts in gts.items()}
    each, corpus, _ = meteor.score_captions(split, [(image, res[image][0].split()) for image in gts])
    assert value == pytest.approx(corpus, abs=1e-12)
    np.testing.assert_allclose(values, each, rtol=0, atol=1e-12)
    assert coco.Meteor().method() == "METEOR"


@pytest.mark.usefixtures("loaded_once")
def test_spice_has_its_shape(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    gts = {2: ["a brown dog runs"], 1: ["a red bus", "a bus on a street"]}
    value, values = coco.Spice().compute_score(gts, {2: ["a brown dog"], 1: ["two cats"]})
    # Images sorted, as in pycocoevalcap.
    assert [set(found["All"]) for found in values] == [{"f", "pr", "re"}] * 2
    assert values[0]["All"]["f"] == 0 < values[1]["All"]["f"]
    assert value == pytest.approx(np.mean([found["All"]["f"] for found in values]))
    assert coco.Spice().method() == "SPICE"


def test_the_tokenizer_takes_their_input():
    images = {7: [{"caption": "A dog, running!", "id": 1}, {"caption": "T-shirt.\n"}], "x": [{"caption": "..."}]}
    assert coco.PTBTokenizer().tokenize(images) == {7: ["a dog running", "t-shirt"], "x": [""]}


def test_one_image_warns_and_frequencies_help():
    gts, res = {1: ["a dog runs"]}, {1: ["a dog"]}
    with pytest.warns(UserWarning, match="CIDEr of one image is 0 by definition"):
        assert coco.Cider().compute_score(gts, res)[0] == 0
    several = {1: ["a dog runs"], 2: ["a cat"], 3: ["dog food"]}
    within = coco.Cider().compute_score(several, {1: ["a dog"], 2: ["a"], 3: ["food"]})[1][0]
    counted = DocumentFrequencies.of_captions(several.values())
    assert coco.Cider(counted).compute_score(gts, res)[0] == pytest.approx(within)


@pytest.mark.parametrize(
    ("gts", "res", "named"),
    [
        ({1: ["a"]}, {2: ["a"]}, "different images"),
        ({}, {}, "different images, or none"),
        ({1: ["a"]}, {1: ["a", "b"]}, "image 1 has 2 captions; pass a list of one"),
        ({1: "a"}, {1: ["a"]}, "gts: image 1 has 'a'"),
        ({1: ["a"]}, {1: [None]}, r"res: image 1 has \[None\]"),
    ],
)
def test_wrong_dicts_are_named(gts, res, named):
    for scorer in (coco.Bleu(), coco.Cider(), coco.Rouge()):
        with pytest.raises(InputError, match=named):
            scorer.compute_score(gts, res)
