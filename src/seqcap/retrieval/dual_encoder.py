"""The dual encoder of VSE++ (Faghri et al., BMVC 2018), the listener of Vered et al. (ICCV 2019)."""

from typing import Literal, Self

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from seqcap.config import Frozen
from seqcap.data.vocabulary import BOS, EOS, PAD
from seqcap.retrieval.base import TrainedRetriever
from seqcap.retrieval.losses import hinges, info_nce


class Config(Frozen):
    """Vered et al.: embedding 512, hidden 1024, hinge with margin .2 (released code; 1 in their eq. 2)."""

    embedding: int = Field(gt=0, description="size of word embeddings")
    hidden: int = Field(gt=0, description="size of the space, and of the GRU")
    loss: Literal["hinge", "info_nce"] = "hinge"
    margin: float = Field(0.2, gt=0, le=2, description="of the hinge, a cosine")
    temperature: float = Field(0.07, gt=0, le=1, description="of InfoNCE")


class Model(TrainedRetriever):
    """A linear map of the image's pooled feature, and a GRU's state after the caption's EOS. No dropout.

    Args:
        config: its sizes and its loss.
        vocabulary_size: V, the number of tokens.
        feature_shape: (channels,) of a pooled feature.
    """

    config: Config

    def __init__(self, config: Config, vocabulary_size: int, feature_shape: tuple[int, ...]) -> None:
        super().__init__(config, vocabulary_size, feature_shape)
        self.image = nn.Linear(feature_shape[-1], config.hidden)
        self.embedding = nn.Embedding(vocabulary_size, config.embedding)
        self.gru = nn.GRU(config.embedding, config.hidden, batch_first=True)
        nn.init.xavier_uniform_(self.image.weight)
        nn.init.zeros_(self.image.bias)
        nn.init.uniform_(self.embedding.weight, -0.1, 0.1)
        self.add_standardisation(feature_shape[-1])

    def train(self, mode: bool = True) -> Self:
        """Stays in training mode, without effect here: in evaluation mode cuDNN has no gradient through a GRU."""
        return super().train()

    def embed_images(self, inputs: Tensor) -> Tensor:
        return F.normalize(self.image(self.standardise(inputs)), dim=1)

    def embed_captions(self, captions: Tensor) -> Tensor:
        """See the base class. A cut caption, without EOS, is read to its last token."""
        length = lengths(captions)
        captions = captions[:, : int(length.max())]
        start = self.embedding.weight[BOS].expand(len(captions), 1, -1)
        relaxed = captions.is_floating_point()
        embedded = captions @ self.embedding.weight if relaxed else self.embedding(captions)
        states, _ = self.gru(torch.cat([start, embedded], dim=1))
        # Before state 0, only BOS was read.
        return F.normalize(states[torch.arange(len(states), device=states.device), length], dim=1)

    def loss(self, images: Tensor, captions: Tensor, exchanged: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The loss of each item, image -> text [n] and text -> image [n]; see the base class."""
        if self.config.loss == "hinge":
            return hinges(images, captions, self.config.margin, exchanged=exchanged)
        return info_nce(images @ captions.T, self.config.temperature, exchanged)


def lengths(captions: Tensor) -> Tensor:
    """Number of tokens of captions [n, time] or [n, time, V], EOS included: int64 [n]."""
    if captions.is_floating_point():
        ends, nothing = captions[..., EOS] == 1, ~captions.any(-1)
    else:
        ends, nothing = captions == EOS, captions == PAD
    # PAD follows the last token, even where the tensor has no room for it.
    ends, nothing = F.pad(ends, (0, 1), value=False), F.pad(nothing, (0, 1), value=True)
    first = (ends | nothing).int().argmax(1, keepdim=True)
    return (first + ends.gather(1, first)).squeeze(1)
