"""The relaxed rollout against a plain loop over one caption's words, for every caption that a tiny captioner writes."""

import math

import pytest
import torch
from enumeration import CHANNELS, all_captions, gradient, log_probs, tiny_captioner

from seqcap.data.vocabulary import BOS, EOS, PAD
from seqcap.models import relaxation
from seqcap.models.base import repeat
from seqcap.models.relaxation import Relaxation, anneal, relaxed_rollout

LENGTH, WORDS = 3, 2
V = 4 + WORDS
CAPTIONS = all_captions(WORDS, LENGTH)
FEATURES = torch.randn(1, CHANNELS, generator=torch.Generator().manual_seed(0))
# A picture of its own for each caption.
ALBUM = torch.randn(len(CAPTIONS), CHANNELS, generator=torch.Generator().manual_seed(2))
WEIGHTS = torch.randn(2, LENGTH * V, 5, generator=torch.Generator().manual_seed(1))
FORMS = [Relaxation("multinomial", rho, feedback_grad=feedback) for rho in (0.0, 1.0) for feedback in (True, False)]


@pytest.fixture
def captioner():
    """It ends late: a third of its captions are cut."""
    captioner = tiny_captioner(WORDS, seed=7, scale=1.0)
    captioner.output.bias.data[EOS] -= 1.5
    return captioner


def value(passed):
    """Something that depends on all of relaxed captions [n, time, V], and not linearly: [n]."""
    flat = torch.nn.functional.pad(passed, (0, 0, 0, LENGTH - passed.shape[1])).flatten(1)
    return torch.tanh(flat @ WEIGHTS[0]).square().sum(1) + torch.sin(flat @ WEIGHTS[1]).sum(1)


def forced(monkeypatch, captions):
    """Makes the rollout draw the words of captions [n, time]."""
    rows, at = torch.arange(len(captions)), 0

    def draw(logits, form):
        nonlocal rows, at
        assert len(logits) == len(rows)
        index = captions[rows, at]
        rows, at = rows[index != EOS], at + 1
        return torch.softmax(logits, 1), index

    monkeypatch.setattr(relaxation, "draw", draw)


def rolled(captioner, form, n):
    return relaxed_rollout(captioner, repeat(captioner.encode(FEATURES), n), LENGTH, form)


def plain(t, logits):
    return torch.softmax(logits, 1)


def written_out(captioner, caption, soft, feedback_grad=True, distribution=plain, features=FEATURES):
    """The relaxed caption [LENGTH, V] of one caption's words; `soft`: which positions pass the distribution on."""
    memory = captioner.encode(features)
    state, inputs, passed = captioner.start(memory), torch.tensor([BOS]), []
    for t, word in enumerate(caption):
        logits, state = captioner.step(inputs, state, memory)
        p = distribution(t, logits)
        onehot = torch.nn.functional.one_hot(torch.tensor([word]), V).float()
        if word == EOS:
            passed.append(onehot)
            break
        passed.append(p if soft[t] else onehot + p - p.detach())
        inputs = passed[-1] if feedback_grad else passed[-1].detach()
    passed += [torch.zeros(1, V)] * (LENGTH - len(passed))
    return torch.cat(passed)


def assert_as_written(captioner, found, *caption, atol=1e-6, **how):
    """A relaxed caption has the value and the gradient of the written out one; returns the gradient."""
    expected = value(written_out(captioner, *caption, **how)[None])[0]
    torch.testing.assert_close(found, expected)
    exact = gradient(captioner, expected) if expected.requires_grad else torch.zeros((), dtype=torch.double)
    actual = gradient(captioner, found)
    torch.testing.assert_close(actual, exact.expand_as(actual), atol=atol, rtol=1e-4)
    return exact


def words(caption):
    return [token for token in caption.tolist() if token != PAD]


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_gradients_are_those_of_a_plain_loop(captioner, form, monkeypatch):
    """rho = 1: the exact gradient of the relaxed objective, given the ends. rho = 0: straight-through."""
    forced(monkeypatch, CAPTIONS)
    found = relaxed_rollout(captioner, captioner.encode(ALBUM), LENGTH, form)
    assert torch.equal(found.tokens, CAPTIONS)
    assert found.soft == form.rho
    if form.rho == 0:
        assert torch.equal(
            found.passed, torch.nn.functional.one_hot(CAPTIONS, V).float() * (CAPTIONS != PAD)[..., None]
        )
    values = value(found.passed)
    for row, caption in enumerate(CAPTIONS):
        soft, own = [form.rho == 1] * LENGTH, ALBUM[row : row + 1]
        exact = assert_as_written(captioner, values[row], words(caption), soft, form.feedback_grad, features=own)
        assert (exact.norm() > 1e-2) == (caption[0] != EOS)


@pytest.mark.parametrize("feedback_grad", [True, False])
def test_both_kinds_of_steps_in_one_caption(captioner, feedback_grad, monkeypatch):
    form = Relaxation("multinomial", 0.5, feedback_grad=feedback_grad)
    forced(monkeypatch, CAPTIONS)
    torch.manual_seed(3)
    found = rolled(captioner, form, len(CAPTIONS))
    mixed = 0
    for row, caption in enumerate(CAPTIONS):
        soft = ((found.passed[row] > 0) & (found.passed[row] < 1)).any(1).tolist()
        mixed += len(set(soft[: len(words(caption))])) == 2
        assert_as_written(captioner, value(found.passed)[row], words(caption), soft, feedback_grad)
    assert mixed > 10


@pytest.mark.parametrize("rho", [0.0, 1.0])
@pytest.mark.parametrize("feedback_grad", [True, False])
def test_gumbels_gradient_is_that_of_the_tempered_softmax(captioner, rho, feedback_grad, monkeypatch):
    tau, lengths = 0.7, set()
    form = Relaxation("gumbel", rho, tau, feedback_grad)
    for seed in range(30):
        noise = -torch.log(-torch.log(torch.rand(LENGTH, 1, V, generator=torch.Generator().manual_seed(seed))))
        ahead = iter(noise)
        monkeypatch.setattr(relaxation, "gumbel_noise", lambda like, ahead=ahead: next(ahead))
        found = rolled(captioner, form, 1)
        caption = words(found.tokens[0])
        lengths.add(len(caption))
        # The drawn word is the noisiest score's.
        chosen = []

        def tempered(t, logits, noise=noise, chosen=chosen):
            scores = torch.log_softmax(logits, 1) + noise[t]
            chosen.append(int(scores.argmax()))
            return torch.softmax(scores / tau, 1)

        soft = [rho == 1] * LENGTH
        assert_as_written(captioner, value(found.passed)[0], caption, soft, feedback_grad, tempered, atol=1e-5)
        assert chosen == caption
    assert lengths == {1, 2, 3}


@pytest.mark.parametrize("form", [Relaxation("multinomial", 0.0), Relaxation("gumbel", 0.0, 5.0)], ids=str)
def test_samples_follow_the_captioners_distribution(captioner, form):
    """Whatever the temperature."""
    torch.manual_seed(0)
    n = 8000
    with torch.no_grad():
        drawn = rolled(captioner, form, n).tokens
        p = log_probs(captioner, FEATURES[0], CAPTIONS).exp()
    share = (drawn[:, None] == CAPTIONS).all(2).float().mean(0)
    assert share.sum().item() == pytest.approx(1)
    assert ((share - p).abs() < 4.5 * (p * (1 - p) / n).sqrt() + 1e-4).all()


@pytest.mark.parametrize("rho", [0.1, 0.75])
@pytest.mark.parametrize("distribution", ["multinomial", "gumbel"])
def test_the_share_of_distributions_is_rho(captioner, distribution, rho):
    torch.manual_seed(0)
    with torch.no_grad():
        found = rolled(captioner, Relaxation(distribution, rho), 3000)
    is_word = (found.tokens != PAD) & (found.tokens != EOS)
    soft = (found.passed.amax(2) < 1)[is_word].float()
    assert len(soft) > 3000
    assert soft.mean().item() == pytest.approx(rho, abs=0.03)
    assert found.soft == pytest.approx(soft.mean().item())
    by_step = [(found.passed[:, t].amax(1) < 1)[is_word[:, t]].float().mean().item() for t in range(LENGTH)]
    assert by_step == pytest.approx([rho] * LENGTH, abs=0.06)


def test_captions_that_all_end_at_once_still_have_a_gradient_of_zero(captioner, monkeypatch):
    """DistributedDataParallel waits for every parameter."""
    forced(monkeypatch, CAPTIONS[:1].expand(4, -1))
    assert CAPTIONS[0, 0] == EOS
    found = rolled(captioner, Relaxation("multinomial", 1.0), 4)
    assert found.passed.shape == (4, 1, V)
    assert found.soft == 0
    value(found.passed).sum().backward()
    assert not captioner.output.weight.grad.any()


def test_the_temperature_falls_as_printed():
    """tau = max(.5, exp(-r t)), not the running product of it."""
    rate = 0.01
    assert [anneal(t, rate) for t in (0, 1, 30, 69)] == pytest.approx([math.exp(-rate * t) for t in (0, 1, 30, 69)])
    assert [anneal(t, rate) for t in (70, 500, 10**6)] == [0.5] * 3
