"""A retriever with attention between an image's grid and a caption's words: each word is compared with the cells of the
image that fit it best (late interaction: Yao et al., "FILIP", ICLR 2022), so an image and a caption have a matrix of
cosines, not one. It is trained with InfoNCE, also against captions with one fact exchanged. The judge of other
retrievers' captions: it shares neither architecture nor features, loss or negatives with them."""

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from seqcap.config import Frozen
from seqcap.data.vocabulary import PAD
from seqcap.errors import InputError
from seqcap.retrieval.base import GRID, TrainedRetriever
from seqcap.retrieval.losses import info_nce

MOST = 1 << 24  # cosines of words and images in memory at once: 64 MB
LONGEST = 256  # most tokens of a caption
WHOLE = 2  # cells that stand for the whole image


class Config(Frozen):
    """The sizes of the judge, and the temperature of its loss."""

    hidden: int = Field(gt=0, description="size of words and cells while they attend to each other")
    size: int = Field(gt=0, description="size of the space")
    heads: int = Field(gt=0)
    temperature: float = Field(0.07, gt=0, le=1, description="of InfoNCE")


class Model(TrainedRetriever):
    """Self-attention over the cells (those of the grid, their mean and their maximum), and over the words. An image is
    embedded as unit vectors [n, cells, size]; a caption as vectors [n, time, size] whose lengths are the words'
    weights, which sum to one, and zeros after its last token.

    Args:
        config: its sizes, and the temperature of its loss.
        vocabulary_size: V, the number of tokens.
        feature_shape: (height, width, channels) of a grid.
    """

    config: Config
    reads = GRID
    one_vector = False

    def __init__(self, config: Config, vocabulary_size: int, feature_shape: tuple[int, ...]) -> None:
        super().__init__(config, vocabulary_size, feature_shape)
        height, width, channels = feature_shape
        self.cell = nn.Linear(channels, config.hidden)
        self.most = nn.Linear(channels, config.hidden)
        self.place = nn.Parameter(torch.randn(height * width + WHOLE, config.hidden) * 0.1)
        self.cells = self._layer()
        self.image = nn.Linear(config.hidden, config.size)
        self.embedding = nn.Embedding(vocabulary_size, config.hidden)
        self.position = nn.Parameter(torch.randn(LONGEST, config.hidden) * 0.1)
        self.words = self._layer()
        self.text = nn.Linear(config.hidden, config.size)
        self.weight = nn.Linear(config.hidden, 1)
        self.add_standardisation(channels)

    def _layer(self) -> nn.Module:
        config = self.config
        return nn.TransformerEncoderLayer(
            config.hidden, config.heads, 2 * config.hidden, dropout=0.0, batch_first=True, norm_first=True
        )

    def embed_images(self, inputs: Tensor) -> Tensor:
        """Grids [n, height, width, channels] -> unit vectors [n, cells, size]."""
        features = self.standardise(inputs).flatten(1, 2)
        cells = self.cell(features)
        whole = cells.mean(1, keepdim=True), self.most(features.amax(1, keepdim=True))
        everything = torch.cat([cells, *whole], 1) + self.place
        return F.normalize(self.image(self.cells(everything)), dim=2)

    def embed_captions(self, captions: Tensor) -> Tensor:
        """Ids [n, time] -> vectors [n, time, size]; an `InputError` for relaxed captions."""
        if captions.is_floating_point():
            raise InputError("cross_attention", "reads words, not distributions", "use a dual encoder")
        nothing = captions == PAD
        embedded = self.embedding(captions) + self.position[: captions.shape[1]]
        states = self.words(embedded, src_key_padding_mask=nothing)
        weights: Tensor = self.weight(states).squeeze(2).masked_fill(nothing, -torch.inf).softmax(1)
        return F.normalize(self.text(states), dim=2) * weights[..., None]

    def compare(self, captions: Tensor, images: Tensor) -> Tensor:
        """The scores [n, m] of captions [n, time, size] with images [m, cells, size]: the weighted mean, over a
        caption's words, of the cosine with the cell that fits best."""
        chunk = max(1, MOST // (captions.shape[1] * len(images)))
        return torch.cat([self._compare(some, images) for some in torch.split(captions, chunk)])

    def _compare(self, captions: Tensor, images: Tensor) -> Tensor:
        rows, places = captions.any(2).nonzero(as_tuple=True)
        words = captions[rows, places]
        fits = torch.full((len(words), len(images)), -torch.inf, device=words.device)
        # Cell by cell: all at once takes three times as long.
        for cell in images.unbind(1):
            fits = torch.maximum(fits, words @ cell.T)
        return fits.new_zeros(len(captions), len(images)).index_add(0, rows, fits)

    def summarise(self, images: Tensor) -> Tensor:
        """What is in an image counts, not where."""
        return F.normalize(images.mean(1), dim=1)

    def compare_own(self, captions: Tensor, images: Tensor) -> Tensor:
        """The scores [n, k] of captions [n, k, time, size] with their image, of images [n, cells, size]."""
        return torch.einsum("nktd,ncd->nktc", captions, images).amax(3).sum(2)

    def loss(self, images: Tensor, captions: Tensor, exchanged: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """InfoNCE of each item, nats: image -> text [n], text -> image [n]. See the base class."""
        return info_nce(self.compare(captions, images).T, self.config.temperature, exchanged)
