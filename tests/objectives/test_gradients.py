"""The expected gradient of every policy-gradient estimator against the exact gradient of the paper's objective.

With a vocabulary of three outcomes (EOS, <unk>, one word) and captions of at most two tokens there are seven captions:
every set of samples is enumerated, the objective is run on it, and its gradient is weighted with the set's probability.
"""

from itertools import combinations_with_replacement
from math import factorial, prod

import numpy as np
import pytest
import torch
from enumeration import CHANNELS, Cider, all_captions, log_probs, tiny_captioner
from torch import Tensor

from seqcap.decoding import Captions
from seqcap.objectives import base, maximum_entropy, self_critical, sequence_exploration
from seqcap.rewards.bleu import pairwise_bleu

CAPTIONS = all_captions(words=1, max_length=2)
FEATURES = torch.randn(CHANNELS, generator=torch.Generator().manual_seed(0))
REWARD = Cider([[[4], [4, 4]], [[3], [5]]])
CONTEXT = base.Context(
    REWARD,
    max_length=2,
    hidden=4,
    steps_per_epoch=1,
    embeddings=None,
    frequencies=torch.ones(5, dtype=torch.int64),
    reads={},
)


@pytest.fixture
def captioner():
    return tiny_captioner(words=1, seed=7, scale=1.0)


def gradient(captioner, value: Tensor) -> Tensor:
    parts = torch.autograd.grad(value, list(captioner.parameters()), allow_unused=True)
    return torch.cat([p.flatten() for p in parts if p is not None]).double()


def expected_gradient(objective, captioner, samples: int, monkeypatch) -> Tensor:
    """Minus the expected gradient of the objective's loss, over all sets of `samples` captions."""
    probability = log_probs(captioner, FEATURES, CAPTIONS).exp().double().detach()
    greedy = base.rollout(captioner, captioner.encode(FEATURES[None]), 2, torch.tensor([True])).tokens
    greedy = torch.nn.functional.pad(greedy, (0, 2 - greedy.shape[1]))
    batch = base.Batch(FEATURES[None], np.array([0]), CAPTIONS[None])
    total = None
    for chosen in combinations_with_replacement(range(len(CAPTIONS)), samples):
        orders = factorial(samples) / prod(factorial(chosen.count(i)) for i in set(chosen))
        weight = orders * probability[list(chosen)].prod()
        tokens = torch.cat([CAPTIONS[list(chosen)], greedy])
        monkeypatch.setattr(base, "rollout", lambda *_, tokens=tokens: Captions(tokens, torch.zeros(len(tokens))))
        loss, _ = objective(captioner, batch)
        part = -weight * gradient(captioner, loss)
        total = part if total is None else total + part
    monkeypatch.undo()
    return total


def quality(captioner) -> Tensor:
    """E[Delta(y)], exactly."""
    reward = REWARD.score(CAPTIONS.numpy(), np.zeros(len(CAPTIONS), dtype=np.int64))
    assert reward.max() > 0.1
    return log_probs(captioner, FEATURES, CAPTIONS).exp() @ torch.from_numpy(reward).float()


def exploration(captioner) -> Tensor:
    """E[d(y, y')] of independent y and y', exactly, with d written out once more."""
    bleu = torch.from_numpy(pairwise_bleu(CAPTIONS.numpy()[None])[0]).float()
    similarity = bleu[:, :, 2] + bleu[:, :, 3]
    distance = 2 - (similarity + similarity.T) / 2
    distance.fill_diagonal_(0)
    p = log_probs(captioner, FEATURES, CAPTIONS).exp()
    return p @ distance @ p


def assert_same_direction_and_size(actual: Tensor, expected: Tensor):
    assert expected.norm() > 1e-3
    torch.testing.assert_close(actual, expected, atol=2e-6, rtol=1e-4)


@pytest.mark.parametrize("samples", [1, 2, 3])
def test_sll_is_the_gradient_of_expected_cider(captioner, samples, monkeypatch):
    objective = self_critical.Model(self_critical.Config(samples=samples), CONTEXT)
    actual = expected_gradient(objective, captioner, samples, monkeypatch)
    assert_same_direction_and_size(actual, gradient(captioner, quality(captioner)))


# Both parts of the loss are scaled by the number of samples: where both weigh, either's wrong scale fails.
@pytest.mark.parametrize(("samples", "alpha"), [(3, 0.0), (3, 0.25), (3, 0.75), (4, 0.25)])
def test_unbiased_sle_is_the_gradient_of_equation_8(captioner, samples, alpha, monkeypatch):
    config = sequence_exploration.Config(samples=samples, alpha=alpha, estimator="leave_one_out")
    actual = expected_gradient(sequence_exploration.Model(config, CONTEXT), captioner, samples, monkeypatch)
    expected = gradient(captioner, alpha * quality(captioner) + (1 - alpha) * exploration(captioner))
    assert_same_direction_and_size(actual, expected)


@pytest.mark.parametrize(("samples", "alpha"), [(3, 0.0), (3, 0.75), (4, 0.25)])
def test_printed_sle_is_equation_8_with_its_exploration_shrunk(captioner, samples, alpha, monkeypatch):
    """Equation 16 as printed: E = alpha grad E[Delta] + (1 - alpha) (s - 1)(s - 2) / s^2 grad E[d]."""
    config = sequence_exploration.Config(samples=samples, alpha=alpha, estimator="paper")
    actual = expected_gradient(sequence_exploration.Model(config, CONTEXT), captioner, samples, monkeypatch)
    shrunk = (samples - 1) * (samples - 2) / samples**2
    expected = gradient(captioner, alpha * quality(captioner) + (1 - alpha) * shrunk * exploration(captioner))
    assert_same_direction_and_size(actual, expected)


def test_sle_at_alpha_one_is_sll(captioner):
    batch = base.Batch(FEATURES[None].repeat(3, 1), np.zeros(3, dtype=np.int64), CAPTIONS[None].repeat(3, 1, 1))
    losses = []
    for module, settings in ((self_critical, {}), (sequence_exploration, {"alpha": 1.0})):
        torch.manual_seed(0)
        losses.append(module.Model(module.Config(**settings), CONTEXT)(captioner, batch)[0])
    assert losses[0].item() == losses[1].item() != 0


def test_entropy_bonus_is_the_entropy_of_the_sampled_tokens(captioner, monkeypatch):
    """SLL-ME minus SLL is weight * sum_t H(p_t), differentiated along the sampled prefixes."""
    weight = 0.5
    sll = self_critical.Model(self_critical.Config(samples=1), CONTEXT)
    sll_me = maximum_entropy.Model(maximum_entropy.Config(samples=1, entropy_weight=weight), CONTEXT)
    p = log_probs(captioner, FEATURES, CAPTIONS).exp().detach()
    logits = captioner.teacher_force(FEATURES.expand(len(CAPTIONS), -1), CAPTIONS)
    log_p = torch.log_softmax(logits, 2)
    entropy = -(log_p.exp() * log_p).sum(2).masked_fill(CAPTIONS == 0, 0).sum(1)
    expected = weight * gradient(captioner, p @ entropy)
    difference = expected_gradient(sll_me, captioner, 1, monkeypatch) - expected_gradient(
        sll, captioner, 1, monkeypatch
    )
    assert_same_direction_and_size(difference, expected)


def test_the_distance_is_of_both_directions():
    """BLEU of a short caption against a long one is not that of the long one against the short."""
    captions = torch.tensor([[4, 5, 6, 7, 2, 0, 0], [4, 5, 6, 7, 8, 9, 2], [9, 4, 5, 6, 7, 2, 0]])
    config = sequence_exploration.Config(samples=3, estimator="paper")
    novelty = sequence_exploration.Model(config, CONTEXT).exploration(captions)[0]
    bleu = pairwise_bleu(captions.numpy()[None])[0, :, :, 2:].sum(2)
    assert abs(bleu - bleu.T).max() > 0.05
    distance = [[0 if j == k else 2 - (bleu[j, k] + bleu[k, j]) / 2 for k in range(3)] for j in range(3)]
    rows = np.sum(distance, axis=1)
    np.testing.assert_allclose(novelty, 2 / 3 * (rows - rows.sum() / 3), atol=1e-6)


def test_multi_reference_distance_prefers_the_odd_one_out():
    config = sequence_exploration.Config(samples=3, distance="multi_reference")
    objective = sequence_exploration.Model(config, CONTEXT)
    same = [4, 5, 6, 7, 8, 2]
    novelty = objective.exploration(torch.tensor([same, same, [9, 10, 11, 12, 13, 2]]))
    assert novelty[0, 2] > novelty[0, 0]
    assert novelty.sum().item() == pytest.approx(0, abs=1e-9)


def test_dropout_masks_are_shared_by_sampling_and_scoring():
    captioner = tiny_captioner(words=1, seed=3)
    captioner.dropout = 0.5
    captioner.train()
    torch.manual_seed(0)
    drawn = []
    original = base.rollout

    def keep(*arguments):
        drawn.append(original(*arguments))
        return drawn[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "rollout", keep)
        batch = base.Batch(FEATURES[None].repeat(8, 1), np.zeros(8, dtype=np.int64), CAPTIONS[None])
        samples = base.draw(captioner, batch, CONTEXT, 4)
    scored, _ = base.sequence_log_prob(captioner, samples)
    expected = drawn[0].log_prob.view(8, 5)[:, :-1]
    torch.testing.assert_close(scored.detach(), expected, atol=1e-5, rtol=1e-5)
