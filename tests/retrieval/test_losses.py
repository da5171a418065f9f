"""Losses and rewards of retrieval against loops over their definitions."""

import math
from functools import partial

import pytest
import small_listener
import torch
from torch.nn import functional as F

from seqcap.retrieval.contrast import contrast, copies
from seqcap.retrieval.losses import hinges, info_nce

unit = partial(small_listener.unit, dtype=torch.double)


def pairs(n):
    """Images, and captions that mostly fit."""
    return unit(n, 5), F.normalize(unit(n, 5) + 1.2 * unit(n, 5, seed=1), dim=1)


def loop_hinges(images, captions, margin, distractors=()):
    to_text, to_image = [], []
    for i in range(len(images)):
        own = images[i] @ captions[i]
        texts = [images[i] @ captions[j] for j in range(len(captions)) if j != i]
        pictures = [images[j] @ captions[i] for j in range(len(images)) if j != i]
        pictures += [distractor @ captions[i] for distractor in distractors]
        to_text.append(max([margin + s - own for s in texts] + [torch.zeros(())]))
        to_image.append(max([margin + s - own for s in pictures] + [torch.zeros(())]))
    return torch.stack(to_text).double(), torch.stack(to_image).double()


@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize("margin", [0.01, 0.2, 1.0])
def test_hinges_are_those_of_a_loop(n, margin):
    images, captions = pairs(n)
    for found, expected in zip(hinges(images, captions, margin), loop_hinges(images, captions, margin), strict=True):
        torch.testing.assert_close(found, expected)


def test_distractors_are_negatives_of_captions_alone():
    images, captions, further = unit(6, 4), unit(6, 4, seed=1), unit(3, 4, seed=2)
    found, expected = hinges(images, captions, 0.2, further), loop_hinges(images, captions, 0.2, further)
    torch.testing.assert_close(found[0], expected[0])
    torch.testing.assert_close(found[1], expected[1])
    plain = hinges(images, captions, 0.2)
    assert torch.equal(found[0], plain[0])
    assert (found[1] > plain[1]).any()
    assert (found[1] >= plain[1]).all()


def test_a_hinge_moves_its_own_pair_and_the_hardest_negative_alone():
    images, captions = unit(5, 4).requires_grad_(), unit(5, 4, seed=1).requires_grad_()
    to_text, _ = hinges(images, captions, 1.0)
    to_text[2].backward()
    scores = (images[2] @ captions.T).detach().clone()
    scores[2] = -2
    moved = {2, int(scores.argmax())}
    assert set(captions.grad.any(1).nonzero().flatten().tolist()) == moved
    assert images.grad.any(1).nonzero().flatten().tolist() == [2]
    torch.testing.assert_close(captions.grad[2], -images[2].detach())


def test_info_nce_is_the_log_probability_of_a_loop():
    images, captions = unit(5, 4), unit(5, 4, seed=1)
    to_text, to_image = info_nce(images @ captions.T, 0.1)
    for i in range(5):
        forward = torch.exp(captions @ images[i] / 0.1)
        backward = torch.exp(images @ captions[i] / 0.1)
        torch.testing.assert_close(to_text[i], -torch.log(forward[i] / forward.sum()))
        torch.testing.assert_close(to_image[i], -torch.log(backward[i] / backward.sum()))
    assert (to_text != to_image).all()


# --- The decoupled contrastive reward.


def scores(n=4, m=7, seed=0):
    """Cosines [n, m], those of the positive pairs [n], and where these stand."""
    found = torch.rand(n, m, generator=torch.Generator().manual_seed(seed)) * 2 - 1
    left_out = torch.eye(n, m, dtype=torch.bool).flip(1)
    return found[left_out], found, left_out


@pytest.mark.parametrize("tau", [0.01, 0.2, 1.0])
def test_contrast_is_its_definition(tau):
    own, found, left_out = scores()
    expected = []
    for i in range(4):
        others = [math.exp(float(found[i, j]) / tau) for j in range(7) if j != 6 - i]
        expected.append(tau * math.log(math.exp(float(own[i]) / tau) / sum(others)))
    torch.testing.assert_close(contrast(own, found, left_out, tau), torch.tensor(expected), atol=1e-6, rtol=1e-5)


def test_a_caption_that_stands_out_has_a_finite_reward():
    """The sum of everything less the own entry, the released code's denominator, is zero in float32."""
    own, found = torch.tensor([0.5]), torch.tensor([[0.5, 0.1, 0.2]])
    left_out = torch.tensor([[True, False, False]])
    assert (found / 0.01).exp().sum(1) - (own / 0.01).exp() == 0
    assert contrast(own, found, left_out, 0.01).item() == pytest.approx(0.3, abs=1e-4)
    assert contrast(own, found, left_out, 0.01, cap=16.0).item() == pytest.approx(0.16)
    # From below nothing is cut.
    assert contrast(-own, found, left_out, 0.01, cap=16.0).item() == pytest.approx(-0.7, abs=1e-4)


def test_contrast_without_a_negative_is_0():
    left_out = torch.tensor([[True, True], [True, False]])
    found = contrast(torch.tensor([0.5, 0.5]), torch.tensor([[0.5, 0.5], [0.5, 0.1]]), left_out, 0.1)
    torch.testing.assert_close(found, torch.tensor([0.0, 0.4]))


def test_copies_are_images_with_the_same_embedding():
    images = F.normalize(torch.randn(3, 64, generator=torch.Generator().manual_seed(0)), dim=1)
    near = F.normalize(images[1] + 0.01 * images[2], dim=0)
    same = F.normalize(images[1] * 3 + 1e-7, dim=0)
    found = copies(images, torch.stack([images[0], near, same]))
    assert found.tolist() == [[True, False, False], [False, False, True], [False, False, False]]
