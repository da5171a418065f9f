"""What the loss-smoothing objectives share (Elbayad, Besacier & Verbeek, ACL 2018): targets around the ground truth.

Token level: a distribution over words instead of one word (`TokenTargets`). Sequence level: sequences around the
caption instead of the caption (`draw_sequences`, `score_sequences`). In both cases the loss is the cross-entropy
against the smoothed target. The KL divergences of the paper's equations are this loss minus the target's own entropy,
which has no gradient.

Only words are smoothed. PAD, BOS, EOS and <unk> stay what they are and never take another token's place: a target that
says <unk> would teach the captioner to say it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag, log_softmax, nll_loss, normalize, pad

from seqcap.data.vocabulary import PAD, SPECIALS
from seqcap.errors import InputError
from seqcap.models.base import Captioner, Tensors, repeat
from seqcap.objectives.base import Batch, Context

FIRST_WORD = len(SPECIALS)

Pool = Literal["vocabulary", "batch", "references"]


@dataclass(frozen=True)
class Scored:
    """Log-probabilities, and the tokens that are to become likely there.

    Attributes:
        log_p: [m, V].
        tokens: ids [m, k]: k alternatives at each of m places.
        weights: [m, k]; all weights sum to one, so that losses are means over the captions' tokens.
    """

    log_p: Tensor
    tokens: Tensor
    weights: Tensor

    def negative_log_likelihood(self) -> Tensor:
        """The weighted sum of -log p of the tokens."""
        return -(self.log_p.gather(1, self.tokens) * self.weights).sum()


def mixed(first: Scored, second: Scored, share: float) -> list[Scored]:
    """Parts whose losses sum to (1 - share) first + share second. If both have the same log-probabilities, they become
    one part, so that their [m, V] targets are made and multiplied once."""
    weights = (1 - share) * first.weights, share * second.weights
    if first.log_p is second.log_p:
        return [Scored(first.log_p, torch.cat([first.tokens, second.tokens], 1), torch.cat(weights, 1))]
    return [Scored(first.log_p, first.tokens, weights[0]), Scored(second.log_p, second.tokens, weights[1])]


@dataclass(frozen=True)
class GroundTruth:
    """The batch's captions under the captioner.

    Attributes:
        captions: ids [n, time], n = images x references.
        memory: one row per caption.
        scored: the m tokens that are not PAD, row by row; each has weight 1/m.
        loss: their mean -log p: cross-entropy.
    """

    captions: Tensor
    memory: Tensors
    scored: Scored
    loss: Tensor


def score_ground_truth(captioner: Captioner, batch: Batch) -> GroundTruth:
    """Feeds the batch's captions to the captioner."""
    captions = batch.captions.flatten(0, 1)
    memory = repeat(captioner.encode(batch.features), batch.captions.shape[1])
    log_p = log_softmax(captioner.token_logits(captions, memory).float(), dim=1)
    tokens = captions[captions != PAD]
    weights = log_p.new_full((len(tokens), 1), 1 / len(tokens))
    # Not Scored's sum: `nll_loss` after `log_softmax` is what `cross_entropy` computes, to the bit.
    return GroundTruth(captions, memory, Scored(log_p, tokens[:, None], weights), nll_loss(log_p, tokens))


class TokenTargets(nn.Module):
    """Smoothed targets of tokens (eqs. 14 and 16).

        r(y | y*) ~ exp((cos(e_y, e_y*) - beta min(f_y / f_y*, f_y* / f_y)) / tau)

    normalised over the words that have an embedding. A token without one (a special, or a word that the embeddings do
    not cover) is its own and only target.

    Args:
        tau: temperature; the smaller, the closer to y* alone.
        beta: weight of the promotion of rare tokens: 0, none.
        context: its embeddings e [V, d] and frequencies f [V].

    Raises:
        InputError: the context has no embeddings.
    """

    embeddings: Tensor
    frequencies: Tensor

    def __init__(self, tau: float, beta: float, context: Context) -> None:
        super().__init__()
        if context.embeddings is None:
            raise InputError(
                "params.yaml", "token-level smoothing needs word embeddings, but there are none", "name their file"
            )
        self.tau, self.beta = tau, beta
        # Not persistent: they come from files, and would make every checkpoint larger by V x d numbers.
        self.register_buffer("embeddings", normalize(context.embeddings.float(), dim=1), persistent=False)
        self.register_buffer("frequencies", context.frequencies.float(), persistent=False)

    def rows(self, tokens: Tensor) -> Tensor:
        """r(. | y*) [n, V] of ground-truth tokens y* [n]; every row sums to one.

        Rows are computed for the tokens asked for: all V of them would be 400 MB at V = 10,000.
        """
        logits = self.embeddings[tokens] @ self.embeddings.T
        if self.beta > 0:
            own, other = self.frequencies[tokens, None], self.frequencies[None]
            logits -= self.beta * torch.minimum(own, other) / torch.maximum(own, other).clamp(min=1)
        logits /= self.tau
        bare = ~self.embeddings.any(1)
        logits[:, bare] = -torch.inf
        alone = bare[tokens].nonzero()[:, 0]
        logits[alone] = -torch.inf
        logits[alone, tokens[alone]] = 0
        return logits.softmax(1)

    def loss(self, scored: Scored) -> Tensor:
        """The weighted sum over tokens y* of -sum_y r(y | y*) log p(y)."""
        distinct, index = torch.unique(scored.tokens, return_inverse=True)
        targets = embedding_bag(index, self.rows(distinct), per_sample_weights=scored.weights, mode="sum")
        return -(scored.log_p * targets).sum()


@dataclass(frozen=True)
class Sequences:
    """Sequences drawn around captions.

    Attributes:
        tokens: ids [n, L, time]: L samples of each of n captions, of its length.
        distances: [n, L], their Hamming distances to the caption.
        log_q: float64 [n, L], their log-probabilities under the distribution they were drawn from.
    """

    tokens: Tensor
    distances: Tensor
    log_q: Tensor


def draw_sequences(captions: Tensor, vocabulary_size: int, tau: float, samples: int, pool: Pool) -> Sequences:
    """Draws sequences from q(y | y*) ~ exp(-d(y, y*) / tau), d the Hamming distance (eqs. 10 and 11).

    First d from p(d) ~ C(T, d) (V - 1)^d exp(-d / tau), then d of the caption's T words uniformly without replacement,
    then for each a substitute, uniformly among the V - 1 *other* words of the pool: every sequence at distance d is
    equally likely, and with Z = (1 + (V - 1) exp(-1 / tau))^T

        q(y | y*) = exp(-d(y, y*) / tau) / Z

    Here T counts words (not EOS, PAD or <unk>, which are never substituted) and V is the size of the caption's own
    pool. A caption's words are always in its pool.

    The L distances of a caption are strata of one inverse CDF, at (u + l / L) mod 1 with a single uniform u: each of
    them has exactly the distribution p(d), and together they cover it evenly.

    Args:
        captions: ids [b, references, time].
        vocabulary_size: V with the special tokens.
        tau: temperature.
        samples: L.
        pool: where substitutes come from: the vocabulary, the captions of the batch, or the image's own references.

    Returns:
        the samples of n = b x references captions.
    """
    substitutes = pool_of(captions, vocabulary_size, pool)
    captions = captions.flatten(0, 1)
    (n, time), device = captions.shape, captions.device
    is_word = captions >= FIRST_WORD
    words = is_word.sum(1)
    alternatives = (substitutes.size - 1).clamp(min=0)

    # In double precision a uniform number can tell all of 10^4 words and rare distances apart.
    cumulative = distance_log_probs(words, alternatives, tau, time).exp().cumsum(1)
    strata = torch.arange(samples, dtype=torch.float64, device=device) / samples
    uniform = (torch.rand(n, 1, dtype=torch.float64, device=device) + strata) % 1
    distances = torch.minimum(torch.searchsorted(cumulative, uniform, right=True), words[:, None])

    # Words in random order, everything else after them: the first d are substituted.
    keys = torch.rand(n, samples, time, dtype=torch.float64, device=device).masked_fill(~is_word[:, None], 2)
    first = (torch.arange(time, device=device) < distances[:, :, None]).expand(n, samples, time)
    chosen = torch.zeros_like(first).scatter(2, keys.argsort(2), first)

    # A rank among the pool's other words: from the caption's own word on, every word is one place further.
    uniform = torch.rand(n, samples, time, dtype=torch.float64, device=device)
    rank = (uniform * alternatives[:, None, None]).long()
    rank = rank + (rank >= substitutes.own[:, None])
    drawn = substitutes.words[substitutes.start[:, None, None] + rank]
    tokens = torch.where(chosen, drawn, captions[:, None])

    log_z = words * torch.log1p(alternatives.double() * torch.tensor(-1 / tau, dtype=torch.float64).exp())
    return Sequences(tokens, distances, -distances.double() / tau - log_z[:, None])


def distance_log_probs(words: Tensor, alternatives: Tensor, tau: float, longest: int) -> Tensor:
    """log p(d) float64 [n, longest + 1] of the distances d = 0 .. longest, p(d) ~ C(T, d) (V - 1)^d exp(-d / tau).

    Args:
        words: T [n], at most `longest`.
        alternatives: V - 1 [n].
    """
    d = torch.arange(longest + 1, dtype=torch.float64, device=words.device)
    t = words[:, None].double()
    binomial = torch.lgamma(t + 1) - torch.lgamma(d + 1) - torch.lgamma((t - d).clamp(min=0) + 1)
    # xlogy: with no other word at all, distance 0 still has 0^0 = 1 sequence.
    sequences = binomial + torch.xlogy(d, alternatives[:, None].double())
    return log_softmax((sequences - d / tau).masked_fill(d > t, -torch.inf), dim=1)


@dataclass(frozen=True)
class Substitutes:
    """The pools that n captions' substitutes come from.

    Attributes:
        words: ids of all pools' words, one pool after the other, each ascending. The last entry belongs to no pool.
        start: [n], where each caption's pool begins in `words`.
        size: [n], how many words it has.
        own: [n, time], the position of the caption's own token in its pool; past its end for what is not a word.
    """

    words: Tensor
    start: Tensor
    size: Tensor
    own: Tensor


def pool_of(captions: Tensor, vocabulary_size: int, pool: Pool) -> Substitutes:
    """The substitutes of captions [b, references, time]."""
    images, references, _ = captions.shape
    is_word = captions >= FIRST_WORD
    own = torch.full_like(captions, vocabulary_size)
    if pool == "vocabulary":
        words = torch.arange(FIRST_WORD, vocabulary_size, device=captions.device)
        start = torch.zeros(images, dtype=torch.long, device=captions.device)
        size = torch.full_like(start, len(words))
        own[is_word] = captions[is_word] - FIRST_WORD
    else:
        group = torch.arange(images, device=captions.device) * (pool == "references")
        image = is_word.nonzero()[:, 0]
        # One sort finds every pool: an id is offset by its pool's number times V.
        keys, place = torch.unique(captions[is_word] + group[image] * vocabulary_size, return_inverse=True)
        start = torch.searchsorted(keys, group * vocabulary_size)
        size = torch.searchsorted(keys, (group + 1) * vocabulary_size) - start
        words = keys % vocabulary_size
        own[is_word] = place - start[image]
    start, size = start.repeat_interleave(references), size.repeat_interleave(references)
    # If all pools are empty (a batch without words), there must still be an entry to look up.
    return Substitutes(pad(words, (0, 1)), start, size, own.flatten(0, 1))


def score_sequences(
    captioner: Captioner, truth: GroundTruth, sequences: Sequences, weights: Tensor, lazy: bool
) -> Scored:
    """The sampled sequences under the captioner.

    Args:
        truth: of the captions that the sequences were drawn around.
        weights: [n, L]; a caption's sum to one.
        lazy: log p(y_t | y*_<t, x) instead of log p(y_t | y_<t, x) (eq. 19): the ground truth's hidden states serve
            all samples, and no further pass is needed.

    Returns:
        k = L alternatives at each of the captions' m tokens if lazy, else one at each of the samples' m x L tokens.
    """
    samples = sequences.tokens.shape[1]
    weights = weights / truth.scored.tokens.numel()
    if lazy:
        valid = truth.captions != PAD
        tokens = sequences.tokens.transpose(1, 2)[valid]
        return Scored(truth.scored.log_p, tokens, weights[valid.nonzero()[:, 0]])
    flat = sequences.tokens.flatten(0, 1)
    valid = flat != PAD
    log_p = log_softmax(captioner.token_logits(flat, repeat(truth.memory, samples)).float(), dim=1)
    return Scored(log_p, flat[valid][:, None], weights.flatten()[valid.nonzero()[:, 0], None])
