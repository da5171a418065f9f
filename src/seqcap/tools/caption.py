"""`seqcap caption`: captions of image files, or of GIFs, by trained captioners."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from pydantic import BaseModel, ConfigDict, Field

from seqcap.data.frames import read_clip
from seqcap.data.images import FORMATS, pixels, read_image
from seqcap.data.tokens import load_vocabulary
from seqcap.data.vocabulary import Vocabulary, digest
from seqcap.errors import InputError
from seqcap.features.captioner_folder import Pixels, read_vocabulary
from seqcap.features.encoders import Encoder
from seqcap.files.advice import mend
from seqcap.files.schemas import VOCABULARY
from seqcap.files.tensors import load_weights
from seqcap.models import decoding, huggingface
from seqcap.models.base import PIXELS, Captioner
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


@dataclass(frozen=True)
class Member:
    """One captioner of those that decode together.

    Attributes:
        path: its weights file.
        captioner: in evaluation mode.
        about: the file's metadata.
    """

    path: Path
    captioner: Captioner
    about: CaptionerMetadata


def caption_files(files: Sequence[Path], weights: Sequence[Path], width: int) -> Iterator[tuple[Path, str]]:
    """Each image's best caption of a beam search of `width`. `files` are images of any size, or GIFs for a captioner of
    clips; a folder stands for the images in it. They are resized as the training images were.

    `weights` are a captioner's safetensors, or those of several that decode together (`Ensemble`). Encoder and
    vocabulary are those of their task in the checkout of the first file, or else in the working directory. Captioners
    of Hugging Face bring both, in the folder that they were trained from. InputError for what cannot be read, or does
    not go together.
    """
    captioner, read = Ensemble.load(weights, torch.device("cpu"))
    members = []
    for path, model, values in zip(weights, captioner.members, read, strict=True):
        if not model.features:
            raise InputError(path, "holds a captioner that reads no images", "name an image captioner's weights")
        members.append(Member(path, model, check_metadata(CaptionerMetadata, path, values, "captioner of images")))
        if members[-1].about.task != members[0].about.task:
            problem = f"is of task {members[-1].about.task}, and {weights[0]} of {members[0].about.task}"
            raise InputError(path, problem, "put captioners of one task together")
        if (model.features == PIXELS) != (members[0].captioner.features == PIXELS):
            problem = f"does not read images as {weights[0]} does"
            raise InputError(path, problem, "put captioners of Hugging Face together, or others")
    reader = PixelReader(members) if members[0].captioner.features == PIXELS else FeatureReader(members)
    if digest(reader.vocabulary) != members[0].about.vocabulary:
        fix = "name weights that were trained with these words"
        raise InputError(weights[0], f"was trained with another vocabulary than {reader.words}", fix)
    length = max(member.about.max_length for member in members)
    for file in _image_files(files):
        with torch.inference_mode():
            found = decoding.beam(decoding.Known(captioner), captioner.encode(reader.read(file)), length, width)
        if not bool(found.log_prob[0, 0].isfinite()):
            raise InputError(weights[0], f"gives no caption of {file} a finite probability", "train it again")
        yield file, " ".join(reader.vocabulary.decode(found.tokens[0, 0].tolist()))


class PixelReader:
    """Images as the image processors of captioners of Hugging Face make them.

    Args:
        members: captioners of Hugging Face, of one vocabulary.

    Raises:
        InputError: a captioner's folder cannot be read.
    """

    def __init__(self, members: Sequence[Member]) -> None:
        captioners = [member.captioner for member in members if isinstance(member.captioner, huggingface.Model)]
        self.words = captioners[0].folder
        self.vocabulary: Vocabulary = read_vocabulary(self.words)
        self._processors = [Pixels(captioner.folder) for captioner in captioners]

    def read(self, file: Path) -> list[torch.Tensor]:
        """Each member's pixel values [1, *feature_shape]."""
        image = read_image(file)
        return [processor.read([image]) for processor in self._processors]


class FeatureReader:
    """Images, or GIFs, as the encoder of a task sees them.

    Args:
        members: captioners of one task.

    Raises:
        InputError: the task's encoder or vocabulary is missing or damaged.
    """

    def __init__(self, members: Sequence[Member]) -> None:
        task = members[0].about.task
        above = members[0].path.absolute().parents
        root = next((folder.parent for folder in above if folder.name in (ARTIFACTS.name, STARTS.name)), Path())
        path = root / STARTS / f"encoder/{task}.safetensors"
        self._members = members
        self._encoder = Encoder.load(path)
        self._about = check_metadata(EncoderMetadata, path, load_weights(path)[1], "encoder")
        if self._encoder.frames > 1 and self._about.frames is None:
            raise InputError(path, "does not say how many frames of a clip it reads", mend(path))
        self.words = root / ARTIFACTS / task / "data" / VOCABULARY
        if not self.words.exists():
            raise InputError(self.words, "is not there", f"run `dvc repro data-{task}` in the checkout to make it")
        self.vocabulary = load_vocabulary(self.words)

    def read(self, file: Path) -> list[torch.Tensor]:
        """Each member's features [1, *feature_shape]."""
        features = self._encoder(self._input(file))
        return [self._select(features, member) for member in self._members]

    def _input(self, file: Path) -> torch.Tensor:
        """An image [1, 3, side, side], or a clip [1, frames, 3, side, side]."""
        side = self._about.image_size
        if self._about.frames is None:
            return torch.from_numpy(pixels(read_image(file), side)).permute(2, 0, 1)[None]
        frames = [pixels(frame, side) for frame in read_clip(file, self._about.frames)]
        return torch.from_numpy(np.stack(frames)).permute(0, 3, 1, 2)[None]

    def _select(self, features: torch.Tensor, member: Member) -> torch.Tensor:
        """A captioner's input from the encoder's features of one image."""
        shape = member.about.feature_shape
        pooled = member.captioner.features == "pooled"
        selected = self._encoder.pooled(features) if pooled else self._encoder.grid(features, shape[0])
        if list(selected.shape[1:]) != shape:
            problem = f"reads features of shape {shape}, and the encoder gives {list(selected.shape[1:])}"
            raise InputError(member.path, problem, "name weights that were trained with this encoder")
        return selected


def _image_files(files: Sequence[Path]) -> Iterator[Path]:
    """The files, and in place of a folder what has an image's ending in it, by name."""
    Image.init()
    endings = {ending for ending, form in Image.EXTENSION.items() if form in FORMATS}
    for file in files:
        if not file.is_dir():
            yield file
            continue
        found = sorted(path for path in file.iterdir() if path.suffix.lower() in endings)
        if not found:
            raise InputError(file, f"has no images ({', '.join(FORMATS)})", "name a folder with images in it")
        yield from found
