"""Features of every image of the task -> artifacts/image/features/{pooled,grid}.parquet."""

import os
from pathlib import Path

import torch

from seqcap import machine
from seqcap.artifacts import IMAGES, read_json, read_table
from seqcap.data.images import ImageSource
from seqcap.errors import one_line_errors
from seqcap.features.encoders import Encoder
from seqcap.features.extraction import Job, extract

ARTIFACTS = Path("artifacts/image")


def main() -> None:
    machine.relaunch()
    config = read_json("configs/features_image.json")
    rank, world = machine.join_group()
    # Unlike training, this stage runs alone: it takes every core it may use.
    torch.set_num_threads(max(1, len(os.sched_getaffinity(0)) // world))
    # The fastest of cuDNN's algorithms do not give the same bytes twice.
    torch.backends.cudnn.deterministic = True
    images = read_table(ARTIFACTS / "data" / "images.parquet", IMAGES)
    job = Job(
        image_ids=images["image_id"].to_pylist(),
        files=images["file"].to_pylist(),
        grid=config["grid"],
        dtype=config["dtype"],
        batch_size=config["batch_size"],
        image_size=config["image_size"],
    )
    encoder = Encoder.load(ARTIFACTS / "encoder.safetensors")
    source = ImageSource(config["root"])
    extract(encoder, source, job, ARTIFACTS / "features", Path("scratch"), machine.device(), rank, world)


if __name__ == "__main__":
    with one_line_errors():
        main()
