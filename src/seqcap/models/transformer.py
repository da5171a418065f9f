"""A Transformer encoder-decoder over grid features (Vaswani et al. 2017), pre-LayerNorm with GELU. Chaffin et al. 2024
fine-tune OFA-tiny (Wang et al., ICML 2022). This model has its sizes and kind of layer, but not its further LayerNorms
and head scales (NormFormer), relative positions, shared embeddings, ResNet or pretrained weights."""

import math
from collections.abc import Sequence
from typing import Self

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from seqcap.models.base import CaptionerConfig, ImageCaptioner, Tensors

LONGEST_WAVE = 10_000  # the wavelengths of position encodings go from 2 pi to 2 pi times this (Vaswani et al. 2017)


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
    """A decoder layer: attention over words and over cells, feed-forward; each adds mask * f(LayerNorm(x)) to x.

    Args:
        config: the captioner's sizes: `hidden`, `heads` and `feed_forward`.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        hidden = config.hidden
        self.heads = config.heads
        self.norms = nn.ModuleList(nn.LayerNorm(hidden) for _ in range(3))
        # Queries, keys and values of the words; keys and values of the cells are in the memory.
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
        """Reads further words x [n, time, hidden]; returns x for the next layer, and `past` with these words.
        `past` and `cells` [n, 2, heads, ..., hidden / heads] are keys and values of earlier words and of the image's
        cells, `allowed` [n, 1, time, before + time] the words that each may attend to, `masks` [n, 1, hidden] the
        dropout masks of the three parts."""
        query, read = split_heads(self.words(self.norms[0](x)), 3, self.heads).split_with_sizes((1, 2), dim=1)
        past = torch.cat([past, read], dim=3)
        x = torch.addcmul(x, masks[0], self.from_words(attend(query, past, allowed)))
        query = split_heads(self.query(self.norms[1](x)), 1, self.heads)
        x = torch.addcmul(x, masks[1], self.from_cells(attend(query, cells, None)))
        return torch.addcmul(x, masks[2], self.feed_forward(self.norms[2](x))), past


class Model(ImageCaptioner):
    """A Transformer encoder over the image's cells, and a decoder that caches keys and values.
    A word's input is its embedding times sqrt(hidden), plus sinusoids of its position (Vaswani et al. 2017, section
    3.4), so captions may have any length. Positions of cells are learnt.
    Dropout is on word embeddings, on the output of each part of a layer, and on the decoder's output. The decoder has
    one mask per image for all words (Gal & Ghahramani 2016): captions are scored under the masks that they were sampled
    under, and their lengths are unknown when the masks are drawn. The encoder runs once, with PyTorch's dropout.
    The state: bool [n, t], which of the t cached words belong to the caption (rows may differ, see `states`), and each
    layer's keys and values [n, 2, heads, t, hidden / heads].

    Args:
        config: its sizes.
        vocabulary_size: V, the number of tokens.
        feature_shape: (height, width, channels) of a grid, or (regions, channels).
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
        # One matrix for the cells' keys and values in all layers, computed once per image.
        self.keys_values = nn.Linear(hidden, config.layers * 2 * hidden)
        self.decoder = nn.ModuleList(Layer(config) for _ in range(config.layers))
        self.decoder_norm = nn.LayerNorm(hidden)
        waves = LONGEST_WAVE ** -(torch.arange(0, hidden, 2) / hidden)
        self.register_buffer("waves", waves, persistent=False)

    def encode(self, features: Tensor) -> Tensors:
        """Features [n, height, width, channels] -> memory: for each decoder layer, keys and values of the cells [n, 2,
        heads, cells, hidden / heads]; then the decoder's dropout masks [n, 3 layers + 2, 1, hidden]."""
        n, channels = len(features), features.shape[-1]
        cells = self.cells(self.standardise(features).reshape(n, -1, channels)) + self.position
        for layer in self.encoder:
            # The training loop sets the rate after the model is built.
            for part in layer.modules():
                if isinstance(part, nn.Dropout):
                    part.p = self.dropout
            cells = layer(cells)
        hidden, layers = cells.shape[2], len(self.decoder)
        read = split_heads(self.keys_values(self.encoder_norm(cells)), 2 * layers, self.heads).chunk(layers, dim=1)
        masks = 3 * layers + 2
        return *read, self.mask(n, masks * hidden).view(n, masks, 1, hidden)

    def start(self, memory: Tensors) -> Tensors:
        cells = memory[:-1]
        return cells[0].new_ones(len(cells[0]), 0, dtype=torch.bool), *(part[:, :, :, :0] for part in cells)

    def recur(self, embedded: Tensor, state: Tensors, memory: Tensors) -> tuple[Tensor, Tensors]:
        output, state = self.read(embedded[:, None], state, memory)
        return output[:, 0], state

    def unroll(self, captions: Tensor, memory: Tensors) -> Tensor:
        return self.read(self.embedding(self.shifted(captions)), self.start(memory), memory)[0]

    def states(self, captions: Tensor, memory: Tensors, rows: Tensor, places: Tensor) -> Tensors:
        """See the base class; caches all words of a caption and masks those from `places` on. A word's keys and values
        do not depend on later words."""
        _, (own, *cached) = self.read(self.embedding(self.shifted(captions)), self.start(memory), memory)
        time = torch.arange(own.shape[1], device=own.device)
        # Inputs begin with BOS, so place t is input t + 1.
        return time <= places[:, None], *[part[rows] for part in cached]

    def read(self, embedded: Tensor, state: Tensors, memory: Tensors) -> tuple[Tensor, Tensors]:
        """Reads embedded words [n, time, hidden] at once: outputs [n, time, hidden], and the next state."""
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
    """Attention of queries [n, 1, heads, time, size] to keys and values [n, 2, heads, there, size]. `allowed`, bool [n,
    1, time, there]: what each query may attend to; None: everything. Returns [n, time, heads x size]."""
    keys, values = keys_values.unbind(1)
    found = scaled_dot_product_attention(query.squeeze(1), keys, values, attn_mask=allowed)
    return found.transpose(1, 2).flatten(2)
