"""`seqcap submit`: results files as COCO's captioning server takes them, from decoded captions.

`captions_<split>_<name>_results.json` is a list of {"image_id": int, "caption": str}, one caption for each image of the
split; the server demands one file for test2014 and one for val2014 (https://cocodataset.org/#captions-eval).
"""

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from seqcap.errors import InputError
from seqcap.files.json_file import write_json
from seqcap.files.parquet import read_table
from seqcap.files.schemas import DATA, DECODED, IMAGES, in_split


def submit(
    decoded: Path,
    out: Path,
    split: str,
    decoder: str = "beam",
    run: str | None = None,
    seed: int | None = None,
    name: str | None = None,
    images: Path | None = None,
) -> Path:
    """Writes a results file in the folder `out`, and replaces the one that is there: the captions of rank 0 in a file
    of `schemas.DECODED`, one for each image of a split of `schemas.COCO_SPLITS`. `decoder`, `run` and `seed` choose
    captions; None if the file holds only one. `name` is the algorithm's; None takes the run's. `images` is a file of
    `schemas.IMAGES` with COCO's ids; None takes the pipeline's."""
    images = DATA / "images.parquet" if images is None else images
    table = read_table(decoded, DECODED)
    table = _choose(decoded, table, "run", run)
    name = table["run"][0].as_py() if name is None else name
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,100}", name):
        raise InputError("name", f"is {name!r}", "use letters A-Z and a-z, digits, _ and - only, at most 100 of them")
    table = _choose(decoded, table, "seed", seed)
    table = _choose(decoded, table, "decoder", decoder)
    first = table.filter(pc.equal(table["rank"], 0))
    captions = dict(zip(first["item"].to_pylist(), first["text"].to_pylist(), strict=True))
    ids = _read_coco_ids(images, split)
    unknown = [image for image in captions if image not in ids]
    if unknown:
        problem = f"image {unknown[0]} and {len(unknown) - 1} others are not of {split} in {images}"
        raise InputError(decoded, problem, "submit captions of that split alone")
    missing = [image for image in ids if image not in captions]
    if missing:
        problem = f"{len(missing)} of {len(ids)} images have no {decoder} caption, first image {missing[0]}"
        raise InputError(decoded, problem, f"decode all of {split}: the server takes nothing less")
    results = [{"image_id": ids[image], "caption": caption} for image, caption in captions.items()]
    path = out / f"captions_{split}_{name}_results.json"
    write_json(path, sorted(results, key=lambda result: result["image_id"]))
    return path


def _choose(path: Path, table: pa.Table, column: str, value: Any) -> pa.Table:
    values = sorted(pc.unique(table[column]).to_pylist())
    if not values:
        raise InputError(path, "holds no caption", "decode it again")
    if value is None and len(values) > 1:
        raise InputError(path, f"holds {column} {', '.join(map(str, values))}", f"choose one with --{column}")
    if value is not None and value not in values:
        raise InputError(path, f"has no {column} {value!r}", f"choose among {', '.join(map(str, values))}")
    return table.filter(pc.equal(table[column], values[0] if value is None else value))


def _read_coco_ids(path: Path, split: str) -> dict[int, int]:
    rows = read_table(path, IMAGES).to_pylist()
    if all(row["coco_id"] is None for row in rows):
        raise InputError(path, "has no image with a coco_id", "submit captions of COCO: its server knows no others")
    ids = {row["item"]: row["coco_id"] for row in rows if in_split(split, row["split"], row["file"])}
    for image, coco_id in ids.items():
        if coco_id is None:
            raise InputError(path, f"image {image} has no coco_id", "give it its cocoid in dataset_coco.json")
    return ids
