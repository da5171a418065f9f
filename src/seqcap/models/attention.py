"""An LSTM that attends to grid or region features: the rows marked * of Chen & Jin 2020 (Table 2).

Attention is Xu et al. 2015's additive one, its context entering the LSTM's input as in Att2in (Rennie et al. 2017).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from seqcap.models.base import CaptionerConfig, ImageCaptioner, Tensors


class Config(CaptionerConfig):
    """The paper: hidden 512, bottom-up regions; on data without regions the cells of the CNN's grid."""


class Model(ImageCaptioner):
    """One LSTM layer over words and an attended summary of the image's cells."""

    features = "grid"

    def __init__(self, config: Config, vocabulary_size: int, feature_shape: tuple[int, ...]) -> None:
        super().__init__(config, vocabulary_size, feature_shape)
        hidden = config.hidden
        self.cells = nn.Linear(feature_shape[-1], hidden)
        # A cell's features do not say where it lies. Its learnt position tells "above" from "below".
        number = 1
        for extent in feature_shape[:-1]:
            number *= extent
        self.position = nn.Parameter(torch.zeros(number, hidden))
        self.keys = nn.Linear(hidden, hidden, bias=False)
        self.query = nn.Linear(hidden, hidden)
        self.score = nn.Linear(hidden, 1, bias=False)
        self.first = nn.Linear(hidden, hidden)
        self.lstm = nn.LSTMCell(2 * hidden, hidden)

    def encode(self, features: Tensor) -> Tensors:
        """Features [n, height, width, channels] -> (cells, keys, each [n, cells, hidden]; two masks [n, hidden])."""
        n, channels = len(features), features.shape[-1]
        flat = self.standardise(features).reshape(n, -1, channels)
        cells = torch.relu(self.cells(flat) + self.position)
        hidden = cells.shape[2]
        return cells, self.keys(cells), self.mask(n, hidden), self.mask(n, hidden)

    def start(self, memory: Tensors) -> Tensors:
        """h0 from the mean cell, c0 = 0, each [n, hidden]."""
        h = torch.tanh(self.first(memory[0].mean(1)))
        return h, torch.zeros_like(h)

    def recur(self, embedded: Tensor, state: Tensors, memory: Tensors) -> tuple[Tensor, Tensors]:
        cells, keys, input_mask, output_mask = memory
        scores = self.score(torch.tanh(keys + self.query(state[0])[:, None]))
        weights = torch.softmax(scores, dim=1)
        context = (weights * cells).sum(1)
        h, c = self.lstm(torch.cat([embedded * input_mask, context], dim=1), state)
        return (h + context) * output_mask, (h, c)
