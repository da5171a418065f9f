"""The image task's captions, splits and vocabulary -> artifacts/image/data/."""

from pathlib import Path

from seqcap.artifacts import IMAGES, REFERENCES, read_json, write_rows
from seqcap.data import karpathy
from seqcap.data.vocabulary import Vocabulary
from seqcap.errors import one_line_errors

OUTPUT = Path("artifacts/image/data")


def main() -> None:
    config = read_json("configs/data_image.json")
    if config["dataset"] == "scenes":
        from seqcap.data import scenes

        scenes.write(OUTPUT, scenes.Config(**config["scenes"]), config["seed"])
    images, references = karpathy.read(config["root"], config["dataset"])
    write_rows(OUTPUT / "images.parquet", images, IMAGES)
    write_rows(OUTPUT / "references.parquet", references, REFERENCES)
    # Captions are trained on up to max_length words: a word that only occurs later would never be learnt.
    training = (row["tokens"][: config["max_length"]] for row in references if row["split"] == "train")
    Vocabulary.build(training, config["min_count"]).write(OUTPUT / "vocabulary.json")


if __name__ == "__main__":
    with one_line_errors():
        main()
