"""BLEU on ids: equal to pycocoevalcap's per-sentence scores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_rewards import EOS, bleu, rows, text
from pycocoevalcap.bleu.bleu import Bleu as PycocoBleu

from seqcap.errors import InputError
from seqcap.rewards.bleu import Bleu, multi_reference_bleu, pairwise_bleu
from seqcap.rewards.sequences import References

Captions = list[list[int]]


def block(samples: list[Captions]) -> np.ndarray:
    """[b, s, time] ids with EOS, padded."""
    flat = rows([caption for captions in samples for caption in captions])
    return flat.reshape(len(samples), len(samples[0]), -1)


def by_pycocoevalcap(pairs: list[tuple[list[int], Captions]]) -> np.ndarray:
    """[pairs, 4] per-sentence scores of (hypothesis, references)."""
    references = {index: [text(ids) for ids in captions] for index, (_, captions) in enumerate(pairs)}
    hypotheses = {index: [text(ids)] for index, (ids, _) in enumerate(pairs)}
    _, scores = PycocoBleu(4).compute_score(references, hypotheses, verbose=0)
    return np.array(scores).T


@pytest.fixture(scope="module")
def samples(coco_captions: dict[int, list[list[str]]], full: bool) -> list[Captions]:
    """Five real captions of 20 images, with empty, short, repetitive and equal ones among them."""
    ids: dict[str, int] = {}

    def encode(words: list[str]) -> list[int]:
        return [ids.setdefault(word, 4 + len(ids)) for word in words]

    images = [[encode(words) for words in image[:5]] for image in list(coco_captions.values())[: 100 if full else 20]]
    for index, image in enumerate(images):
        image[index % 5] = [[], image[0][:1], image[0][:2] * 9, image[1], image[0][:3]][index % 5]
    return images


def test_real_captions_score_as_pycocoevalcap_scores_them(samples):
    sets, n = block(samples), len(samples)
    pairs = [(image[j], [image[k]]) for image in samples for j in range(5) for k in range(5)]
    np.testing.assert_allclose(pairwise_bleu(sets).reshape(-1, 4), by_pycocoevalcap(pairs), rtol=0, atol=1e-9)
    pairs = [(image[j], [image[k] for k in range(5) if k != j]) for image in samples for j in range(5)]
    np.testing.assert_allclose(multi_reference_bleu(sets).reshape(-1, 4), by_pycocoevalcap(pairs), rtol=0, atol=1e-9)
    # Each image's references with one of its captions, and with one of the next image.
    hypotheses = block([[samples[i][0], samples[(i + 1) % n][4]] for i in range(n)]).reshape(2 * n, -1)
    pairs = [(samples[(i + k) % n][4 * k], samples[i][1:4]) for i in range(n) for k in range(2)]
    reward = Bleu(References([captions[1:4] for captions in samples]))
    np.testing.assert_allclose(
        reward.score(hypotheses, np.arange(n).repeat(2)), by_pycocoevalcap(pairs), rtol=0, atol=1e-9
    )


captions = st.lists(st.integers(4, 7), max_size=6)


@settings(deadline=None, max_examples=60)
@given(st.lists(captions, min_size=2, max_size=4))
def test_any_captions_score_as_the_plain_reference_says(image):
    ended = [[*caption, EOS] for caption in image]
    s = len(image)
    pairs = pairwise_bleu(block([image]))[0]
    among = multi_reference_bleu(block([image]))[0]
    np.testing.assert_allclose(pairs, [[bleu(left, [right]) for right in ended] for left in ended], rtol=0, atol=1e-9)
    others = [[ended[k] for k in range(s) if k != j] for j in range(s)]
    np.testing.assert_allclose(among, [bleu(ended[j], others[j]) for j in range(s)], rtol=0, atol=1e-9)
    against = Bleu(References([image[1:]])).score(block([image])[0, :1], np.zeros(1, dtype=np.int64))
    np.testing.assert_allclose(against[0], among[0], rtol=0, atol=1e-12)
    reordered = Bleu(References([image[:0:-1]])).score(block([image])[0, :1], np.zeros(1, dtype=np.int64))
    np.testing.assert_array_equal(reordered, against)
    assert np.isfinite(pairs).all()
    assert (pairs <= 1 + 1e-9).all()


def test_no_samples_and_single_ones():
    assert pairwise_bleu(np.zeros((0, 2, 3), dtype=np.int64)).shape == (0, 2, 2, 4)
    assert (pairwise_bleu(np.zeros((1, 2, 0), dtype=np.int64)) == 0).all()
    with pytest.raises(InputError, match="1 sample"):
        multi_reference_bleu(block([[[4, 5]]]))
