"""Ranks against sorting, ties and NaN against the own, and recalls of vectors whose places are known."""

from dataclasses import dataclass, field

import numpy as np
import pytest
import torch
from small_listener import unit
from torch import nn
from torch.nn import functional as F

from seqcap.retrieval import ranking
from seqcap.retrieval.base import POOLED
from seqcap.retrieval.ranking import median_rank, ranks, recall, shared_recall
from seqcap.retrieval.recalls import recall_sum, recalls
from seqcap.tasks.images import VisualTask


@pytest.mark.parametrize("chunk", [3, 500])
def test_ranks_are_places_in_a_sorted_list(monkeypatch, chunk):
    monkeypatch.setattr(ranking, "CHUNK", chunk)
    queries, targets = unit(20, 6), unit(31, 6, seed=1)
    own = torch.randint(31, (20,), generator=torch.Generator().manual_seed(2))
    found = ranks(queries, targets, own)
    for i in range(20):
        order = sorted(range(31), key=lambda j, i=i: -float(queries[i] @ targets[j]))
        assert found[i] == order.index(int(own[i])) + 1
    assert found.dtype == torch.int64
    assert len(set(found.tolist())) > 5


def test_the_first_of_several_own_targets_counts_and_the_others_are_no_rivals():
    queries = torch.eye(2)
    similar = torch.tensor([0.9, 0.8, 0.7, 0.6, 0.95, 0.1])
    items = torch.tensor([1, 0, 0, 1, 1, 0])
    targets = torch.stack([similar, similar.flip(0)], 1)
    found = ranks(queries, targets, torch.tensor([0, 1]), items)
    # Item 0: .8 behind .9 and .95. Item 1 sees them the other way round: .95 behind its equal and nothing else.
    assert found.tolist() == [3, 1 + int((similar.flip(0)[items == 0] >= similar.flip(0)[items == 1].max()).sum())]
    # Without several, each row is an item.
    assert ranks(queries, targets, torch.tensor([1, 0])).tolist() == [3, 6]


def test_ties_count_against_the_own():
    targets = F.normalize(torch.tensor([[1.0, 0], [1.0, 0], [1.0, 1e-8], [1.0, 0.01]]), dim=1)
    assert ranks(targets[:1], targets, torch.tensor([1])).tolist() == [3]
    # Whoever embeds everything alike finds nothing.
    same = torch.ones(4, 4) / 2
    assert ranks(same, same, torch.arange(4)).tolist() == [4, 4, 4, 4]


def test_nan_is_no_success():
    broken = torch.full((3, 2), torch.nan)
    assert ranks(broken, unit(3, 2), torch.arange(3)).tolist() == [3, 3, 3]
    assert ranks(unit(3, 2), broken, torch.arange(3)).tolist() == [3, 3, 3]
    targets = unit(3, 2)
    targets[1] = torch.nan
    assert ranks(targets[:1], targets, torch.tensor([0])).item() == 2


def test_recall_and_median_rank():
    found = torch.tensor([1, 5, 6, 2, 11, 10])
    assert [recall(found, k) for k in (1, 5, 10)] == pytest.approx([1 / 6, 3 / 6, 5 / 6])
    assert median_rank(found) == 5.5
    assert median_rank(found[:3]) == 5


@dataclass
class Table(nn.Module):
    """Embeds an image by its class, and a caption by what it says, right or wrong."""

    vocabulary: object
    wrong: set = field(default_factory=set)

    def __post_init__(self):
        super().__init__()

    def embed_images(self, inputs):
        return F.normalize(inputs.float(), dim=1)

    def compare(self, captions, images):
        return captions @ images.T

    def compare_captions(self, images, captions):
        return images @ captions.T

    def embed_captions(self, captions):
        names = ["red", "green", "blue", "dog", "cat", "bird"]
        vectors = torch.zeros(len(captions), 8)
        for row, ids in zip(vectors, captions.tolist(), strict=True):
            words = self.vocabulary.decode(ids)
            row[[names.index(word) for word in words if word in names]] = -1.0 if words[0] in self.wrong else 1.0
        return F.normalize(vectors, dim=1)


@pytest.fixture
def task(small_images):
    folder = small_images / "artifacts/image"
    return VisualTask(folder, folder / POOLED)


def test_recalls_of_a_whole_split(task):
    split = task.split("val", 6)
    right = recalls(Table(task.vocabulary), split, torch.device("cpu"))
    best = {"R@1": 1.0, "R@5": 1.0, "R@10": 1.0, "median_rank": 1.0}
    assert right == {"text_to_image": best, "image_to_text": best}
    assert recall_sum(right) == 6
    # Half of the captions point away from their image, so that it comes last of 6. The image has another caption.
    half = recalls(Table(task.vocabulary, {"the"}), split, torch.device("cpu"))
    assert half["text_to_image"] == {"R@1": 0.5, "R@5": 0.5, "R@10": 1.0, "median_rank": 3.5}
    assert half["image_to_text"] == best
    assert recall_sum(half) == 5


def test_a_missing_caption_is_not_one(task):
    split = task.split("val", 6)
    split.tokens[np.arange(3), 1] = 0
    read, table = [], Table(task.vocabulary)
    embed = table.embed_captions
    table.embed_captions = lambda captions: read.append(captions) or embed(captions)
    found = recalls(table, split, torch.device("cpu"))
    assert len(torch.cat(read)) == 9
    assert recall_sum(found) == 6


# --- Recall with ties shared: what a captioner earns that always says the same.


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
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
