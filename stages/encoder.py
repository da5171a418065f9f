"""A task's visual encoder, downloaded, read, or trained on scenes or clips:
`encoder.py <task>` -> starts/encoder/<task>.safetensors."""

import importlib
import sys

from seqcap.config.data import EncoderConfig
from seqcap.errors import one_line_errors
from seqcap.features.encoders import with_weights
from seqcap.system.scratch import alone
from seqcap.tasks import STARTS


def main(task: str) -> None:
    config = EncoderConfig.read("encoder", task)
    metadata = {"weights": config.weights, "image_size": config.image_size}
    if config.frames is not None:
        metadata["frames"] = config.frames
    if config.weights == "scenes":
        # By name: an encoder that is downloaded or read does not depend on the code of training.
        pretraining = importlib.import_module("seqcap.training.encoders")
        encoder = with_weights(config.backbone, "random", config.seed)
        metadata["val_mean_average_precision"] = pretraining.train_on_scenes(encoder, config)
    else:
        encoder = with_weights(config.backbone, config.weights, config.seed)
    encoder.save(STARTS / f"encoder/{task}.safetensors", metadata)


if __name__ == "__main__":
    with one_line_errors(), alone(f"encoder-{sys.argv[1]}"):
        main(sys.argv[1])
