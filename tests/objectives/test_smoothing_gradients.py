"""The losses of loss smoothing and their gradients on fixed draws, written as the paper prints them."""

import numpy as np
import pytest
import torch
from enumeration import CHANNELS, Cider, assert_close, gradient, make_context, tiny_captioner
from torch import Tensor

from seqcap.data.vocabulary import EOS, PAD, UNK
from seqcap.objectives import (
    entropy_regularised,
    sequence_smoothing,
    token_sequence_smoothing,
    token_smoothing,
)
from seqcap.objectives.shared import base, smoothing

# Two images, two captions of each (one is missing), two sequences around each caption.
CAPTIONS = torch.tensor([[[4, 5, 6, EOS], [6, EOS, PAD, PAD]], [[5, 3, EOS, PAD], [PAD, PAD, PAD, PAD]]])
# Around each caption, of its length.
DRAWN = torch.tensor(
    [
        [[4, 5, 5, EOS], [6, 5, 4, 4]],
        [[5, EOS, PAD, PAD], [6, 4, PAD, PAD]],
        [[4, 3, EOS, PAD], [5, 3, 6, PAD]],
        [[PAD, PAD, PAD, PAD], [PAD, PAD, PAD, PAD]],
    ]
)
DISTANCES = torch.tensor([[1, 3], [1, 1], [1, 1], [0, 0]])
LOG_Q = torch.tensor([[-2.0, -3.5], [-1.0, -1.2], [-1.5, -1.1], [0.0, 0.0]], dtype=torch.float64)
IMAGES = np.array([1, 0])


class Quarter(Cider):
    """A quarter of CIDEr-D: most samples earn less than 1, where rewards are clipped."""

    def score(self, hypotheses, image):
        return super().score(hypotheses, image) / 4


REWARD = Quarter([[[5, 3], [4, 3]], [[4, 5, 6], [6], [5]], [[4]]])
# Of four tokens only: <unk> has none, as in a file of embeddings. EOS has one.
EMBEDDINGS = torch.tensor([[0, 0], [0, 0], [0.5, -1.0], [0, 0], [1.0, 0.2], [2.0, 1.5], [-0.3, 1.0]])
FREQUENCIES = torch.tensor([0, 0, 7, 2, 3, 9, 1])
TOKENS = int((CAPTIONS != PAD).sum())
CONTEXT = make_context(REWARD, 4, 7, embeddings=EMBEDDINGS, frequencies=FREQUENCIES)


@pytest.fixture
def captioner():
    return tiny_captioner(words=3, seed=57, scale=1.0)


@pytest.fixture
def batch():
    return base.Batch(torch.randn(2, CHANNELS, generator=torch.Generator().manual_seed(1)), IMAGES, CAPTIONS)


def assert_loss(objective, captioner, batch, expected: Tensor):
    loss, _ = objective(captioner, batch)
    torch.testing.assert_close(loss, expected, atol=1e-5, rtol=1e-5)
    assert_close(gradient(captioner, loss), gradient(captioner, expected), atol=1e-5)


def each_caption(batch):
    """Features and tokens of the captions that are there, and which they are."""
    for place in range(4):
        caption = CAPTIONS.flatten(0, 1)[place]
        if caption[0] != PAD:
            yield place, batch.features[place // 2], caption[caption != PAD]


def log_p(captioner, features, caption) -> Tensor:
    """[time, V] under a caption's own words."""
    return captioner.teacher_force(features[None], caption[None])[0].log_softmax(1)


def target(token: int, tau: float, beta: float) -> Tensor:
    """r(. | y*) [V] of equations 13 and 16. <unk> has a constant vector, and no word's target has EOS."""
    vectors = EMBEDDINGS.clone()
    vectors[UNK] = 1
    r = torch.zeros(7)
    for other in (EOS, UNK, 4, 5, 6) if token == EOS else (UNK, 4, 5, 6):
        a, b = vectors[token], vectors[other]
        ratio = FREQUENCIES[other] / FREQUENCIES[token]
        r[other] = torch.exp((a @ b / (a.norm() * b.norm()) - beta * min(ratio, 1 / ratio)) / tau)
    return r / r.sum()


def test_the_entropy_bonus_is_differentiated(captioner, batch):
    expected = torch.zeros(())
    for _, features, caption in each_caption(batch):
        p = log_p(captioner, features, caption)
        truth = p.gather(1, caption[:, None]).sum()
        expected = expected - (truth - 0.3 * (p.exp() * p).sum()) / TOKENS
    objective = entropy_regularised.Model(entropy_regularised.Config(gamma=0.3), CONTEXT)
    assert_loss(objective, captioner, batch, expected)


@pytest.mark.parametrize("beta", [0.0, 0.4])
def test_token_smoothing_is_differentiated(captioner, batch, beta):
    expected = torch.zeros(())
    for _, features, caption in each_caption(batch):
        p = log_p(captioner, features, caption)
        for t, token in enumerate(caption.tolist()):
            expected = expected - (0.3 * p[t, token] + 0.7 * (target(token, 0.5, beta) * p[t]).sum()) / TOKENS
    objective = token_smoothing.Model(token_smoothing.Config(tau=0.5, beta=beta, alpha=0.7), CONTEXT)
    assert_loss(objective, captioner, batch, expected)
    tokens = [token for _, _, caption in each_caption(batch) for token in caption.tolist()]
    moved = sum(1 - target(token, 0.5, beta)[token].item() for token in tokens) / TOKENS
    assert objective(captioner, batch)[1][smoothing.STRENGTH] == pytest.approx(0.7 * moved)


def test_a_caption_may_end_nowhere_but_at_its_end():
    rows = smoothing.TokenTargets(0.5, 0.0, CONTEXT).rows(torch.tensor([EOS, UNK, 4, 5, 6]))
    assert rows[1:, EOS].tolist() == [0, 0, 0, 0]
    # The end itself is no more certain than a word.
    assert (rows[0, UNK:] > 0).all()
    assert rows[0, EOS] < 1
    torch.testing.assert_close(rows.sum(1), torch.ones(5))


def test_an_ending_without_an_embedding_keeps_its_target():
    vectors = EMBEDDINGS.clone()
    vectors[EOS] = 0
    context = make_context(REWARD, 4, 7, embeddings=vectors, frequencies=FREQUENCIES)
    rows = smoothing.TokenTargets(0.5, 0.0, context).rows(torch.tensor([EOS, 4]))
    assert rows[0].tolist() == [0, 0, 1, 0, 0, 0, 0]
    assert rows[1, EOS] == 0
    assert (rows[1, UNK:] > 0).all()


SETTINGS = [{}, {"reward": "mixture"}, {"reward": "mixture", "importance": "literal"}]


def drawn_rewards() -> Tensor:
    rewards = [REWARD.score(DRAWN[place].numpy(), IMAGES[[place // 2] * 2]) for place in range(4)]
    return torch.tensor(np.array(rewards))


def drawn_weights(settings) -> Tensor:
    """Of each caption's two samples, [4, 2]."""
    if not settings:
        return torch.full((4, 2), 0.5)
    reward = drawn_rewards()
    assert reward.max() > 1.2
    assert reward[:3].min() < 0.5
    if settings.get("importance") == "literal":
        weights = (reward / 0.8).exp() / LOG_Q.exp()
        return (weights / weights.sum(1, keepdim=True)).float()
    weights = ((reward.clamp(max=1) - 1) / 0.8).exp()
    return (weights / (weights[:3].sum(0) / 3) / 2).float()


def drawing(settings, monkeypatch, lazy):
    """The settings of sequences that are drawn as DRAWN."""
    found = smoothing.Sequences(DRAWN, DISTANCES, 1.0)
    monkeypatch.setattr(sequence_smoothing, "draw_sequences", lambda *_: (found, LOG_Q))
    monkeypatch.setattr(sequence_smoothing, "draw_at_shared_distances", lambda *_: found)
    return sequence_smoothing.Config(alpha=0.6, samples=2, reward_temperature=0.8, lazy=lazy, **settings)


def sequences(captioner, batch, settings, lazy):
    """Weight, log p [time, V] and tokens of every caption and of every sequence around it."""
    weights = drawn_weights(settings)
    for place, features, caption in each_caption(batch):
        yield 0.4, log_p(captioner, features, caption), caption
        for sample in range(2):
            tokens = DRAWN[place, sample, : len(caption)]
            yield 0.6 * weights[place, sample], log_p(captioner, features, caption if lazy else tokens), tokens


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("settings", SETTINGS)
def test_sequence_smoothing_is_differentiated(captioner, batch, settings, lazy, monkeypatch):
    expected = torch.zeros(())
    for weight, p, tokens in sequences(captioner, batch, settings, lazy):
        expected = expected - weight * p.gather(1, tokens[:, None]).sum() / TOKENS
    objective = sequence_smoothing.Model(drawing(settings, monkeypatch, lazy), CONTEXT)
    assert_loss(objective, captioner, batch, expected)
    _, logs = objective(captioner, batch)
    assert logs[smoothing.STRENGTH] == pytest.approx(0.6 * DISTANCES[:3].sum().item() / 2 / TOKENS)
    if settings:
        weights, reward = drawn_weights(settings)[:3], drawn_rewards()[:3]
        assert logs["sampled_reward"] == pytest.approx(reward.mean().item())
        assert logs["weighted_reward"] == pytest.approx((weights * reward).sum().item() / 3)
        share = weights if "importance" in settings else weights.T
        share = share / share.sum(1, keepdim=True)
        assert logs["effective_samples"] == pytest.approx((1 / share.square().sum(1)).mean().item())


@pytest.mark.parametrize("lazy", [False, True])
def test_both_smoothings_are_differentiated(captioner, batch, lazy, monkeypatch):
    expected = torch.zeros(())
    for weight, p, tokens in sequences(captioner, batch, SETTINGS[1], lazy):
        for t, token in enumerate(tokens.tolist()):
            expected = expected - weight * (0.8 * p[t, token] + 0.2 * (target(token, 0.5, 0.4) * p[t]).sum()) / TOKENS
    config = token_sequence_smoothing.Config(
        token=token_smoothing.Config(tau=0.5, beta=0.4, alpha=0.2), sequence=drawing(SETTINGS[1], monkeypatch, lazy)
    )
    objective = token_sequence_smoothing.Model(config, CONTEXT)
    assert_loss(objective, captioner, batch, expected)
    weighed = [
        (float(weight), target(token, 0.5, 0.4)[token].item())
        for weight, _, tokens in sequences(captioner, batch, SETTINGS[1], lazy)
        for token in tokens.tolist()
    ]
    kept = sum(weight * own for weight, own in weighed) / sum(weight for weight, _ in weighed)
    of_sequences = 0.6 * DISTANCES[:3].sum().item() / 2 / TOKENS
    strength = 1 - (1 - of_sequences) * (1 - 0.2 * (1 - kept))
    assert objective(captioner, batch)[1][smoothing.STRENGTH] == pytest.approx(strength)
