"""The decoupled contrastive reward against its definition, its limit, and where a plain sum fails."""

import math

import pytest
import torch
from torch.nn import functional as F

from seqcap.retrieval.contrast import contrast, copies


def scores(n=4, m=7, seed=0):
    """Cosines [n, m], those of the positive pairs [n], and where these stand."""
    found = torch.rand(n, m, generator=torch.Generator().manual_seed(seed)) * 2 - 1
    left_out = torch.eye(n, m, dtype=torch.bool).flip(1)
    return found[left_out], found, left_out


@pytest.mark.parametrize("tau", [0.01, 0.2, 1.0])
def test_it_is_the_definition(tau):
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


def test_without_a_negative_it_is_0():
    left_out = torch.tensor([[True, True], [True, False]])
    found = contrast(torch.tensor([0.5, 0.5]), torch.tensor([[0.5, 0.5], [0.5, 0.1]]), left_out, 0.1)
    torch.testing.assert_close(found, torch.tensor([0.0, 0.4]))


def test_copies_are_images_with_the_same_embedding():
    images = F.normalize(torch.randn(3, 64, generator=torch.Generator().manual_seed(0)), dim=1)
    near = F.normalize(images[1] + 0.01 * images[2], dim=0)
    same = F.normalize(images[1] * 3 + 1e-7, dim=0)
    found = copies(images, torch.stack([images[0], near, same]))
    assert found.tolist() == [[True, False, False], [False, False, True], [False, False, False]]
