"""Similar training images, found once and before training: negatives of a caption (Chaffin et al., 2024).

An image is the query, the captions of all other training images are the index, as in the released code. An image is as
near as the nearest of its captions. The search is exact.

The retriever's weights are copied beside what it found: a run that reads both cannot read two that do not belong
together, and depends on one folder.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor

from seqcap import machine, retrieval
from seqcap.artifacts import atomic, read_table, write_table
from seqcap.config.mining import MiningConfig
from seqcap.data.vocabulary import PAD
from seqcap.errors import InputError
from seqcap.progress import progress
from seqcap.retrieval.contrast import copies
from seqcap.retrieval.recalls import embed_captions, embed_images
from seqcap.tasks import ARTIFACTS

# One row per image and rank, counted from 1: the other image, and the cosine of the query and its nearest caption.
MINED = pa.schema([("item", pa.int64()), ("rank", pa.int64()), ("mined", pa.int64()), ("cosine", pa.float32())])

# Scores in memory at a time: 64 MB.
SCORES = 1 << 24
# Closer cosines are ties: the order of two captions that are the same must not depend on rounding.
DECIMALS = 6


def mined_file(folder: Path, seed: int) -> Path:
    """The file of what a retriever's instance found."""
    return folder / f"seed{seed}.mined.parquet"


def make(config: MiningConfig) -> None:
    """Finds similar images with each seed of a retriever: <mined>/seed<k>.mined.parquet, rows of `MINED`, and a copy of
    the retriever's weights.

    Raises:
        InputError: the retriever is missing or damaged or of another task, or the task has too few images.
    """
    device = machine.device()
    for seed in config.seeds:
        weights = Path(config.retriever) / f"seed{seed}.safetensors"
        retriever = retrieval.load(weights)[0].to(device)
        split = retriever.pictures(ARTIFACTS / config.task).split("train", config.max_length)
        captions = split.captions(np.arange(len(split)))
        present = captions[:, :, 0] != PAD
        images = embed_images(retriever, split.inputs, device)
        texts = embed_captions(retriever, captions[present], device)
        rows, cosines = nearest(images, texts, present.nonzero()[:, 0].to(device), config.neighbours)
        path = mined_file(Path(config.mined), seed)
        if cosines.shape[1] < config.neighbours or not cosines.isfinite().all():
            problem = f"needs {config.neighbours} images like each of {len(split)}, and there are too few others"
            raise InputError(path, problem, "mine fewer neighbours")
        items = split.inputs.ids
        table = {
            "item": items.repeat(config.neighbours),
            "rank": np.tile(np.arange(1, config.neighbours + 1), len(items)),
            "mined": items[rows.numpy()].ravel(),
            "cosine": cosines.numpy().ravel(),
        }
        write_table(path, pa.table(table), MINED)
        with atomic(Path(config.mined) / weights.name) as copy:
            shutil.copyfile(weights, copy)


def nearest(images: Tensor, texts: Tensor, owners: Tensor, neighbours: int) -> tuple[Tensor, Tensor]:
    """The images whose nearest captions are nearest to each image; never itself or a copy of it.

    Args:
        images: embeddings [n, d].
        texts: embeddings [m, d] of all captions.
        owners: int64 [m], the image of each.

    Returns:
        rows int64 [n, neighbours] and cosines [n, neighbours], the nearest first, of ties the lowest row; on the CPU.
        What is no neighbour has the cosine -inf. There are at most n.
    """
    n = len(images)
    rows, cosines = [], []
    for queries in progress(torch.split(images, max(1, SCORES // len(texts))), desc="mine", unit="chunk"):
        best = torch.full((len(queries), n), -torch.inf, device=images.device)
        best.scatter_reduce_(1, owners.expand(len(queries), -1), queries @ texts.T, "amax")
        best.masked_fill_(copies(queries, images), -torch.inf)
        # Not `topk`: in what order it puts ties is not said.
        order = best.round(decimals=DECIMALS).sort(dim=1, descending=True, stable=True).indices[:, :neighbours]
        rows.append(order.cpu())
        cosines.append(best.gather(1, order).cpu())
    return torch.cat(rows), torch.cat(cosines)


def read(path: Path, items: NDArray[np.int64], ranks: Sequence[int]) -> NDArray[np.int64]:
    """Which images were found for each of some.

    Args:
        items: ids of all training images, int64 [n].
        ranks: those that are wanted.

    Returns:
        rows in `items`, int64 [n, len(ranks)].

    Raises:
        InputError: the file is missing or damaged, an image or a rank is not there, or what was found is no training
            image or the image itself.
    """
    table = read_table(path, MINED)
    rows = {item: row for row, item in enumerate(items.tolist())}
    columns = {rank: column for column, rank in enumerate(ranks)}
    found = np.full((len(items), len(ranks)), -1)
    fix = "delete it and run `dvc repro`"
    for item, rank, other in zip(*(table[name].to_pylist() for name in ("item", "rank", "mined")), strict=True):
        if rank not in columns or item not in rows:
            continue
        if other not in rows or other == item:
            raise InputError(path, f"has image {other} for image {item}", fix)
        found[rows[item], columns[rank]] = rows[other]
    missing = np.argwhere(found < 0)
    if len(missing):
        item, rank = items[missing[0, 0]], ranks[missing[0, 1]]
        raise InputError(path, f"has no rank {rank} of image {item}", "mine more neighbours, or use lower ranks")
    return found
