"""The image task's visual encoder, fetched, read or trained on scenes -> artifacts/image/encoder.safetensors."""

import os
from pathlib import Path
from typing import Any

import torch

from seqcap import machine
from seqcap.artifacts import IMAGES, read_json, read_table
from seqcap.data import scenes
from seqcap.data.images import ImageSource
from seqcap.errors import InputError, one_line_errors
from seqcap.features.encoders import Encoder, with_weights
from seqcap.features.pretraining import Examples, pretrain

ARTIFACTS = Path("artifacts/image")


def main() -> None:
    config = read_json("configs/encoder_image.json")
    metadata = {"weights": config["weights"], "image_size": config["image_size"]}
    if config["weights"] == "scenes":
        encoder = with_weights(config["backbone"], "random", config["seed"])
        metadata["val_mean_average_precision"] = train(encoder, config)
    else:
        encoder = with_weights(config["backbone"], config["weights"], config["seed"])
    encoder.save(ARTIFACTS / "encoder.safetensors", metadata)


def train(encoder: Encoder, config: dict[str, Any]) -> float:
    if config["dataset"] != "scenes":
        raise InputError(
            "params.yaml", f"features.weights is scenes, but the dataset is {config['dataset']}", "use imagenet"
        )
    # Unlike training, this stage runs alone: it takes every core it may use.
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    torch.backends.cudnn.deterministic = True
    graphs = scenes.read_scenes(ARTIFACTS / "data" / "scenes.parquet")
    source = ImageSource(config["root"])
    images = read_table(ARTIFACTS / "data" / "images.parquet", IMAGES).to_pylist()
    examples = {}
    for split in ("train", "val"):
        rows = [row for row in images if row["split"] == split]
        labels = [scenes.labels(graphs[row["image_id"]]) for row in rows]
        examples[split] = Examples.read(source, [row["file"] for row in rows], labels, config["image_size"])
    settings = {name: config[name] for name in ("epochs", "learning_rate", "batch_size", "seed")}
    return pretrain(encoder, examples["train"], examples["val"], **settings, device=machine.device())


if __name__ == "__main__":
    with one_line_errors():
        main()
