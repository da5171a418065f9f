"""Quality metrics of the engine: equal to the official programs, caption by caption, on real and on odd captions."""

import json
import subprocess
import sys

import numpy as np
import pytest
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge

from seqcap.data.tokenizer import tokenize
from seqcap.errors import InputError
from seqcap.metrics import official, quality
from seqcap.metrics.quality import measure
from seqcap.metrics.registry import QUALITY
from seqcap.metrics.spice import spice
from seqcap.rewards import PARSES
from seqcap.spice.cache import CachedParser

Images = dict[int, list[list[str]]]
Captions = list[tuple[int, list[str]]]
LEXICAL = ["BLEU1", "BLEU2", "BLEU3", "BLEU4", "ROUGE_L", "CIDEr"]


@pytest.fixture(scope="module")
def split(coco_captions: Images) -> tuple[Images, Captions]:
    """References, and two captions an image of every kind: human, another image's, cut short, one word, none."""
    image_ids = list(coco_captions)
    captions = []
    for index, image_id in enumerate(image_ids):
        own, other = coco_captions[image_id][-1], coco_captions[image_ids[index - 1]][0]
        captions.append((image_id, [own, own, other, own[:4], own[:1], [], other * 2][index % 7]))
    captions += [(image_id, [*coco_captions[image_id][0], "unseen", "words"]) for image_id in image_ids[::-1]]
    return {image_id: captions[:-1] for image_id, captions in coco_captions.items()}, captions


def test_lexical_metrics_are_those_of_pycocoevalcap(split):
    references, captions = split
    ours = measure(references, captions, LEXICAL)
    theirs, _ = official.measure(references, captions, LEXICAL)
    assert list(ours) == list(theirs) == LEXICAL
    for metric in LEXICAL:
        np.testing.assert_allclose(ours[metric].per_caption, theirs[metric].per_caption, rtol=0, atol=1e-9)
        assert ours[metric].corpus() == pytest.approx(theirs[metric].corpus(), abs=1e-9)


def test_official_is_pycocoevalcap_as_it_is_called(split, capfd):
    references, captions = split
    first = captions[: len(references)]
    texts = {image_id: [" ".join(tokens) for tokens in captions] for image_id, captions in references.items()}
    result = {image_id: [" ".join(tokens)] for image_id, tokens in first}
    measured, _ = official.measure(references, first, LEXICAL)
    assert capfd.readouterr() == ("", "")
    corpus, sentences = Bleu(4).compute_score(texts, result, verbose=0)
    for order in range(4):
        assert measured[f"BLEU{order + 1}"].corpus() == pytest.approx(corpus[order], abs=1e-12)
        np.testing.assert_allclose(measured[f"BLEU{order + 1}"].per_caption, sentences[order], rtol=0, atol=1e-12)
    for metric, scorer in (("ROUGE_L", Rouge()), ("CIDEr", Cider())):
        value, per_image = scorer.compute_score(texts, result)
        np.testing.assert_allclose(measured[metric].per_caption, per_image, rtol=0, atol=1e-12)
        assert measured[metric].corpus() == pytest.approx(value, abs=1e-12)


def test_statistics_give_the_bleu_of_any_resample(split):
    references, captions = split
    measured = measure(references, captions[:100], ["BLEU4"])
    drawn = np.random.default_rng(0).integers(0, 100, 100)
    corpus, _ = Bleu(4).compute_score(
        {k: [" ".join(tokens) for tokens in references[captions[i][0]]] for k, i in enumerate(drawn)},
        {k: [" ".join(captions[i][1])] for k, i in enumerate(drawn)},
        verbose=0,
    )
    assert measured["BLEU4"].corpus(drawn) == pytest.approx(corpus[3], abs=1e-12)


@pytest.mark.usefixtures("loaded_once")
def test_meteor_and_spice_have_values_and_spider_is_a_mean(split, parser, tmp_path):
    references, captions = split
    measured = measure(references, captions, kept=tmp_path)
    assert list(measured) == list(QUALITY)
    expected = spice(references, captions, CachedParser(tmp_path / PARSES.name, parser))
    np.testing.assert_array_equal(measured["SPICE"].per_caption, expected)
    assert measured["SPICE"].corpus() == pytest.approx(expected.mean(), abs=1e-12)
    for values in measured.values():
        assert np.isfinite(values.per_caption).all()
    np.testing.assert_allclose(
        measured["SPIDEr"].per_caption, (measured["CIDEr"].per_caption + measured["SPICE"].per_caption) / 2
    )


@pytest.mark.parametrize(
    ("references", "captions", "metric", "named"),
    [
        ({7: [["a"]]}, [(7, ["two words"])], "BLEU4", "image 7 has the token 'two words'"),
        ({7: [["a"]]}, [(8, ["a"])], "BLEU4", "image 8 has no references"),
        ({7: []}, [(7, ["a"])], "BLEU4", "image 7 has none"),
        ({}, [], "BLEU4", "no image"),
        ({7: [["a"]]}, [(7, ["a"])], "BLEU5", "'BLEU5' is not known"),
    ],
)
def test_wrong_captions_are_named(references, captions, metric, named):
    for score in (quality.measure, official.measure):
        with pytest.raises(InputError, match=named):
            score(references, captions, [metric])


def test_evaluation_does_not_import_torch():
    """They take seconds to import."""
    modules = "seqcap.evaluation.captions, seqcap.evaluation.translations, seqcap.tools.score"
    names = (
        "torch spacy pandas seqcap.training seqcap.models seqcap.metrics.official seqcap.rewards.meteor seqcap.spice"
    )
    code = f"import sys, {modules}; print(set({names.split()}) & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.usefixtures("loaded_once")
def test_golden_numbers_of_coco(golden, coco_annotations, full):
    """What coco-caption publishes for its example captions. Their SPICE is scored in spice/test_golden.py."""
    results = json.loads(golden.read_text(encoding="utf-8"))
    captions = [(row["image_id"], tokenize(row["caption"])) for row in results]
    references = {image_id: [tokenize(text) for text in coco_annotations[image_id]] for image_id, _ in captions}
    assert len(references) == 1000
    measured = measure(references, captions, QUALITY if full else QUALITY[:7])
    published = [0.5794, 0.4044, 0.2785, 0.1908, 0.1953, 0.3963, 0.5998]
    np.testing.assert_allclose([measured[m].corpus() for m in QUALITY[:7]], published, rtol=0, atol=5.1e-5)
    if full:
        assert measured["SPICE"].corpus() == pytest.approx(0.133, abs=0.003)
