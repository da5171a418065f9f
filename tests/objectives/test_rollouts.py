"""PG-SPIDEr and MIXER against exact enumeration: every path and every completion of its prefixes is written down.

With two words (<unk> and one more) and captions of at most three tokens there are 15 captions; a random draw of paths
and rollouts is a product of independent choices, so an expectation over it is a sum.
"""

from dataclasses import replace

import numpy as np
import pytest
import torch
from enumeration import CHANNELS, Cider, all_captions, log_probs, tiny_captioner

from seqcap import decoding
from seqcap.data.vocabulary import EOS, PAD
from seqcap.objectives import base, mixer, rollout_policy_gradient

LENGTH = 3
CAPTIONS = all_captions(words=1, max_length=LENGTH)
FEATURES = torch.randn(CHANNELS, generator=torch.Generator().manual_seed(0))
REWARD = Cider([[[4], [4, 4], [4, 3, 4]], [[3], [5]]])
CONTEXT = base.Context(
    REWARD,
    max_length=LENGTH,
    hidden=4,
    steps_per_epoch=2,
    embeddings=None,
    frequencies=torch.ones(5, dtype=torch.int64),
    reads={},
)


@pytest.fixture
def captioner():
    return tiny_captioner(words=1, seed=7, scale=1.0)


def rewards(captions):
    return torch.from_numpy(REWARD.score(captions.numpy(), np.zeros(len(captions), dtype=np.int64))).float()


def gradient(captioner, value):
    parts = torch.autograd.grad(value, list(captioner.parameters()), allow_unused=True)
    return torch.cat([part.flatten() for part in parts if part is not None])


def value_of_first_state(captioner):
    """V(s_1) = E[reward], exactly."""
    return log_probs(captioner, FEATURES, CAPTIONS).exp() @ rewards(CAPTIONS)


def batch(images=1):
    return base.Batch(
        FEATURES.expand(images, -1), np.zeros(images, dtype=np.int64), CAPTIONS[None].expand(images, -1, -1)
    )


def fitted(rollouts, baseline, seed=0):
    """An objective past its warm-up, with no baseline or with an arbitrary one."""
    config = rollout_policy_gradient.Config(rollouts=rollouts, baseline_steps=0, baseline_hidden=3)
    objective = rollout_policy_gradient.Model(config, CONTEXT)
    if baseline:
        torch.manual_seed(seed)
        for parameter in objective.parameters():
            torch.nn.init.normal_(parameter, std=0.7)
    return objective


def lengths(captions):
    return (captions != PAD).sum(1)


@pytest.mark.parametrize("rollouts", [1, 2, 3, 5])
@pytest.mark.parametrize("baseline", [False, True])
def test_expected_gradient_is_that_of_the_first_states_value(captioner, rollouts, baseline, monkeypatch):
    """The loss is linear in the rollouts' rewards: E over rollouts is the loss with each prefix's exact mean reward.

    The mean is computed by enumeration, the completions that the objective asks for are checked to be those of the
    right prefixes, and the expectation over paths is a sum over all captions.
    """
    p = log_probs(captioner, FEATURES, CAPTIONS).exp().detach()
    exact = {}
    for row, length in zip(CAPTIONS.tolist(), lengths(CAPTIONS).tolist(), strict=True):
        for end in range(1, length):
            prefix = tuple(row[:end])
            same = (CAPTIONS[:, :end] == torch.tensor(prefix)).all(1)
            exact[prefix] = float((p[same] @ rewards(CAPTIONS[same])) / p[same].sum())
    asked = []

    def paths(*_):
        return decoding.Captions(CAPTIONS, torch.zeros(len(CAPTIONS)))

    def complete(captioner, memory, captions, rows, ends, max_length):
        assert max_length == LENGTH
        prefixes = [tuple(captions[r, :e].tolist()) for r, e in zip(rows.tolist(), ends.tolist(), strict=True)]
        asked.extend(prefixes)
        marked = torch.full((len(rows), LENGTH), PAD)
        marked[:, 0] = torch.arange(len(rows)) + 100
        return marked

    class Exact:
        def score(self, hypotheses, image):
            own = torch.from_numpy(hypotheses)
            scores = np.array([exact[asked[row[0] - 100]] if row[0] >= 100 else np.nan for row in hypotheses.tolist()])
            scores[np.isnan(scores)] = rewards(own[: int(np.isnan(scores).sum())]).numpy()
            return scores

    monkeypatch.setattr(rollout_policy_gradient, "rollout", paths)
    monkeypatch.setattr(rollout_policy_gradient, "complete", complete)
    objective = fitted(rollouts, baseline)
    objective.context = replace(CONTEXT, reward=Exact(), steps_per_epoch=1)
    memory = base.repeat(captioner.encode(FEATURES[None]), len(CAPTIONS))
    values, _ = objective.action_values(captioner, memory, CAPTIONS, np.zeros(len(CAPTIONS), dtype=np.int64))
    assert len(asked) == rollouts * int((lengths(CAPTIONS) - 1).sum())
    # Each path by itself: its loss has the path's probability.
    total = 0.0
    at = 0
    for caption, probability in zip(CAPTIONS, p, strict=True):
        size = int((caption != PAD).sum())
        own = values[at : at + size]
        at += size
        monkeypatch.setattr(
            rollout_policy_gradient, "rollout", lambda *_, c=caption: decoding.Captions(c[None], torch.zeros(1))
        )
        monkeypatch.setattr(objective, "action_values", lambda *_, v=own: (v, 0.0))
        loss, _ = objective(captioner, batch())
        total = total - probability * gradient(captioner, loss)
    expected = gradient(captioner, value_of_first_state(captioner))
    assert expected.norm() > 1e-3
    torch.testing.assert_close(total, expected, atol=2e-6, rtol=1e-4)


@pytest.mark.parametrize("rollouts", [1, 3])
def test_completions_have_the_captioners_distribution(captioner, rollouts):
    """Chi-square of 20,000 completions of the prefix (4) against p(y | y_1 = 4)."""
    torch.manual_seed(0)
    draws = 20_000
    start = torch.tensor([[4, 3, EOS]]).expand(draws, -1)
    memory = base.repeat(captioner.encode(FEATURES[None]), draws)
    whole = decoding.complete(
        captioner, memory, start, torch.arange(draws), torch.ones(draws, dtype=torch.long), LENGTH
    )
    same = CAPTIONS[CAPTIONS[:, 0] == 4]
    p = log_probs(captioner, FEATURES, same).exp().detach()
    p = p / p.sum()
    counts = torch.tensor([int((whole == caption).all(1).sum()) for caption in same])
    assert counts.sum() == draws
    chi_square = ((counts - draws * p) ** 2 / (draws * p)).sum()
    assert chi_square < 30  # 6 degrees of freedom: above it once in 25,000


def test_sampled_gradients_average_to_the_exact_one(captioner):
    """Nothing replaced: paths and rollouts as drawn. The mean of many gradients is near the exact one."""
    torch.manual_seed(0)
    objective = fitted(rollouts=2, baseline=False).eval()
    images = 4_000
    parts = []
    for _ in range(10):
        loss, _ = objective(captioner, batch(images))
        parts.append(-gradient(captioner, loss))
    drawn = torch.stack(parts)
    expected = gradient(captioner, value_of_first_state(captioner))
    error = drawn.std(0) / len(parts) ** 0.5
    distance = (drawn.mean(0) - expected).norm()
    assert distance < 3 * error.norm()
    assert distance < 0.1 * expected.norm()


def test_the_baselines_gradient_does_not_reach_the_captioner(captioner):
    torch.manual_seed(0)
    config = rollout_policy_gradient.Config(rollouts=1, baseline_steps=10)
    objective = rollout_policy_gradient.Model(config, CONTEXT)
    loss, _ = objective(captioner, batch(20))
    loss.backward()
    assert all((p.grad is None) or not p.grad.any() for p in captioner.parameters())
    assert any(p.grad.any() for p in objective.parameters() if p.grad is not None)


def test_only_the_baseline_learns_at_first(captioner):
    config = rollout_policy_gradient.Config(rollouts=1, baseline_steps=2)
    objective = rollout_policy_gradient.Model(config, CONTEXT).train()
    moved = []
    for _ in range(3):
        torch.manual_seed(1)
        loss, _ = objective(captioner, batch(20))
        moved.append(bool(gradient(captioner, loss).any()))
    assert moved == [False, False, True]
    assert "steps" in objective.state_dict()


def test_a_fitted_baseline_lowers_the_variance(captioner):
    torch.manual_seed(0)
    objective = rollout_policy_gradient.Model(
        rollout_policy_gradient.Config(rollouts=1, baseline_steps=10_000, baseline_hidden=16), CONTEXT
    )
    # By hand: the first optimizer of a process imports for 2 seconds.
    parameters = list(objective.parameters())
    for _ in range(60):
        loss, logs = objective(captioner, batch(20))
        for parameter, slope in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
            parameter.data -= 0.1 * slope

    def variance(model):
        model.steps.fill_(10_000)
        model.eval()
        drawn = torch.stack([gradient(captioner, model(captioner, batch())[0]) for _ in range(150)])
        return drawn.var(0).sum().item()

    # It is about 0.3 times as large; of an unfitted baseline, drawn as often, at least 0.6 times.
    assert variance(objective) < 0.5 * variance(fitted(1, baseline=False))
    assert logs["baseline_loss"] > 0


def schedule(config, steps):
    objective = mixer.Model(config, replace(CONTEXT, max_length=10))
    return [objective.schedule(step) for step in steps]


def test_mixers_prefix_shrinks_to_nothing():
    config = mixer.Config(shrink=3, epochs_per_stage=2, weight=0.5)
    assert schedule(config, [0, 3, 4, 8, 12, 100]) == [(7, 0.5), (7, 0.5), (4, 0.5), (1, 0.5), (0, 0.0), (0, 0.0)]


def test_mixers_weight_falls_with_its_prefix():
    config = mixer.Config(shrink=5, epochs_per_stage=1, weight=0.8, final_weight=0.2)
    (prefix, weight), (none, end) = schedule(config, [0, 2])
    assert (prefix, none, end) == (5, 0, 0.0)
    assert weight == pytest.approx(0.5)


@pytest.mark.parametrize("prefix", [0, 1, 2])
def test_mixers_expected_gradient(captioner, prefix, monkeypatch):
    """w times cross-entropy's of the first M tokens, 1 - w times that of E[reward] of what may follow them."""
    weight = 0.0 if prefix == 0 else 0.3
    reference = torch.tensor([4, 3, EOS])
    same = CAPTIONS[(CAPTIONS[:, :prefix] == reference[:prefix]).all(1)]
    p = log_probs(captioner, FEATURES, same).exp()
    p = p / p.sum()
    expected = (1 - weight) * gradient(captioner, p @ rewards(same))
    if prefix:
        logits = captioner.teacher_force(FEATURES[None], reference[None, :prefix])[0]
        log_p = torch.log_softmax(logits, 1).gather(1, reference[:prefix, None]).sum()
        expected = expected + weight * gradient(captioner, log_p)
    objective = mixer.Model(mixer.Config(weight=0.3), CONTEXT)
    torch.nn.init.normal_(objective.baseline.weight)
    monkeypatch.setattr(objective, "schedule", lambda step: (prefix, weight))
    one = base.Batch(FEATURES[None], np.array([0]), reference[None, None])
    total = 0.0
    for caption, probability in zip(same, p.detach(), strict=True):
        monkeypatch.setattr(mixer, "rollout", lambda *_, c=caption: decoding.Captions(c[None], torch.zeros(1)))
        monkeypatch.setattr(mixer, "complete", lambda *_, c=caption: c[None])
        loss, _ = objective(captioner, one)
        total = total - probability * gradient(captioner, loss)
    assert expected.norm() > 1e-3
    torch.testing.assert_close(total, expected, atol=2e-6, rtol=1e-4)


def test_mixer_leaves_short_and_missing_references_to_cross_entropy(captioner, monkeypatch):
    captions = torch.tensor([[[4, EOS, PAD], [PAD, PAD, PAD]]])
    objective = mixer.Model(mixer.Config(weight=1.0), CONTEXT)
    monkeypatch.setattr(objective, "schedule", lambda step: (2, 1.0))
    loss, logs = objective(captioner, base.Batch(FEATURES[None], np.array([0]), captions))
    expected = -log_probs(captioner, FEATURES, captions[0, :1]).sum()
    torch.testing.assert_close(loss, expected)
    assert not {"train_reward", "prefixed_reward"} & set(logs)
