"""A Transformer encoder-decoder over grid features (Vaswani et al. 2017), pre-LayerNorm with GELU.

Chaffin et al. 2024 fine-tune OFA-tiny (Wang et al., ICML 2022). Of OFA, these are the sizes and the kind of layer, not
the rest: no further LayerNorms and head scales within layers (NormFormer), no relative positions, no weights shared by
embeddings and output, no ResNet that is trained along, and no pretrained weights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from seqcap.models.base import CaptionerConfig, ImageCaptioner, Tensors

# Wavelengths of position encodings go from 2 pi to this many times 2 pi (Vaswani et al. 2017).
LONGEST_WAVE = 10_000


class Config(CaptionerConfig):
    """OFA-tiny: hidden 256, 4 layers, 4 heads, feed_forward 1024."""

    layers: int = Field(gt=0, le=100, description="layers of the encoder, and as many of the decoder")
    heads: int = Field(gt=0, description="attention heads in each layer")
    feed_forward: int = Field(gt=0, description="units in the hidden layer after the attentions")

    @model_validator(mode="after")
    def _divides(self) -> Self:
        if self.hidden % self.heads or self.hidden % 2:
            raise ValueError(f"hidden ({self.hidden}) must be even and a multiple of heads ({self.heads})")
        return self


class Layer(nn.Module):
    """One layer of the decoder: it reads the words so far, then the image's cells, then each word by itself.

    Each part adds mask * f(LayerNorm(x)) to x.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        hidden = config.hidden
        self.heads = config.heads
        self.norms = nn.ModuleList(nn.LayerNorm(hidden) for _ in range(3))
        # Queries, keys and values of the words. Keys and values of the cells are part of the memory.
        self.words = nn.Linear(hidden, 3 * hidden)
        self.from_words = nn.Linear(hidden, hidden)
        self.query = nn.Linear(hidden, hidden)
        self.from_cells = nn.Linear(hidden, hidden)
        self.feed_forward = nn.Sequential(
            nn.Linear(hidden, config.feed_forward), nn.GELU(), nn.Linear(config.feed_forward, hidden)
        )

    def forward(
        self, x: Tensor, past: Tensor, allowed: Tensor, cells: Tensor, masks: Sequence[Tensor]
    ) -> tuple[Tensor, Tensor]:
        """Reads further words; returns x for the next layer, and `past` with these words.

        Args:
            x: the words, [n, time, hidden].
            past: keys and values of the words before them, [n, 2, heads, before, hidden / heads].
            allowed: which words each of them may attend to, bool [n, 1, time, before + time].
            cells: keys and values of the image's cells, [n, 2, heads, cells, hidden / heads].
            masks: dropout masks of the three parts, [n, 1, hidden].
        """
        query, read = split_heads(self.words(self.norms[0](x)), 3, self.heads).split_with_sizes((1, 2), dim=1)
        past = torch.cat([past, read], dim=3)
        x = torch.addcmul(x, masks[0], self.from_words(attend(query, past, allowed)))
        query = split_heads(self.query(self.norms[1](x)), 1, self.heads)
        x = torch.addcmul(x, masks[1], self.from_cells(attend(query, cells, None)))
        return torch.addcmul(x, masks[2], self.feed_forward(self.norms[2](x))), past


class Model(ImageCaptioner):
    """A Transformer encoder over the image's cells, and a decoder that keeps the keys and values of what it has read.

    A word's input is its embedding, times sqrt(hidden), plus sinusoids of its position (Vaswani et al. 2017, section
    3.4): a caption may have any length. A cell's position is learnt, as the attention captioner's is.

    Dropout is on word embeddings, on the output of each part of a layer, and on the decoder's output. The decoder's
    masks are one vector per image, the same at every word (Gal & Ghahramani 2016): captions are scored under the masks
    that they were sampled under, and the number of words is not known when these are drawn. The encoder's dropout is
    PyTorch's, as it runs only once, in `encode`.

    The state holds bool [n, t], which of the t cached words are the caption's own, and for each layer their keys and
    values, [n, 2, heads, t, hidden / heads]. Rows may have read fewer words than others (`states`).
    """

    features = "grid"
    parts = 2

    waves: Tensor

    def __init__(self, config: Config, vocabulary_size: int, feature_shape: tuple[int, ...]) -> None:
        super().__init__(config, vocabulary_size, feature_shape)
        hidden = config.hidden
        self.heads = config.heads
        self.cells = nn.Linear(feature_shape[-1], hidden)
        self.position = nn.Parameter(torch.zeros(math.prod(feature_shape[:-1]), hidden))
        self.encoder = nn.ModuleList(
            nn.TransformerEncoderLayer(
                hidden, config.heads, config.feed_forward, 0.0, "gelu", batch_first=True, norm_first=True
            )
            for _ in range(config.layers)
        )
        self.encoder_norm = nn.LayerNorm(hidden)
        # One matrix for the keys and values of the cells in all layers: computed once an image, for all its captions.
        self.keys_values = nn.Linear(hidden, config.layers * 2 * hidden)
        self.decoder = nn.ModuleList(Layer(config) for _ in range(config.layers))
        self.decoder_norm = nn.LayerNorm(hidden)
        waves = LONGEST_WAVE ** -(torch.arange(0, hidden, 2) / hidden)
        self.register_buffer("waves", waves, persistent=False)

    def encode(self, features: Tensor) -> Tensors:
        """Features [n, height, width, channels] -> memory.

        Returns:
            for each layer of the decoder, the keys and values of the cells, [n, 2, heads, cells, hidden / heads]; the
            decoder's dropout masks, [n, 3 layers + 2, 1, hidden].
        """
        n, channels = len(features), features.shape[-1]
        cells = self.cells(self.standardise(features).reshape(n, -1, channels)) + self.position
        for layer in self.encoder:
            # The training loop sets the rate after the layers are built.
            for part in layer.modules():
                if isinstance(part, nn.Dropout):
                    part.p = self.dropout
            cells = layer(cells)
        hidden, layers = cells.shape[2], len(self.decoder)
        read = split_heads(self.keys_values(self.encoder_norm(cells)), 2 * layers, self.heads).chunk(layers, dim=1)
        masks = 3 * layers + 2
        return *read, self.mask(n, masks * hidden).view(n, masks, 1, hidden)

    def start(self, memory: Tensors) -> Tensors:
        """Nothing is read yet."""
        cells = memory[:-1]
        return cells[0].new_ones(len(cells[0]), 0, dtype=torch.bool), *(part[:, :, :, :0] for part in cells)

    def recur(self, embedded: Tensor, state: Tensors, memory: Tensors) -> tuple[Tensor, Tensors]:
        output, state = self.read(embedded[:, None], state, memory)
        return output[:, 0], state

    def unroll(self, captions: Tensor, memory: Tensors) -> Tensor:
        """As the base class, but all words at once."""
        return self.read(self.embedding(self.shifted(captions)), self.start(memory), memory)[0]

    def states(self, captions: Tensor, memory: Tensors, rows: Tensor, places: Tensor) -> Tensors:
        """As the base class. All words of a caption are cached, and those from `places` on are masked: the keys and
        values of a word do not depend on later words."""
        _, (own, *cached) = self.read(self.embedding(self.shifted(captions)), self.start(memory), memory)
        time = torch.arange(own.shape[1], device=own.device)
        # The inputs begin with BOS: place t is word t + 1.
        return time <= places[:, None], *[part[rows] for part in cached]

    def read(self, embedded: Tensor, state: Tensors, memory: Tensors) -> tuple[Tensor, Tensors]:
        """Reads embedded words [n, time, hidden] at once: outputs [n, time, hidden], and the state after the last."""
        own, *past = state
        cells, masks = memory[:-1], memory[-1].unbind(1)
        n, time, hidden = embedded.shape
        places = own.sum(1, keepdim=True) + torch.arange(time, device=own.device)
        angles = places[:, :, None] * self.waves
        position = torch.cat([angles.sin(), angles.cos()], dim=2)
        x = torch.addcmul(position, embedded, masks[-2], value=math.sqrt(hidden))
        before, own = own.shape[1], torch.cat([own, own.new_ones(n, time)], dim=1)
        allowed = own[:, None, None] & own.new_ones(time, before + time).tril(before)
        for i, layer in enumerate(self.decoder):
            x, past[i] = layer(x, past[i], allowed, cells[i], masks[3 * i : 3 * i + 3])
        return self.decoder_norm(x) * masks[-1], (own, *past)


def split_heads(x: Tensor, kinds: int, heads: int) -> Tensor:
    """[n, time, kinds x hidden] -> [n, kinds, heads, time, hidden / heads]."""
    n, time, size = x.shape
    return x.view(n, time, kinds, heads, size // (kinds * heads)).permute(0, 2, 3, 1, 4)


def attend(query: Tensor, keys_values: Tensor, allowed: Tensor | None) -> Tensor:
    """Attention of queries [n, 1, heads, time, size] over keys and values [n, 2, heads, there, size], where `allowed`:
    [n, time, heads x size]."""
    keys, values = keys_values.unbind(1)
    found = scaled_dot_product_attention(query.squeeze(1), keys, values, attn_mask=allowed)
    return found.transpose(1, 2).flatten(2)
