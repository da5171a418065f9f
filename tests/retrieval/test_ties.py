"""Recall with ties shared: what a captioner earns that always says the same."""

import pytest
import torch
from torch.nn import functional as F

from seqcap.retrieval import ranking
from seqcap.retrieval.ranking import ranks, shared_recall


def unit(*shape, seed=0):
    return F.normalize(torch.randn(*shape, generator=torch.Generator().manual_seed(seed)), dim=-1)


@pytest.fixture(autouse=True)
def chunks(monkeypatch):
    monkeypatch.setattr(ranking, "CHUNK", 4)


@pytest.mark.parametrize("k", [1, 5, 10])
def test_without_ties_it_is_the_rank(k):
    queries, targets = unit(11, 6), unit(11, 6, seed=1)
    expected = ranks(queries, targets, torch.arange(11)) <= k
    assert shared_recall(queries, targets, k).tolist() == expected.double().tolist()
    assert 0 < expected.sum() < 11 or k > 5


@pytest.mark.parametrize("k", [1, 5])
def test_a_constant_captioner_has_k_of_n_in_both_directions(k):
    images, texts = unit(10, 6), unit(1, 6, seed=1).expand(10, -1)
    # Rounding: as if embedded in several batches.
    texts = texts + 1e-8 * torch.randn(10, 6, generator=torch.Generator().manual_seed(0))
    for queries, targets in ((texts, images), (images, texts)):
        assert shared_recall(queries, targets, k).mean().item() == pytest.approx(k / 10)
    assert shared_recall(images, texts, k).unique().tolist() == [k / 10]


def test_ties_behind_better_ones_share_what_is_left():
    """One is better than the own, and two others are as good: of three places one or two are within k."""
    targets = torch.tensor([[0.5, 0.0], [0.9, 0.0], [0.5, 0.3], [0.5, -0.2], [0.1, 0.0]])
    queries = torch.tensor([[1.0, 0.0]]).expand(5, -1)
    assert [shared_recall(queries, targets, k)[0].item() for k in (1, 2, 3, 4, 5)] == pytest.approx(
        [0, 1 / 3, 2 / 3, 1, 1]
    )


def test_nan_counts_against_the_own():
    targets = torch.tensor([[0.5], [float("nan")], [0.1]])
    assert shared_recall(torch.ones(3, 1), targets, 1).tolist() == [0, 0, 0]
