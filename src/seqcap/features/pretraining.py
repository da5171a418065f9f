"""Trains an encoder to tell what is in a scene, as ImageNet's classes train the encoders of photographs."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seqcap import machine
from seqcap.artifacts import IMAGES, read_table
from seqcap.config.data import EncoderConfig
from seqcap.data import scenes
from seqcap.data.images import ImageSource
from seqcap.features.encoders import Encoder
from seqcap.progress import progress


@dataclass(frozen=True)
class Examples:
    """Images with their labels.

    Attributes:
        images: [n, 3, side, side] uint8.
        labels: [n, labels] float32, 1 where the label holds and 0 elsewhere.
    """

    images: Tensor
    labels: Tensor

    @classmethod
    def read(
        cls, source: ImageSource, files: Sequence[str], labels: Sequence[npt.NDArray[np.float32]], side: int
    ) -> Self:
        """Reads images, squashed to side x side, with the labels of each.

        Raises:
            InputError: an image is missing or damaged.
        """
        images = [np.asarray(source.read(file).resize((side, side))) for file in files]
        return cls(torch.from_numpy(np.stack(images)).permute(0, 3, 1, 2), torch.from_numpy(np.stack(labels)))


def train_on_scenes(encoder: Encoder, config: EncoderConfig, data: Path) -> float:
    """Trains an encoder in place on the labels of a task's scenes.

    Args:
        data: folder of the task's data.

    Returns:
        mean average precision on the validation scenes, 0-1.

    Raises:
        InputError: a picture or its scene is missing or damaged.
    """
    # Unlike training, this stage runs alone: it takes every core it may use.
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    torch.backends.cudnn.deterministic = True
    graphs = scenes.read_scenes(data / scenes.SCENES_FILE)
    source = ImageSource(config.root)
    images = read_table(data / "images.parquet", IMAGES).to_pylist()
    examples = {}
    for split in ("train", "val"):
        rows = [row for row in images if row["split"] == split]
        labels = [scenes.labels(graphs[row["item"]]) for row in rows]
        examples[split] = Examples.read(source, [row["file"] for row in rows], labels, config.image_size)
    settings = config.model_dump(include={"epochs", "learning_rate", "batch_size", "seed"})
    return pretrain(encoder, examples["train"], examples["val"], **settings, device=machine.device())


def pretrain(
    encoder: Encoder,
    train: Examples,
    val: Examples,
    epochs: int,
    learning_rate: float,
    batch_size: int,
    seed: int,
    device: torch.device,
) -> float:
    """Trains the encoder in place with a linear classifier on its pooled features, by binary cross-entropy.

    AdamW with a one-cycle learning rate; batches are shifted by up to 1/32 of the image's side; the epoch with the
    best mean average precision on `val` is kept. The same seed gives the same weights on the same machine.

    Returns:
        that mean average precision, 0-1.
    """
    torch.manual_seed(seed)
    encoder.to(device)
    classifier = nn.Linear(encoder.dim, train.labels.shape[1]).to(device)
    parameters = [*encoder.parameters(), *classifier.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=learning_rate, weight_decay=0.01)
    # Batch normalisation cannot learn from a last batch of a single image: incomplete batches are left out.
    batch_size = min(batch_size, len(train.images))
    steps = len(train.images) // batch_size
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, learning_rate, total_steps=epochs * steps, pct_start=0.2)
    best, best_weights = -1.0, encoder.state_dict()
    epochs_done = progress(range(epochs), desc="encoder", unit="epoch")
    for _ in epochs_done:
        encoder.train()
        for rows in torch.randperm(len(train.images))[: steps * batch_size].view(steps, batch_size):
            logits = classifier(encoder.pooled(encoder(_shifted(train.images[rows]).to(device))))
            loss = F.binary_cross_entropy_with_logits(logits, train.labels[rows].to(device))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
        precision = _evaluate(encoder, classifier, val, batch_size, device)
        epochs_done.set_postfix(loss=f"{loss.item():.4f}", mean_average_precision=f"{precision:.4f}")
        if precision > best:
            best, best_weights = precision, copy.deepcopy(encoder.state_dict())
    encoder.load_state_dict(best_weights)
    encoder.eval()
    return best


def _shifted(images: Tensor) -> Tensor:
    """The images, all moved by the same few pixels in a random direction, their edges repeated. Otherwise the encoder
    soon memorises 2,000 scenes. No mirror images: they would make "left of" wrong."""
    height, width = images.shape[2:]
    reach = width // 32
    down, right = torch.randint(-reach, reach + 1, (2,)).tolist()
    y, x = (torch.arange(height) + down).clamp(0, height - 1), (torch.arange(width) + right).clamp(0, width - 1)
    return images[:, :, y[:, None], x]


def mean_average_precision(scores: npt.NDArray[np.floating], labels: npt.NDArray[np.floating]) -> float:
    """The mean over labels of average precision; labels without an example are left out.

    Average precision is the mean, over a label's examples, of the precision among the images scored at least as high.

    Args:
        scores: [n, labels], higher for images that should have the label.
        labels: [n, labels], 0 or 1.

    Returns:
        0-1; NaN if no label has an example.
    """
    order = np.argsort(-scores, axis=0, kind="stable")
    ranked = np.take_along_axis(labels, order, 0)
    precision = np.cumsum(ranked, 0) / np.arange(1, len(labels) + 1)[:, None]
    positives = labels.sum(0)
    seen = positives > 0
    return float(np.mean((precision * ranked).sum(0)[seen] / positives[seen]))


def _evaluate(encoder: Encoder, classifier: nn.Module, val: Examples, batch_size: int, device: torch.device) -> float:
    encoder.eval()
    starts = range(0, len(val.images), batch_size)
    with torch.inference_mode():
        batches = (val.images[start : start + batch_size].to(device) for start in starts)
        logits = torch.cat([classifier(encoder.pooled(encoder(images))).cpu() for images in batches])
    return mean_average_precision(logits.numpy(), val.labels.numpy())
