"""Rewards for distinctive captions by a fixed retriever, and the loss with them (Chaffin et al., 2024, "WTF-RL").
    loss = -[r(x_bs) log p(x_bs) + r(x_gt) log p(x_gt)], of one image                         (eq. 3)
x_bs is the best caption of a beam, x_gs the greedy one, x_gt a reference. log p is the sum over tokens, EOS included;
the loss is the mean over images. The released code divides each term by the padded width of its batch.
There is no baseline: r may be negative, because it has negatives, and then a caption becomes less likely. No gradient
flows through r. An epoch uses one random reference of each image; in the paper, every reference once."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from seqcap.data.vocabulary import EOS, PAD
from seqcap.models import decoding
from seqcap.models.base import Captioner, Tensors
from seqcap.objectives.shared.base import Batch, sample_references, sequence_log_prob
from seqcap.retrieval.contrast import contrast, copies

WIDTH = 5  # width of the beam for x_bs
NO_REPEAT = 3  # the beam's hypotheses repeat no n-gram of this size; the greedy caption may (released code)
BEAM, GREEDY, TRUTH = range(3)  # rows of `CaptionedBatch.captions`
CANDIDATES = {"beam": BEAM, "truth": TRUTH}  # captions that have a reward, by their names in the logs


@dataclass(frozen=True)
class CaptionedBatch:
    """Captions of a batch's images, and the retriever's embeddings.

    Attributes:
        captions: ids [3, b, time], from `draw_captions`.
        texts: embeddings [3, b, d] of the captions; all of them are T in eq. 2.
        images: embeddings [b, d] of the batch's images.
        candidates: embeddings [m, d] of the images to tell apart (I in eq. 2), the batch's among them, each once.
    """

    captions: Tensor
    texts: Tensor
    images: Tensor
    candidates: Tensor


@torch.no_grad()
def draw_captions(captioner: Captioner, memory: Tensors, batch: Batch, max_length: int) -> Tensor:
    """x_bs, x_gs and x_gt of each image, ids [3, b, time], in rows `BEAM`, `GREEDY` and `TRUTH`. The loss must score
    them under the same memory, that is, the same dropout masks. It has one row per image."""
    found = [
        best_of_beam(captioner, memory, max_length),
        decoding.greedy(captioner, memory, max_length).tokens,
        sample_references(batch.captions),
    ]
    longest = max(captions.shape[1] for captions in found)
    return torch.stack([F.pad(captions, (0, longest - captions.shape[1]), value=PAD) for captions in found])


def best_of_beam(captioner: Captioner, memory: Tensors, max_length: int) -> Tensor:
    """x_bs, ids [b, time]: the best caption of a beam search without repeated trigrams. `memory` has b rows."""
    return decoding.beam(captioner, memory, max_length, WIDTH, NO_REPEAT).tokens[:, 0]


def image_to_text(captioned: CaptionedBatch, which: int, temperature: float, cap: float | None) -> Tensor:
    """The first half of eq. 2, [b], for captions in row `which`. All other captions of the batch are negatives, also
    the other two of the same image."""
    b, texts = len(captioned.images), captioned.texts.flatten(0, 1)
    place = which * b + torch.arange(b, device=texts.device)
    left_out = place[:, None] == torch.arange(len(texts), device=texts.device)
    scores = captioned.images @ texts.T
    return contrast(scores.gather(1, place[:, None]).squeeze(1), scores, left_out, temperature, cap)


def text_to_image(captioned: CaptionedBatch, which: int, temperature: float, cap: float | None) -> Tensor:
    """The second half of eq. 2, [b]. Copies of the caption's own image are not negatives."""
    texts = captioned.texts[which]
    left_out = copies(captioned.images, captioned.candidates)
    return contrast((texts * captioned.images).sum(1), texts @ captioned.candidates.T, left_out, temperature, cap)


def add_rewards(similarity: Tensor, regular: Tensor) -> tuple[Tensor, dict[str, float]]:
    """The sum of two weighted parts of a reward [b], and numbers to log: its mean, the share above zero, and each
    part's spread over images, which shows the real weight of alpha."""
    reward = similarity + regular
    return reward, {
        "reward": reward.mean().item(),
        "positive": (reward > 0).float().mean().item(),
        "similarity_std": similarity.std(correction=0).item(),
        "regular_std": regular.std(correction=0).item(),
    }


def reward_term(captioner: Captioner, memory: Tensors, captions: Tensor, reward: Tensor) -> tuple[Tensor, float]:
    """The mean of -r log p over images (one term of eq. 3), and the captioner's mean entropy along the captions, nats
    per token. Captions are ids [b, time], `reward` [b] has no gradient. `memory` has b rows."""
    log_prob, logits = sequence_log_prob(captioner, captions, memory)
    log_p = logits.detach().float().log_softmax(1)
    entropy = -(log_p.exp() * log_p).sum(1).mean()
    return -(reward * log_prob).mean(), entropy.item()


def shuffle_words(captions: Tensor) -> Tensor:
    """Shuffles the words of captions [b, time]; EOS and PAD keep their places."""
    keys = torch.rand(captions.shape, device=captions.device)
    keys = keys.masked_fill(captions == EOS, 2).masked_fill(captions == PAD, 3)
    return captions.gather(1, keys.argsort(1))
