"""Targets around the ground truth for loss smoothing (Elbayad, Besacier & Verbeek, ACL 2018): distributions over tokens
(`TokenTargets`), or sequences around the caption (`draw_sequences`, `draw_at_shared_distances`, `score_sequences`). The
cross-entropy against the smoothed target is the paper's KL divergence plus the target's constant entropy.
EOS and <unk> share their targets like any word, as in the authors' code. Otherwise all words would lose probability to
them: a beam would prefer short captions, and a captioner would write <unk> where it may. No word's target has EOS, and
no word becomes it. PAD and BOS are neither replaced nor substituted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag, log_softmax, nll_loss, normalize, pad

from seqcap.data.vocabulary import EOS, PAD, SPECIALS, UNK
from seqcap.models.base import Captioner, Tensors, repeat
from seqcap.objectives.shared.base import Batch, Context

FIRST_WORD = len(SPECIALS)
# What losses log of how much they smooth: the share of a target's weight that is not on the caption's own token. Of Tok
# it is alpha times what `TokenTargets` moves, of Seq alpha times the share of places that are substituted.
STRENGTH = "smoothing_strength"
Pool = Literal["vocabulary", "batch", "references"]


@dataclass(frozen=True)
class Scored:
    """Tokens at m places of captions with their log-probabilities, and what each counts in a loss.

    Attributes:
        log_p: [m, V], in nats.
        tokens: ids [m, k], k alternatives at each of the m places.
        weights: [m, k], such that losses are means over the captions' tokens.
    """

    log_p: Tensor
    tokens: Tensor
    weights: Tensor

    def negative_log_likelihood(self) -> Tensor:
        return -(self.log_p.gather(1, self.tokens) * self.weights).sum()


def caption_memory(captioner: Captioner, batch: Batch) -> Tensors:
    return repeat(captioner.encode(batch.features), batch.captions.shape[1])


def score_ground_truth(captioner: Captioner, batch: Batch) -> tuple[Scored, Tensor]:
    """The m tokens of the batch's captions, row by row, each of weight 1/m; and their cross-entropy."""
    captions = batch.captions.flatten(0, 1)
    log_p = log_softmax(captioner.token_logits(captions, caption_memory(captioner, batch)).float(), dim=1)
    tokens = captions[captions != PAD]
    weights = log_p.new_full((len(tokens), 1), 1 / len(tokens))
    # `nll_loss` after `log_softmax` equals `cross_entropy` bit for bit; the sum of `Scored` does not.
    return Scored(log_p, tokens[:, None], weights), nll_loss(log_p, tokens)


class TokenTargets(nn.Module):
    """Smoothed targets of tokens (eqs. 13, 14 and 16).
        r(y | y*) ~ exp((cos(e_y, e_y*) - beta min(f_y / f_y*, f_y* / f_y)) / tau)
    e are the embeddings [V, d] of the context, f its frequencies [V]. <unk> and words without an embedding have a
    constant one, as in the authors' code, whose cosine with others is about 0. r is normalised over words and <unk>,
    and over EOS where it is y*. PAD and BOS keep their own target, and so does EOS if the file of embeddings lacks it.
    In the authors' code EOS has the constant vector, too: words leave it exp(-1 / tau), next to nothing, and it shares
    its target with <unk>, PAD and BOS. Here it is a word of GloVe, close to all words, since every caption has it. In
    their targets it would let captions end at any place, and a beam without length normalisation prefers those that do
    (docs/release.md has what either costs).

    Args:
        tau: temperature of the similarities, above 0.
        beta: weight of the promotion of rare tokens; 0: there is none.
        context: its `embeddings` [V, d] must not be None; `frequencies` [V] are counts in the training captions.
    """

    embeddings: Tensor
    frequencies: Tensor

    def __init__(self, tau: float, beta: float, context: Context) -> None:
        super().__init__()
        assert context.embeddings is not None
        self.tau, self.beta = tau, beta
        vectors = context.embeddings.float()
        without = ~vectors.any(1)
        without[:UNK] = False
        vectors = vectors.masked_fill(without[:, None], 1.0)
        # Not persistent: they come from files and would enlarge every checkpoint.
        self.register_buffer("embeddings", normalize(vectors, dim=1), persistent=False)
        self.register_buffer("frequencies", context.frequencies.float(), persistent=False)

    def rows(self, tokens: Tensor) -> Tensor:
        """r(. | y*) [n, V] of tokens y* [n]. All V rows at once would take 400 MB at V = 10,000."""
        logits = self.embeddings[tokens] @ self.embeddings.T
        if self.beta > 0:
            own, other = self.frequencies[tokens, None], self.frequencies[None]
            logits -= self.beta * torch.minimum(own, other) / torch.maximum(own, other).clamp(min=1)
        logits /= self.tau
        bare = ~self.embeddings.any(1)
        logits[:, bare] = -torch.inf
        logits[:, EOS] = logits[:, EOS].masked_fill(tokens != EOS, -torch.inf)
        alone = bare[tokens].nonzero()[:, 0]
        logits[alone] = -torch.inf
        logits[alone, tokens[alone]] = 0
        return logits.softmax(1)

    def loss(self, scored: Scored) -> tuple[Tensor, float]:
        """The weighted sum over tokens y* of -sum_y r(y | y*) log p(y); and their mean 1 - r(y* | y*), the share of the
        targets that is moved off the tokens."""
        distinct, index = torch.unique(scored.tokens, return_inverse=True)
        rows = self.rows(distinct)
        targets = embedding_bag(index, rows, per_sample_weights=scored.weights, mode="sum")
        kept = rows[torch.arange(len(distinct), device=rows.device), distinct]
        moved = 1 - (scored.weights * kept[index]).sum() / scored.weights.sum()
        return -(scored.log_p * targets).sum(), moved.item()


@dataclass(frozen=True)
class Sequences:
    """Captions that were made of n given ones by exchanging words.

    Attributes:
        tokens: ids [n, L, time], L samples for each caption.
        distances: [n, L], Hamming distances to the caption.
        pool_share: mean size of the captions' pools, as a share of all words; 0 to 1.
    """

    tokens: Tensor
    distances: Tensor
    pool_share: float


def draw_sequences(
    captions: Tensor, vocabulary_size: int, tau: float, samples: int, pool: Pool
) -> tuple[Sequences, Tensor]:
    """Draws L sequences around each caption from a distribution of the Hamming distance d(y, y*) (algorithm 1).
    First d from p(d) ~ C(T, d) (V - 1)^d exp(-d / tau), then d of the caption's T places uniformly without replacement,
    then for each a substitute, uniformly among the other words of the pool. T counts words, <unk> and EOS. V is the
    size of the caption's pool: the vocabulary without <unk>, or the words and <unk> of the batch's captions or of the
    image's own references. A word of the pool has V - 1 substitutes. EOS has V, because no word becomes EOS, and so has
    <unk> with the vocabulary. So with Z = (1 + (V - 1) exp(-1 / tau))^T
        q(y | y*) = exp(-d(y, y*) / tau) / Z  *  ((V - 1) / V)^k, k of the substituted tokens outside the pool
    which is the paper's exp(-d / tau) / Z except for that factor. PAD is never substituted.
    The L distances of a caption are strata of one inverse CDF, at (u + l / L) mod 1 with a single uniform u: each has
    exactly the distribution p(d), and together they cover it evenly.
    Captions are ids [b, references, time], `vocabulary_size` counts special tokens. Returns the samples of n = b x
    references captions, and log q(y | y*) of each, float64 [n, L]."""
    substitutes = build_pools(captions, vocabulary_size, pool)
    captions = captions.flatten(0, 1)
    time = captions.shape[1]
    is_place = _is_place(captions)
    places, others = is_place.sum(1), (substitutes.size - 1).clamp(min=0)
    distances = draw_distances(distance_log_probs(places, others, tau, time), samples)
    # In random order, places come first: the first d are substituted.
    keys = random_like(captions, samples).masked_fill(~is_place[:, None], 2)
    chosen = choose_places(keys, distances)
    tokens = substitute(captions, substitutes, chosen)
    log_z = places * torch.log1p(others.double() * torch.tensor(-1 / tau, dtype=torch.float64).exp())
    outside = (chosen & (substitutes.alternatives > others[:, None])[:, None]).sum(2)
    # Where such a token can be substituted, V is at least 2.
    log_share = torch.log(others.double() / substitutes.size.clamp(min=1)).masked_fill(others == 0, 0)
    share = pool_share(substitutes, (captions != PAD).any(1), vocabulary_size)
    log_q = -distances.double() / tau - log_z[:, None] + outside * log_share[:, None]
    return Sequences(tokens, distances, share), log_q


def draw_at_shared_distances(captions: Tensor, vocabulary_size: int, tau: float, samples: int, pool: Pool) -> Sequences:
    """Draws sequences at one distance for the whole batch, as the authors' code does; arguments as in `draw_sequences`.
    Sample l of every caption has the same d, from p(d) ~ C(T, d) (V - 1)^d exp(-d / tau), with T the padded length of
    the batch and V the mean size of its captions' pools. d of the T places are drawn uniformly without replacement, and
    tokens there are substituted as in `draw_sequences`, so a short caption may lose fewer than d. Given d, all
    sequences of captions with one length and one pool size are equally likely, except for the factors (V - 1) / V of
    tokens outside the pool. So weights need no 1 / q. Samples of a missing caption are PAD."""
    substitutes = build_pools(captions, vocabulary_size, pool)
    captions = captions.flatten(0, 1)
    time, present = captions.shape[1], (captions != PAD).any(1)
    others = ((substitutes.size - 1).clamp(min=0) * present).sum() / present.sum().clamp(min=1)
    places = torch.tensor([time], device=captions.device)
    shared = draw_distances(distance_log_probs(places, others[None], tau, time), samples)
    chosen = choose_places(random_like(captions, samples), shared.expand(len(captions), samples))
    # PAD and words that are alone in their pools are not substituted.
    chosen &= (substitutes.alternatives > 0)[:, None]
    share = pool_share(substitutes, present, vocabulary_size)
    return Sequences(substitute(captions, substitutes, chosen), chosen.sum(2), share)


def draw_distances(log_probs: Tensor, samples: int) -> Tensor:
    """Draws distances [n, L] from distributions [n, longest + 1]: strata of the inverse CDF."""
    cumulative = log_probs.exp().cumsum(1)
    strata = torch.arange(samples, dtype=torch.float64, device=log_probs.device) / samples
    uniform = (torch.rand(len(log_probs), 1, dtype=torch.float64, device=log_probs.device) + strata) % 1
    possible = (log_probs > -torch.inf).sum(1, keepdim=True) - 1
    return torch.minimum(torch.searchsorted(cumulative, uniform, right=True), possible)


def random_like(captions: Tensor, samples: int) -> Tensor:
    """Uniform numbers [n, L, time], float64: float32 is too coarse for 10^4 words."""
    n, time = captions.shape
    return torch.rand(n, samples, time, dtype=torch.float64, device=captions.device)


def choose_places(keys: Tensor, counts: Tensor) -> Tensor:
    """Whether a place [n, L, time] has one of the `counts` [n, L] lowest keys."""
    low = torch.arange(keys.shape[2], device=keys.device) < counts[:, :, None]
    return torch.zeros_like(low).scatter(2, keys.argsort(2), low)


def substitute(captions: Tensor, substitutes: Substitutes, chosen: Tensor) -> Tensor:
    """Puts other words of the pools at the chosen places [n, L, time] of captions [n, time]: ids [n, L, time]."""
    rank = (random_like(captions, chosen.shape[1]) * substitutes.alternatives[:, None]).long()
    # Ranks number the pool's other words, so they skip the caption's own word.
    rank = rank + (rank >= substitutes.own[:, None])
    drawn = substitutes.words[substitutes.start[:, None, None] + rank]
    return torch.where(chosen, drawn, captions[:, None])


def distance_log_probs(places: Tensor, alternatives: Tensor, tau: float, longest: int) -> Tensor:
    """log p(d) float64 [n, longest + 1] of distances d = 0 .. longest, p(d) ~ C(T, d) (V - 1)^d exp(-d / tau), with T =
    `places` [n] and V - 1 = `alternatives` [n]."""
    d = torch.arange(longest + 1, dtype=torch.float64, device=places.device)
    t = places[:, None].double()
    binomial = torch.lgamma(t + 1) - torch.lgamma(d + 1) - torch.lgamma((t - d).clamp(min=0) + 1)
    # xlogy: without any other word, distance 0 still has 0^0 = 1 sequence.
    sequences = binomial + torch.xlogy(d, alternatives[:, None].double())
    return log_softmax((sequences - d / tau).masked_fill(d > t, -torch.inf), dim=1)


@dataclass(frozen=True)
class Substitutes:
    """The words that may replace those of n captions: each caption has a pool.

    Attributes:
        words: ids of all pools' words, pool after pool, each ascending; one more entry at the end.
        start: [n], where each caption's pool begins in `words`.
        size: [n], the number of words V in it.
        own: [n, time], the place of each token in its caption's pool; past its end if it is not in it.
        alternatives: [n, time], the number of possible substitutes: V - 1 of a token in the pool, V of EOS, and of
            <unk> outside it, else 0.
    """

    words: Tensor
    start: Tensor
    size: Tensor
    own: Tensor
    alternatives: Tensor


def build_pools(captions: Tensor, vocabulary_size: int, pool: Pool) -> Substitutes:
    """The substitutes of captions [b, references, time]."""
    images, references, _ = captions.shape
    own = torch.full_like(captions, vocabulary_size)
    # Nobody said the vocabulary's <unk>, so it is no substitute from there.
    is_member = captions >= (FIRST_WORD if pool == "vocabulary" else UNK)
    if pool == "vocabulary":
        words = torch.arange(FIRST_WORD, vocabulary_size, device=captions.device)
        start = torch.zeros(images, dtype=torch.long, device=captions.device)
        size = torch.full_like(start, len(words))
        own[is_member] = captions[is_member] - FIRST_WORD
    else:
        group = torch.arange(images, device=captions.device) * (pool == "references")
        image = is_member.nonzero()[:, 0]
        # One sort for all pools: ids are offset by V times the number of the pool.
        keys, place = torch.unique(captions[is_member] + group[image] * vocabulary_size, return_inverse=True)
        start = torch.searchsorted(keys, group * vocabulary_size)
        size = torch.searchsorted(keys, (group + 1) * vocabulary_size) - start
        words = keys % vocabulary_size
        own[is_member] = place - start[image]
    start, size = start.repeat_interleave(references), size.repeat_interleave(references)
    alternatives = (size[:, None] - is_member.flatten(0, 1).long()) * _is_place(captions.flatten(0, 1))
    # One more entry, for batches without words.
    return Substitutes(pad(words, (0, 1)), start, size, own.flatten(0, 1), alternatives)


def _is_place(captions: Tensor) -> Tensor:
    """Whether a token may be substituted: words, <unk> and EOS."""
    return (captions == EOS) | (captions >= UNK)


def pool_share(substitutes: Substitutes, present: Tensor, vocabulary_size: int) -> float:
    """Mean pool size of captions that are `present` [n], as a share of all words."""
    return substitutes.size[present].double().mean().item() / max(1, vocabulary_size - FIRST_WORD)


def score_sequences(
    captioner: Captioner, memory: Tensors, captions: Tensor, sequences: Sequences, weights: Tensor, lazy: bool
) -> tuple[Scored, float]:
    """Scores captions [n, time] and the sequences drawn around them; weights [n, 1 + L] for all of them.
    `lazy` takes log p(y_t | y*_<t, x) for log p(y_t | y_<t, x) (eq. 19), which needs one pass over the ground truth.
    Then the result has 1 + L alternatives at each of the captions' m tokens; else one at each of the m (1 + L) tokens
    of captions and samples. The second result is the captions' cross-entropy, without gradient. `memory` has one row
    per caption."""
    valid = captions != PAD
    m = int(valid.sum())
    tokens = torch.cat([captions[:, None], sequences.tokens], 1).transpose(1, 2)[valid]
    weights = weights[valid.nonzero()[:, 0]] / m
    fed = captions
    if not lazy:
        # All captions, then all first samples, ...: one pass for all.
        times = tokens.shape[1]
        fed = torch.cat([captions, *sequences.tokens.unbind(1)])
        memory = tuple(part.repeat(times, *[1] * (part.dim() - 1)) for part in memory)
        tokens, weights = tokens.T.reshape(-1, 1), weights.T.reshape(-1, 1)
    log_p = log_softmax(captioner.token_logits(fed, memory).float(), dim=1)
    loss = nll_loss(log_p[:m].detach(), tokens[:m, 0]).item()
    return Scored(log_p, tokens, weights), loss
