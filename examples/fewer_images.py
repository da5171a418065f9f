"""A dataset in Karpathy's layout with fewer training images: `python examples/fewer_images.py ROOT OUT NUMBER`.

OUT gets the JSON file of ROOT with NUMBER of its training images, drawn with a fixed seed, and links to what else ROOT
holds, which is not copied. Images of val and test stay. The images of a smaller NUMBER are among those of a larger one.
"""

import json
import random
import sys
from pathlib import Path

SEED = 1
TRAINING = ("train", "restval")


def main(root: Path, out: Path, number: int) -> None:
    path, *others = sorted(root.glob("dataset_*.json")) or [None]
    if path is None or others:
        sys.exit(f"{root}: has {len(others) + 1 if path else 'no'} dataset_*.json; leave one there")
    dataset = json.loads(path.read_text(encoding="utf-8"))
    training = [image for image in dataset["images"] if image["split"] in TRAINING]
    if not 0 < number <= len(training):
        sys.exit(f"{path}: has {len(training)} training images, not {number}")
    random.Random(SEED).shuffle(training)
    left_out = {image["imgid"] for image in training[number:]}
    dataset["images"] = [image for image in dataset["images"] if image["imgid"] not in left_out]
    out.mkdir(parents=True)
    (out / path.name).write_text(json.dumps(dataset), encoding="utf-8")
    for other in root.iterdir():
        if other != path:
            (out / other.name).symlink_to(other.resolve())
    print(f"{out}: {number} of {len(training)} training images")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
