"""A text encoder whose head tells people's captions from damaged ones (Cho et al., NAACL 2022)."""

import copy
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seqcap.data.vocabulary import EOS, PAD, UNK
from seqcap.errors import InputError
from seqcap.retrieval import clip, dual_encoder
from seqcap.retrieval.base import Retriever
from seqcap.retrieval.losses import info_nce

DAMAGED, INTACT = range(2)
MOST = 3  # most words of a damaged n-gram, and most repetitions of it
Words = list[int]


class DualTextEncoder(nn.Module):
    """A trainable copy of a dual encoder's text encoder. It has no projection: its embeddings are its features.

    Args:
        retriever: the dual encoder, whose own weights stay as they are.
    """

    def __init__(self, retriever: dual_encoder.Model) -> None:
        super().__init__()
        self.size = retriever.config.hidden
        self.tower = copy.deepcopy(retriever).requires_grad_(True)
        self.tower.image.requires_grad_(False)

    def forward(self, captions: Tensor) -> tuple[Tensor, Tensor]:
        """Captions, ids [n, time] -> embeddings [n, d] of length 1, and features [n, size] for the head."""
        texts = self.tower.embed_captions(captions)
        return texts, texts

    def loss(self, images: Tensor, texts: Tensor) -> tuple[Tensor, Tensor]:
        """The retriever's own loss, from embeddings [n, d]: image -> text [n], text -> image [n]."""
        return self.tower.loss(images, texts)


class ClipTextEncoder(nn.Module):
    """A trainable copy of CLIP's text encoder. Its features are from before the projection, as in Cho et al.'s code.

    Args:
        retriever: the CLIP, whose own weights stay as they are.
    """

    def __init__(self, retriever: clip.Model) -> None:
        super().__init__()
        model = retriever.clip
        self.size = model.config.text_config.hidden_size
        self.tower = copy.deepcopy(model.text_model).requires_grad_(True)
        self.projection = copy.deepcopy(model.text_projection).requires_grad_(True)
        self.temperature = 1 / model.logit_scale.exp().item()
        self.tokens = retriever.tokens

    def forward(self, captions: Tensor) -> tuple[Tensor, Tensor]:
        pooled = self.tower(**self.tokens(captions)).pooler_output
        return F.normalize(self.projection(pooled), dim=1), pooled

    def loss(self, images: Tensor, texts: Tensor) -> tuple[Tensor, Tensor]:
        return info_nce(images @ texts.T, self.temperature)


class Grammar(nn.Module):
    """A copy of a dual encoder's or CLIP's text encoder, with a head of two layers.

    Args:
        retriever: a dual encoder or CLIP.

    Raises:
        InputError: the retriever is another one.
    """

    def __init__(self, retriever: Retriever) -> None:
        super().__init__()
        self.encoder: DualTextEncoder | ClipTextEncoder
        if isinstance(retriever, clip.Model):
            self.encoder = ClipTextEncoder(retriever)
        elif isinstance(retriever, dual_encoder.Model):
            self.encoder = DualTextEncoder(retriever)
        else:
            problem = f"knows no text encoder of {type(retriever).__module__}"
            raise InputError("src/seqcap/retrieval/grammar.py", problem, "add one, or name a dual encoder or CLIP")
        size = self.encoder.size
        self.head = nn.Sequential(nn.Linear(size, size, bias=False), nn.ReLU(), nn.Linear(size, 2, bias=False))

    def forward(self, captions: Tensor) -> tuple[Tensor, Tensor]:
        """Captions, ids [n, time] -> embeddings [n, d] of length 1, and logits [n, 2] of `DAMAGED` and `INTACT`."""
        texts, features = self.encoder(captions)
        return texts, self.head(features)

    def loss(self, images: Tensor, captions: Tensor, damaged: Tensor) -> tuple[Tensor, Tensor]:
        """The retriever's contrastive loss, which keeps captions near their images, plus the head's cross-entropy; and
        the head's accuracy. `captions` and `damaged` are ids [b, time], `images` the retriever's embeddings [b, d]."""
        texts, intact = self(captions)
        logits = torch.cat([intact, self(damaged)[1]])
        kinds = torch.tensor([INTACT, DAMAGED], device=logits.device).repeat_interleave(len(captions))
        contrastive = torch.stack(self.encoder.loss(images, texts)).sum(0).mean()
        return contrastive + F.cross_entropy(logits, kinds), (logits.argmax(1) == kinds).double().mean()


def damage(captions: Tensor, vocabulary_size: int, rng: np.random.Generator) -> Tensor:
    """Damages each caption [b, time]: repeats an n-gram of 1 to 3 words 1 to 3 times at random places or removes it,
    inserts or replaces 1 to 3 words at random, or shuffles all. Repeats this for unchanged captions."""
    rows = []
    for caption in captions.tolist():
        words = [word for word in caption if word not in (EOS, PAD)]
        broken = words
        while broken == words:
            fault = FAULTS[rng.integers(len(FAULTS))]
            broken = fault(list(words), vocabulary_size, rng)
        rows.append([*broken, EOS])
    longest = max(map(len, rows))
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows], device=captions.device)


def repeat(words: Words, vocabulary_size: int, rng: np.random.Generator) -> Words:
    start, end = ngram(words, rng)
    some = words[start:end]
    for _ in range(rng.integers(1, MOST + 1)):
        place = rng.integers(len(words) + 1)
        words[place:place] = some
    return words


def remove(words: Words, vocabulary_size: int, rng: np.random.Generator) -> Words:
    start, end = ngram(words, rng)
    del words[start:end]
    return words


def insert(words: Words, vocabulary_size: int, rng: np.random.Generator) -> Words:
    for _ in range(rng.integers(1, MOST + 1)):
        words.insert(rng.integers(len(words) + 1), any_word(vocabulary_size, rng))
    return words


def replace(words: Words, vocabulary_size: int, rng: np.random.Generator) -> Words:
    for place in rng.permutation(len(words))[: rng.integers(1, MOST + 1)]:
        words[place] = any_word(vocabulary_size, rng)
    return words


def shuffle(words: Words, vocabulary_size: int, rng: np.random.Generator) -> Words:
    return [words[place] for place in rng.permutation(len(words))]


FAULTS: tuple[Callable[[Words, int, np.random.Generator], Words], ...] = (repeat, remove, insert, replace, shuffle)


def ngram(words: Words, rng: np.random.Generator) -> tuple[int, int]:
    length = min(int(rng.integers(1, MOST + 1)), len(words))
    start = int(rng.integers(len(words) - length + 1))
    return start, start + length


def any_word(vocabulary_size: int, rng: np.random.Generator) -> int:
    return int(rng.integers(UNK + 1, vocabulary_size))
