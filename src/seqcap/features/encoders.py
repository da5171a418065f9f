"""Visual encoders: convolutional networks without their classifier, and their weights.

torchvision's are He et al., "Deep residual learning for image recognition", CVPR 2016 (resnet*); Sandler et al.,
"MobileNetV2", CVPR 2018; Szegedy et al., "Rethinking the Inception architecture", CVPR 2016 (inception_v3).
"""

from __future__ import annotations

import hashlib
import pickle
import re
import socket
import warnings
from collections import OrderedDict
from pathlib import Path
from typing import Annotated, Any

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from seqcap.config import Frozen
from seqcap.errors import InputError
from seqcap.files.advice import mend
from seqcap.files.tensors import load_weights, save_weights

TORCHVISION = ("resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "mobilenet_v2", "inception_v3")
# Trained by this project, on generated scenes and clips.
GENERATED = ("scenes_cnn", "clips_cnn")
BACKBONES = (*TORCHVISION, *GENERATED)
# Children of torchvision's networks that come after, or beside, the last convolutional map.
HEADS = ("avgpool", "dropout", "fc", "classifier", "AuxLogits")
IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
DOWNLOAD_TIMEOUT = 20.0  # in seconds. A machine without a network may drop packets instead of refusing a connection.


class Reading(Frozen):
    """How an encoder reads images or clips."""

    image_size: int = Field(ge=16, le=1024)  # images are squashed to this side
    # How many frames of a clip are read, evenly spaced; None for images.
    frames: Annotated[int, Field(ge=2, le=1000)] | None = None
    batch_size: int = Field(ge=1)  # images per step, in extraction and in the encoder's training


class ScenesCNN(nn.Module):
    """A small network for generated scenes: 64 px in, a map of 8x8 out. Two coordinate channels say where things are
    (Liu et al., "CoordConv", NeurIPS 2018, section 3); without them, it cannot learn which object is left of which."""

    channels, inputs = 192, 5  # channels of the map and of the input, coordinates included

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for inputs, outputs, stride in ((self.inputs, 32, 2), (32, 64, 2), (64, 128, 2), (128, self.channels, 1)):
            layers += [
                nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False),
                nn.BatchNorm2d(outputs),
                nn.ReLU(inplace=True),
            ]
        self.layers = nn.Sequential(*layers)

    def forward(self, images: Tensor) -> Tensor:
        n, _, height, width = images.shape
        y = torch.linspace(-1, 1, height, device=images.device, dtype=images.dtype)
        x = torch.linspace(-1, 1, width, device=images.device, dtype=images.dtype)
        coordinates = torch.stack(torch.meshgrid(x, y, indexing="xy")).expand(n, 2, height, width)
        features: Tensor = self.layers(torch.cat([images, coordinates], 1))
        return features


class ClipsCNN(ScenesCNN):
    """The same for generated clips: it reads a frame and the flow to the next one (Simonyan & Zisserman, "Two-stream
    convolutional networks", NIPS 2014). The mean over frames loses their order, so each frame's features must say what
    moves. With the difference of frames alone, the network learned no directions."""

    channels, inputs = 256, 8

    def forward(self, images: Tensor) -> Tensor:
        """Two frames, as six channels, to a map."""
        frame, following = images.chunk(2, 1)
        change = (following - frame).abs().mean(1, keepdim=True)
        return super().forward(torch.cat([frame, change, normal_flow(frame, following)], 1))


def normal_flow(frame: Tensor, following: Tensor) -> Tensor:
    """How far edges move, in pixels, to the right and down: [n, colours, h, w] twice -> [n, 2, h, w].

    -I_t grad I / |grad I|^2 solves the gradient constraint of Horn & Schunck, "Determining optical flow", 1981, summed
    over colours. Frames are smoothed over 5 x 5 pixels, since things move by several.
    """
    smooth, after = (F.avg_pool2d(F.pad(image, (2, 2, 2, 2), mode="replicate"), 5, 1) for image in (frame, following))
    between = F.pad((smooth + after) / 2, (1, 1, 1, 1), mode="replicate")
    right = (between[:, :, 1:-1, 2:] - between[:, :, 1:-1, :-2]) / 2
    down = (between[:, :, 2:, 1:-1] - between[:, :, :-2, 1:-1]) / 2
    # The constant makes the flow 0 where there is no edge.
    steepness = (right.square() + down.square()).sum(1, keepdim=True) + 1e-3
    along = [((smooth - after) * slope).sum(1, keepdim=True) / steepness for slope in (right, down)]
    return torch.cat(along, 1)


class Encoder(nn.Module):
    """A backbone of `BACKBONES` with its preprocessing, from 8-bit images to its last convolutional map.

    `smallest` is the side of the smallest image that it takes, in pixels; `channels` those of the map; `dim` the size
    of a pooled feature. It reads `frames` consecutive frames of a clip as one image, their channels concatenated.

    Args:
        backbone: one of `BACKBONES`; its weights are fresh.
    """

    mean: Tensor
    std: Tensor

    def __init__(self, backbone: str) -> None:
        super().__init__()
        self.backbone = backbone
        self.smallest = 75 if backbone == "inception_v3" else 8
        mean, std = IMAGENET_MEAN, IMAGENET_STD
        self.frames = 2 if backbone == "clips_cnn" else 1
        if backbone in GENERATED:
            body = ScenesCNN() if backbone == "scenes_cnn" else ClipsCNN()
            self.body: nn.Module = body
            self.channels = body.channels
            mean, std = (0.5, 0.5, 0.5), (1.0, 1.0, 1.0)
        else:
            from seqcap.features.torchvision_shim import torchvision

            # Inception's initialisation takes seconds, and weights are nearly always loaded over it.
            options = {"init_weights": False, "transform_input": False} if backbone == "inception_v3" else {}
            network = torchvision.models.get_model(backbone, weights=None, **options)
            self.channels = network.last_channel if backbone == "mobilenet_v2" else network.fc.in_features
            # The children of these networks run one after the other. They keep the names that checkpoints have.
            self.body = nn.Sequential(OrderedDict((k, v) for k, v in network.named_children() if k not in HEADS))
            if backbone == "inception_v3":
                # Google trained its weights on [-1, 1], which torchvision's transform_input restores.
                mean, std = (0.5, 0.5, 0.5), (0.5, 0.5, 0.5)
        self.dim = self.channels * (2 if backbone == "scenes_cnn" else 1)
        # Not persistent: they belong to the backbone, not to its weights.
        self.register_buffer("mean", torch.tensor(mean * self.frames).view(1, -1, 1, 1), persistent=False)
        self.register_buffer("std", torch.tensor(std * self.frames).view(1, -1, 1, 1), persistent=False)
        # On a CPU, convolutions are about a tenth faster if images and weights share this layout.
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def forward(self, images: Tensor) -> Tensor:
        """The last convolutional map [n, channels, h, w], float32; for a clip, the mean over its frames. `images`:
        uint8 [n, 3, height, width], or clips [n, m, 3, height, width]."""
        if images.dim() == 5:
            read = images.unfold(1, self.frames, 1).permute(0, 1, 5, 2, 3, 4).flatten(2, 3)
            maps = self._map(read.flatten(0, 1))
            return maps.view(*read.shape[:2], *maps.shape[1:]).mean(1)
        return self._map(images)

    def _map(self, images: Tensor) -> Tensor:
        """Maps of images, or of frames that are read together [n, 3 x `frames`, height, width]."""
        scaled = (images.to(self.mean.dtype) / 255 - self.mean) / self.std
        features: Tensor = self.body(scaled.contiguous(memory_format=torch.channels_last))
        return features

    def pooled(self, features: Tensor) -> Tensor:
        """One vector per image [n, dim]: the mean of a map [n, channels, h, w]; for scenes_cnn, maximum and mean."""
        mean = features.mean((2, 3))
        return torch.cat([features.amax((2, 3)), mean], 1) if self.backbone == "scenes_cnn" else mean

    def grid(self, features: Tensor, k: int) -> Tensor:
        """A grid of vectors per image [n, k, k, channels]: means of a map [n, channels, h, w] over cells."""
        return F.adaptive_avg_pool2d(features, k).permute(0, 2, 3, 1)

    def save(self, path: str | Path, metadata: dict[str, Any]) -> None:
        """Writes the weights, and `backbone` into their metadata."""
        save_weights(path, self.body.state_dict(), {**metadata, "backbone": self.backbone})

    @classmethod
    def load(cls, path: str | Path) -> Encoder:
        """Reads what `save` wrote, ready for extraction."""
        weights, metadata = load_weights(path)
        if metadata.get("backbone") not in BACKBONES:
            raise InputError(path, f"backbone {metadata.get('backbone')!r:.60} is not known", mend(path))
        encoder = cls(metadata["backbone"])
        _fill(encoder, weights, path)
        return encoder.eval()


def with_weights(backbone: str, weights: str, seed: int) -> Encoder:
    """An encoder with weights that are not trained here: "imagenet" (torchvision's IMAGENET1K_V1, as the papers used),
    "random", or the path of a .safetensors or .pth checkpoint with torchvision's names.

    An `InputError` if they are missing and cannot be downloaded, are damaged, or belong to another backbone.
    """
    torch.manual_seed(seed)
    encoder = Encoder(backbone)
    if weights == "imagenet":
        if backbone not in TORCHVISION:
            raise InputError("params.yaml", f"{backbone} has no ImageNet weights", "use weights: scenes")
        _fill(encoder, *_imagenet(backbone))
    elif weights != "random":
        _fill(encoder, _checkpoint(Path(weights)), weights)
    return encoder.eval()


def _imagenet(backbone: str) -> tuple[dict[str, Tensor], Path]:
    from seqcap.features.torchvision_shim import torchvision

    entry = torchvision.models.get_model_weights(backbone).IMAGENET1K_V1
    name = entry.url.rsplit("/", 1)[1]
    path = Path(torch.hub.get_dir()) / "checkpoints" / name
    if path.is_file():
        # load_state_dict_from_url checks the hash only of its own downloads.
        match = re.search(r"-([0-9a-f]{8,})\.", name)
        if match and not hashlib.sha256(path.read_bytes()).hexdigest().startswith(match[1]):
            raise InputError(path, "is damaged (its SHA-256 is not the one in its name)", "download it again")
    timeout = socket.getdefaulttimeout()
    socket.setdefaulttimeout(DOWNLOAD_TIMEOUT)
    try:
        return entry.get_state_dict(progress=False, check_hash=True, weights_only=True), path
    except (OSError, RuntimeError, EOFError, pickle.UnpicklingError) as error:
        problem = f"ImageNet weights of {backbone} are neither here nor can they be downloaded ({_reason(error)})"
        fix = f"put {entry.url} there, or set TORCH_HOME to the absolute path of a folder with hub/checkpoints/{name}"
        raise InputError(path, problem, fix) from None
    finally:
        socket.setdefaulttimeout(timeout)


def _reason(error: Exception) -> str:
    """Why weights cannot be read, without torch's advice to run the code that a file holds."""
    line = str(error).partition("\n")[0]
    if isinstance(error, pickle.UnpicklingError) or "weights_only" in line:
        return "it does not hold tensors alone"
    # Some have no message.
    return line or "it is cut off"


def _checkpoint(path: Path) -> dict[str, Tensor]:
    fix = "give a .safetensors or .pth file that holds only tensors by name"
    if not path.is_file():
        raise InputError(path, "does not exist", "set the encoder's weights to imagenet, scenes, or a checkpoint")
    if path.suffix == ".safetensors":
        return load_weights(path)[0]
    try:
        with warnings.catch_warnings():
            # Of TorchScript a warning also says how to run it.
            warnings.simplefilter("ignore")
            # weights_only reads tensors and containers, and runs no code.
            content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        # Damaged bytes raise many kinds of errors.
        raise InputError(path, f"is not a checkpoint ({_reason(error)})", fix) from None
    if not isinstance(content, dict) or not all(isinstance(value, Tensor) for value in content.values()):
        raise InputError(path, "does not map names to tensors", fix)
    return content


def _fill(encoder: Encoder, weights: dict[str, Tensor], path: str | Path) -> None:
    body = {name: tensor for name, tensor in weights.items() if name.split(".")[0] not in HEADS}
    try:
        encoder.body.load_state_dict(body)
    except RuntimeError as error:
        # The message may name hundreds of weights.
        problem = f"does not fit: {str(error).partition(':')[2].strip():.300}"
        raise InputError(path, problem, f"give weights of {encoder.backbone}") from None
