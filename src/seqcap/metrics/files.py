"""Reads captions from the file formats of the field into the form that the metrics take.

COCO: `{"annotations": [{"image_id": 1, "caption": "a dog"}]}`, or the bare list that the COCO server takes; Karpathy:
`{"images": [{"imgid": 1, "split": "test", "sentences": [{"raw": "A dog."}]}]}`; and this package's own Parquet files.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from seqcap.artifacts import DECODED, REFERENCES, read_json, read_table
from seqcap.data.karpathy import SPLIT_OF
from seqcap.errors import InputError
from seqcap.metrics.captions import Caption
from seqcap.metrics.tokenizer import tokenize

# COCO's ids are integers; other datasets name images by their files.
ImageId = int | str
Captions = dict[ImageId, list[Caption]]

FORMATS = "use COCO's or Karpathy's JSON layout, or a Parquet file of this package"


def read_references(path: Path, split: str) -> Captions:
    """Each image's references, tokenized.

    Args:
        path: JSON or Parquet.
        split: of a Karpathy or Parquet file; COCO's files hold one split each.

    Raises:
        InputError: the file cannot be read, has another layout, or has no captions in that split.
    """
    if path.suffix == ".parquet":
        table = read_table(path, REFERENCES).to_pylist()
        captions = _collected((row["item"], list(row["tokens"])) for row in table if row["split"] == split)
    else:
        value = read_json(path)
        if isinstance(value, dict) and isinstance(value.get("images"), list) and "annotations" not in value:
            captions = _collected(_of_karpathy(path, value["images"], split))
        else:
            captions = _collected(_of_coco(path, value))
    if not captions:
        raise InputError(path, f"has no captions in split {split!r}", "choose another split")
    return captions


def read_candidates(path: Path) -> dict[str, Captions]:
    """The captions to score, tokenized: system -> image -> its captions, the best first.

    A JSON file is one system with the file's name. A Parquet file of decoded captions holds one system for each
    variant, seed and decoder.

    Raises:
        InputError: the file cannot be read, has another layout, or holds no caption.
    """
    systems: dict[str, Captions] = {}
    if path.suffix == ".parquet":
        rows = read_table(path, DECODED).to_pylist()
        for row in sorted(rows, key=lambda row: (row["variant"], row["seed"], row["decoder"], row["rank"])):
            name = f"{row['variant']} seed {row['seed']} {row['decoder']}"
            systems.setdefault(name, {}).setdefault(row["item"], []).append(list(row["tokens"]))
    else:
        # A file's name may be no text.
        name = os.fsencode(path.stem).decode(errors="replace")
        systems[name] = _collected(_of_coco(path, read_json(path)))
    if not any(systems.values()):
        raise InputError(path, "holds no caption", "pass at least one")
    return systems


def _collected(captions: Iterable[tuple[ImageId, Caption]]) -> Captions:
    collected: Captions = {}
    for image_id, tokens in captions:
        collected.setdefault(image_id, []).append(tokens)
    return collected


def _of_coco(path: Path, value: Any) -> Iterable[tuple[ImageId, Caption]]:
    records = value.get("annotations") if isinstance(value, dict) else value
    if not isinstance(records, list):
        raise InputError(path, "is neither a list of captions nor has one under `annotations`", FORMATS)
    for number, record in enumerate(records):
        yield _image_id(path, f"caption {number}", record, "image_id"), _tokens(path, number, record, "caption")


def _of_karpathy(path: Path, images: list[Any], split: str) -> Iterable[tuple[ImageId, Caption]]:
    for number, image in enumerate(images):
        if not isinstance(image, dict) or not isinstance(image.get("sentences"), list):
            raise InputError(path, f"image {number} has no list of sentences", FORMATS)
        named = image.get("split")
        if not isinstance(named, str) or named not in SPLIT_OF:
            raise InputError(path, f"image {number}: split {named!r}", f"use one of {', '.join(SPLIT_OF)}")
        if SPLIT_OF[named] == split:
            # COCO's results name images by COCO's ids.
            image_id = _image_id(path, f"image {number}", image, "cocoid" if "cocoid" in image else "imgid")
            for sentence in image["sentences"]:
                yield image_id, _tokens(path, number, sentence, "raw")


def _image_id(path: Path, where: str, record: Any, key: str) -> ImageId:
    value = record.get(key) if isinstance(record, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise InputError(path, f"{where}: {key!r} is {value!r:.60}", "give each caption its image's number or name")
    return value


def _tokens(path: Path, number: int, record: Any, key: str) -> Caption:
    value = record.get(key) if isinstance(record, dict) else None
    if not isinstance(value, str):
        raise InputError(path, f"entry {number}: {key!r} is {value!r:.60}, not a text", FORMATS)
    return tokenize(value)
