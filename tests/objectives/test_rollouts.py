"""PG-SPIDEr and MIXER against exact enumeration: all 15 captions of two words and at most three tokens."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from enumeration import CHANNELS, Cider, all_captions, assert_close, gradient, log_probs, make_context, say

from seqcap.data.vocabulary import EOS, PAD
from seqcap.objectives import mixer, rollout_policy_gradient
from seqcap.objectives.shared import base
from seqcap.training.captioners import CaptionerLearner

LENGTH = 3
CAPTIONS = all_captions(words=1, max_length=LENGTH)
FEATURES = torch.randn(CHANNELS, generator=torch.Generator().manual_seed(0))
REWARD = Cider([[[4], [4, 4], [4, 3, 4]], [[3], [5]]])
CONTEXT = make_context(REWARD, LENGTH, 5, steps_per_epoch=2)


def rewards(captions):
    return torch.from_numpy(REWARD.score(captions.numpy(), np.zeros(len(captions), dtype=np.int64))).float()


def batch(images=1):
    return base.Batch(
        FEATURES.expand(images, -1), np.zeros(images, dtype=np.int64), CAPTIONS[None].expand(images, -1, -1)
    )


@pytest.mark.parametrize("baseline", [False, True])
def test_expected_gradient_is_that_of_the_first_states_value(captioner, baseline, monkeypatch):
    """The loss is linear in the rollouts' rewards: E over rollouts is the loss with each prefix's exact mean reward."""
    p = log_probs(captioner, FEATURES, CAPTIONS).exp().detach()

    def exact(prefix):
        same = (CAPTIONS[:, : len(prefix)] == prefix).all(1)
        return (p[same] @ rewards(CAPTIONS[same])) / p[same].sum()

    config = rollout_policy_gradient.Config(baseline_steps=0, baseline_hidden=3)
    objective, total = rollout_policy_gradient.Model(config, CONTEXT), 0.0
    if baseline:
        arbitrary(objective)
    for caption, probability in zip(CAPTIONS, p, strict=True):
        values = torch.stack([exact(caption[:end]) for end in range(1, int((caption != PAD).sum()) + 1)])
        say(monkeypatch, caption[None])
        monkeypatch.setattr(objective, "action_values", lambda *_, values=values: (values, 0.0))
        loss, _ = objective(captioner, batch())
        total = total - probability * gradient(captioner, loss)
    assert_close(total, gradient(captioner, log_probs(captioner, FEATURES, CAPTIONS).exp() @ rewards(CAPTIONS)))


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


def schedule(config, steps):
    objective = mixer.Model(config, replace(CONTEXT, max_length=10))
    return [objective.schedule(step) for step in steps]


def test_mixers_prefix_shrinks_to_nothing_and_its_weight_falls_with_it():
    config = mixer.Config(shrink=3, epochs_per_stage=2, weight=0.5)
    assert schedule(config, [0, 3, 4, 8, 12, 100]) == [(7, 0.5), (7, 0.5), (4, 0.5), (1, 0.5), (0, 0.0), (0, 0.0)]
    config = mixer.Config(shrink=4, epochs_per_stage=1, weight=0.8, final_weight=0.2)
    (first, weight), (second, less), (none, end) = schedule(config, [0, 2, 4])
    assert (first, second, none, end) == (6, 2, 0, 0.0)
    assert weight == pytest.approx(0.6 * 0.8 + 0.4 * 0.2)
    assert less == pytest.approx(0.2 * 0.8 + 0.8 * 0.2)


def test_mixer_leaves_short_and_missing_references_to_cross_entropy(captioner, monkeypatch):
    captions = torch.tensor([[[4, EOS, PAD], [PAD, PAD, PAD]]])
    objective = mixer.Model(mixer.Config(weight=1.0), CONTEXT)
    monkeypatch.setattr(objective, "schedule", lambda step: (2, 1.0))
    loss, logs = objective(captioner, base.Batch(FEATURES[None], np.array([0]), captions))
    expected = -log_probs(captioner, FEATURES, captions[0, :1]).sum()
    torch.testing.assert_close(loss, expected)
    assert not {"train_reward", "prefixed_reward"} & set(logs)


@pytest.mark.parametrize("module", [rollout_policy_gradient, mixer])
def test_the_baselines_errors_do_not_shrink_the_captioners_steps(captioner, module):
    """They grow with the reward's scale. Clipping counts the gradients of a group together."""
    learner = CaptionerLearner(captioner, module.Model(module.Config(), CONTEXT))
    own, partner = learner.parameter_groups()
    baseline = set(learner.objective.baseline.parameters())
    assert set(partner["params"]) == baseline
    assert not baseline & set(own["params"])
    assert (own["pace"], partner["pace"]) == (1.0, 10.0)


# --- What a baseline changes is the gradient of a draw, not its expectation: fixed paths and completions, several
# images, and both losses as the papers print them, over the captioner's parameters and over the baseline's.
OF_EACH = Cider([[[4], [4, 4], [4, 3, 4]], [[3, 4], [3, 3]], [[5]]])
TAILS = [[4, EOS], [3, EOS], [3, 4, EOS]]


def several(images, captions):
    """A batch of images, each with its own features."""
    features = torch.randn(len(images), CHANNELS, generator=torch.Generator().manual_seed(1))
    return base.Batch(features, np.array(images), captions)


def arbitrary(objective):
    """The objective with a baseline that says something."""
    torch.manual_seed(0)
    for parameter in objective.baseline.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    objective.context = replace(CONTEXT, reward=OF_EACH)
    return objective


def continued(_, memory, captions, rows, lengths, max_length):
    """Completions that can be foretold: the k-th of a prefix ends with the k-th of TAILS, in turn."""
    wholes = []
    for place, (row, length) in enumerate(zip(rows.tolist(), lengths.tolist(), strict=True)):
        whole = [*captions[row, :length].tolist(), *TAILS[place % 3]][:max_length]
        wholes.append(whole + [PAD] * (max_length - len(whole)))
    return torch.tensor(wholes)


def earned(caption, image):
    return OF_EACH.score(np.array([caption]), np.array([image]))[0]


def along(captioner, features, caption):
    """log p of each token of a caption, and the decoder's output before it."""
    tokens = torch.tensor([caption])
    hidden = captioner.unroll(tokens, captioner.encode(features[None]))[0]
    return captioner.logits(hidden).log_softmax(1).gather(1, tokens[0, :, None])[:, 0], hidden.detach()


def assert_losses(objective, captioner, data, policy, fit):
    """`policy` is the captioner's part of the loss, `fit` the baseline's; neither teaches the other's parameters."""
    loss, _ = objective(captioner, data)
    torch.testing.assert_close(loss, policy + fit)
    assert_close(gradient(objective.baseline, loss), gradient(objective.baseline, fit), atol=1e-5)
    assert_close(gradient(captioner, loss), gradient(captioner, policy), atol=1e-5)


def test_the_losses_of_policy_and_baseline_are_those_of_algorithm_1(captioner, monkeypatch):
    """Two paths of each of two images, three completions of each prefix."""
    config = rollout_policy_gradient.Config(paths=2, rollouts=3, baseline_steps=0, baseline_hidden=3)
    objective = arbitrary(rollout_policy_gradient.Model(config, CONTEXT))
    paths = [[4, 3, EOS], [EOS], [3, EOS], [3, 4, 4]]
    data = several([0, 1], torch.zeros(2, 1, 3, dtype=torch.long))
    padded = torch.tensor([path + [PAD] * (3 - len(path)) for path in paths])
    say(monkeypatch, padded)
    monkeypatch.setattr(rollout_policy_gradient, "complete", continued)
    policy, fit = torch.zeros(()), torch.zeros(())
    for row, path in enumerate(paths):
        image = row // 2
        log_p, hidden = along(captioner, data.features[image], path)
        expected_reward = objective.baseline(hidden)[:, 0]
        for t in range(len(path)):
            wholes = [path] if t == len(path) - 1 else [[*path[: t + 1], *tail][:LENGTH] for tail in TAILS]
            advantage = np.mean([earned(whole, image) for whole in wholes]).item() - expected_reward[t]
            policy = policy - advantage.detach() * log_p[t] / 4
            fit = fit + advantage**2 / 4
    assert_losses(objective, captioner, data, policy, fit)


@pytest.mark.parametrize("prefix", [0, 1])
def test_mixers_losses_are_those_of_the_paper(captioner, prefix, monkeypatch):
    """Three images; with a prefix, the second one's reference is all of it."""
    objective = arbitrary(mixer.Model(mixer.Config(), CONTEXT))
    weight = 0.3 if prefix else 0.0
    monkeypatch.setattr(objective, "schedule", lambda step: (prefix, weight))
    references = [[4, 3, EOS], [EOS], [3, 3, EOS]]
    drawn = [[4, 4, EOS], [EOS], [3, 4, 4]]
    images = [0, 1, 1]
    data = several(images, torch.tensor([[row + [PAD] * (3 - len(row))] for row in references]))
    found = torch.tensor([row + [PAD] * (3 - len(row)) for row in drawn])
    say(monkeypatch, found, begin=prefix)
    policy, fit = torch.zeros(()), torch.zeros(())
    for row, caption in enumerate(drawn):
        log_p, hidden = along(captioner, data.features[row], caption)
        expected_reward = objective.baseline(hidden)[:, 0]
        policy = policy - weight * log_p[:prefix].sum() / 3
        for t in range(prefix, len(caption)):
            advantage = earned(caption, images[row]) - expected_reward[t]
            policy = policy - (1 - weight) * advantage.detach() * log_p[t] / 3
            fit = fit + advantage**2 / 3
    assert_losses(objective, captioner, data, policy, fit)


def test_mixer_continues_any_reference_that_is_there(captioner, monkeypatch):
    objective = mixer.Model(mixer.Config(), CONTEXT)
    monkeypatch.setattr(objective, "schedule", lambda step: (1, 0.5))
    captions = torch.tensor([[PAD, PAD], [4, EOS], [PAD, PAD], [3, EOS]]).expand(60, -1, -1)
    chosen, original = [], mixer.record

    def record(captioner, memory, max_length, greedy, prefix):
        chosen.extend(prefix[:, 0].tolist())
        return original(captioner, memory, max_length, greedy, prefix)

    monkeypatch.setattr(mixer, "record", record)
    torch.manual_seed(0)
    objective(captioner, several([0] * 60, captions))
    assert 15 < chosen.count(4) < 45
    assert chosen.count(4) + chosen.count(3) == 60


@pytest.mark.parametrize("module", [mixer, rollout_policy_gradient])
def test_only_training_steps_count(captioner, module):
    objective = module.Model(module.Config(), CONTEXT)
    data = several([0, 1], CAPTIONS[None, 4:8].expand(2, -1, -1))
    for training, steps in ((True, 1), (False, 1), (True, 2)):
        objective.train(training)
        objective(captioner, data)
        assert objective.steps == steps
