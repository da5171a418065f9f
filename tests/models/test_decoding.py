"""Decoders against exhaustive enumeration."""

import pytest
import torch
from enumeration import CHANNELS, all_captions, log_probs, tiny_captioner

from seqcap.data.vocabulary import EOS, PAD
from seqcap.models import decoding


@pytest.mark.parametrize("seed", range(5))
def test_wide_beam_is_exhaustive_search(seed):
    captioner = tiny_captioner(words=2, seed=seed)
    captions = all_captions(words=2, max_length=3)
    features = torch.randn(4, CHANNELS)
    found = decoding.beam(captioner, captioner.encode(features), max_length=3, width=len(captions))
    for image in range(4):
        expected, order = log_probs(captioner, features[image], captions).sort(descending=True)
        torch.testing.assert_close(found.log_prob[image], expected.detach(), atol=1e-5, rtol=1e-5)
        assert found.tokens[image].tolist() == captions[order].tolist()


def test_greedy_takes_the_most_probable_token():
    captioner = tiny_captioner(words=4, seed=2)
    features = torch.randn(5, CHANNELS)
    found = decoding.greedy(captioner, captioner.encode(features), max_length=6)
    logits = captioner.teacher_force(features, found.tokens)
    valid = found.tokens != PAD
    assert logits.argmax(2)[valid].tolist() == found.tokens[valid].tolist()
    for image in range(5):
        expected = log_probs(captioner, features[image], found.tokens[image : image + 1]).item()
        assert found.log_prob[image].item() == pytest.approx(expected, abs=1e-5)


def test_samples_follow_the_models_distribution():
    captioner = tiny_captioner(words=1)
    captions = all_captions(words=1, max_length=2)
    features = torch.randn(CHANNELS)
    probability = log_probs(captioner, features, captions).exp().detach()
    torch.manual_seed(0)
    draws = 20_000
    memory = captioner.encode(features[None])
    tokens = decoding.sample(captioner, memory, max_length=2, samples=draws).tokens[0]
    counts = torch.tensor([(tokens == caption).all(1).sum().item() for caption in captions])
    assert counts.sum() == draws
    expected = probability * draws
    chi_square = ((counts - expected) ** 2 / expected).sum().item()
    # 99.99% of chi-square with 6 degrees of freedom lies below 27.9.
    assert chi_square < 27.9


def repeats(tokens, size):
    """Whether any `size` tokens in a row stand twice in a list."""
    said = [tuple(tokens[i : i + size]) for i in range(len(tokens) - size + 1)]
    return len(set(said)) < len(said)


def plain_beam(captioner, features, max_length, width, no_repeat_ngram=0):
    """Beam search in plain Python: the `width` best captions of one image, as (log p, ids)."""
    live, done = [(0.0, [])], []
    for t in range(max_length):
        prefixes = torch.tensor([[*prefix, PAD] for _, prefix in live])
        logits = captioner.teacher_force(features.expand(len(live), -1), prefixes)[:, -1]
        log_p = logits.log_softmax(1).tolist()
        grown = [
            (score + log_p[i][token], [*prefix, token])
            for i, (score, prefix) in enumerate(live)
            for token in range(captioner.vocabulary_size)
            if no_repeat_ngram == 0 or not repeats([*prefix, token], no_repeat_ngram)
        ]
        grown.sort(key=lambda pair: -pair[0])
        done += [pair for pair in grown[:width] if pair[1][-1] == EOS]
        live = [pair for pair in grown if pair[1][-1] != EOS][:width]
        if t == max_length - 1:
            done += live
        done = sorted(done, key=lambda pair: -pair[0])[:width]
        if len(done) == width and live[0][0] <= done[-1][0]:
            break
    return done


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("no_repeat_ngram", [0, 3])
def test_beams_find_what_a_plain_search_finds(width, no_repeat_ngram):
    """Of each image alone, although eight are searched at once."""
    lengths, free_repeats = set(), 0
    for seed in range(5):
        captioner = tiny_captioner(words=2 if no_repeat_ngram else 3, seed=seed, scale=2.5)
        captioner.output.bias.data[EOS] -= 2 if no_repeat_ngram else 0
        features, time = torch.randn(8, CHANNELS), 9 if no_repeat_ngram else 5
        memory = captioner.encode(features)
        found = decoding.beam(captioner, memory, time, width, no_repeat_ngram)
        free = decoding.beam(captioner, memory, time, width).tokens
        for image in range(8):
            expected = plain_beam(captioner, features[image], time, width, no_repeat_ngram)
            words = [[token for token in row if token != PAD] for row in found.tokens[image].tolist()]
            assert words == [tokens for _, tokens in expected]
            assert found.log_prob[image].tolist() == pytest.approx([score for score, _ in expected], abs=1e-4)
            lengths |= {len(tokens) for tokens in words}
            free_repeats += any(repeats([t for t in row if t != PAD], 3) for row in free[image].tolist())
    assert len(lengths) > 2
    assert free_repeats > 5 or not no_repeat_ngram


@pytest.mark.parametrize("size", [1, 2, 3])
def test_wide_beam_finds_every_caption_that_repeats_nothing(size):
    captioner = tiny_captioner(words=1, seed=3)
    captions = all_captions(words=1, max_length=6)
    allowed = [not repeats([token for token in row if token != PAD], size) for row in captions.tolist()]
    assert 2 < sum(allowed) < len(captions)
    features = torch.randn(4, CHANNELS)
    found = decoding.beam(captioner, captioner.encode(features), 6, len(captions), no_repeat_ngram=size)
    for image in range(4):
        expected, order = log_probs(captioner, features[image], captions[allowed]).sort(descending=True)
        number = len(expected)
        # What remains keeps its probability. There is nothing else but captions with PAD or BOS in them.
        torch.testing.assert_close(found.log_prob[image, :number], expected.detach(), atol=1e-5, rtol=1e-5)
        assert (found.log_prob[image, number:] < -9_000).all()
        best = torch.nn.functional.pad(found.tokens[image, :number], (0, 6 - found.tokens.shape[2]))
        assert best.tolist() == captions[allowed][order].tolist()


def test_every_row_goes_its_own_way():
    """Greedy and sampled captions in one batch: each is of its own image, and is scored right."""
    captioner = tiny_captioner(words=3, seed=57, scale=1.0)
    torch.manual_seed(1)
    features = torch.randn(60, CHANNELS)
    is_greedy = torch.arange(60) % 3 == 0
    found = decoding.rollout(captioner, captioner.encode(features), 5, is_greedy)
    assert len({(row != PAD).sum().item() for row in found.tokens[is_greedy]}) > 1
    for image in range(60):
        caption = found.tokens[image : image + 1]
        expected = log_probs(captioner, features[image], caption).item()
        assert found.log_prob[image].item() == pytest.approx(expected, abs=1e-4)
        if is_greedy[image]:
            alone = decoding.greedy(captioner, captioner.encode(features[image : image + 1]), 5).tokens[0].tolist()
            assert caption[0].tolist() == alone + [PAD] * (5 - len(alone))


@pytest.mark.parametrize("seed", [7, 8])
def test_completions_follow_the_distribution_of_what_may_come(seed):
    """Of one captioner the last word matters more, of the other the state before it: chi-square."""
    captioner = tiny_captioner(words=1, seed=seed, scale=2.0)
    every = all_captions(words=1, max_length=4)
    features = torch.randn(2, CHANNELS, generator=torch.Generator().manual_seed(2))
    captions = torch.tensor([[4, 3, 4, EOS], [3, 4, 4, 3]])
    draws = 4_000
    rows = torch.tensor([0, 1, 0, 1]).repeat_interleave(draws)
    lengths = torch.tensor([2, 1, 3, 2]).repeat_interleave(draws)
    torch.manual_seed(0)
    found = decoding.complete(captioner, captioner.encode(features), captions, rows, lengths, 4).view(4, draws, 4)
    for kind in range(4):
        row, length = int(rows[kind * draws]), int(lengths[kind * draws])
        same = every[(every[:, :length] == captions[row, :length]).all(1)]
        p = log_probs(captioner, features[row], same).softmax(0).detach()
        counts = torch.tensor([int((found[kind] == caption).all(1).sum()) for caption in same])
        assert counts.sum() == draws
        # At most 14 degrees of freedom: above it once in 20,000.
        assert ((counts - draws * p) ** 2 / (draws * p)).sum() < 45
