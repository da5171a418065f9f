"""Captions for image files, with what the pipeline trained."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from seqcap import decoding, models
from seqcap.artifacts import DATA, load_weights
from seqcap.data.images import ImageSource
from seqcap.data.vocabulary import Vocabulary
from seqcap.errors import InputError
from seqcap.features.encoders import Encoder
from seqcap.models.base import ImageCaptioner

ENCODER = Path("artifacts/image/encoder.safetensors")


def caption_files(files: list[Path], weights: Path, width: int) -> Iterator[tuple[Path, str]]:
    """Each image's best caption of a beam search.

    Args:
        files: pictures of any size; they are resized as the training images were.
        weights: a captioner's safetensors; its encoder and vocabulary are the pipeline's.
        width: of the beam.

    Raises:
        InputError: an image is damaged, the weights are a translator's, or the pipeline has not run.
    """
    captioner, metadata = models.load(weights)
    if not isinstance(captioner, ImageCaptioner):
        raise InputError(weights, "are of a captioner that reads no images", "name an image captioner's")
    encoder, size = Encoder.load(ENCODER), load_weights(ENCODER)[1]["image_size"]
    vocabulary = Vocabulary.read(DATA / "vocabulary.json")
    for file in files:
        image = ImageSource(file.parent).read(file.name).resize((size, size), Image.Resampling.BICUBIC)
        pixels = torch.from_numpy(np.array(image)).permute(2, 0, 1)[None]
        with torch.inference_mode():
            features = encoder(pixels)
            if captioner.features == "pooled":
                given = encoder.pooled(features)
            else:
                given = encoder.grid(features, metadata["feature_shape"][0])
            found = decoding.beam(captioner, captioner.encode(given), metadata["max_length"], width)
        yield file, " ".join(vocabulary.decode(found.tokens[0, 0].tolist()))
