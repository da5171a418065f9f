"""Loss smoothing: what is sampled against its closed form, the losses against sums over every sequence."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from enumeration import CHANNELS, Cider, tiny_captioner
from torch import Tensor

from seqcap import objectives
from seqcap.data.vocabulary import EOS, PAD, UNK
from seqcap.errors import InputError
from seqcap.objectives import (
    cross_entropy,
    entropy_regularised,
    sequence_smoothing,
    token_sequence_smoothing,
    token_smoothing,
)
from seqcap.objectives.base import Batch, Context
from seqcap.objectives.smoothing import Sequences, TokenTargets, distance_log_probs, draw_sequences

WORDS = 6
VOCABULARY = 4 + WORDS
# Two images of two captions: <unk> inside one, a missing caption, words that only one of the images has.
CAPTIONS = torch.tensor(
    [
        [[4, UNK, 5, EOS, PAD], [6, 4, EOS, PAD, PAD]],
        [[7, 8, 4, 7, EOS], [PAD, PAD, PAD, PAD, PAD]],
    ]
)
POOLS = {
    "vocabulary": [{4, 5, 6, 7, 8, 9}] * 4,
    "batch": [{4, 5, 6, 7, 8}] * 4,
    "references": [{4, 5, 6}] * 2 + [{4, 7, 8}] * 2,
}
REWARD = Cider([[[4, 5], [6, 4]], [[7, 8, 4, 7]]])
FREQUENCIES = torch.tensor([0, 0, 30, 4, 20, 10, 5, 1, 1, 0])


def embeddings() -> Tensor:
    vectors = torch.randn(VOCABULARY, 3, generator=torch.Generator().manual_seed(1))
    vectors[:4] = 0
    # A word that the embeddings do not cover.
    vectors[8] = 0
    return vectors


CONTEXT = Context(
    REWARD, max_length=5, hidden=4, steps_per_epoch=1, embeddings=embeddings(), frequencies=FREQUENCIES, reads={}
)


@pytest.fixture
def captioner():
    return tiny_captioner(WORDS, seed=3)


@pytest.fixture
def batch():
    features = torch.randn(2, CHANNELS, generator=torch.Generator().manual_seed(0))
    return Batch(features, np.array([0, 1]), CAPTIONS)


def run(name, captioner, batch, context=CONTEXT, seed=0, **settings):
    """Loss and gradient of an objective under a fixed seed."""
    torch.manual_seed(seed)
    loss, _ = objectives.build(name, settings, context)(captioner, batch)
    gradient = torch.autograd.grad(loss, list(captioner.parameters()))
    return loss.detach(), torch.cat([part.flatten() for part in gradient])


def neighbours(caption: list[int], pool: set[int]) -> list[tuple[int, ...]]:
    """Every sequence that substitutes words of the caption by words of the pool."""
    return list(product(*[sorted(pool) if token >= 4 else [token] for token in caption]))


def distance(one, other) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))


# Sampling


@pytest.mark.parametrize("pool", list(POOLS))
@pytest.mark.parametrize("tau", [0.4, 1.5])
def test_samples_have_the_distribution_of_their_closed_form(pool, tau):
    """Chi-square of each of the L samples by itself, over all sequences of each caption."""
    torch.manual_seed(0)
    times, samples = 8000, 2
    drawn = draw_sequences(CAPTIONS.repeat(times, 1, 1), VOCABULARY, tau, samples, pool)
    tokens = drawn.tokens.view(times, 4, samples, 5)
    for caption, (truth, words) in enumerate(zip(CAPTIONS.flatten(0, 1).tolist(), POOLS[pool], strict=True)):
        sequences = neighbours(truth, words)
        q = np.array([math.exp(-distance(y, truth) / tau) for y in sequences])
        q /= q.sum()
        for sample in range(samples):
            counts = dict.fromkeys(sequences, 0)
            # A sequence that is not among the neighbours is a KeyError.
            for row in map(tuple, tokens[:, caption, sample].tolist()):
                counts[row] += 1
            # Rare sequences are counted together: chi-square needs some five in every cell.
            order = np.argsort(q)
            cell = np.cumsum(q[order] * times) // 10
            expected = np.bincount(cell.astype(int), q[order] * times)
            observed = np.bincount(cell.astype(int), np.array(list(counts.values()))[order])
            kept = expected > 0
            statistic = ((observed - expected)[kept] ** 2 / expected[kept]).sum()
            degrees = kept.sum() - 1
            assert statistic <= degrees + 4 * math.sqrt(2 * degrees)


@pytest.mark.parametrize("pool", list(POOLS))
def test_log_q_is_the_probability_of_the_sequence(pool):
    tau = 0.7
    drawn = draw_sequences(CAPTIONS, VOCABULARY, tau, 40, pool)
    for caption, (truth, words) in enumerate(zip(CAPTIONS.flatten(0, 1).tolist(), POOLS[pool], strict=True)):
        total = sum(math.exp(-distance(y, truth) / tau) for y in neighbours(truth, words))
        for tokens, d, log_q in zip(
            drawn.tokens[caption].tolist(),
            drawn.distances[caption].tolist(),
            drawn.log_q[caption].tolist(),
            strict=True,
        ):
            assert d == distance(tokens, truth)
            assert log_q == pytest.approx(-d / tau - math.log(total), abs=1e-12)


def test_the_samples_of_a_caption_are_strata():
    """L distances are spread over p(d) as evenly as L can be: within one of L p(d) cumulated."""
    tau, samples = 0.8, 50
    drawn = draw_sequences(CAPTIONS, VOCABULARY, tau, samples, "vocabulary")
    p = distance_log_probs(torch.tensor([4]), torch.tensor([5]), tau, 5).exp()[0]
    counts = torch.bincount(drawn.distances[2], minlength=6)
    assert ((counts.cumsum(0) - samples * p.cumsum(0)).abs() < 1 + 1e-9).all()


def test_distances_of_a_large_vocabulary_are_those_of_independent_substitutions():
    """p(d) at T = 20, V = 10^4 is Binomial(T, (V - 1) e / (1 + (V - 1) e)), e = exp(-1 / tau), without overflow."""
    for tau in (0.01, 0.1, 0.3, 3.0):
        p = distance_log_probs(torch.tensor([20, 3]), torch.tensor([9999, 0]), tau, 20).exp()
        assert torch.isfinite(p).all()
        odds = 9999 * math.exp(-1 / tau)
        expected = [math.comb(20, d) * odds**d / (1 + odds) ** 20 for d in range(21)]
        np.testing.assert_allclose(p[0].numpy(), expected, rtol=1e-9)
        # Without another word to substitute, nothing is.
        assert p[1].tolist() == [1.0] + [0.0] * 20


@pytest.mark.parametrize("pool", list(POOLS))
def test_captions_without_a_word_or_a_substitute_stay(pool):
    captions = torch.tensor([[[UNK, EOS], [UNK, UNK]], [[PAD, PAD], [EOS, PAD]]])
    drawn = draw_sequences(captions, 5, 1.0, 3, pool)
    assert (drawn.tokens == captions.flatten(0, 1)[:, None]).all()
    captions[0, 0, 0] = 4
    drawn = draw_sequences(captions, 5, 1.0, 3, pool)
    assert (drawn.tokens == captions.flatten(0, 1)[:, None]).all()
    assert (drawn.log_q == 0).all()


# Sequence level


@pytest.mark.parametrize("reward", ["hamming", "mixture"])
@pytest.mark.parametrize("lazy", [False, True])
def test_samples_in_the_proportions_of_q_give_the_expectation_exactly(captioner, reward, lazy, monkeypatch):
    """With exp(-1 / tau) = 1/2 every sequence at distance d is drawn 2^(T - d) times: then the importance-weighted
    mean must be E_r with r ~ exp(R / tau_r), and the plain mean E_r with r ~ exp(-d / tau)."""
    tau, reward_temperature, alpha = 1 / math.log(2), 0.7, 0.3
    truth = [4, 6, EOS]
    pool = set(range(4, VOCABULARY))
    sequences = neighbours(truth, pool)
    d = np.array([distance(y, truth) for y in sequences])
    tokens = torch.tensor([y for y, k in zip(sequences, d, strict=True) for _ in range(2 ** (2 - k))])
    repeated = torch.tensor([k for k in d for _ in range(2 ** (2 - k))])
    log_q = -repeated.double() / tau - 2 * math.log(1 + (len(pool) - 1) / 2)
    drawn = Sequences(tokens[None], repeated[None], log_q[None])
    monkeypatch.setattr(sequence_smoothing, "draw_sequences", lambda *_: drawn)
    settings = {
        "tau": tau,
        "alpha": alpha,
        "reward": reward,
        "reward_temperature": reward_temperature,
        "samples": len(tokens),
        "lazy": lazy,
    }
    features = torch.randn(1, CHANNELS, generator=torch.Generator().manual_seed(0))
    batch = Batch(features, np.array([0]), torch.tensor([[truth]]))
    actual, _ = run("sequence_smoothing", captioner, batch, **settings)

    scores = REWARD.score(np.array(sequences), np.zeros(len(sequences), np.int64))
    assert len(set(scores.round(6))) > 2
    exponent = torch.from_numpy(scores / reward_temperature if reward == "mixture" else -d / tau)
    log_p = captioner.teacher_force(features.expand(len(sequences), -1), torch.tensor(sequences)).log_softmax(2)
    if lazy:
        log_p = captioner.teacher_force(features, torch.tensor([truth])).log_softmax(2).expand_as(log_p)
    cost = -log_p.gather(2, torch.tensor(sequences)[:, :, None]).squeeze(2).mean(1)
    mle = cost[sequences.index(tuple(truth))]
    expected = (1 - alpha) * mle + alpha * (exponent.softmax(0).float() @ cost)
    assert actual.item() == pytest.approx(expected.item(), rel=1e-5)


@pytest.mark.parametrize("settings", [{"reward": "hamming"}, {"reward": "mixture"}])
@pytest.mark.parametrize("name", ["sequence_smoothing", "token_sequence_smoothing"])
def test_lazy_is_exact_where_the_state_ignores_the_words(captioner, batch, name, settings):
    with torch.no_grad():
        captioner.embedding.weight.zero_()
        # Nor may the gradient tell which words were fed.
        captioner.lstm.weight_ih_l0.zero_()
    assert_lazy_is_exact(captioner, batch, name, settings)


def test_lazy_is_exact_for_the_first_token(captioner, batch):
    batch = Batch(batch.features, batch.images, CAPTIONS[:, :1, :1])
    assert_lazy_is_exact(captioner, batch, "sequence_smoothing", {})


def test_lazy_is_not_exact_otherwise(captioner, batch):
    with pytest.raises(AssertionError):
        assert_lazy_is_exact(captioner, batch, "sequence_smoothing", {})


def assert_lazy_is_exact(captioner, batch, name, settings):
    losses = []
    for lazy in (True, False):
        sequence = {"tau": 1.5, "samples": 7, "lazy": lazy, **settings}
        nested = name == "token_sequence_smoothing"
        losses.append(run(name, captioner, batch, **({"token": {}, "sequence": sequence} if nested else sequence)))
    torch.testing.assert_close(losses[0], losses[1], rtol=1e-5, atol=1e-6)


def test_a_reward_pulls_towards_better_sequences(captioner, batch):
    """At a low reward temperature the best of the samples is the target."""
    settings = {"tau": 1.5, "alpha": 1.0, "samples": 20, "reward": "mixture", "reward_temperature": 1e-3}
    torch.manual_seed(0)
    objective = objectives.build("sequence_smoothing", settings, CONTEXT)
    _, logs = objective(captioner, batch)
    assert logs["effective_samples"] < 20
    drawn = draw_sequences(CAPTIONS, VOCABULARY, 1.5, 20, "vocabulary")
    weights = objective.importance_weights(drawn, batch)
    rewards = REWARD.score(drawn.tokens.flatten(0, 1).numpy(), np.repeat([0, 1], 40)).reshape(4, 20)
    best = np.isclose(rewards, rewards.max(1, keepdims=True))
    assert (weights.sum(1) - 1).abs().max() < 1e-6
    assert weights[torch.from_numpy(best)].sum().item() == pytest.approx(4, rel=1e-5)


def test_one_sample_of_a_reward_is_refused():
    with pytest.raises(ValueError, match="at least 2 samples"):
        sequence_smoothing.Config(reward="mixture", samples=1)
    assert sequence_smoothing.Config(reward="hamming", samples=1).samples == 1


# Token level


@pytest.mark.parametrize("beta", [0.0, 0.4])
def test_token_targets_have_their_closed_form(beta):
    tau = 0.3
    rows = TokenTargets(tau, beta, CONTEXT).rows(torch.arange(VOCABULARY)).double()
    torch.testing.assert_close(rows.sum(1), torch.ones(VOCABULARY, dtype=torch.float64), atol=1e-6, rtol=0)
    vectors = embeddings().double()
    covered = [4, 5, 6, 7, 9]
    for truth in range(VOCABULARY):
        if truth not in covered:
            # Specials and words without an embedding.
            assert rows[truth].tolist() == [float(token == truth) for token in range(VOCABULARY)]
            continue
        expected = np.zeros(VOCABULARY)
        for token in covered:
            f, g = FREQUENCIES[token].item(), FREQUENCIES[truth].item()
            ratio = min(f, g) / max(f, g, 1)
            cosine = torch.cosine_similarity(vectors[token], vectors[truth], dim=0).item()
            expected[token] = math.exp((cosine - beta * ratio) / tau)
        np.testing.assert_allclose(rows[truth].numpy(), expected / expected.sum(), rtol=1e-5)


def test_the_loss_is_the_cross_entropy_against_the_targets(captioner, batch):
    loss, _ = run("token_smoothing", captioner, batch, tau=0.3, beta=0.2, alpha=0.6)
    targets = TokenTargets(0.3, 0.2, CONTEXT)
    features = batch.features.repeat_interleave(2, 0)
    log_p = captioner.teacher_force(features, CAPTIONS.flatten(0, 1)).log_softmax(2)
    total, tokens = 0.0, 0
    for row, caption in zip(log_p, CAPTIONS.flatten(0, 1), strict=True):
        for p, token in zip(row, caption, strict=True):
            if token != PAD:
                total -= 0.6 * (targets.rows(token[None])[0] @ p).item() + 0.4 * p[token].item()
                tokens += 1
    assert loss.item() == pytest.approx(total / tokens, rel=1e-5)


def test_promotion_moves_mass_to_words_of_another_frequency():
    plain = TokenTargets(0.3, 0.0, CONTEXT).rows(torch.tensor([4]))[0]
    promoted = TokenTargets(0.3, 0.3, CONTEXT).rows(torch.tensor([4]))[0]
    # Word 4 is seen 20 times, 7 once, 5 ten times.
    assert promoted[7] / promoted[4] > plain[7] / plain[4]
    assert promoted[7] / promoted[5] > plain[7] / plain[5]


@pytest.mark.parametrize(
    ("name", "settings"), [("token_smoothing", {}), ("token_sequence_smoothing", {"token": {}, "sequence": {}})]
)
def test_missing_embeddings_are_one_line(name, settings):
    with pytest.raises(InputError, match="needs word embeddings") as caught:
        objectives.build(name, settings, replace(CONTEXT, embeddings=None))
    assert "\n" not in str(caught.value)


def test_checkpoints_hold_no_embeddings():
    assert not token_smoothing.Model(token_smoothing.Config(), CONTEXT).state_dict()


# All of them

WITHOUT_SMOOTHING = {
    "entropy_regularised": {"gamma": 0.0},
    "token_smoothing": {"alpha": 0.0},
    "sequence_smoothing": {"alpha": 0.0},
    "token_sequence_smoothing": {"token": {"alpha": 0.0}, "sequence": {"alpha": 0.0}},
}


@pytest.mark.parametrize("name", list(WITHOUT_SMOOTHING))
def test_without_smoothing_it_is_cross_entropy_to_the_bit(captioner, batch, name):
    captioner.dropout = 0.5
    captioner.train()
    loss, gradient = run(name, captioner, batch, **WITHOUT_SMOOTHING[name])
    expected, expected_gradient = run("cross_entropy", captioner, batch)
    assert loss.item() == expected.item()
    torch.testing.assert_close(gradient, expected_gradient, atol=1e-7, rtol=1e-5)


@pytest.mark.parametrize(
    "settings",
    [{"lazy": False}, {"reward": "mixture"}, {"substitutes": "references"}, {"reward": "mixture", "lazy": False}],
)
def test_no_variant_of_the_sequences_matters_at_alpha_zero(captioner, batch, settings):
    loss, _ = run("sequence_smoothing", captioner, batch, alpha=0.0, **settings)
    assert loss.item() == run("cross_entropy", captioner, batch)[0].item()


@pytest.mark.parametrize("lazy", [True, False])
def test_token_sequence_smoothing_falls_back_to_either(captioner, batch, lazy):
    token, sequence = {"tau": 0.4, "beta": 0.1, "alpha": 0.6}, {"tau": 1.0, "alpha": 0.5, "lazy": lazy}
    both = run("token_sequence_smoothing", captioner, batch, token=token, sequence=sequence | {"alpha": 0.0})
    assert both[0].item() == run("token_smoothing", captioner, batch, **token)[0].item()
    both = run("token_sequence_smoothing", captioner, batch, token=token | {"alpha": 0.0}, sequence=sequence)
    torch.testing.assert_close(both, run("sequence_smoothing", captioner, batch, **sequence))


def test_entropy_is_that_of_the_token_distributions(captioner, batch):
    loss, gradient = run("entropy_regularised", captioner, batch, gamma=0.3)
    mle, _ = run("cross_entropy", captioner, batch)
    features = batch.features.repeat_interleave(2, 0)
    p = captioner.teacher_force(features, CAPTIONS.flatten(0, 1)).softmax(2)[CAPTIONS.flatten(0, 1) != PAD]
    entropy = -sum(x * math.log(x) for row in p.tolist() for x in row if x > 0) / len(p)
    assert loss.item() == pytest.approx(mle.item() - 0.3 * entropy, rel=1e-5)
    assert torch.isfinite(gradient).all()


@pytest.mark.parametrize("tau", [0.01, 0.3, 10.0])
@pytest.mark.parametrize("pool", list(POOLS))
@pytest.mark.parametrize("lazy", [True, False])
def test_losses_and_gradients_are_finite(captioner, batch, tau, pool, lazy):
    sequence = {"tau": tau, "substitutes": pool, "reward": "mixture", "reward_temperature": 0.01, "lazy": lazy}
    settings = {"token": {"tau": tau, "beta": 0.2}, "sequence": sequence}
    loss, gradient = run("token_sequence_smoothing", captioner, batch, **settings)
    assert torch.isfinite(loss)
    assert torch.isfinite(gradient).all()
    assert gradient.norm() > 0


def test_settings_are_checked():
    for module, settings in (
        (token_smoothing, {"tau": 0}),
        (token_smoothing, {"alpha": 1.5}),
        (sequence_smoothing, {"substitutes": "captions"}),
        (sequence_smoothing, {"samples": 0}),
        (token_sequence_smoothing, {"sequence": {"alpha": -1}, "token": {}}),
        (entropy_regularised, {"gamma": -0.1}),
        (cross_entropy, {"alpha": 0.1}),
    ):
        with pytest.raises(ValueError, match=next(iter(settings))):
            module.Config(**settings)
