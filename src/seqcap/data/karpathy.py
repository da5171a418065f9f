"""Data sets in Karpathy's layout: `dataset_<name>.json` beside the images. Flickr8k, Flickr30k, COCO and scenes.

Karpathy and Fei-Fei, "Deep visual-semantic alignments for generating image descriptions", CVPR 2015 (the splits).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seqcap.data.images import ImageSource, relative_parts
from seqcap.errors import InputError
from seqcap.files.json_file import read_json
from seqcap.files.schemas import SERVER, SPLITS

# COCO's "restval" (validation images that Karpathy left out of val and test) trains in all five papers;
# "unused" are Flickr8k's images outside the official splits; "server" are ours.
SPLIT_OF = {"train": "train", "restval": "train", "val": "val", "test": "test", SERVER: SERVER, "unused": None}

FIX = "re-download or mend the file"

# Ids, and the parts of file names, of the images and sentences before.
Seen = dict[str, set[int | tuple[str, ...]]]


def read(root: str | Path, name: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Reads captions and splits, and checks that every image is there (images are not decoded).

    Captions become one line (COCO itself has line breaks in 2,296 of its 616,767 captions), tokens lower-case. Only
    images of the split "server" may have no captions: those of COCO's test2014 are not public.

    Args:
        root: folder with `dataset_<name>.json` and the images (see `ImageSource`); COCO's `filepath` key
            (train2014, val2014) is a subfolder of it.
        name: flickr8k, flickr30k, coco or scenes.

    Returns:
        Rows of `schemas.IMAGES` and of `schemas.REFERENCES`, in the file's order.

    Raises:
        InputError: names the file, the image and the sentence that is wrong, or the first missing image.
    """
    root = Path(root)
    path = root / f"dataset_{name}.json"
    if not path.is_file():
        raise InputError(path, "does not exist", "put Karpathy's JSON file there, or set the data set's root")
    content = read_json(path)
    if not isinstance(content, dict) or not isinstance(content.get("images"), list):
        raise InputError(path, "has no list `images`", "use a file in Karpathy's layout")
    images: list[dict[str, Any]] = []
    references: list[dict[str, Any]] = []
    seen: Seen = {"imgid": set(), "cocoid": set(), "sentid": set(), "file": set()}
    for position, record in enumerate(content["images"]):
        image, captions = _image(path, f"image {position}", record, seen)
        if image["split"] is not None:
            images.append(image)
            references += captions
    for split in SPLITS:
        if not any(image["split"] == split for image in images):
            raise InputError(path, f"has no {split} image", "use a file with train, val and test images")
    source = ImageSource(root)
    missing = source.missing([image["file"] for image in images])
    if missing:
        raise InputError(
            source.path, f"{len(missing)} of {len(images)} images are missing, first {missing[0]!r}", "restore them"
        )
    return images, references


def _image(path: Path, where: str, record: Any, seen: Seen) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """An image's rows; its split is None if it is not used."""
    image_id = _field(path, where, record, "imgid", int)
    file = _field(path, where, record, "filename", str)
    where = f"{where} (imgid {image_id}, {file!r})"
    if "filepath" in record:
        file = f"{_field(path, where, record, 'filepath', str)}/{file}"
    parts = relative_parts(file)
    if parts is None:
        raise InputError(path, f"{where}: file name {file!r} leaves the folder", FIX)
    _check_new(path, where, "imgid", image_id, seen)
    # One picture under two ids may be in training and in test.
    _check_new(path, where, "file", parts, seen)
    coco_id = None
    if "cocoid" in record:
        coco_id = _field(path, where, record, "cocoid", int)
        _check_new(path, where, "cocoid", coco_id, seen)
    named = _field(path, where, record, "split", str)
    if named not in SPLIT_OF:
        raise InputError(path, f"{where}: split {named!r}", f"use one of {', '.join(SPLIT_OF)}")
    split = SPLIT_OF[named]
    sentences = _field(path, where, record, "sentences", list)
    if not sentences and split != SERVER:
        raise InputError(path, f"{where} has no sentences", "give it a caption or drop the image")
    captions = []
    for number, sentence in enumerate(sentences):
        row = _reference(path, f"{where} sentence {number}", sentence)
        _check_new(path, f"{where} sentence {number}", "sentid", row["caption_id"], seen)
        captions.append({"item": image_id, "split": split, **row})
    return {"item": image_id, "split": split, "file": file, "coco_id": coco_id}, captions


def _check_new(path: Path, where: str, key: str, value: int | tuple[str, ...], seen: Seen) -> None:
    if value in seen[key]:
        shown = value if isinstance(value, int) else repr("/".join(value))
        raise InputError(path, f"{where}: {key} {shown} occurs twice", FIX)
    seen[key].add(value)


def _reference(path: Path, where: str, sentence: Any) -> dict[str, Any]:
    caption_id = _field(path, where, sentence, "sentid", int)
    raw = _field(path, where, sentence, "raw", str)
    tokens = _field(path, where, sentence, "tokens", list)
    if not tokens:
        raise InputError(path, f"{where} has no tokens", "give it words or drop the sentence")
    for token in tokens:
        if not isinstance(token, str):
            raise InputError(path, f"{where}: token {token!r} is not a string", FIX)
        # Scorers join tokens with spaces and captions with newlines: a token must not hold either.
        if token.split() != [token]:
            raise InputError(path, f"{where}: token {token!r} is empty or holds white space", "split it into words")
    return {"caption_id": caption_id, "text": " ".join(raw.split()), "tokens": [token.lower() for token in tokens]}


def _field(path: Path, where: str, record: Any, key: str, kind: type) -> Any:
    if not isinstance(record, dict):
        raise InputError(path, f"{where} is not an object", FIX)
    if key not in record:
        raise InputError(path, f"{where} has no key {key!r}", FIX)
    # type() and not isinstance: true is an int to isinstance.
    if type(record[key]) is not kind:
        raise InputError(path, f"{where}: {key!r} is {record[key]!r:.60}, not of type {kind.__name__}", FIX)
    if kind is int and abs(record[key]) >= 2**63:
        raise InputError(path, f"{where}: {key!r} is {record[key]!r:.60}, too large for an id", FIX)
    return record[key]
