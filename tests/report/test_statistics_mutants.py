"""What the tests of statistics and claims left open to mutations."""

import numpy as np

from seqcap.report.claims import Claim, _result
from seqcap.report.statistics import Drawn, Sample


def test_a_corpus_value_of_its_own_shifts_all_resamples():
    """METEOR: its items' mean is not the corpus's value; how sure it is comes from the items."""
    scores = np.random.default_rng(0).random((30, 2, 1))
    plain = Sample(np.arange(30), np.array([1, 2]), scores, np.ones((30, 2), dtype=bool))
    shift = np.array([0.25, -0.5])
    shifted = Sample(np.arange(30), np.array([1, 2]), scores, np.ones((30, 2), dtype=bool), shift=shift)
    np.testing.assert_allclose(shifted.by_seed, scores[:, :, 0].mean(0) + shift)
    np.testing.assert_allclose(shifted.resampled_by_seed, plain.resampled_by_seed + shift)
    np.testing.assert_allclose(shifted.only([2]).by_seed, scores[:, 1:, 0].mean(0) - 0.5)


def test_every_number_of_a_claim_is_in_the_printed_scale():
    claim = Claim("C1", "left is better", "CIDEr", "beam", "best", "left", "right", 1)
    resampled = np.linspace(0.0, 1.0, 1001)
    left = Drawn(0.625, resampled, {1: 0.5, 2: 0.75}, 8)
    right = Drawn(0.25, np.zeros(1001), {1: 0.25, 2: 0.25}, 8)
    found = _result(claim, [left, right])
    assert claim.scale == 100
    assert (found.left, found.right, found.difference) == (62.5, 25.0, 37.5)
    np.testing.assert_allclose([found.low, found.high], [2.5, 97.5])
    np.testing.assert_allclose(found.detectable, 2.8 * 100 * resampled.std())
