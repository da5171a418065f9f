"""Features of every image or clip of a task:
`features.py <task>` -> artifacts/<task>/features/{pooled.parquet,grid.parquet,origin.json}.

The features of another kind of processor have other bytes. Captioners and retrievers that git keeps need not be trained
again for that, so they depend on origin.json alone: it has the same bytes everywhere, and other ones after a change of
the encoder, of the parameters or of the code."""

import hashlib
import os
import sys

import torch

from seqcap.config.data import FeaturesConfig
from seqcap.data.frames import ClipSource
from seqcap.data.images import ImageSource
from seqcap.errors import one_line_errors
from seqcap.features.encoders import Encoder
from seqcap.features.extraction import Job, extract
from seqcap.files.json_file import write_json
from seqcap.files.parquet import read_table
from seqcap.files.schemas import IMAGES, ORIGIN
from seqcap.system import machine
from seqcap.system.scratch import alone, checkpoints
from seqcap.tasks import ARTIFACTS, STARTS


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
    path = STARTS / f"encoder/{task}.safetensors"
    encoder = Encoder.load(path)
    output, kept = ARTIFACTS / task / "features", checkpoints(f"features-{task}")
    source = ImageSource(config.root) if config.frames is None else ClipSource(config.root, config.frames)
    extract(encoder, source, job, output, kept, machine.device(), rank, world)
    if rank == 0:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        write_json(output / ORIGIN, {"configuration": config.model_dump(mode="json"), "encoder_sha256": digest})


if __name__ == "__main__":
    with one_line_errors(), alone(f"features-{sys.argv[1]}"):
        main(sys.argv[1])
