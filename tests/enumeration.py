"""A captioner small enough that every caption can be written down."""

from itertools import product

import torch
from torch import Tensor

from seqcap.data.vocabulary import EOS, PAD, UNK
from seqcap.models.base import Captioner
from seqcap.models.lstm import Config, Model

CHANNELS = 3


def tiny_captioner(words: int, seed: int = 0, scale: float = 1.5) -> Captioner:
    """An LSTM over UNK, EOS and `words` words, with random weights that make its distribution uneven."""
    torch.manual_seed(seed)
    captioner = Model(Config(hidden=4, image_input="every_step"), 4 + words, (CHANNELS,))
    with torch.no_grad():
        for parameter in captioner.parameters():
            parameter.copy_(torch.randn_like(parameter) * scale / 2)
    return captioner


def all_captions(words: int, max_length: int) -> Tensor:
    """Every caption of at most `max_length` tokens, EOS included; one without EOS is cut. Ids [n, max_length]."""
    alphabet = [UNK, *range(4, 4 + words)]
    rows = []
    for length in range(max_length + 1):
        for caption in product(alphabet, repeat=length):
            ended = [*caption, EOS] if length < max_length else list(caption)
            rows.append(ended + [PAD] * (max_length - len(ended)))
    return torch.tensor(rows)


def log_probs(captioner: Captioner, features: Tensor, captions: Tensor) -> Tensor:
    """log p(y|x) [n] of captions [n, time] of one image's features [channels], with gradient."""
    logits = captioner.teacher_force(features.expand(len(captions), -1), captions)
    token = torch.log_softmax(logits, 2).gather(2, captions[:, :, None]).squeeze(2)
    return token.masked_fill(captions == PAD, 0).sum(1)
