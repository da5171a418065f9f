"""Losses of retrievers, with two terms per item, image -> text and text -> image. A batch must hold each image once: a
second caption of it would be a false negative."""

import torch
from torch import Tensor
from torch.nn import functional as F


def hinges(
    images: Tensor,
    captions: Tensor,
    margin: float,
    distractors: Tensor | None = None,
    exchanged: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """VSE++'s loss: the hinge of the hardest negative (Faghri et al., BMVC 2018, eq. 6).
        [margin + max_{j != i} s(i, c_j) - s(i, c_i)]_+   and   [margin + max_{j != i} s(j, c_i) - s(i, c_i)]_+
    Images and captions are embeddings [n, d] of length 1, row by row; distractors [m, d] are further images, negatives
    of captions; `exchanged` [n, k] scores of images with captions of theirs that were made false, -inf where there is
    none. Equally hard negatives share the gradient. Returns image -> text [n], text -> image [n]."""
    scores = images @ captions.T
    own = scores.diagonal()
    others = scores.masked_fill(torch.eye(len(scores), dtype=torch.bool, device=scores.device), -torch.inf)
    image = others.amax(0)
    text = others.amax(1)
    if distractors is not None:
        image = torch.maximum(image, (captions @ distractors.T).amax(1))
    if exchanged is not None:
        text = torch.maximum(text, exchanged.amax(1))
    return (margin + text - own).relu(), (margin + image - own).relu()


def info_nce(scores: Tensor, temperature: float, exchanged: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """-log p of the right item of the batch, p = softmax(score / temperature), nats (van den Oord et al. 2018, eq. 4;
    both directions as in Radford et al., ICML 2021). `scores` [n, n] are those of images (rows) with captions;
    `exchanged` [n, k] those of images with captions of theirs that were made false, further negatives of an image;
    -inf where there is none. Returns image -> text [n], text -> image [n]."""
    right = torch.arange(len(scores), device=scores.device)
    captions = scores if exchanged is None else torch.cat([scores, exchanged], 1)
    to_text = F.cross_entropy(captions / temperature, right, reduction="none")
    return to_text, F.cross_entropy(scores.T / temperature, right, reduction="none")
