"""Linear probes: what a linear classifier reads from features of scenes or clips (Alain & Bengio, "Understanding
intermediate layers using linear classifier probes", 2016)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F

from seqcap.features.precision import average_precisions
from seqcap.features.store import FeatureStore
from seqcap.files.parquet import read_table
from seqcap.files.schemas import IMAGES, SPLITS
from seqcap.world.labels import CLIP_GROUPS, CLIP_LABELS, GROUPS, IMAGE_LABELS, clip_labels, image_labels
from seqcap.world.motion import Clip
from seqcap.world.scenes import SCENES_FILE, read_scenes, read_worlds

# Of the sum of squared weights. Each group of labels has the penalty with the best precision on val.
PENALTIES = (1e-3, 3e-3, 1e-2)
ITERATIONS = 60
Groups = Mapping[str, list[int]]
Array = npt.NDArray[np.float32]


def probe_scenes(task: Path, dataset: str) -> list[dict[str, Any]]:
    """Probes the pooled features of a task's "scenes" or "clips", as `probe`. `task`: folder of its artifacts."""
    # Other stages run beside this one.
    torch.set_num_threads(1)
    world = task / "data" / SCENES_FILE
    if dataset == "clips":
        told = {item: clip_labels(clip) for item, clip in read_worlds(world, Clip.from_json).items()}
        names, groups = CLIP_LABELS, CLIP_GROUPS
    else:
        told = {item: image_labels(scene) for item, scene in read_scenes(world).items()}
        names, groups = IMAGE_LABELS, GROUPS
    store = FeatureStore(task / "features/pooled.parquet")
    rows = read_table(task / "data/images.parquet", IMAGES).to_pylist()
    items = {split: [row["item"] for row in rows if row["split"] == split] for split in SPLITS}
    features = {split: store.get(store.rows_of(items[split])) for split in SPLITS}
    labels = {split: np.stack([told[item] for item in items[split]]) for split in SPLITS}
    return probe(features, labels, {group: [names.index(name) for name in found] for group, found in groups.items()})


def probe(features: Mapping[str, Array], labels: Mapping[str, Array], groups: Groups) -> list[dict[str, Any]]:
    """Fits a logistic regression per label on train, with a penalty chosen on val, and measures it on test. `features`:
    split -> [n, dim]; `labels`: split -> [n, labels], 0 or 1; `groups`: name -> columns of its labels.

    Returns, for each group with labels that occur in test, their number `labels`, their `mean_average_precision`, 0-1,
    and `chance`, the precision of a guess: their mean share of the test images.
    """
    mean, deviation = features["train"].mean(0), features["train"].std(0) + 1e-6
    inputs = {split: torch.from_numpy((values - mean) / deviation) for split, values in features.items()}
    targets = torch.from_numpy(labels["train"])
    # Split -> average precisions of the labels with each of `PENALTIES`.
    found: dict[str, list[npt.NDArray[np.float64]]] = {"val": [], "test": []}
    for penalty in PENALTIES:
        weights, bias = _fit(inputs["train"], targets, penalty)
        for split, precisions in found.items():
            precisions.append(average_precisions((inputs[split] @ weights + bias).numpy(), labels[split]))
    shares = labels["test"].mean(0)
    rows = []
    for group, columns in groups.items():
        seen = [column for column in columns if shares[column] > 0]
        if seen:
            best = int(np.argmax([np.nansum(precisions[columns]) for precisions in found["val"]]))
            precision, chance = float(np.mean(found["test"][best][seen])), float(np.mean(shares[seen]))
            rows.append({"group": group, "mean_average_precision": precision, "labels": len(seen), "chance": chance})
    return rows


def _fit(inputs: Tensor, targets: Tensor, penalty: float) -> tuple[Tensor, Tensor]:
    weights = torch.zeros(inputs.shape[1], targets.shape[1], requires_grad=True)
    bias = torch.logit(targets.mean(0).clamp(1e-4, 1 - 1e-4)).requires_grad_()
    optimizer = torch.optim.LBFGS([weights, bias], max_iter=ITERATIONS, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = F.binary_cross_entropy_with_logits(inputs @ weights + bias, targets, reduction="sum") / len(inputs)
        loss = loss + penalty * weights.square().sum()
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    optimizer.step(closure)  # type: ignore[no-untyped-call]
    return weights.detach(), bias.detach()
