"""Quality metrics: pycocoevalcap's numbers, image by image, and the published ones of COCO's example captions."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge
from pycocoevalcap.tokenizer.ptbtokenizer import PUNCTUATIONS

from seqcap.errors import InputError
from seqcap.metrics.meteor import Meteor
from seqcap.metrics.quality import (
    CiderEvaluator,
    bleu,
    bleu_from_statistics,
    cider,
    corpus_bleu_from_statistics,
    rouge_l,
)

Images = dict[int, list[list[str]]]


@pytest.fixture(scope="module")
def split(coco_captions: Images) -> tuple[Images, dict[int, list[str]]]:
    """References, and hypotheses of every kind: human, another image's, cut short, one word, none."""
    image_ids = list(coco_captions)
    hypotheses = {}
    for index, image_id in enumerate(image_ids):
        own, other = coco_captions[image_id][-1], coco_captions[image_ids[index - 1]][0]
        hypotheses[image_id] = [own, own, other, own[:4], own[:1], [], other * 2][index % 7]
    return {image_id: captions[:-1] for image_id, captions in coco_captions.items()}, hypotheses


def strings(images: Images) -> dict[int, list[str]]:
    return {image_id: [" ".join(tokens) for tokens in captions] for image_id, captions in images.items()}


def test_bleu_is_that_of_pycocoevalcap(split: tuple[Images, dict[int, list[str]]]) -> None:
    references, hypotheses = split
    scores = bleu(references, hypotheses)
    corpus, sentences = Bleu(4).compute_score(
        strings(references), strings({image_id: [tokens] for image_id, tokens in hypotheses.items()}), verbose=0
    )
    assert scores.image_ids == list(references)
    np.testing.assert_allclose(scores.corpus, corpus, rtol=0, atol=1e-12)
    np.testing.assert_allclose(scores.per_image, np.array(sentences).T, rtol=0, atol=1e-12)


def test_statistics_give_the_bleu_of_any_resample(split: tuple[Images, dict[int, list[str]]]) -> None:
    references, hypotheses = split
    statistics = bleu(references, hypotheses).statistics
    image_ids = list(references)
    drawn = np.random.default_rng(0).integers(0, len(image_ids), len(image_ids))
    corpus, _ = Bleu(4).compute_score(
        strings({k: references[image_ids[index]] for k, index in enumerate(drawn)}),
        strings({k: [hypotheses[image_ids[index]]] for k, index in enumerate(drawn)}),
        verbose=0,
    )
    np.testing.assert_allclose(bleu_from_statistics(statistics[drawn].sum(axis=0)), corpus, rtol=0, atol=1e-12)
    assert corpus_bleu_from_statistics(statistics[drawn, None]) == pytest.approx(corpus[3], abs=1e-12)


def test_rouge_and_cider_are_those_of_pycocoevalcap(split: tuple[Images, dict[int, list[str]]]) -> None:
    references, hypotheses = split
    result = strings({image_id: [tokens] for image_id, tokens in hypotheses.items()})
    for ours, scorer in ((rouge_l, Rouge()), (cider, Cider())):
        scores = ours(references, hypotheses)
        corpus, per_image = scorer.compute_score(strings(references), result)
        np.testing.assert_allclose(scores.per_image, per_image, rtol=0, atol=1e-12)
        assert scores.corpus == pytest.approx(corpus, abs=1e-12)


def test_many_captions_of_an_image_score_as_each_alone(split: tuple[Images, dict[int, list[str]]]) -> None:
    """More captions than images, in any order, some twice; a second call is not moved by the first."""
    references, hypotheses = split
    image_ids = list(references)
    captions = [(image_id, hypotheses[image_id]) for image_id in image_ids]
    captions += [(image_id, [*hypotheses[image_id], "unseen", "words"]) for image_id in image_ids]
    captions += captions[:10]
    evaluator = CiderEvaluator(references)
    scores = evaluator.score(captions)
    alone = cider(references, hypotheses).per_image
    np.testing.assert_allclose(scores[:100], alone, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(scores[200:], scores[:10])
    extended = cider(references, dict(captions[100:200])).per_image
    np.testing.assert_allclose(evaluator.score(captions[199:99:-1]), extended[::-1], rtol=0, atol=1e-12)
    assert evaluator.score([]).shape == (0,)


words = st.lists(st.sampled_from(["a", "b", "c", "ä", "..."]), max_size=6)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(words, st.lists(words, min_size=1, max_size=3)), min_size=1, max_size=3), st.data())
def test_any_captions_have_finite_scores_whatever_the_order_of_references(
    images: list[tuple[list[str], list[list[str]]]], data: st.DataObject
) -> None:
    hypotheses = {index: hypothesis for index, (hypothesis, _) in enumerate(images)}
    references = {index: captions for index, (_, captions) in enumerate(images)}
    shuffled = {index: data.draw(st.permutations(captions)) for index, captions in references.items()}
    for metric in (bleu, rouge_l, cider):
        scores, again = metric(references, hypotheses), metric(shuffled, hypotheses)
        assert np.isfinite(scores.per_image).all()
        assert np.isfinite(scores.corpus).all()
        np.testing.assert_allclose(scores.per_image, again.per_image, rtol=0, atol=1e-9)
    # One of the references, word for word, is the best there is.
    best = {index: captions[0] for index, captions in references.items()}
    assert all(
        value == pytest.approx(1)
        for value, caption in zip(rouge_l(references, best).per_image, best.values(), strict=True)
        if caption
    )


@pytest.mark.parametrize("metric", [bleu, rouge_l, cider])
def test_wrong_captions_are_named(metric: object) -> None:
    assert callable(metric)
    with pytest.raises(InputError, match=r"image 7 has the token 'two words'"):
        metric({7: [["a"]]}, {7: ["two words"]})
    with pytest.raises(InputError, match=r"image 7 has the token 'a\\n'"):
        metric({7: [["a\n"]]}, {7: ["a"]})
    with pytest.raises(InputError, match="image 7 has the token ''"):
        metric({7: [["a"]]}, {7: [""]})
    with pytest.raises(InputError, match="image 8 has no hypothesis"):
        metric({7: [["a"]], 8: [["a"]]}, {7: ["a"]})
    with pytest.raises(InputError, match="image 8 has no references"):
        metric({7: [["a"]]}, {7: ["a"], 8: ["a"]})
    with pytest.raises(InputError, match="image 7 has none"):
        metric({7: []}, {7: ["a"]})
    with pytest.raises(InputError, match="no image"):
        metric({}, {})


def test_scorers_print_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    for metric in (bleu, rouge_l, cider):
        metric({1: [["a", "b"]], 2: [["c"]]}, {1: ["a"], 2: ["c"]})
    assert capfd.readouterr() == ("", "")


def test_evaluation_does_not_import_torch() -> None:
    """Importing torch costs seconds in each of the many evaluation processes."""
    modules = "seqcap.metrics.quality, seqcap.metrics.diversity, seqcap.metrics.meteor"
    code = f"import sys, {modules}; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def ptb_tokens(captions: dict[int, list[str]], jar: Path, folder: Path) -> Images:
    """pycocoevalcap's PTBTokenizer, whose own wrapper writes into the installed package."""
    text = folder / "captions.txt"
    lines = [(image_id, caption.replace("\n", " ")) for image_id, texts in captions.items() for caption in texts]
    text.write_text("\n".join(line for _, line in lines), encoding="utf-8")
    tokenizer = "edu.stanford.nlp.process.PTBTokenizer"
    done = subprocess.run(
        ["java", "-cp", str(jar), tokenizer, "-preserveLines", "-lowerCase", "-encoding", "utf-8", str(text)],
        capture_output=True,
        check=True,
        timeout=120,
    )
    tokens: Images = {image_id: [] for image_id in captions}
    for (image_id, _), line in zip(lines, done.stdout.decode().split("\n"), strict=False):
        tokens[image_id].append([word for word in line.split() if word not in PUNCTUATIONS])
    return tokens


@pytest.mark.real
def test_golden_numbers_of_coco(
    golden: Path,
    coco_annotations: dict[int, list[str]],
    pycocoevalcap_folder: Path,
    meteor: Meteor,
    tmp_path: Path,
) -> None:
    results = {row["image_id"]: [row["caption"]] for row in json.loads(golden.read_text(encoding="utf-8"))}
    assert len(results) == 1000
    jar = pycocoevalcap_folder / "tokenizer" / "stanford-corenlp-3.4.1.jar"
    hypotheses = {image_id: captions[0] for image_id, captions in ptb_tokens(results, jar, tmp_path).items()}
    references = ptb_tokens({image_id: coco_annotations[image_id] for image_id in results}, jar, tmp_path)
    found = [
        *bleu(references, hypotheses).corpus,
        meteor.score(references, hypotheses).corpus,
        rouge_l(references, hypotheses).corpus,
        cider(references, hypotheses).corpus,
    ]
    np.testing.assert_allclose(found, [0.5794, 0.4044, 0.2785, 0.1908, 0.1953, 0.3963, 0.5998], rtol=0, atol=5.1e-5)
