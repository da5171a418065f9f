"""Mines similar training images before training, as negatives of captions (Chaffin et al., 2024). The query is an
image, the index all captions of other training images, as in the released code. An image is as near as its nearest
caption. The search is exact. A copy of the retriever's weights goes beside its mined images."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor

from seqcap import retrieval
from seqcap.config import StageConfig
from seqcap.data.vocabulary import PAD
from seqcap.errors import InputError
from seqcap.files.parquet import read_table, write_table
from seqcap.files.writing import copy_file
from seqcap.retrieval.contrast import copies
from seqcap.retrieval.recalls import embed_captions, embed_images
from seqcap.system import machine
from seqcap.system.progress import progress
from seqcap.tasks import ARTIFACTS


class MiningConfig(StageConfig):
    """What the stage `mine` finds: for each training image those whose captions are nearest to it."""

    name: str
    task: str
    retriever: str  # folder of its seed<k>.safetensors
    seeds: tuple[int, ...]  # of the runs that read the mined images; each has its own instance of the retriever
    seed_offset: int  # added to a run's seed: the seed of its retriever
    neighbours: int = Field(ge=1)  # how many images are mined for each image
    max_length: int  # tokens of a caption, EOS included
    mined: str  # folder for seed<k>.mined.parquet and the retriever's seed<k>.safetensors


# One row per image and rank (from 1): the mined image, and the cosine between the image and its nearest caption.
MINED = pa.schema([("item", pa.int64()), ("rank", pa.int64()), ("mined", pa.int64()), ("cosine", pa.float32())])
SCORES = 1 << 24  # scores in memory at once: 64 MB
# Captions in the first search, times the neighbours: images have several captions, and some are the query's own.
FIRST = 8
DECIMALS = 6  # decimals of cosines, so that order does not depend on rounding


def mined_file(folder: Path, seed: int) -> Path:
    return folder / f"seed{seed}.mined.parquet"


def make(config: MiningConfig) -> None:
    """For each seed of a retriever, writes <mined>/seed<k>.mined.parquet and a copy of the weights. InputError if the
    retriever is missing, damaged or from another task, or the task has too few images."""
    device = machine.device()
    for seed in config.seeds:
        weights = Path(config.retriever) / f"seed{seed + config.seed_offset}.safetensors"
        retriever = retrieval.load(weights)[0].to(device)
        split = retriever.load_task(ARTIFACTS / config.task).split("train", config.max_length)
        captions = split.captions(np.arange(len(split)))
        present = captions[:, :, 0] != PAD
        images = embed_images(retriever, split.inputs, device).cpu()
        # Equal sentences are embedded once: in different batches their embeddings would differ by rounding.
        spoken, said = np.unique(captions[present].numpy(), axis=0, return_inverse=True)
        texts = embed_captions(retriever, torch.from_numpy(spoken), device).cpu()
        owners = present.nonzero()[:, 0].numpy()
        rows, cosines = nearest(images, texts, said.reshape(-1), owners, config.neighbours)
        path = mined_file(Path(config.mined), seed)
        if (rows < 0).any():
            problem = f"needs {config.neighbours} images like each of {len(split)}, and there are too few others"
            raise InputError(path, problem, "mine fewer neighbours")
        items = split.inputs.ids
        table = {
            "item": items.repeat(config.neighbours),
            "rank": np.tile(np.arange(1, config.neighbours + 1), len(items)),
            "mined": items[rows].ravel(),
            "cosine": cosines.ravel(),
        }
        write_table(path, pa.table(table), MINED)
        copy_file(weights, Path(config.mined) / f"seed{seed}.safetensors")


def nearest(
    images: Tensor, texts: Tensor, captions: NDArray[np.int64], owners: NDArray[np.int64], neighbours: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The images whose captions are nearest to each image, without the image itself and its copies: rows and cosines
    [n, neighbours], nearest first, lowest row first among ties; -1 and -inf where there are too few. `images` [n, d]
    and `texts` [u, d] are embeddings, of all distinct captions; `captions` and `owners` [m] are all pairs of a caption
    and its image, as rows of these."""
    # Training imports this module, but does not search.
    from sklearn.neighbors import NearestNeighbors

    index = NearestNeighbors(metric="cosine", algorithm="brute").fit(texts.numpy())
    order = np.lexsort((owners, captions))
    by_text = np.split(owners[order], np.searchsorted(captions[order], np.arange(1, len(texts))))
    rows = np.full((len(images), neighbours), -1, dtype=np.int64)
    cosines = np.full((len(images), neighbours), -np.inf, dtype=np.float32)
    chunk = max(1, SCORES // len(texts))
    for start in progress(range(0, len(images), chunk), desc="mine", unit="chunk"):
        left = np.arange(start, min(start + chunk, len(images)))
        searched = 0
        # Few captions suffice for most images; the search goes on for the rest.
        while len(left) and searched < len(texts):
            searched = min(len(texts), max(FIRST * neighbours, 4 * searched))
            distances, nearest = index.kneighbors(images[left].numpy(), n_neighbors=searched)
            for query, cosine, near in zip(left, (1 - distances).round(DECIMALS), nearest, strict=True):
                others, values = _others(images, int(query), cosine, [by_text[text] for text in near], neighbours)
                rows[query, : len(others)], cosines[query, : len(others)] = others, values
            left = left[rows[left, -1] < 0]
    return rows, cosines


def _others(
    images: Tensor, query: int, cosines: NDArray[np.float32], owners: list[NDArray[np.int64]], neighbours: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    row = np.concatenate(owners)
    cosine = np.repeat(cosines, [len(some) for some in owners])
    order = np.lexsort((row, -cosine))
    first = np.sort(np.unique(row[order], return_index=True)[1])
    row, cosine = row[order][first], cosine[order][first]
    other = ~copies(images[[query]], images[row])[0].numpy()
    other &= row != query
    return row[other][:neighbours], cosine[other][:neighbours]


def read(path: Path, items: NDArray[np.int64], ranks: Sequence[int]) -> NDArray[np.int64]:
    """The mined images of these ranks, as rows of `items`, the ids of all training images: int64 [n, len(ranks)].
    InputError if the file is missing or damaged, lacks an image or rank, or names the same or an unknown image."""
    table = read_table(path, MINED)
    rows = {item: row for row, item in enumerate(items.tolist())}
    columns = {rank: column for column, rank in enumerate(ranks)}
    mined = np.full((len(items), len(ranks)), -1)
    fix = "delete it and run `dvc repro`"
    for item, rank, other in zip(*(table[name].to_pylist() for name in ("item", "rank", "mined")), strict=True):
        if rank not in columns or item not in rows:
            continue
        if other not in rows or other == item:
            raise InputError(path, f"has image {other} for image {item}", fix)
        mined[rows[item], columns[rank]] = rows[other]
    missing = np.argwhere(mined < 0)
    if len(missing):
        item, rank = items[missing[0, 0]], ranks[missing[0, 1]]
        raise InputError(path, f"has no rank {rank} of image {item}", "mine more neighbours, or use lower ranks")
    return mined
