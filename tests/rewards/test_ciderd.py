"""CIDEr-D on ids: equal to pycocoevalcap and to the plain Python beside it, for every caption there can be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_rewards import EOS, cider_d, document_frequencies, rows, text
from pycocoevalcap.cider.cider import Cider

from seqcap.errors import InputError
from seqcap.rewards.ciderd import CiderD
from seqcap.rewards.sequences import References


def by_pycocoevalcap(references: list[list[list[int]]], hypotheses: list[list[int]], image: list[int]) -> np.ndarray:
    """One call per hypothesis of an image keeps the document frequencies those of `references`."""
    scores = np.empty(len(hypotheses))
    for first in range(0, len(hypotheses), len(references)):
        block = list(zip(hypotheses, image, strict=True))[first : first + len(references)]
        result = {index: [text([9])] for index in range(len(references))}
        result.update({index: [text(hypothesis)] for hypothesis, index in block})
        assert len({index for _, index in block}) == len(block)
        _, values = Cider().compute_score(
            {index: [text(ids) for ids in captions] for index, captions in enumerate(references)}, result
        )
        scores[first : first + len(block)] = [values[index] for _, index in block]
    return scores


@pytest.fixture(scope="module")
def coco_ids(coco_captions: dict[int, list[list[str]]]) -> list[list[list[int]]]:
    ids: dict[str, int] = {}
    return [
        [[ids.setdefault(word, 4 + len(ids)) for word in words] for words in image] for image in coco_captions.values()
    ]


def test_real_captions_score_as_pycocoevalcap_scores_them(coco_ids):
    references = [image[:-1] for image in coco_ids]
    # Human captions of the same image, of another image, and broken ones.
    same = [image[-1] for image in coco_ids]
    other = [coco_ids[(index + 1) % len(coco_ids)][0] for index in range(len(coco_ids))]
    broken = [
        [[], image[0][:1], image[0][:1] * 12, image[0] + image[1]][index % 4] for index, image in enumerate(coco_ids)
    ]
    hypotheses = same + other + broken
    image = list(range(len(coco_ids))) * 3
    expected = by_pycocoevalcap(references, hypotheses, image)
    assert expected.max() > 2
    scores = CiderD(References(references)).score(rows(hypotheses), np.array(image))
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-9)


captions = st.lists(st.integers(4, 8), max_size=7)
references_strategy = st.lists(st.lists(captions, min_size=1, max_size=3), min_size=1, max_size=4)


@settings(deadline=None, max_examples=60)
@given(references_strategy, st.lists(captions, min_size=1, max_size=5), st.data())
def test_any_captions_score_as_the_plain_reference_says(references, hypotheses, data):
    image = data.draw(st.lists(st.integers(0, len(references) - 1), min_size=len(hypotheses), max_size=len(hypotheses)))
    scores = CiderD(References(references)).score(rows(hypotheses), np.array(image))
    ended = [[[*caption, EOS] for caption in captions] for captions in references]
    frequencies = document_frequencies(ended)
    expected = [
        cider_d([*hypothesis, EOS], ended[index], frequencies, len(references))
        for hypothesis, index in zip(hypotheses, image, strict=True)
    ]
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-9)
    assert np.isfinite(scores).all()
    assert (scores >= 0).all()
    assert (scores <= 10 + 1e-9).all()

    shuffled = [data.draw(st.permutations(captions)) for captions in references]
    again = CiderD(References(shuffled)).score(rows(hypotheses), np.array(image))
    np.testing.assert_allclose(again, scores, rtol=0, atol=1e-9)
    # Padding is not part of a caption.
    padded = CiderD(References(references)).score(rows(hypotheses, time=20), np.array(image))
    np.testing.assert_array_equal(padded, scores)


def test_eos_is_scored_and_counts_in_document_frequencies():
    references = [[[4, 5, 6]], [[7, 8]], [[9]]]
    ended = np.array([[4, 5, 6, EOS]])
    unended = np.array([[4, 5, 6, 0]])
    reward = CiderD(References(references))
    assert reward.score(ended, np.array([0]))[0] == pytest.approx(10)
    assert reward.score(unended, np.array([0]))[0] < 9
    # What follows the first EOS is ignored.
    assert reward.score(np.array([[4, 5, 6, EOS, 7, EOS]]), np.array([0]))[0] == pytest.approx(10)
    # A bare EOS is in every image: its weight is log 1 = 0.
    assert reward.score(np.array([[EOS, 0]]), np.array([0]))[0] == 0
    without = CiderD(References(references, eos=False))
    assert without.score(ended, np.array([0]))[0] == without.score(unended, np.array([0]))[0]


def test_a_large_vocabulary_does_not_collide():
    """65,535 stands for words outside the vocabulary: it never matches, and changes nothing else."""
    reward = CiderD(References([[[65_534, 65_535, 4]], [[5, 6, 7]], [[7]]]))
    assert reward.score(rows([[65_534, 65_533, 4]]), np.array([0]))[0] < 10
    assert reward.score(rows([[5, 6, 7]]), np.array([1]))[0] == pytest.approx(10)


def test_tables_grow_past_their_first_capacity():
    rng = np.random.default_rng(0)
    references = [[rng.integers(4, 5000, 12).tolist() for _ in range(2)] for _ in range(300)]
    hypotheses = [captions[0] for captions in references]
    ended = [[[*caption, EOS] for caption in captions] for captions in references]
    frequencies = document_frequencies(ended)
    expected = [cider_d([*hypotheses[i], EOS], ended[i], frequencies, 300) for i in range(300)]
    scores = CiderD(References(references)).score(rows(hypotheses), np.arange(300))
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("references", "hypotheses", "image", "named"),
    [
        ([], [[4]], [0], "no image"),
        ([[[4]], []], [[4]], [0], "image 1"),
        ([[[0, 4]]], [[4]], [0], "token id 0"),
        ([[[4, 70_000]]], [[4]], [0], "token id 70000"),
        ([[[4, 5]]], [[4]], [-1], "index -1"),
        ([[[4, 5]]], [[4]], [0, 0], "shape"),
        ([[[4, 5]]], [[-4]], [0], "token id -4"),
        ([[[4, 5]]], [4], [0], "1 dimensions"),
        ([[[4, 5]]], [[4.0]], [0], "float64"),
    ],
)
def test_wrong_captions_are_named(references, hypotheses, image, named):
    with pytest.raises(InputError, match=named):
        CiderD(References(references)).score(np.array(hypotheses), np.array(image))
