"""An LSTM that attends to grid or region features: rows marked * of Chen & Jin 2020 (Table 2). Additive attention (Xu
et al. 2015); its context enters the LSTM's input as in Att2in (Rennie et al. 2017)."""

import math

import torch
from torch import Tensor, nn

from seqcap.models.base import CaptionerConfig, ImageCaptioner, Tensors
from seqcap.models.recording import Stepwise


class Config(CaptionerConfig):
    """The paper uses hidden 512 and bottom-up regions. Without regions, the cells are those of the CNN's grid."""


class Model(ImageCaptioner):
    """An LSTM whose input is the last word and what it attends to.

    Args:
        config: its sizes.
        vocabulary_size: V, the number of tokens.
        feature_shape: (height, width, channels) of a grid, or (regions, channels).
    """

    features = "grid"
    parts = 2
    recording = Stepwise

    def __init__(self, config: Config, vocabulary_size: int, feature_shape: tuple[int, ...]) -> None:
        super().__init__(config, vocabulary_size, feature_shape)
        hidden = config.hidden
        self.cells = nn.Linear(feature_shape[-1], hidden)
        # Features do not tell a cell's position, so it is learnt.
        self.position = nn.Parameter(torch.zeros(math.prod(feature_shape[:-1]), hidden))
        self.keys = nn.Linear(hidden, hidden, bias=False)
        self.score = nn.Linear(hidden, 1, bias=False)
        self.first = nn.Linear(hidden, hidden)
        # One matrix for the attention's query and the four gates.
        self.recurrent = nn.Linear(hidden, 5 * hidden)
        self.word_gates = nn.Linear(hidden, 4 * hidden, bias=False)
        self.context_gates = nn.Linear(hidden, 4 * hidden, bias=False)

    def encode(self, features: Tensor) -> Tensors:
        """Features [n, height, width, channels] -> (cells, keys: [n, cells, hidden]; two dropout masks [n, hidden])."""
        n, channels = len(features), features.shape[-1]
        flat = self.standardise(features).reshape(n, -1, channels)
        cells = torch.relu(self.cells(flat) + self.position)
        hidden = cells.shape[2]
        return cells, self.keys(cells), self.mask(n, hidden), self.mask(n, hidden)

    def start(self, memory: Tensors) -> Tensors:
        h = torch.tanh(self.first(memory[0].mean(1)))
        return h, torch.zeros_like(h)

    def recur(self, embedded: Tensor, state: Tensors, memory: Tensors) -> tuple[Tensor, Tensors]:
        output, state = self.advance(self.word_gates(embedded * memory[2]), state, memory)
        return output * memory[3], state

    def advance(self, word_gates: Tensor, state: Tensors, memory: Tensors) -> tuple[Tensor, Tensors]:
        """State plus context [n, hidden], and the next state. `word_gates` [n, 4 hidden]: gates from the last word."""
        cells, keys = memory[:2]
        hidden, cell = state
        size = hidden.shape[1]
        recurrent = self.recurrent(hidden)
        scores = self.score(torch.tanh(keys + recurrent[:, None, :size])).squeeze(2)
        context = torch.bmm(torch.softmax(scores, dim=1)[:, None], cells).squeeze(1)
        i, f, g, o = (recurrent[:, size:] + word_gates + self.context_gates(context)).chunk(4, dim=1)
        cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
        hidden = torch.sigmoid(o) * torch.tanh(cell)
        return hidden + context, (hidden, cell)

    def unroll(self, captions: Tensor, memory: Tensors) -> Tensor:
        """See the base class; computes the words' part of the gates for all steps at once."""
        gates = self.word_gates(self.embedding(self.shifted(captions)) * memory[2][:, None])
        state = self.start(memory)
        outputs = []
        for now in gates.unbind(1):
            output, state = self.advance(now, state, memory)
            outputs.append(output)
        return torch.stack(outputs, dim=1) * memory[3][:, None]
