"""Trains an encoder to recognise what is in an image or clip and where, on images or clips that it draws itself.
Encoders of photographs are trained on ImageNet's classes in this way, and on boxes with attributes (Anderson et al.,
"Bottom-up and top-down attention", CVPR 2018, section 3.1). Encoders of clips also learn what each object does, like
encoders of videos on action classes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from seqcap.config import Fingerprint, StageConfig
from seqcap.data.frames import evenly
from seqcap.features.encoders import Encoder, Reading
from seqcap.features.precision import average_precisions
from seqcap.system import machine
from seqcap.system.processes import side_by_side
from seqcap.system.scratch import checkpoints
from seqcap.training import loop
from seqcap.training.checkpoint import Learner, State, fingerprint
from seqcap.world.drawing import draw
from seqcap.world.graph import GRID, MAX_OBJECTS, SceneObject, sample
from seqcap.world.labels import clip_labels, clip_object_labels, image_labels, object_labels
from seqcap.world.motion import FRAMES, sample_clip

# Keep the random numbers of the encoder's images apart from those of tasks and of each other.
TRAIN, VAL = 271828, 271829
TRAIN_PER_VAL = 12  # training images per validation image
NOISE = 6  # noise of the pixels, as in `scenes.Config`
CHUNK = 200  # images per call of a drawing process
Floats = npt.NDArray[np.float32]
Drawn = tuple[npt.NDArray[np.uint8], Floats, Floats, Floats]
# Pixels, labels of the image, labels of each object, and the objects.
Labelled = tuple[npt.NDArray[np.uint8], Floats, list[Floats], tuple[SceneObject, ...]]


class EncoderSettings(Reading):
    """Where an encoder comes from, and how it is trained if `weights` is "scenes"."""

    backbone: str = Field(pattern="^((scenes|clips)_cnn|resnet(18|34|50|101|152)|mobilenet_v2|inception_v3)$")
    weights: str
    pictures: int = Field(ge=1, le=10_000_000)  # drawn for the training
    epochs: int = Field(ge=1)
    learning_rate: float = Field(gt=0, lt=1)


class EncoderConfig(StageConfig, EncoderSettings):
    """What the stage `encoder` trains on generated scenes or clips."""

    task: str
    fingerprint: Fingerprint
    seed: int


@dataclass(frozen=True)
class Examples:
    """Images with their labels, float32: 1 where a label holds, else 0.

    Attributes:
        images: [n, 3, side, side] uint8; of clips [n, 6, side, side], two consecutive frames.
        labels: [n, labels of an image].
        objects: [n, objects, labels of an object]; all 0 where an image has fewer objects.
        middles: [n, objects, 2], the middle of each object, (down, right) as shares of the side.
    """

    images: Tensor
    labels: Tensor
    objects: Tensor
    middles: Tensor
    weight: ClassVar[float] = 1.0

    def take(self, rows: Tensor, device: torch.device) -> Examples:
        parts = (self.images, self.labels, self.objects, self.middles)
        return Examples(*(part[rows].to(device) for part in parts))


def train_on_scenes(encoder: Encoder, config: EncoderConfig) -> float:
    """Trains an encoder in place on scenes or clips; returns its mean average precision of image labels on validation
    data of its own, 0-1. InputError if the loss or a gradient is not finite."""
    # Several threads would be many times slower beside another stage, and the bytes would depend on their number.
    torch.set_num_threads(1)
    cores = machine.cores()
    torch.backends.cudnn.deterministic = True
    # An encoder of single frames learns from images.
    frames = config.frames if encoder.frames > 1 else None
    train = draw_examples((config.seed, TRAIN), config.pictures, config.image_size, cores, frames)
    number = -(-config.pictures // TRAIN_PER_VAL)
    val = draw_examples((config.seed, VAL), number, config.image_size, cores, frames)
    kept = checkpoints(f"encoder-{config.task}") / fingerprint(config.model_dump(mode="json"), [])
    state = loop.train(Job(encoder, config, train, val), kept)
    encoder.eval()
    assert state.best_value is not None
    return state.best_value


class EncoderLearner(Learner):
    """An encoder with two binary cross-entropies, of images and of cells.
    A linear classifier predicts the image's labels from the pooled feature. In each cell of the map, the first channels
    predict the labels of the object whose middle is there, one channel per label: their maximum over cells tells
    whether some object has the label, their mean how many have it. The other channels are free. Both losses are sums
    divided by the number of labels that hold: most do not. Batches are shifted by up to 1/32 of the side.

    Args:
        encoder: what is trained.
        train: all training images; they give the numbers of labels, and how often each label holds.
        batch_size: images per step, at most all of them.
    """

    keeps_last = True
    order: Tensor  # of the images in this epoch, [steps, batch], for resuming within it

    def __init__(self, encoder: Encoder, train: Examples, batch_size: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.image_head = nn.Linear(encoder.dim, train.labels.shape[1])
        with torch.no_grad():
            self.image_head.bias.copy_(torch.logit(train.labels.mean(0).clamp(1e-3, 1 - 1e-3)))
        self.cell_head = Evidence(train.objects.shape[2])
        # Incomplete batches are left out: batch normalisation cannot learn from a single image.
        steps = len(train.images) // batch_size
        self.register_buffer("order", torch.zeros(steps, batch_size, dtype=torch.long))

    def shuffle(self, images: int) -> None:
        self.order.copy_(torch.randperm(images)[: self.order.numel()].view_as(self.order))

    def forward(self, batch: Examples) -> tuple[Tensor, dict[str, float]]:
        features = self.encoder(_shifted(batch.images))
        targets = _per_cell(batch.objects, batch.middles, features.shape[2], features.shape[3])
        loss = _loss(self.image_head(self.encoder.pooled(features)), batch.labels)
        return loss + _loss(self.cell_head(features), targets), {}

    def kept(self) -> Mapping[str, nn.Module]:
        return {"encoder": self.encoder}


class Job(loop.Job[EncoderLearner]):
    """An encoder and its images; AdamW, one-cycle learning rate. Equal seeds give equal weights on a machine.

    Args:
        encoder: what is trained, in place.
        config: its settings.
        train: the images to train on.
        val: the images to validate on.
    """

    decisive = "val_mean_average_precision"

    def __init__(self, encoder: Encoder, config: EncoderConfig, train: Examples, val: Examples) -> None:
        self.name, self.seed, self.settings = f"encoder {config.task}", config.seed, config
        self.encoder, self.train, self.val = encoder, train, val
        self.device = machine.device()
        self.batch_size = min(config.batch_size, len(train.images))
        self.batches = len(train.images) // self.batch_size
        self.steps = config.epochs * self.batches

    def begin(self) -> State[EncoderLearner]:
        torch.manual_seed(self.seed)
        learner = EncoderLearner(self.encoder, self.train, self.batch_size).to(self.device)
        groups = [{"params": list(learner.parameters())}]
        optimizer = torch.optim.AdamW(groups, lr=self.settings.learning_rate, weight_decay=0.01)
        return State(learner, learner, optimizer)

    def set_rates(self, optimizer: torch.optim.Optimizer, step: int) -> None:
        for group in optimizer.param_groups:
            group["lr"], beta1 = one_cycle(step, self.steps, self.settings.learning_rate)
            group["betas"] = beta1, 0.999

    def read(self, state: State[EncoderLearner]) -> Iterator[Examples]:
        for step in range(state.step, self.steps):
            if step % self.batches == 0:
                state.learner.shuffle(len(self.train.images))
            yield self.train.take(state.learner.order[step % self.batches].cpu(), self.device)

    def validate(self, state: State[EncoderLearner]) -> float:
        """Measures the mean average precision of validation images' labels, 0-1."""
        learner = state.learner.eval()
        logits = []
        with torch.inference_mode():
            for images in torch.split(self.val.images, self.batch_size):
                logits.append(learner.image_head(learner.encoder.pooled(learner.encoder(images.to(self.device)))).cpu())
        precisions = average_precisions(torch.cat(logits).numpy(), self.val.labels.numpy())
        value = float(np.nanmean(precisions))
        loop.record(self, state, self.decisive, value)
        return value

    def save(self, state: State[EncoderLearner]) -> None:
        """Nothing: the stage writes the encoder."""


def one_cycle(step: int, steps: int, peak: float) -> tuple[float, float]:
    """Learning rate and Adam's beta1 after `step` of `steps` steps, as in `torch.optim.lr_scheduler.OneCycleLR`: the
    rate rises from a 25th of its peak in the first fifth, then falls to almost nothing."""
    first, last = 0.2 * steps - 1, steps - 1
    if first > 0 and step <= first:
        share = step / first
        return _cosine(peak / 25, peak, share), _cosine(0.95, 0.85, share)
    share = (step - first) / (last - first)
    return _cosine(peak, peak / 25 / 1e4, share), _cosine(0.85, 0.95, share)


def _cosine(start: float, end: float, share: float) -> float:
    return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)


def draw_examples(
    entropy: Sequence[int], number: int, side: int, processes: int, frames: int | None = None
) -> Examples:
    """Draws scenes of side x side pixels, or two consecutive frames of clips of so many `frames`. Random numbers come
    from (*entropy, number of the image), whatever the number of processes."""
    starts = range(0, number, CHUNK)
    jobs = [(tuple(entropy), range(start, min(start + CHUNK, number)), side, frames) for start in starts]
    drawn = side_by_side(_draw, jobs, min(processes, len(jobs)))
    images, *others = (torch.from_numpy(np.concatenate(parts)) for parts in zip(*drawn, strict=True))
    return Examples(images.permute(0, 3, 1, 2), *others)


def _draw(entropy: Sequence[int], numbers: Sequence[int], side: int, frames: int | None) -> Drawn:
    labelled = []
    for number in numbers:
        what, how = (np.random.default_rng(child) for child in np.random.SeedSequence([*entropy, number]).spawn(2))
        labelled.append(_scene(what, how, side) if frames is None else _pair(what, how, side, frames))
    images, labels, objects, things = zip(*labelled, strict=True)
    told = np.zeros((len(numbers), MAX_OBJECTS, len(objects[0][0])), np.float32)
    middles = np.zeros((len(numbers), MAX_OBJECTS, 2), np.float32)
    for row, (of_objects, seen) in enumerate(zip(objects, things, strict=True)):
        for i, thing in enumerate(seen):
            told[row, i] = of_objects[i]
            middles[row, i] = (thing.top + thing.bottom) / 2 / GRID, (thing.left + thing.right) / 2 / GRID
    return np.stack(images), np.stack(labels), told, middles


def _scene(scene_rng: np.random.Generator, noise_rng: np.random.Generator, side: int) -> Labelled:
    scene = sample(scene_rng)
    image = np.asarray(draw(scene, side, NOISE, noise_rng))
    return image, image_labels(scene), [object_labels(thing) for thing in scene.objects], scene.objects


def _pair(clip_rng: np.random.Generator, pair_rng: np.random.Generator, side: int, frames: int) -> Labelled:
    clip, read = sample_clip(clip_rng), evenly(FRAMES, frames)
    first = int(pair_rng.integers(len(read) - 1))
    scenes = [clip.frame(number) for number in read[first : first + 2]]
    # Clips have no noise: a GIF could not store it.
    image = np.concatenate([np.asarray(draw(scene, side, 0, pair_rng)) for scene in scenes], axis=2)
    objects = [clip_object_labels(clip, i) for i in range(len(clip.objects))]
    return image, clip_labels(clip), objects, scenes[0].objects


class Evidence(nn.Module):
    """Turns channels of a feature map into evidence for labels, one channel for each.

    Args:
        labels: how many labels a cell may have.
    """

    def __init__(self, labels: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.full((labels,), 2.0))
        # Most labels of most cells do not hold.
        self.shift = nn.Parameter(torch.full((labels,), -4.0))

    def forward(self, features: Tensor) -> Tensor:
        """[n, channels, h, w] -> [n, h, w, labels]; there must be as many channels."""
        return features[:, : len(self.scale)].permute(0, 2, 3, 1) * self.scale + self.shift


def _loss(logits: Tensor, targets: Tensor) -> Tensor:
    return F.binary_cross_entropy_with_logits(logits, targets, reduction="sum") / targets.sum().clamp(min=1)


def _per_cell(objects: Tensor, middles: Tensor, height: int, width: int) -> Tensor:
    """The labels of the object whose middle is in each cell, [n, height, width, labels]; arguments as in `Examples`."""
    images = torch.arange(len(objects))
    targets = objects.new_zeros(len(objects), height, width, objects.shape[2])
    for i in range(objects.shape[1]):
        cell = images, (middles[:, i, 0] * height).long(), (middles[:, i, 1] * width).long()
        targets[cell] = torch.maximum(targets[cell], objects[:, i])
    return targets


def _shifted(images: Tensor) -> Tensor:
    """Shifts all images by the same few pixels in a random direction and repeats their edges, so that the encoder sees
    scenes in several places. Mirror images would make "left of" wrong."""
    height, width = images.shape[2:]
    reach = width // 32
    down, right = torch.randint(-reach, reach + 1, (2,)).tolist()
    y, x = (torch.arange(height) + down).clamp(0, height - 1), (torch.arange(width) + right).clamp(0, width - 1)
    return images[:, :, y[:, None], x]
