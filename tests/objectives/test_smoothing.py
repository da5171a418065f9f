"""Loss smoothing: what is sampled against its closed form, the losses against sums over every sequence."""

import math
from itertools import product

import numpy as np
import pytest
import torch
from enumeration import CHANNELS, Cider, gradient, make_context, tiny_captioner
from torch import Tensor

from seqcap import objectives
from seqcap.data.vocabulary import BOS, EOS, PAD, UNK
from seqcap.objectives import sequence_smoothing, token_smoothing
from seqcap.objectives.shared.base import Batch
from seqcap.objectives.shared.smoothing import Sequences, distance_log_probs, draw_at_shared_distances, draw_sequences

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
    "batch": [{UNK, 4, 5, 6, 7, 8}] * 4,
    "references": [{UNK, 4, 5, 6}] * 2 + [{4, 7, 8}] * 2,
}
REWARD = Cider([[[4, 5], [6, 4]], [[7, 8, 4, 7]]])
FREQUENCIES = torch.tensor([0, 0, 30, 4, 20, 10, 5, 1, 1, 0])


def embeddings() -> Tensor:
    vectors = torch.randn(VOCABULARY, 3, generator=torch.Generator().manual_seed(1))
    vectors[[PAD, BOS, UNK]] = 0
    # A word that the embeddings do not cover.
    vectors[8] = 0
    return vectors


CONTEXT = make_context(REWARD, 5, VOCABULARY, embeddings=embeddings(), frequencies=FREQUENCIES)


@pytest.fixture
def captioner():
    return tiny_captioner(WORDS, seed=3)


@pytest.fixture
def batch():
    features = torch.randn(2, CHANNELS, generator=torch.Generator().manual_seed(0))
    return Batch(features, np.array([0, 1]), CAPTIONS)


def run(name, captioner, batch, **settings):
    """Loss and gradient of an objective under a fixed seed."""
    torch.manual_seed(0)
    loss, _ = objectives.build(name, settings, CONTEXT)(captioner, batch)
    return loss.detach(), gradient(captioner, loss)


def neighbours(caption: list[int], pool: set[int]) -> list[tuple[int, ...]]:
    """Every sequence that substitutes tokens of the caption, its ending, too, by those of the pool."""
    return list(product(*[sorted(pool | {t}) if t >= EOS else [t] for t in caption]))


def distance(one, other) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))


def places(caption) -> int:
    return sum(token >= EOS for token in caption)


def outside(y, caption, pool: set[int]) -> int:
    """How many tokens of the caption that are not in the pool are substituted."""
    return sum(token not in pool and token != other for token, other in zip(caption, y, strict=True))


def q_of(caption, pool: set[int], tau: float) -> np.ndarray:
    """q(y | y*) of the caption's neighbours by its closed form."""
    size, total = len(pool), places(caption)
    z = (1 + (size - 1) * math.exp(-1 / tau)) ** total
    one_more = (size - 1) / max(1, size)
    return np.array(
        [
            math.exp(-distance(y, caption) / tau) / z * one_more ** outside(y, caption, pool)
            for y in neighbours(caption, pool)
        ]
    )


def shared_q_of(caption, pool: set[int], d: int) -> np.ndarray:
    """Probability of the caption's neighbours where d of all places are drawn."""
    size, inert = len(pool), len(caption) - places(caption)
    found = []
    for y in neighbours(caption, pool):
        k = distance(y, caption)
        ways = math.comb(inert, d - k) / math.comb(len(caption), d) if k <= d else 0
        words = k - outside(y, caption, pool)
        found.append(ways / (max(1, size - 1) ** words * size ** (k - words) if size else 1))
    return np.array(found)


def assert_distributed(rows: list[list[int]], sequences: list[tuple[int, ...]], q: np.ndarray) -> None:
    """Chi-square of rows against the probabilities of sequences."""
    assert q.sum() == pytest.approx(1)
    counts = dict.fromkeys(sequences, 0)
    # A sequence that is not among the neighbours is a KeyError.
    for row in map(tuple, rows):
        counts[row] += 1
    # Rare sequences are counted together: chi-square needs some five in every cell.
    order = np.argsort(q)
    cell = np.cumsum(q[order] * len(rows)) // 10
    expected = np.bincount(cell.astype(int), q[order] * len(rows))
    observed = np.bincount(cell.astype(int), np.array(list(counts.values()))[order])
    kept = expected > 0
    statistic = ((observed - expected)[kept] ** 2 / expected[kept]).sum()
    degrees = kept.sum() - 1
    assert statistic <= degrees + 4 * math.sqrt(2 * degrees) + 1e-9


# Sampling


@pytest.mark.parametrize("pool", list(POOLS))
@pytest.mark.parametrize("tau", [0.4, 1.5])
def test_samples_have_the_distribution_of_their_closed_form(pool, tau):
    """Chi-square of each of the L samples by itself, over all sequences of each caption."""
    torch.manual_seed(0)
    times, samples = 8000, 2
    drawn, _ = draw_sequences(CAPTIONS.repeat(times, 1, 1), VOCABULARY, tau, samples, pool)
    tokens = drawn.tokens.view(times, 4, samples, 5)
    for caption, (truth, words) in enumerate(zip(CAPTIONS.flatten(0, 1).tolist(), POOLS[pool], strict=True)):
        for sample in range(samples):
            rows = tokens[:, caption, sample].tolist()
            assert_distributed(rows, neighbours(truth, words), q_of(truth, words, tau))


@pytest.mark.parametrize("pool", list(POOLS))
def test_log_q_is_the_probability_of_the_sequence(pool):
    tau = 0.7
    drawn, log_q = draw_sequences(CAPTIONS, VOCABULARY, tau, 60, pool)
    for caption, (truth, words) in enumerate(zip(CAPTIONS.flatten(0, 1).tolist(), POOLS[pool], strict=True)):
        expected = dict(zip(neighbours(truth, words), q_of(truth, words, tau), strict=True))
        rows = drawn.tokens[caption].tolist()
        assert drawn.distances[caption].tolist() == [distance(row, truth) for row in rows]
        for row, value in zip(rows, log_q[caption].tolist(), strict=True):
            assert value == pytest.approx(math.log(expected[tuple(row)]), abs=1e-12)


@pytest.mark.parametrize("pool", list(POOLS))
@pytest.mark.parametrize("tau", [0.4, 1.5])
def test_samples_at_shared_distances_have_their_closed_form(pool, tau):
    torch.manual_seed(0)
    samples = 8000
    drawn = draw_at_shared_distances(CAPTIONS, VOCABULARY, tau, samples, pool)
    size = torch.tensor([len(words) for words in POOLS[pool][:3]], dtype=torch.float64).mean()
    p = distance_log_probs(torch.tensor([5]), size[None] - 1, tau, 5).exp()[0].numpy()
    for caption, (truth, words) in enumerate(zip(CAPTIONS.flatten(0, 1).tolist(), POOLS[pool], strict=True)):
        q = sum(p[d] * shared_q_of(truth, words, d) for d in range(6))
        assert_distributed(drawn.tokens[caption].tolist(), neighbours(truth, words), q)
        assert drawn.distances[caption].tolist() == [distance(y, truth) for y in drawn.tokens[caption].tolist()]
    # The third caption is the longest: its distance is the batch's. Shorter ones lose as many, or fewer.
    counts = torch.bincount(drawn.distances[2], minlength=6).numpy()
    assert (abs(counts.cumsum() - samples * p.cumsum()) < 1 + 1e-9).all()
    for caption in (0, 1):
        inert = 5 - places(CAPTIONS.flatten(0, 1)[caption].tolist())
        fewer = drawn.distances[2] - drawn.distances[caption]
        assert fewer.min() == 0
        assert fewer.max() == inert


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
    for word in (UNK, 4):
        captions = torch.tensor([[[word, EOS], [word, word]], [[PAD, PAD], [EOS, PAD]]])
        drawn, log_q = draw_sequences(captions, 5, 1.0, 3, pool)
        shared = draw_at_shared_distances(captions, 5, 1.0, 3, pool)
        assert (drawn.tokens == captions.flatten(0, 1)[:, None]).all()
        assert (shared.tokens == captions.flatten(0, 1)[:, None]).all()
        assert (log_q == 0).all()


# Sequence level


@pytest.mark.parametrize("reward", ["hamming", "mixture"])
@pytest.mark.parametrize("lazy", [False, True])
def test_samples_in_the_proportions_of_q_give_the_expectation_exactly(captioner, reward, lazy, monkeypatch):
    """With exp(-1 / tau) = 1/2 a sequence at distance d is drawn 2^(T - d) times 5 or, if it still ends, 6 = V times.
    Then the literal importance-weighted mean must be E_r with r ~ exp(R / tau_r), and the plain mean E_q."""
    tau, reward_temperature, alpha = 1 / math.log(2), 0.7, 0.3
    truth = [4, 6, EOS]
    pool = set(range(4, VOCABULARY))
    sequences, q = neighbours(truth, pool), q_of(truth, pool, tau)
    times = [2 ** (3 - distance(y, truth)) * (6 if y[-1] == EOS else 5) for y in sequences]
    np.testing.assert_allclose(np.array(times) / sum(times), q)
    index = torch.tensor(np.repeat(np.arange(len(sequences)), times))
    distances = torch.tensor([distance(y, truth) for y in sequences])
    drawn = Sequences(torch.tensor(sequences)[index][None], distances[index][None], 1.0)
    log_q = torch.from_numpy(q).log()[index][None]
    monkeypatch.setattr(sequence_smoothing, "draw_sequences", lambda *_: (drawn, log_q))
    settings = {"tau": tau, "alpha": alpha, "reward": reward, "reward_temperature": reward_temperature}
    settings |= {"importance": "literal", "samples": len(index), "lazy": lazy}
    features = torch.randn(1, CHANNELS, generator=torch.Generator().manual_seed(0))
    batch = Batch(features, np.array([0]), torch.tensor([[truth]]))
    actual, actual_gradient = run("sequence_smoothing", captioner, batch, **settings)

    scores = REWARD.score(np.array(sequences), np.zeros(len(sequences), np.int64))
    assert len(set(scores.round(6))) > 2
    r = torch.softmax(torch.from_numpy(scores / reward_temperature), 0) if reward == "mixture" else torch.from_numpy(q)
    cost = costs(captioner, features, truth, sequences, lazy)
    mle = cost[sequences.index(tuple(truth))]
    expected = ((1 - alpha) * mle + alpha * (r.float() @ cost)) / 3
    assert actual.item() == pytest.approx(expected.item(), rel=1e-5)
    torch.testing.assert_close(actual_gradient, gradient(captioner, expected), rtol=1e-4, atol=1e-6)


def costs(captioner, features, truth, sequences, lazy) -> Tensor:
    """-log p of sequences around one caption, [sequences]."""
    tokens = torch.tensor(sequences)
    fed = torch.tensor([truth]).expand_as(tokens) if lazy else tokens
    log_p = captioner.teacher_force(features.expand(len(tokens), -1), fed).log_softmax(2)
    return -log_p.gather(2, tokens[:, :, None]).squeeze(2).masked_fill(tokens == PAD, 0).sum(1)


def test_checkpoints_hold_no_embeddings():
    assert list(token_smoothing.Model(token_smoothing.Config(), CONTEXT).state_dict()) == ["steps"]


@pytest.mark.parametrize("tau", [0.01, 0.3, 10.0])
@pytest.mark.parametrize("pool", list(POOLS))
@pytest.mark.parametrize("importance", ["shared_distance", "literal"])
@pytest.mark.parametrize("lazy", [True, False])
def test_losses_and_gradients_are_finite(captioner, batch, tau, pool, importance, lazy):
    sequence = {"tau": tau, "substitutes": pool, "reward": "mixture", "reward_temperature": 0.01, "lazy": lazy}
    sequence |= {"importance": importance, "samples": 2}
    settings = {"token": {"tau": tau, "beta": 0.2}, "sequence": sequence}
    loss, slope = run("token_sequence_smoothing", captioner, batch, **settings)
    assert torch.isfinite(loss)
    assert torch.isfinite(slope).all()
    assert slope.norm() > 0


def test_pools_are_measured_in_words_of_the_vocabulary():
    """Two images of one caption each: 3 and 2 words, 4 of them different, of 6 words in all."""
    captions = torch.tensor([[[4, 5, 6, EOS]], [[6, 7, EOS, PAD]]])
    for pool, share in (("vocabulary", 1.0), ("batch", 4 / 6), ("references", 2.5 / 6)):
        assert draw_sequences(captions, 10, 0.5, 1, pool)[0].pool_share == pytest.approx(share)
        assert draw_at_shared_distances(captions, 10, 0.5, 1, pool).pool_share == pytest.approx(share)
