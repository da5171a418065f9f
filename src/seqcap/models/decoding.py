"""Greedy decoding, random sampling and beam search, by any captioner's `start` and `step`. Captions are ids [n, time]:
words, EOS, then PAD; one of `max_length` tokens may lack EOS. Log-probabilities sum over tokens and EOS, in nats."""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from seqcap.data.vocabulary import BOS, EOS, PAD, UNK
from seqcap.models.base import Captioner, Tensors, repeat, select


class Decoder(Protocol):
    """What decoding needs of a captioner: its state before the first token, and a step from token to token."""

    def start(self, memory: Tensors) -> Tensors: ...

    def step(self, inputs: Tensor, state: Tensors, memory: Tensors) -> tuple[Tensor, Tensors]: ...


class Known:
    """p(y_t | y_<t, x) of a captioner without `UNK`: it says known words alone, whose logits stay as they are.
    Objectives make unknown words probable by accident: no loss of smoothing spreads their target, so that two captions
    of Tok-Seq in three had one on photographs. (Self-critical.pytorch decodes so, too: its suppress_UNK.)

    Args:
        captioner: a captioner, or an ensemble.
    """

    def __init__(self, captioner: Decoder) -> None:
        self.captioner = captioner

    def start(self, memory: Tensors) -> Tensors:
        return self.captioner.start(memory)

    def step(self, inputs: Tensor, state: Tensors, memory: Tensors) -> tuple[Tensor, Tensors]:
        logits, state = self.captioner.step(inputs, state, memory)
        return logits.index_fill(-1, torch.tensor([UNK], device=logits.device), -torch.inf), state


@dataclass(frozen=True)
class Captions:
    """Decoded captions, with their probabilities.

    Attributes:
        tokens: ids [..., time]: words, EOS, then PAD.
        log_prob: log p(y|x) [...], in nats.
    """

    tokens: Tensor
    log_prob: Tensor


class Cursor(Protocol):
    """A decoder at some place in each of n captions."""

    def read(self, tokens: Tensor) -> Tensor:
        """Reads the last token of each caption, ids [n], and returns the probabilities [n, V] of the next."""
        ...

    def keep(self, rows: Tensor) -> None:
        """Only these captions go on."""
        ...


class Plain:
    """The cursor of any decoder.

    Args:
        decoder: what reads the tokens.
        memory: what the decoder looks at, one row per caption: tensors [n, ...].
        state: the decoder's state before it reads the next token, tensors [n, ...].
    """

    def __init__(self, decoder: Decoder, memory: Tensors, state: Tensors) -> None:
        self.decoder, self.memory, self.state = decoder, memory, state

    def read(self, tokens: Tensor) -> Tensor:
        logits, self.state = self.decoder.step(tokens, self.state, self.memory)
        return torch.softmax(logits.float(), dim=1)

    def keep(self, rows: Tensor) -> None:
        self.state, self.memory = select(self.state, rows), select(self.memory, rows)


@torch.no_grad()
def rollout(captioner: Decoder, memory: Tensors, max_length: int, greedy: Tensor) -> Captions:
    """Draws captions from p(y|x) (temperature 1, no top-k), greedily in rows where `greedy` [n] is true. `memory` has
    one row per caption, `max_length` counts EOS. So a self-critical baseline needs no second pass. Returns tokens [n,
    time] and log_prob [n]."""
    inputs = torch.full((len(greedy),), BOS, dtype=torch.long, device=greedy.device)
    room = torch.full_like(inputs, max_length)
    return continuations(captioner, memory, captioner.start(memory), inputs, room, greedy)


@torch.no_grad()
def continuations(
    captioner: Decoder, memory: Tensors, state: Tensors, inputs: Tensor, room: Tensor, greedy: Tensor
) -> Captions:
    """Continues captions until EOS, by sampling or greedily as in `rollout`; returns the new tokens only. `inputs` are
    the last tokens so far, ids [n], `state` the state before the decoder reads them. `room` [n], at least 1: how many
    tokens each caption may still get, EOS included. `greedy` is bool [n], `memory` has one row per caption."""
    return write(Plain(captioner, memory, state), inputs, room, greedy)


def write(cursor: Cursor, inputs: Tensor, room: Tensor, greedy: Tensor, prefix: Tensor | None = None) -> Captions:
    """Continues captions as in `continuations`. They begin with `prefix`, ids [n, time], whose first column has no PAD;
    a caption that ends in it is not continued."""
    n, device = len(greedy), greedy.device
    given = 0 if prefix is None else prefix.shape[1]
    alive = torch.arange(n, device=device)
    # Of each step: the captions, their tokens and what these had for probabilities.
    rows, words, chances = [], [], []
    for t in range(int(room.max())):
        probabilities = cursor.read(inputs)
        inputs = choose(probabilities, greedy) if prefix is None or t >= given else prefix[alive, t]
        rows.append(alive)
        words.append(inputs)
        chances.append(probabilities.gather(1, inputs[:, None]))
        going = (inputs != EOS) & (room > t + 1)
        if prefix is not None and t + 1 < given:
            going &= prefix[alive, t + 1] != PAD
        if not bool(going.all()):
            # Only unfinished rows go on: this saves over a third of the work.
            kept = going.nonzero().squeeze(1)
            if len(kept) == 0:
                break
            alive, inputs, greedy, room = select((alive, inputs, greedy, room), kept)
            cursor.keep(kept)
    tokens = torch.full((len(words), n), PAD, dtype=torch.long, device=device)
    for step, (row, word) in enumerate(zip(rows, words, strict=True)):
        tokens[step, row] = word
    log_prob = torch.zeros(n, device=device).index_add_(0, torch.cat(rows), torch.cat(chances).squeeze(1).log())
    return Captions(tokens.T.contiguous(), log_prob)


def choose(probabilities: Tensor, greedy: Tensor) -> Tensor:
    """The most probable token where `greedy` [n], else a random one, ids [n], from probabilities [n, V]."""
    # Inverts the cumulative distribution: one random number per row, where Categorical draws V.
    cumulative = probabilities.cumsum(1)
    threshold = torch.rand(len(greedy), 1, device=greedy.device) * cumulative[:, -1:]
    tokens = torch.searchsorted(cumulative, threshold, right=True).squeeze(1).clamp(max=probabilities.shape[1] - 1)
    rows = greedy.nonzero().squeeze(1)
    return tokens.index_copy_(0, rows, probabilities.index_select(0, rows).argmax(1))


@torch.no_grad()
def complete(
    captioner: Captioner, memory: Tensors, captions: Tensor, rows: Tensor, lengths: Tensor, max_length: int
) -> Tensor:
    """Random completions of m prefixes of captions [n, time]: ids [m, max_length], prefixes included. `rows` [m] is the
    caption of each prefix, `lengths` [m] its number of tokens, 1 to `max_length` - 1, without EOS. `memory` has one row
    per caption."""
    last = lengths - 1
    state = captioner.states(captions, memory, rows, last)
    sampled = torch.zeros_like(rows, dtype=torch.bool)
    found = continuations(captioner, select(memory, rows), state, captions[rows, last], max_length - lengths, sampled)
    whole = torch.full((len(rows), max_length + found.tokens.shape[1]), PAD, device=rows.device)
    time = torch.arange(captions.shape[1], device=rows.device)
    whole[:, : len(time)] = captions[rows].masked_fill(time >= lengths[:, None], PAD)
    place = lengths[:, None] + torch.arange(found.tokens.shape[1], device=rows.device)
    return whole.scatter(1, place, found.tokens)[:, :max_length]


def greedy(captioner: Decoder, memory: Tensors, max_length: int) -> Captions:
    """The most probable token at every step: one caption for each of the n rows of `memory`, tokens [n, time] and
    log_prob [n]."""
    return rollout(captioner, memory, max_length, torch.ones(len(memory[0]), dtype=torch.bool, device=memory[0].device))


def sample(captioner: Decoder, memory: Tensors, max_length: int, samples: int) -> Captions:
    """Random captions, `samples` for each of the n rows of `memory`: tokens [n, samples, time], log_prob [n,
    samples]."""
    n = len(memory[0])
    greedy = torch.zeros(n * samples, dtype=torch.bool, device=memory[0].device)
    drawn = rollout(captioner, repeat(memory, samples), max_length, greedy)
    return Captions(drawn.tokens.view(n, samples, -1), drawn.log_prob.view(n, samples))


@torch.no_grad()
def beam(captioner: Decoder, memory: Tensors, max_length: int, width: int, no_repeat_ngram: int = 0) -> Captions:
    """The `width` best captions of a beam search by log p(y|x), without length normalisation.
    A hypothesis may end only if its end is among the best `width` continuations of the step; the best `width`
    unfinished ones fill the beam again. Without this rule the search finds the most probable caption of a captioner
    with few training images: "a girl". It stops when no unfinished hypothesis can enter the best `width` finished ones.
    A `width` above the number of captions makes it exhaustive. `no_repeat_ngram`: see `forbid_repeats`; 0: no limit.
    Returns tokens [n, width, time] and log_prob [n, width], best first (-inf where fewer captions exist). `memory` has
    n rows, one per image."""
    n, device = len(memory[0]), memory[0].device
    memory = repeat(memory, width)
    state = captioner.start(memory)
    inputs = torch.full((n * width,), BOS, dtype=torch.long, device=device)
    # At first all beams of an image are the same empty prefix, so only one continues.
    live = torch.full((n, width), -torch.inf, device=device)
    live[:, 0] = 0
    prefix = torch.full((n, width, max_length), PAD, dtype=torch.long, device=device)
    done_score = torch.full((n, width), -torch.inf, device=device)
    done = torch.full((n, width, max_length), PAD, dtype=torch.long, device=device)
    images = torch.arange(n, device=device)  # rows still searching
    result_score, result = done_score.clone(), done.clone()
    for t in range(max_length):
        b = len(images)
        logits, state = captioner.step(inputs, state, memory)
        log_p = torch.log_softmax(logits.float(), dim=1).view(b, width, -1)
        if no_repeat_ngram > 0:
            log_p = forbid_repeats(log_p, prefix[:, :, :t], no_repeat_ngram)
        # At most `width` hypotheses end. The best of each beam, then the best of those: a full sort is far slower.
        k = min(width + 1, log_p.shape[2])
        top, token = log_p.topk(k, dim=2)
        best, place = (live[:, :, None] + top).flatten(1).topk(min(2 * width, width * k), dim=1)
        ends = token.flatten(1).gather(1, place) == EOS
        ended = prefix.gather(1, (place[:, :width] // k)[:, :, None].expand(-1, -1, max_length))
        ended[:, :, t] = EOS
        score = best[:, :width].masked_fill(~ends[:, :width], -torch.inf)
        done_score, done = _best(torch.cat([done_score, score], 1), torch.cat([done, ended], 1), width)
        live, choice = best.masked_fill(ends, -torch.inf).topk(width, dim=1)
        choice = place.gather(1, choice)
        parent, inputs = choice // k, token.flatten(1).gather(1, choice)
        prefix = prefix.gather(1, parent[:, :, None].expand(-1, -1, max_length))
        prefix[:, :, t] = inputs
        rows = (torch.arange(b, device=device)[:, None] * width + parent).flatten()
        inputs, state = inputs.flatten(), select(state, rows)
        if t == max_length - 1:
            done_score, done = _best(torch.cat([done_score, live], 1), torch.cat([done, prefix], 1), width)
            searching = torch.zeros(b, dtype=torch.bool, device=device)
        else:
            searching = live[:, 0] > done_score[:, -1]
        result_score[images], result[images] = done_score, done
        if not bool(searching.any()):
            break
        if not bool(searching.all()):
            keep = searching.nonzero().squeeze(1)
            images, live, prefix = images[keep], live[keep], prefix[keep]
            done_score, done = done_score[keep], done[keep]
            rows = (keep[:, None] * width + torch.arange(width, device=device)).flatten()
            inputs, state, memory = inputs[rows], select(state, rows), select(memory, rows)
    length = int((result != PAD).sum(2).max())
    return Captions(result[:, :, :length], result_score)


def forbid_repeats(log_p: Tensor, prefix: Tensor, size: int) -> Tensor:
    """Sets log p [..., V] of tokens that would repeat an n-gram of the prefix [..., t] to -inf, with n = `size` (Paulus
    et al., ICLR 2018: n = 3). Other tokens keep their probabilities."""
    if prefix.shape[-1] < size:
        return log_p
    said = prefix.unfold(-1, size, 1)
    last = prefix[..., None, prefix.shape[-1] - size + 1 :]
    again = (said[..., :-1] == last).all(-1)
    # Added, not assigned: one token may end several n-grams, not all of which would be repeated.
    forbidden = torch.zeros_like(again, dtype=log_p.dtype).masked_fill(again, -torch.inf)
    return log_p.scatter_add(-1, said[..., -1], forbidden)


def _best(scores: Tensor, tokens: Tensor, width: int) -> tuple[Tensor, Tensor]:
    top, choice = scores.topk(width, dim=1)
    return top, tokens.gather(1, choice[:, :, None].expand(-1, -1, tokens.shape[2]))
