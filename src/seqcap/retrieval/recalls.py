"""Recall and median rank of a retriever over a split, with people's captions."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seqcap import retrieval
from seqcap.data.vocabulary import PAD
from seqcap.retrieval.base import Retriever, RetrieverConfig
from seqcap.retrieval.ranking import CHUNK, median_rank, ranks, recall
from seqcap.tasks import ARTIFACTS
from seqcap.tasks.base import Inputs, Split

KS = (1, 5, 10)
Recalls = dict[str, dict[str, float]]  # direction -> R@1, R@5, R@10 (0 to 1) and median rank


@torch.no_grad()
def embed_images(retriever: Retriever, inputs: Inputs, device: torch.device) -> Tensor:
    """Embeddings [n, d] of all inputs."""
    rows = np.arange(len(inputs.ids))
    return torch.cat(
        [retriever.embed_images(inputs.get(rows[i : i + CHUNK]).to(device)) for i in range(0, len(rows), CHUNK)]
    )


@torch.no_grad()
def embed_captions(retriever: Retriever, captions: Tensor, device: torch.device) -> Tensor:
    """Embeddings [n, d] of captions, ids [n, time]."""
    return torch.cat([retriever.embed_captions(some.to(device)) for some in torch.split(captions, CHUNK)])


def recalls(retriever: Retriever, split: Split, device: torch.device) -> Recalls:
    """Recalls in both directions; an image's best caption counts, among all captions of other images."""
    captions = split.captions(np.arange(len(split)))
    present = captions[:, :, 0] != PAD
    owners = present.nonzero()[:, 0].to(device)
    images = embed_images(retriever, split.inputs, device)
    texts = embed_captions(retriever, captions[present], device)
    everything = torch.arange(len(images), device=device)
    return {
        "text_to_image": _measured(ranks(texts, images, owners, compare=retriever.compare)),
        "image_to_text": _measured(ranks(images, texts, everything, owners, retriever.compare_captions)),
    }


def recall_sum(measured: Recalls) -> float:
    """R@1 + R@5 + R@10 of both directions, 0 to 6: the criterion for the best epoch."""
    return sum(values[f"R@{k}"] for values in measured.values() for k in KS)


def recalls_per_seed(config: RetrieverConfig, device: torch.device) -> dict[str, Any]:
    """The recalls of each seed on the split `evaluate_on`."""
    seeds = {}
    for seed in config.seeds:
        retriever, _ = retrieval.load(Path(config.weights) / f"seed{seed}.safetensors")
        split = retriever.load_task(ARTIFACTS / config.task).split(config.evaluate_on, config.max_length)
        seeds[str(seed)] = recalls(retriever.to(device), split, device)
    captions = sum(map(len, split.references))
    return {"split": config.evaluate_on, "images": len(split), "captions": captions, "seeds": seeds}


def _measured(own_ranks: Tensor) -> dict[str, float]:
    return {f"R@{k}": recall(own_ranks, k) for k in KS} | {"median_rank": median_rank(own_ranks)}
