"""CLIP (Radford et al., ICML 2021) as a retriever, from a folder of the user's. It is never trained. It reads words,
not relaxed captions. Embeddings of images are stored (`make`)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import torch
from pydantic import Field
from torch import Tensor
from torch.nn import functional as F

from seqcap.config import Frozen
from seqcap.data.images import ImageSource
from seqcap.data.tokens import load_vocabulary
from seqcap.data.vocabulary import digest
from seqcap.errors import InputError
from seqcap.features.clip_folder import read
from seqcap.files.parquet import parquet_stream, read_table
from seqcap.files.schemas import IMAGES, VOCABULARY, features_schema
from seqcap.files.tensors import save_weights
from seqcap.retrieval.base import Retriever, RetrieverConfig
from seqcap.system import machine
from seqcap.system.progress import progress
from seqcap.tasks import ARTIFACTS

CHUNK = 32  # images per forward pass and per row group


class Config(Frozen):
    """Where a user's CLIP is, and what it is asked about."""

    folder: str = Field(description="CLIP's files")
    vocabulary: str = Field(description="file of the captions' vocabulary")
    images: str = Field(description="file of the images' embeddings")


class Model(Retriever):
    """CLIP's text tower and stored image embeddings.

    Args:
        config: where its files are.
        vocabulary_size: V, the number of tokens in the captions' vocabulary.
        feature_shape: (channels,) of the stored embeddings.

    Raises:
        InputError: transformers or a file is missing, or the folder holds no CLIP.
    """

    config: Config

    def __init__(self, config: Config, vocabulary_size: int, feature_shape: tuple[int, ...]) -> None:
        super().__init__(config, vocabulary_size, feature_shape)
        clip, self._tokenizer, _ = read(Path(config.folder))
        # A tuple hides it from PyTorch, so checkpoints do not include it.
        self._clip = (clip,)
        self._vocabulary = load_vocabulary(config.vocabulary)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        self._clip[0]._apply(fn, recurse)
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        return self

    def features(self, task_folder: Path) -> Path:
        return Path(self.config.images)

    def embed_images(self, inputs: Tensor) -> Tensor:
        return F.normalize(inputs.float(), dim=1)

    @torch.no_grad()
    def embed_captions(self, captions: Tensor) -> Tensor:
        """See the base class; an `InputError` for relaxed captions."""
        if captions.is_floating_point():
            raise InputError(self.config.folder, "CLIP reads words, not distributions", "use a dual encoder")
        # `get_text_features` differs between versions of transformers.
        pooled = self.clip.text_model(**self.tokens(captions)).pooler_output
        return F.normalize(self.clip.text_projection(pooled), dim=1)

    @property
    def clip(self) -> Any:
        """transformers' CLIPModel. Do not train it, only copies of it."""
        return self._clip[0]

    def tokens(self, captions: Tensor) -> Any:
        """Inputs of CLIP's text tower for captions, ids [n, time], cut to its longest text."""
        texts = [" ".join(self._vocabulary.decode(ids)) for ids in captions.tolist()]
        longest = self.clip.config.text_config.max_position_embeddings
        tokens = self._tokenizer(texts, padding=True, truncation=True, max_length=longest, return_tensors="pt")
        return tokens.to(captions.device)


def make(config: RetrieverConfig) -> list[dict[str, Any]]:
    """Embeds all images of a task. Writes <weights>/images.parquet, and seed<k>.safetensors, which name the folder;
    returns an empty learning curve. InputError as in `Model`, or if an image is missing or damaged."""
    folder, data = Path(str(config.folder)), ARTIFACTS / config.task / "data"
    clip, _, processor = read(folder)
    device = machine.device()
    clip.to(device)
    source, images = ImageSource(config.root), read_table(data / "images.parquet", IMAGES)
    ids, files = images["item"].to_numpy(), images["file"].to_pylist()
    shape = (clip.config.projection_dim,)
    schema = features_schema(shape, pa.float32())
    path = Path(config.weights) / "images.parquet"
    with (
        parquet_stream(path, schema) as writer,
        torch.no_grad(),
        progress(total=len(files), desc=config.name, unit="image") as done,
    ):
        for i in range(0, len(files), CHUNK):
            pixels = processor([source.read(file) for file in files[i : i + CHUNK]], return_tensors="pt").pixel_values
            vectors = clip.visual_projection(clip.vision_model(pixels.to(device)).pooler_output)
            values: Any = F.normalize(vectors, dim=1).cpu().numpy().astype(np.float32)
            column = pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), type=schema.field(1).type)
            writer.write_table(pa.Table.from_arrays([pa.array(ids[i : i + CHUNK]), column], schema=schema))
            done.update(len(values))
    words = data / VOCABULARY
    vocabulary = load_vocabulary(words)
    metadata = {
        "architecture": "clip",
        "model": Config(folder=str(folder), vocabulary=str(words), images=str(path)).model_dump(),
        "vocabulary_size": len(vocabulary),
        "vocabulary": digest(vocabulary),
        "feature_shape": list(shape),
    }
    for seed in config.seeds:
        save_weights(Path(config.weights) / f"seed{seed}.safetensors", {}, metadata)
    return []
