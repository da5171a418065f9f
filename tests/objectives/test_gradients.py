"""The expected gradient of every policy-gradient estimator against the exact one, over all sets of seven captions."""

import re
from dataclasses import replace
from itertools import combinations_with_replacement, product
from math import factorial, prod
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from enumeration import (
    CHANNELS,
    Cider,
    all_captions,
    assert_close,
    gradient,
    log_probs,
    make_context,
    say,
    tiny_captioner,
)
from plain_rewards import bleu
from torch import Tensor

from seqcap.data.vocabulary import EOS, PAD
from seqcap.models import decoding
from seqcap.objectives import cross_entropy, maximum_entropy, self_critical, sequence_exploration
from seqcap.objectives.shared import base
from seqcap.rewards.bleu import pairwise_bleu

CAPTIONS = all_captions(words=1, max_length=2)
FEATURES = torch.randn(CHANNELS, generator=torch.Generator().manual_seed(0))
REWARD = Cider([[[4], [4, 4]], [[3], [5]]])
CONTEXT = make_context(REWARD, 2, 5)


def expected_gradient(objective, captioner, samples: int, monkeypatch, captions: Tensor = CAPTIONS) -> Tensor:
    """Minus the expected gradient of the objective's loss, over all sets of `samples` captions."""
    probability = log_probs(captioner, FEATURES, captions).exp().double().detach()
    longest = captions.shape[1]
    greedy = decoding.greedy(captioner, captioner.encode(FEATURES[None]), longest).tokens
    greedy = torch.nn.functional.pad(greedy, (0, longest - greedy.shape[1]))
    batch = base.Batch(FEATURES[None], np.array([0]), captions[None])
    total = None
    for chosen in combinations_with_replacement(range(len(captions)), samples):
        orders = factorial(samples) / prod(factorial(chosen.count(i)) for i in set(chosen))
        weight = orders * probability[list(chosen)].prod()
        say(monkeypatch, torch.cat([captions[list(chosen)], greedy]))
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


@pytest.mark.parametrize("samples", [1, 2, 3])
def test_sll_is_the_gradient_of_expected_cider(captioner, samples, monkeypatch):
    objective = self_critical.Model(self_critical.Config(samples=samples), CONTEXT)
    actual = expected_gradient(objective, captioner, samples, monkeypatch)
    assert_close(actual, gradient(captioner, quality(captioner)))


# Both parts of the loss are scaled by the number of samples: where both weigh, either's wrong scale fails.
@pytest.mark.parametrize(("samples", "alpha"), [(3, 0.0), (3, 0.25), (3, 0.75), (4, 0.25)])
def test_unbiased_sle_is_the_gradient_of_equation_8(captioner, samples, alpha, monkeypatch):
    config = sequence_exploration.Config(samples=samples, alpha=alpha, estimator="leave_one_out")
    actual = expected_gradient(sequence_exploration.Model(config, CONTEXT), captioner, samples, monkeypatch)
    expected = gradient(captioner, alpha * quality(captioner) + (1 - alpha) * exploration(captioner))
    assert_close(actual, expected)


@pytest.mark.parametrize(("samples", "alpha"), [(3, 0.0), (3, 0.75), (4, 0.25)])
def test_printed_sle_is_equation_8_with_its_exploration_shrunk(captioner, samples, alpha, monkeypatch):
    """Equation 16 as printed: E = alpha grad E[Delta] + (1 - alpha) (s - 1)(s - 2) / s^2 grad E[d]."""
    config = sequence_exploration.Config(samples=samples, alpha=alpha, estimator="paper")
    actual = expected_gradient(sequence_exploration.Model(config, CONTEXT), captioner, samples, monkeypatch)
    shrunk = (samples - 1) * (samples - 2) / samples**2
    expected = gradient(captioner, alpha * quality(captioner) + (1 - alpha) * shrunk * exploration(captioner))
    assert_close(actual, expected)


# Captions of up to five times the one word: long enough for 4-grams.
LONG = all_captions(words=0, max_length=5)


def novelty(own: list[list[int]], floor: float) -> list[float]:
    """What the authors' code pays each of an image's samples, words without EOS, for being unlike the others."""
    scores = [-sum(bleu(own[j], own[:j] + own[j + 1 :])[2:]) / 2 for j in range(len(own))]
    return [score - max(sum(scores) / len(own), floor) for score in scores]


def novelty_of_one(captioner, floor: float) -> Tensor:
    """What a sample is paid on average beside two others, as a function of its own distribution; theirs is fixed."""
    said = [[token for token in caption.tolist() if token not in (EOS, PAD)] for caption in LONG]
    p = log_probs(captioner, FEATURES, LONG).exp()
    others = p.detach()
    total = p.new_zeros(())
    for one, two, three in product(range(len(LONG)), repeat=3):
        paid = novelty([said[one], said[two], said[three]], floor)[0]
        total = total + paid * p[one] * others[two] * others[three]
    return total


# A floor of -1 is never reached; one of 0 replaces every mean.
@pytest.mark.parametrize("floor", [-1.0, -0.5, 0.0])
def test_the_authors_code_pays_words_unlike_the_others_above_a_floor(floor, monkeypatch):
    captioner = tiny_captioner(words=0, seed=3)
    settings = {"distance": "multi_reference", "floor": floor}
    context = make_context(Cider([[[3], [3, 3, 3]]]), 5, 4)
    config = sequence_exploration.Config(samples=3, alpha=0.0, **settings)
    actual = expected_gradient(sequence_exploration.Model(config, context), captioner, 3, monkeypatch, LONG)
    assert_close(actual, gradient(captioner, novelty_of_one(captioner, floor)))


def test_samples_that_agree_lose_under_the_floor_alone(two_images):
    """Of a collapsed policy every sample scores -1: below the floor each loses, without it none gains or loses."""
    _, _, context = two_images
    same = torch.tensor([[4, 5, 6, 4, 5, 2]]).expand(3, -1)
    paid = {}
    for floor in (-0.5, -1.0):
        config = sequence_exploration.Config(samples=3, distance="multi_reference", floor=floor)
        paid[floor] = sequence_exploration.Model(config, context).exploration(same)
    torch.testing.assert_close(paid[-0.5], torch.full((1, 3), -0.5, dtype=torch.float64))
    torch.testing.assert_close(paid[-1.0], torch.zeros(1, 3, dtype=torch.float64), atol=1e-6, rtol=0)


# --- What a baseline or a scale changes is the gradient of a draw, not its expectation: two images, three samples of
# each and a greedy caption, and the loss as the papers print it.
SAMPLED = torch.tensor(
    [
        [[4, 5, 6, 2, 0, 0], [4, 5, 6, 4, 5, 2], [6, 4, 5, 6, 2, 0], [4, 6, 2, 0, 0, 0]],
        # Two are the same and too short for a 4-gram; one was cut.
        [[5, 6, 2, 0, 0, 0], [5, 6, 2, 0, 0, 0], [6, 5, 4, 4, 5, 6], [6, 5, 4, 2, 0, 0]],
    ]
)
OF_BOTH = Cider([[[4, 5, 6, 4], [4, 6]], [[6, 5, 4, 4, 5], [5]], [[5, 5]]])
IMAGES = np.array([0, 1])


@pytest.fixture
def two_images():
    """A captioner over six tokens, a batch of two images, and what objectives of it may use."""
    features = torch.randn(2, CHANNELS, generator=torch.Generator().manual_seed(1))
    context = replace(CONTEXT, reward=OF_BOTH, max_length=6, frequencies=torch.ones(7, dtype=torch.int64))
    return tiny_captioner(words=3, seed=57, scale=1.0), base.Batch(features, IMAGES, SAMPLED), context


def sample_log_probs(captioner, batch) -> Tensor:
    """log p of each sample, [2, 3]."""
    return torch.stack([log_probs(captioner, batch.features[i], SAMPLED[i, :3]) for i in range(2)])


def advantages() -> Tensor:
    """CIDEr-D above the greedy caption's, [2, 3]."""
    reward = torch.from_numpy(np.stack([OF_BOTH.score(SAMPLED[i].numpy(), IMAGES[[i] * 4]) for i in range(2)]))
    assert reward[:, 3].min() > 0.5
    return (reward[:, :3] - reward[:, 3:]).float()


def words(caption: Tensor) -> list[int]:
    return [token for token in caption.tolist() if token]


def assert_loss(objective, two_images, expected: Tensor, monkeypatch):
    """The loss of the fixed draw and its gradient."""
    captioner, batch, _ = two_images
    say(monkeypatch, SAMPLED.flatten(0, 1))
    loss, _ = objective(captioner, batch)
    torch.testing.assert_close(loss, expected, atol=1e-6, rtol=1e-5)
    assert_close(gradient(captioner, loss), gradient(captioner, expected))


def test_slls_loss_is_that_of_its_baseline(two_images, monkeypatch):
    captioner, batch, context = two_images
    expected = -(advantages() * sample_log_probs(captioner, batch)).sum() / 6
    objective = self_critical.Model(self_critical.Config(samples=3), context)
    assert_loss(objective, two_images, expected, monkeypatch)


def test_sll_mes_loss_is_slls_and_the_entropy_of_every_token(two_images, monkeypatch):
    captioner, batch, context = two_images
    expected = -(advantages() * sample_log_probs(captioner, batch)).sum() / 6
    for i in range(2):
        logits = captioner.teacher_force(batch.features[i].expand(3, -1), SAMPLED[i, :3])
        log_p = logits.log_softmax(2)
        entropy = -(log_p.exp() * log_p).sum(2).masked_fill(SAMPLED[i, :3] == 0, 0).sum()
        expected = expected - 0.3 * entropy / 6
    objective = maximum_entropy.Model(maximum_entropy.Config(samples=3, entropy_weight=0.3), context)
    assert_loss(objective, two_images, expected, monkeypatch)


def explored(settings: dict[str, Any]) -> Tensor:
    """The second factor of equation 16's exploration term, or what stands in its place, [2, 3]."""
    found = torch.zeros(2, 3)
    for i in range(2):
        own = [words(caption) for caption in SAMPLED[i, :3]]
        if settings.get("distance") == "multi_reference":
            said = [[token for token in caption if token != EOS] for caption in own]
            found[i] = torch.tensor(novelty(said, settings["floor"]))
            continue
        similarity = [[sum(bleu(left, right)[2:]) for right in [[other] for other in own]] for left in own]
        d = [
            [0 if own[j] == own[k] else 2 - (similarity[j][k] + similarity[k][j]) / 2 for k in range(3)]
            for j in range(3)
        ]
        for j in range(3):
            if settings.get("estimator") == "leave_one_out":
                without = [d[a][b] for a in range(3) for b in range(3) if a != b and j not in (a, b)]
                found[i, j] = 2 * (sum(d[j]) / 2 - sum(without) / 2)
            else:
                found[i, j] = 2 / 3 * sum(d[j][k] - sum(map(sum, d)) / 9 for k in range(3))
    return found


@pytest.mark.parametrize(
    "settings", [{}, {"estimator": "leave_one_out"}, {"distance": "multi_reference", "floor": -0.3}]
)
def test_sles_loss_is_equation_16(two_images, settings, monkeypatch):
    captioner, batch, context = two_images
    weights = 0.7 * advantages() + 0.3 * explored(settings)
    expected = -(weights * sample_log_probs(captioner, batch)).sum() / 6
    config = sequence_exploration.Config(samples=3, alpha=0.7, **settings)
    assert_loss(sequence_exploration.Model(config, context), two_images, expected, monkeypatch)


def docs_examples() -> list[str]:
    page = Path(__file__).parents[2] / "docs/objectives.md"
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def test_the_example_of_the_docs_is_minimum_risk(two_images, monkeypatch):
    captioner, batch, context = two_images
    defined: dict[str, Any] = {"__name__": "minimum_risk"}
    exec(docs_examples()[0], defined)
    objective = defined["Model"](defined["Config"](samples=3), context)
    weight = (0.05 * sample_log_probs(captioner, batch)).softmax(1)
    reward = torch.from_numpy(np.stack([OF_BOTH.score(SAMPLED[i, :3].numpy(), IMAGES[[i] * 3]) for i in range(2)]))
    expected = -(weight * reward.float()).sum(1).mean()
    assert_loss(objective, two_images, expected, monkeypatch)


def test_the_critic_of_the_docs_reads_the_images_and_has_its_own_rate(two_images):
    _, batch, context = two_images
    defined = {**vars(base), "prod": prod, "nn": torch.nn, "Config": object, "self_critical": self_critical}
    # The page has the methods that a policy gradient needs besides `forward`.
    exec("class Model(self_critical.Model):\n" + docs_examples()[1], defined)
    objective = defined["Model"](
        SimpleNamespace(critic_pace=3.0), replace(context, feature_shape=tuple(batch.features.shape[1:]))
    )
    partner = objective.partners()["critic"]
    assert partner.pace == 3
    assert partner.module(batch.features).shape == (len(batch.features), 1)


def test_cross_entropys_loss_is_the_mean_over_tokens(two_images):
    captioner, batch, context = two_images
    loss, _ = cross_entropy.Model(cross_entropy.Config(), context)(captioner, batch)
    total = sum(log_probs(captioner, batch.features[i], SAMPLED[i]).sum() for i in range(2))
    expected = -total / int((SAMPLED != 0).sum())
    torch.testing.assert_close(loss, expected)
    assert_close(gradient(captioner, loss), gradient(captioner, expected))


def test_samples_come_with_their_own_rewards_and_the_greedy_captions(two_images):
    captioner, batch, context = two_images
    torch.manual_seed(0)
    samples = base.draw_with_greedy(captioner, captioner.encode(batch.features), batch, context, 20)
    drawn = samples.tokens.view(2, 20, -1)
    assert len(set(map(tuple, drawn[0].tolist()))) > 5
    greedy = decoding.greedy(captioner, captioner.encode(batch.features), 6).tokens.numpy()
    for i in range(2):
        expected = OF_BOTH.score(drawn[i].numpy(), np.full(20, i))
        torch.testing.assert_close(samples.reward[i], torch.from_numpy(expected).float())
        assert words(samples.greedy[i]) == words(torch.from_numpy(greedy[i]))
        assert samples.baseline[i].item() == pytest.approx(OF_BOTH.score(greedy[[i]], np.array([i]))[0], rel=1e-5)
    assert (samples.reward[0] != samples.reward[1]).any()
    assert samples.baseline.min() > 0.5
