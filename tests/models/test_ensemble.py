"""Ensembles against exhaustive enumeration under the average of their members' distributions."""

import torch
from enumeration import CHANNELS, all_captions, tiny_captioner

from seqcap.data.vocabulary import BOS, PAD
from seqcap.models import decoding
from seqcap.models.attention import Config as AttentionConfig
from seqcap.models.attention import Model as Attention
from seqcap.models.ensemble import Ensemble


def tiny_attention(words, seed):
    """An attentive captioner as uneven as `tiny_captioner`: it reads a grid of 2 x 2 cells."""
    torch.manual_seed(seed)
    captioner = Attention(AttentionConfig(hidden=4), 4 + words, (2, 2, CHANNELS)).eval()
    with torch.no_grad():
        for parameter in captioner.parameters():
            parameter.copy_(torch.randn_like(parameter))
    return captioner


def team(words):
    """Two LSTMs and an attentive captioner: memories and states of different lengths."""
    return Ensemble([tiny_captioner(words, seed=1), tiny_attention(words, seed=2), tiny_captioner(words, seed=3)])


def images(ensemble, n):
    """Each member's features of n images."""
    kinds = {"pooled": torch.randn(n, CHANNELS), "grid": torch.randn(n, 2, 2, CHANNELS)}
    return [kinds[member.features] for member in ensemble.members]


def log_probs(ensemble, features, image, captions):
    """log p(y|x) [n] of captions [n, time], the members' probabilities averaged token by token."""
    probabilities = [
        torch.softmax(member.teacher_force(given[image].expand(len(captions), *given.shape[1:]), captions), 2)
        for member, given in zip(ensemble.members, features, strict=True)
    ]
    token = torch.stack(probabilities).mean(0).log().gather(2, captions[:, :, None]).squeeze(2)
    return token.masked_fill(captions == PAD, 0).sum(1).detach()


def test_wide_beam_is_exhaustive_search_under_the_average():
    ensemble = team(words=2)
    captions = all_captions(words=2, max_length=3)
    features = images(ensemble, 4)
    memory = ensemble.encode(features)
    found = decoding.beam(ensemble, memory, max_length=3, width=len(captions))
    for image in range(4):
        expected, order = log_probs(ensemble, features, image, captions).sort(descending=True)
        torch.testing.assert_close(found.log_prob[image], expected, atol=1e-5, rtol=1e-5)
        assert found.tokens[image].tolist() == captions[order].tolist()
    # What is impossible, too, has a finite value.
    assert ensemble.step(torch.full((4,), BOS), ensemble.start(memory), memory)[0].isfinite().all()
