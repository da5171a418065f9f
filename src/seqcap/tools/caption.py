"""`seqcap caption`: captions of image files, or of GIFs, by trained captioners."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field

from seqcap.data.frames import read_clip
from seqcap.data.images import pixels, read_image
from seqcap.data.vocabulary import Vocabulary, digest
from seqcap.errors import InputError
from seqcap.features.encoders import Encoder
from seqcap.files.advice import mend
from seqcap.files.schemas import VOCABULARY
from seqcap.files.tensors import load_weights
from seqcap.models import decoding
from seqcap.models.base import Captioner, ImageCaptioner
from seqcap.models.ensemble import Ensemble
from seqcap.models.weights import ModelMetadata, check_metadata
from seqcap.tasks import ARTIFACTS, STARTS


class CaptionerMetadata(ModelMetadata):
    """The metadata of an image captioner's weights; `max_length` counts tokens, EOS included."""

    task: str = Field(pattern="^[a-z0-9_]+$")
    max_length: int = Field(ge=1, le=101)


class EncoderMetadata(BaseModel):
    """The metadata of an encoder's weights; `frames` is None unless it reads clips."""

    model_config = ConfigDict(strict=True)

    image_size: int = Field(ge=16, le=1024)
    frames: int | None = Field(None, ge=2, le=1000)


def caption_files(files: Sequence[Path], weights: Sequence[Path], width: int) -> Iterator[tuple[Path, str]]:
    """Each image's best caption of a beam search of `width`. `files` are images of any size, or GIFs for a captioner of
    clips; they are resized as the training images were.

    `weights` are a captioner's safetensors, or those of several that decode together (`Ensemble`). Encoder and
    vocabulary are those of their task in the checkout of the first file, or else in the working directory.
    """
    captioner, read = Ensemble.load(weights, torch.device("cpu"))
    metadata = []
    for path, member, values in zip(weights, captioner.members, read, strict=True):
        if not isinstance(member, ImageCaptioner):
            raise InputError(path, "holds a captioner that reads no images", "name an image captioner's weights")
        metadata.append(check_metadata(CaptionerMetadata, path, values, "captioner of images"))
        if metadata[-1].task != metadata[0].task:
            problem = f"is of task {metadata[-1].task}, and {weights[0]} of {metadata[0].task}"
            raise InputError(path, problem, "put captioners of one task together")
    above = weights[0].absolute().parents
    root = next((folder.parent for folder in above if folder.name in (ARTIFACTS.name, STARTS.name)), Path())
    encoder, about_encoder = _load_encoder(root / STARTS / f"encoder/{metadata[0].task}.safetensors")
    words = root / ARTIFACTS / metadata[0].task / "data" / VOCABULARY
    vocabulary = Vocabulary.read(words)
    if digest(vocabulary) != metadata[0].vocabulary:
        fix = "name weights that were trained with these words"
        raise InputError(weights[0], f"was trained with another vocabulary than {words}", fix)
    length = max(values.max_length for values in metadata)
    members = list(zip(weights, captioner.members, metadata, strict=True))
    for file in files:
        image = _read_input(file, about_encoder)
        with torch.inference_mode():
            features = encoder(image)
            inputs = [_select_features(encoder, features, member, about, path) for path, member, about in members]
            found = decoding.beam(captioner, captioner.encode(inputs), length, width)
        if not bool(found.log_prob[0, 0].isfinite()):
            raise InputError(weights[0], f"gives no caption of {file} a finite probability", "train it again")
        yield file, " ".join(vocabulary.decode(found.tokens[0, 0].tolist()))


def _load_encoder(path: Path) -> tuple[Encoder, EncoderMetadata]:
    encoder = Encoder.load(path)
    metadata = check_metadata(EncoderMetadata, path, load_weights(path)[1], "encoder")
    if encoder.frames > 1 and metadata.frames is None:
        raise InputError(path, "does not say how many frames of a clip it reads", mend(path))
    return encoder, metadata


def _read_input(file: Path, metadata: EncoderMetadata) -> torch.Tensor:
    """An encoder's input: an image [1, 3, side, side], or a clip [1, frames, 3, side, side]."""
    if metadata.frames is None:
        return torch.from_numpy(pixels(read_image(file), metadata.image_size)).permute(2, 0, 1)[None]
    frames = [pixels(frame, metadata.image_size) for frame in read_clip(file, metadata.frames)]
    return torch.from_numpy(np.stack(frames)).permute(0, 3, 1, 2)[None]


def _select_features(
    encoder: Encoder, features: torch.Tensor, member: Captioner, metadata: CaptionerMetadata, path: Path
) -> torch.Tensor:
    """A captioner's input from an encoder's features of one image, [1, *feature_shape]."""
    assert isinstance(member, ImageCaptioner)
    pooled = member.features == "pooled"
    selected = encoder.pooled(features) if pooled else encoder.grid(features, metadata.feature_shape[0])
    if list(selected.shape[1:]) != metadata.feature_shape:
        problem = f"reads features of shape {metadata.feature_shape}, and the encoder gives {list(selected.shape[1:])}"
        raise InputError(path, problem, "name weights that were trained with this encoder")
    return selected
