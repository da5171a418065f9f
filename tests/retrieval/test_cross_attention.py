"""Attention between words and cells: scores written out, what counts of a caption, and InfoNCE of three items."""

import math

import pytest
import torch
from torch.nn import functional as F

from seqcap import retrieval
from seqcap.data.vocabulary import EOS, PAD
from seqcap.errors import InputError
from seqcap.retrieval import cross_attention
from seqcap.retrieval.losses import hinges, info_nce

V, SHAPE = 12, (2, 3, 5)
CONFIG = {"hidden": 8, "size": 4, "heads": 2, "temperature": 0.1}
CAPTIONS = torch.tensor([[4, 5, 6, EOS, PAD], [7, EOS, PAD, PAD, PAD], [8, 9, 4, 5, EOS]])


@pytest.fixture
def retriever():
    torch.manual_seed(0)
    return retrieval.build("cross_attention", CONFIG, V, SHAPE)


@pytest.fixture
def features():
    return torch.randn(3, *SHAPE, generator=torch.Generator().manual_seed(1))


def test_a_score_is_the_weighted_mean_of_each_words_best_cell(retriever, features, monkeypatch):
    images, captions = retriever.embed_images(features).detach(), retriever.embed_captions(CAPTIONS).detach()
    # Six cells, their mean and their maximum.
    assert images.shape == (3, 8, 4)
    torch.testing.assert_close(captions.norm(dim=2).sum(1), torch.ones(3))
    scores = retriever.compare(captions, images)
    for i in range(3):
        for j in range(3):
            words = captions[i][CAPTIONS[i] != PAD]
            weights, units = words.norm(dim=1), F.normalize(words, dim=1)
            expected = sum(
                weight * max(float(unit @ cell) for cell in images[j])
                for weight, unit in zip(weights, units, strict=True)
            )
            assert float(scores[i, j]) == pytest.approx(float(expected), abs=1e-5)
    # However many captions are compared at a time.
    monkeypatch.setattr(cross_attention, "MOST", 1)
    torch.testing.assert_close(retriever.compare(captions, images), scores)
    torch.testing.assert_close(retriever.compare_captions(images, captions), scores.T)
    own = retriever.compare_own(captions[[1, 2, 0, 0, 1, 1]].view(3, 2, 5, 4), images)
    expected = [[scores[1, 0], scores[2, 0]], [scores[0, 1], scores[0, 1]], [scores[1, 2], scores[1, 2]]]
    torch.testing.assert_close(own, torch.tensor(expected))


def test_order_and_place_matter_and_padding_does_not(retriever, features):
    found = retriever.embed_captions(CAPTIONS)
    torch.testing.assert_close(retriever.embed_captions(F.pad(CAPTIONS, (0, 2), value=PAD))[:, :5], found)
    assert not found[1, 2:].any()
    turned = CAPTIONS.clone()
    turned[0, :3] = torch.tensor([6, 5, 4])
    images = retriever.embed_images(features)
    scores = [retriever.compare(retriever.embed_captions(ids), images)[0] for ids in (CAPTIONS, turned)]
    assert (scores[0] - scores[1]).abs().min() > 1e-4
    mirrored = retriever.embed_images(features.flip(2))
    assert (retriever.compare(found, mirrored) - retriever.compare(found, images)).abs().max() > 1e-3


def test_the_loss_of_three_items_is_info_nce_with_their_exchanged_captions(retriever, features):
    """The second item has no exchanged caption, the third has one."""
    images, captions = retriever.embed_images(features), retriever.embed_captions(CAPTIONS)
    exchanged = torch.tensor([[0.3, 0.1], [-math.inf, -math.inf], [0.2, -math.inf]])
    to_text, to_image = retriever.loss(images, captions, exchanged)
    scores = retriever.compare(captions, images).detach()
    for i in range(3):
        others = [float(scores[j, i]) for j in range(3)] + exchanged[i].tolist()
        total = sum(math.exp(score / 0.1) for score in others)
        assert float(to_text[i]) == pytest.approx(math.log(total) - float(scores[i, i]) / 0.1, rel=1e-4)
        total = sum(math.exp(float(scores[i, j]) / 0.1) for j in range(3))
        assert float(to_image[i]) == pytest.approx(math.log(total) - float(scores[i, i]) / 0.1, rel=1e-4)
    (to_text.sum() + to_image.sum()).backward()
    assert all(torch.isfinite(parameter.grad).all() for parameter in retriever.parameters())
    assert retriever.weight.weight.grad.abs().max() > 0


def test_an_exchanged_captions_gradient_is_its_probability():
    scores = torch.zeros(3, 3, requires_grad=True)
    exchanged = torch.tensor([[0.0], [1.0], [-math.inf]], requires_grad=True)
    to_text, _ = info_nce(scores, 1.0, exchanged)
    to_text.sum().backward()
    expected = [1 / 4, math.e / (3 + math.e), 0.0]
    torch.testing.assert_close(exchanged.grad.squeeze(1), torch.tensor(expected))


def test_an_exchanged_caption_may_be_the_hardest_negative():
    images = torch.eye(3)
    captions = F.normalize(torch.eye(3) + 0.1, dim=1)
    plain, exchanged = hinges(images, captions, 0.2), torch.tensor([[0.95], [0.0], [-math.inf]])
    found = hinges(images, captions, 0.2, exchanged=exchanged)
    own = float(images[0] @ captions[0])
    assert float(found[0][0]) == pytest.approx(0.2 + 0.95 - own)
    assert torch.equal(found[0][1:], plain[0][1:])
    assert torch.equal(found[1], plain[1])


def test_it_reads_words_only(retriever):
    with pytest.raises(InputError, match="reads words, not distributions"):
        retriever.embed_captions(torch.rand(1, 2, V))
