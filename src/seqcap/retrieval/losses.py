"""Losses of retrievers, with two terms per item, image -> text and text -> image. A batch must hold each image once: a
second caption of it would be a false negative."""

import torch
from torch import Tensor
from torch.nn import functional as F


def hinges(images: Tensor, captions: Tensor, margin: float, distractors: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """VSE++'s loss: the hinge of the hardest negative (Faghri et al., BMVC 2018, eq. 6).
        [margin + max_{j != i} s(i, c_j) - s(i, c_i)]_+   and   [margin + max_{j != i} s(j, c_i) - s(i, c_i)]_+
    Images and captions are embeddings [n, d] of length 1, row by row; distractors [m, d] are further images, negatives
    of captions. Equally hard negatives share the gradient. Returns image -> text [n], text -> image [n]."""
    scores = images @ captions.T
    own = scores.diagonal()
    others = scores.masked_fill(torch.eye(len(scores), dtype=torch.bool, device=scores.device), -torch.inf)
    image = others.amax(0)
    if distractors is not None:
        image = torch.maximum(image, (captions @ distractors.T).amax(1))
    return (margin + others.amax(1) - own).relu(), (margin + image - own).relu()


def info_nce(images: Tensor, captions: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """-log p of the right item of the batch, p = softmax(cosine / temperature), nats (van den Oord et al. 2018, eq. 4;
    both directions as in Radford et al., ICML 2021). Shapes as in `hinges`."""
    logits = images @ captions.T / temperature
    right = torch.arange(len(logits), device=logits.device)
    return F.cross_entropy(logits, right, reduction="none"), F.cross_entropy(logits.T, right, reduction="none")
