"""Features of every image or clip of a task:
`features.py <task>` -> artifacts/<task>/features/{pooled,grid}.parquet."""

import os
import sys

import torch

from seqcap.config.data import FeaturesConfig
from seqcap.data.frames import ClipSource
from seqcap.data.images import ImageSource
from seqcap.errors import one_line_errors
from seqcap.features.encoders import Encoder
from seqcap.features.extraction import Job, extract
from seqcap.files.parquet import read_table
from seqcap.files.schemas import IMAGES
from seqcap.system import machine
from seqcap.system.scratch import alone, checkpoints
from seqcap.tasks import ARTIFACTS


def main(task: str) -> None:
    machine.relaunch()
    config = FeaturesConfig.read("features", task)
    rank, world = machine.join_group()
    # Unlike training, this stage runs alone and takes all cores.
    torch.set_num_threads(max(1, len(os.sched_getaffinity(0)) // world))
    # cuDNN's fastest algorithms are not deterministic.
    torch.backends.cudnn.deterministic = True
    images = read_table(ARTIFACTS / task / "data/images.parquet", IMAGES)
    settings = config.model_dump(include={"grid", "dtype", "batch_size", "image_size", "frames"})
    job = Job(image_ids=images["item"].to_pylist(), files=images["file"].to_pylist(), **settings)
    encoder = Encoder.load(ARTIFACTS / f"encoder/{task}.safetensors")
    output, kept = ARTIFACTS / task / "features", checkpoints(f"features@{task}")
    source = ImageSource(config.root) if config.frames is None else ClipSource(config.root, config.frames)
    extract(encoder, source, job, output, kept, machine.device(), rank, world)


if __name__ == "__main__":
    with one_line_errors(), alone(f"features@{sys.argv[1]}"):
        main(sys.argv[1])
