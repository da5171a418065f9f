"""The attentive encoder-decoder of Bahdanau, Cho & Bengio (ICLR 2015), with LSTMs instead of GRUs."""

from collections.abc import Sequence

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from seqcap.config import Frozen
from seqcap.data.vocabulary import PAD
from seqcap.models.base import IMPOSSIBLE, Captioner, Tensors
from seqcap.models.recording import Stepwise


class Config(Frozen):
    """Elbayad et al. 2018: embedding 128, hidden 256 for IWSLT'14; 620, 2000 for WMT'14. They print no readout size;
    Bahdanau et al. use 500 with embeddings of 620."""

    embedding: int = Field(gt=0, description="size of the embeddings of either language")
    hidden: int = Field(gt=0, description="size of the decoder, and of the encoder in each direction")
    readout: int = Field(gt=0, description="size of the layer before the vocabulary")


class Model(Captioner):
    """A bidirectional LSTM reads the source, an LSTM with additive attention writes the target (appendix A.2):
        a_t = softmax_j(v . tanh(W s_{t-1} + U h_j)),  c_t = sum_j a_tj h_j
        s_t = LSTM([y_{t-1}; c_t], s_{t-1})
        o_t = maxout(R [s_t; y_{t-1}; c_t])
    s_0 comes from the last states of both directions of the encoder; in the paper, from the backward one alone.

    Args:
        config: its sizes.
        vocabulary_size: V, the number of tokens of the target language.
        feature_shape: (source words,): the size of the source vocabulary, special tokens included.
    """

    kinds = ("sentences",)
    recording = Stepwise

    def __init__(self, config: Config, vocabulary_size: int, feature_shape: tuple[int, ...]) -> None:
        super().__init__(vocabulary_size, config.embedding, config.readout)
        embedding, hidden = config.embedding, config.hidden
        self.source = nn.Embedding(feature_shape[-1], embedding, padding_idx=PAD)
        self.encoder = nn.LSTM(embedding, hidden, batch_first=True, bidirectional=True)
        self.first = nn.Linear(2 * hidden, hidden)
        self.keys = nn.Linear(2 * hidden, hidden)
        self.score = nn.Linear(hidden, 1, bias=False)
        # One matrix for the attention's query and the four gates.
        self.recurrent = nn.Linear(hidden, 5 * hidden, bias=False)
        self.word_gates = nn.Linear(embedding, 4 * hidden)
        self.context_gates = nn.Linear(2 * hidden, 4 * hidden, bias=False)
        self.state_readout = nn.Linear(hidden, 2 * config.readout)
        self.word_readout = nn.Linear(embedding, 2 * config.readout, bias=False)
        self.context_readout = nn.Linear(2 * hidden, 2 * config.readout, bias=False)
        nn.init.uniform_(self.source.weight, -0.1, 0.1)

    def encode(self, features: Tensor) -> Tensors:
        """Source ids [n, time] -> memory. Annotations [n, time, 2 hidden]; keys [n, time, hidden]; scores [n, time],
        low at padding, else 0; s_0; dropout masks of target embeddings and decoder outputs."""
        n, size = len(features), self.embedding.embedding_dim
        valid = features != PAD
        lengths = valid.sum(1).clamp(min=1)
        embedded = self.source(features) * self.mask(n, size)[:, None]
        annotations, last = self.read_source(embedded, lengths)
        annotations = annotations * self.mask(n, annotations.shape[2])[:, None]
        start = torch.tanh(self.first(last))
        padding = torch.zeros_like(valid, dtype=annotations.dtype).masked_fill(~valid, IMPOSSIBLE)
        output_mask = self.mask(n, self.output.in_features)
        return annotations, self.keys(annotations), padding, start, self.mask(n, size), output_mask

    def read_source(self, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Embedded words [n, time, embedding] and lengths [n] -> the states of both directions at each word [n, time, 2
        hidden], anything at padding, and after each direction's last word [n, 2 hidden].
        On a CPU, two LSTMs over padded sentences take half the time of a bidirectional one over packed sentences."""
        if embedded.is_cuda:
            return self.read_packed(embedded, lengths)
        place = torch.arange(embedded.shape[1], device=embedded.device)
        mirrored = lengths[:, None] - 1 - place
        # Padding stays where it is, so what is mirrored twice is as before.
        mirrored = torch.where(mirrored >= 0, mirrored, place)[:, :, None]
        weights = self.encoder.all_weights
        there = self._read_forwards(embedded, weights[0])
        back = self._read_forwards(embedded.gather(1, mirrored.expand_as(embedded)), weights[1])
        end = (lengths - 1)[:, None, None].expand(-1, 1, there.shape[2])
        last = torch.cat([there.gather(1, end), back.gather(1, end)], dim=2).squeeze(1)
        return torch.cat([there, back.gather(1, mirrored.expand_as(back))], dim=2), last

    def read_packed(self, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """`read_source` by one call of the LSTM: a GPU keeps the weights of both directions in one piece."""
        packed = pack_padded_sequence(embedded, lengths.cpu(), batch_first=True, enforce_sorted=False)
        outputs, (last, _) = self.encoder(packed)
        annotations, _ = pad_packed_sequence(outputs, batch_first=True, total_length=embedded.shape[1])
        return annotations, torch.cat([last[0], last[1]], dim=1)

    def _read_forwards(self, embedded: Tensor, weights: Sequence[Tensor]) -> Tensor:
        zeros = embedded.new_zeros(1, len(embedded), self.encoder.hidden_size)
        outputs, _, _ = torch.lstm(embedded, (zeros, zeros), tuple(weights), True, 1, 0.0, self.training, False, True)
        return outputs

    def start(self, memory: Tensors) -> Tensors:
        return memory[3], torch.zeros_like(memory[3])

    def recur(self, embedded: Tensor, state: Tensors, memory: Tensors) -> tuple[Tensor, Tensors]:
        embedded = embedded * memory[4]
        context, state = self.advance(self.word_gates(embedded), state, memory)
        return self.read_out(state[0], embedded, context) * memory[5], state

    def advance(self, word_gates: Tensor, state: Tensors, memory: Tensors) -> tuple[Tensor, Tensors]:
        """c_t [n, 2 hidden] and the next state. `word_gates` [n, 4 hidden]: the gates' part of the last word."""
        annotations, keys, padding = memory[:3]
        hidden, cell = state
        recurrent = self.recurrent(hidden)
        size = hidden.shape[1]
        query, gates = recurrent[:, :size], recurrent[:, size:]
        scores = self.score(torch.tanh(keys + query[:, None])).squeeze(2) + padding
        context = torch.bmm(torch.softmax(scores, dim=1)[:, None], annotations).squeeze(1)
        i, f, g, o = (gates + word_gates + self.context_gates(context)).chunk(4, dim=1)
        cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
        return context, (torch.sigmoid(o) * torch.tanh(cell), cell)

    def read_out(self, hidden: Tensor, embedded: Tensor, context: Tensor) -> Tensor:
        """The decoder's output [..., readout]: a maxout over pairs of units. It reads the state [..., hidden], the
        embedded last word [..., embedding] and c_t [..., 2 hidden]."""
        deep: Tensor = self.state_readout(hidden) + self.word_readout(embedded) + self.context_readout(context)
        return deep.view(*deep.shape[:-1], -1, 2).amax(-1)

    def unroll(self, captions: Tensor, memory: Tensors) -> Tensor:
        """See the base class; computes what does not depend on the state for all steps at once."""
        embedded = self.embedding(self.shifted(captions)) * memory[4][:, None]
        state = self.start(memory)
        states, contexts = [], []
        for gates in self.word_gates(embedded).unbind(1):
            context, state = self.advance(gates, state, memory)
            states.append(state[0])
            contexts.append(context)
        outputs = self.read_out(torch.stack(states, dim=1), embedded, torch.stack(contexts, dim=1))
        return outputs * memory[5][:, None]
