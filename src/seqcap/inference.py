"""Captions for image files, with what the pipeline trained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from seqcap import decoding
from seqcap.artifacts import DATA, load_weights
from seqcap.data.images import ImageSource
from seqcap.data.vocabulary import Vocabulary
from seqcap.errors import InputError
from seqcap.features.encoders import Encoder
from seqcap.models.base import ImageCaptioner
from seqcap.models.ensemble import Ensemble

ENCODER = Path("artifacts/encoder/image.safetensors")


def caption_files(files: list[Path], weights: Sequence[Path], width: int) -> Iterator[tuple[Path, str]]:
    """Each image's best caption of a beam search.

    Args:
        files: pictures of any size; they are resized as the training images were.
        weights: a captioner's safetensors, or those of several that decode together (`Ensemble`); their encoder and
            vocabulary are the pipeline's.
        width: of the beam.

    Raises:
        InputError: an image is damaged, weights are a translator's, the pipeline has not run, or the captioners'
            vocabularies differ in size.
    """
    captioner, metadata = Ensemble.load(weights, torch.device("cpu"))
    for path, member in zip(weights, captioner.members, strict=True):
        if not isinstance(member, ImageCaptioner):
            raise InputError(path, "are of a captioner that reads no images", "name an image captioner's")
    length = max(of_member["max_length"] for of_member in metadata)
    encoder, size = Encoder.load(ENCODER), load_weights(ENCODER)[1]["image_size"]
    vocabulary = Vocabulary.read(DATA / "vocabulary.json")
    for file in files:
        image = ImageSource(file.parent).read(file.name).resize((size, size), Image.Resampling.BICUBIC)
        pixels = torch.from_numpy(np.array(image)).permute(2, 0, 1)[None]
        with torch.inference_mode():
            features = encoder(pixels)
            given = [
                encoder.pooled(features)
                if member.features == "pooled"
                else encoder.grid(features, of_member["feature_shape"][0])
                for member, of_member in zip(captioner.members, metadata, strict=True)
            ]
            found = decoding.beam(captioner, captioner.encode(given), length, width)
        yield file, " ".join(vocabulary.decode(found.tokens[0, 0].tolist()))
