"""The image task's visual encoder, fetched, read or trained -> artifacts/image/encoder.safetensors."""

from pathlib import Path

from seqcap.artifacts import read_json
from seqcap.errors import one_line_errors
from seqcap.features.encoders import with_weights

ARTIFACTS = Path("artifacts/image")


def main() -> None:
    config = read_json("configs/encoder_image.json")
    backbone, weights = config["backbone"], config["weights"]
    encoder = with_weights(backbone, weights, config["seed"])
    encoder.save(ARTIFACTS / "encoder.safetensors", {"weights": weights, "image_size": config["image_size"]})


if __name__ == "__main__":
    with one_line_errors():
        main()
