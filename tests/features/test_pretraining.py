"""Pretraining: the measure, the same weights from the same seed, and that it learns."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from seqcap.features.encoders import with_weights
from seqcap.features.pretraining import Examples, _shifted, mean_average_precision, pretrain


def squares(n: int, seed: int) -> Examples:
    """Label 0: a red square somewhere; label 1: it is in the left half."""
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 60, (n, 3, 16, 16), dtype=np.uint8)
    labels = np.zeros((n, 2), np.float32)
    for i in range(n):
        if rng.random() < 0.7:
            x, y = rng.integers(0, 13, 2)
            images[i, 0, y : y + 4, x : x + 4] = 250
            labels[i] = 1, x < 6
    return Examples(torch.from_numpy(images), torch.from_numpy(labels))


def test_mean_average_precision_by_hand() -> None:
    scores = np.array([[0.9, 0.1, 0.0], [0.8, 0.2, 0.0], [0.7, 0.3, 0.0], [0.6, 0.4, 0.0]])
    labels = np.array([[1, 1, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0]])
    # Label 0: hits at ranks 1 and 3; label 1: a hit at rank 4; label 2 has no example.
    assert mean_average_precision(scores, labels) == pytest.approx(((1 + 2 / 3) / 2 + 1 / 4) / 2)


def test_mean_average_precision_of_a_perfect_ranking_is_one_and_without_examples_undefined() -> None:
    labels = np.array([[1.0], [0.0], [1.0]])
    assert mean_average_precision(labels, labels) == 1.0
    with pytest.warns(RuntimeWarning):
        assert math.isnan(mean_average_precision(labels, np.zeros((3, 1))))


def test_it_learns_what_is_there_and_where() -> None:
    encoder = with_weights("scenes_cnn", "random", seed=1)
    precision = pretrain(encoder, squares(240, 1), squares(100, 2), 8, 0.01, 32, 1, torch.device("cpu"))
    assert precision > 0.95
    assert not encoder.training


def test_the_same_seed_gives_the_same_weights() -> None:
    weights = []
    for seed in (1, 1, 2):
        encoder = with_weights("scenes_cnn", "random", seed=1)
        pretrain(encoder, squares(32, 1), squares(16, 2), 2, 0.01, 8, seed, torch.device("cpu"))
        weights.append(torch.cat([tensor.flatten().double() for tensor in encoder.state_dict().values()]))
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_shifted_moves_a_batch_by_at_most_a_thirty_second_and_repeats_its_edges() -> None:
    images = torch.arange(64, dtype=torch.uint8).expand(2, 3, 64, 64)
    torch.manual_seed(0)
    moves = set()
    for _ in range(40):
        shifted = _shifted(images)
        assert shifted.shape == images.shape
        assert torch.equal(shifted[0], shifted[1])
        moves.add(int(shifted[0, 0, 0, 32]) - 32)
        assert set(shifted[0, 0, 0].tolist()) <= set(range(64))
    assert moves == {-2, -1, 0, 1, 2}
