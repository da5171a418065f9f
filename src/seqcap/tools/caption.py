"""Captions for image files, or GIFs, with what the pipeline trained."""

from __future__ import annotations

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
from seqcap.tasks import ARTIFACTS


class OfCaptioner(ModelMetadata):
    """What the metadata of a captioner of images say.

    Attributes:
        task: whose pictures it was trained on.
        max_length: tokens of a caption, EOS included. `params.ImageTask` allows no more.
    """

    task: str = Field(pattern="^[a-z0-9_]+$")
    max_length: int = Field(ge=1, le=101)


class OfEncoder(BaseModel):
    """What the metadata of an encoder say; `params.Features` allows no larger pictures and no more frames."""

    model_config = ConfigDict(strict=True)

    image_size: int = Field(ge=16, le=1024)
    frames: int | None = Field(None, ge=2, le=1000)


def caption_files(files: Sequence[Path], weights: Sequence[Path], width: int) -> Iterator[tuple[Path, str]]:
    """Each image's best caption of a beam search.

    Args:
        files: pictures of any size, or for a captioner of clips GIFs; they are resized as the training images were.
        weights: a captioner's safetensors, or those of several that decode together (`Ensemble`). Encoder and
            vocabulary are those of their task in the folder artifacts/ that the first is in; or, if it is in none, of
            the working directory.
        width: of the beam.

    Raises:
        InputError: an image is damaged; weights are a translator's, or of another task, vocabulary or encoder than the
            first's; or encoder or vocabulary are missing.
    """
    captioner, metadata = Ensemble.load(weights, torch.device("cpu"))
    about = []
    for path, member, of_member in zip(weights, captioner.members, metadata, strict=True):
        if not isinstance(member, ImageCaptioner):
            raise InputError(path, "are of a captioner that reads no images", "name an image captioner's")
        about.append(check_metadata(OfCaptioner, path, of_member, "captioner of images"))
        if about[-1].task != about[0].task:
            problem = f"is of task {about[-1].task}, and {weights[0]} of {about[0].task}"
            raise InputError(path, problem, "put captioners of one task together")
    task, artifacts = about[0].task, _artifacts(weights[0])
    of_encoder = artifacts / f"encoder/{task}.safetensors"
    encoder = Encoder.load(of_encoder)
    about_encoder = check_metadata(OfEncoder, of_encoder, load_weights(of_encoder)[1], "encoder")
    if encoder.frames > 1 and about_encoder.frames is None:
        raise InputError(of_encoder, "does not say how many frames of a clip it reads", mend(of_encoder))
    words = artifacts / task / "data" / VOCABULARY
    vocabulary = Vocabulary.read(words)
    if digest(vocabulary) != about[0].vocabulary:
        fix = "name weights that were trained with these words"
        raise InputError(weights[0], f"was trained with another vocabulary than {words}", fix)
    length = max(of_member.max_length for of_member in about)
    for file in files:
        shown = _shown(file, about_encoder)
        with torch.inference_mode():
            features = encoder(shown)
            given = [
                _given(encoder, features, member, of_member, path)
                for member, of_member, path in zip(captioner.members, about, weights, strict=True)
            ]
            found = decoding.beam(captioner, captioner.encode(given), length, width)
        if not bool(found.log_prob[0, 0].isfinite()):
            raise InputError(weights[0], f"gives no caption of {file} a finite probability", "train it again")
        yield file, " ".join(vocabulary.decode(found.tokens[0, 0].tolist()))


def _artifacts(weights: Path) -> Path:
    """The folder artifacts/ that weights are in, or that of the working directory."""
    return next((folder for folder in weights.absolute().parents if folder.name == ARTIFACTS.name), ARTIFACTS)


def _shown(file: Path, about: OfEncoder) -> torch.Tensor:
    """What an encoder reads of a file: an image [1, 3, side, side], or a clip [1, frames, 3, side, side]."""
    if about.frames is None:
        return torch.from_numpy(pixels(read_image(file), about.image_size)).permute(2, 0, 1)[None]
    frames = [pixels(frame, about.image_size) for frame in read_clip(file, about.frames)]
    return torch.from_numpy(np.stack(frames)).permute(0, 3, 1, 2)[None]


def _given(encoder: Encoder, features: torch.Tensor, member: Captioner, about: OfCaptioner, path: Path) -> torch.Tensor:
    """What a captioner reads of an encoder's map of one image, [1, *its feature_shape].

    Raises:
        InputError: the encoder's features have another shape.
    """
    assert isinstance(member, ImageCaptioner)
    pooled = member.features == "pooled"
    given = encoder.pooled(features) if pooled else encoder.grid(features, about.feature_shape[0])
    if list(given.shape[1:]) != about.feature_shape:
        problem = f"reads features of shape {about.feature_shape}, and the encoder gives {list(given.shape[1:])}"
        raise InputError(path, problem, "name weights that were trained with this encoder")
    return given
