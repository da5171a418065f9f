"""How people write captions down: the records of JSON, JSON lines and tables, whatever their keys are called."""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from seqcap.errors import InputError
from seqcap.files.json_file import parse_json

ImageId = int | str  # numbers in COCO; other datasets use file names
# Keys of an image and of its captions, in the order in which they count. Only references have the last ones.
IMAGE_KEYS = (
    *("image_id", "image", "file_name", "filename", "image_name", "img_id", "video_id", "videoid", "clip_id"),
    *("question_id", "sample_id", "id"),
)
SAID_KEYS = ("caption", "prediction", "caption_predicted", "generated", "answer", "response", "text")
MEANT_KEYS = ("references", "reference_strs", "refs", "captions", "caption", "encap", "text", "comment", "reference")
NUMBERED = re.compile(r"(?:caption|reference|comment)[_ ]?\d+")
WRAPPERS = ("annotations", "results", "predictions", "sentences", "data", "captions")
LAYOUTS = (
    "write [{image_id, caption}] as COCO's server takes it, {id: [captions]}, Karpathy's JSON, JSON lines, CSV with a"
    " header, or plain text (.txt) with a caption a line"
)
# Splits of Karpathy's and MSR-VTT's layouts: ours; None for images outside all splits.
SPLITS = {"train": "train", "restval": "train", "val": "val", "validate": "val", "test": "test"}
SPLITS_OF_FILES: dict[str, str | None] = {**SPLITS, "server": "server", "unused": None}
DELIMITERS = ("\t", ",", ";", "|")


@dataclass
class Found:
    """What a file says: each image's captions, in the file's order.

    Attributes:
        captions: image -> its captions.
        names: other names of images, such as their files -> the image.
        left_out: how many captions the dataset's makers rejected.
        emptied: images all of whose captions they rejected.
        splits: whether the file holds several splits.
    """

    captions: dict[ImageId, list[str]] = field(default_factory=dict)
    names: dict[str, ImageId] = field(default_factory=dict)
    left_out: int = 0
    emptied: set[ImageId] = field(default_factory=set)
    splits: bool = False

    def add(self, image: ImageId, texts: Sequence[str]) -> None:
        self.captions.setdefault(image, []).extend(texts)


def read_json_text(path: Path, text: str, references: bool, split: str) -> Found:
    """Captions in JSON or JSON lines; references, or candidates otherwise. `split` is of a file that holds several.
    InputError if the layout is not one that is read."""
    return read_value(path, _parsed(path, text), references, split)


def _parsed(path: Path, text: str) -> Any:
    first, _, rest = text.strip().partition("\n")
    if rest and _is_object(first):
        lines = enumerate(text.split("\n"), start=1)
        return [parse_json(path, line, f"line {number} ") for number, line in lines if line.strip()]
    return parse_json(path, text)


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def read_value(path: Path, value: Any, references: bool, split: str) -> Found:
    found = Found()
    if isinstance(value, dict) and isinstance(value.get("images"), list) and "annotations" not in value:
        _read_karpathy(path, value["images"], split, found)
        return found
    records = _records_of(value)
    if records is None:
        if not isinstance(value, dict) or not value:
            raise InputError(path, "is neither a list of captions nor an object of images", LAYOUTS)
        _read_by_image(path, value, found)
        return found
    chosen = _of_split(value, records, split, found)
    for number, record in chosen:
        _read_record(path, f"entry {number}", record, references, found)
    found.emptied -= set(found.captions)
    if isinstance(value, dict):
        for image in value.get("images") or []:
            if isinstance(image, dict) and isinstance(image.get("file_name"), str) and "id" in image:
                found.names[image["file_name"]] = image_id(path, "an image", image["id"])
    return found


def _records_of(value: Any) -> list[Any] | None:
    """The list of records, also inside an object; None for an object of images."""
    if isinstance(value, list):
        return value
    for key in WRAPPERS if isinstance(value, dict) else ():
        inside = value.get(key)
        if isinstance(inside, list) and (key == "annotations" or _named(inside[:1])):
            return inside
    return None


def _named(records: list[Any]) -> bool:
    """Whether records name their image."""
    return all(isinstance(record, dict) and _key_of(record, IMAGE_KEYS) is not None for record in records)


def _of_split(value: Any, records: list[Any], split: str, found: Found) -> list[tuple[int, Any]]:
    """Records with their places; only those of the split if the file says which video is in which (MSR-VTT)."""
    numbered = list(enumerate(records))
    videos = value.get("videos") if isinstance(value, dict) else None
    if not isinstance(videos, list):
        return numbered
    known = [video for video in videos if isinstance(video, dict)]
    split_of = {str(video.get("video_id")): SPLITS.get(str(video.get("split"))) for video in known}
    found.splits = True
    named = [(number, record) for number, record in numbered if isinstance(record, dict)]
    return [(number, record) for number, record in named if split_of.get(str(record.get("video_id"))) == split]


def _read_record(path: Path, where: str, record: Any, references: bool, found: Found) -> None:
    """One record: an image and its caption, or captions."""
    if not isinstance(record, Mapping):
        raise InputError(path, f"{where} is {record!r:.60}, not an object", LAYOUTS)
    name, key, said = _keys_in(tuple(record), references)
    if name is None or (key is None and not said):
        missing = "an image" if name is None else "a caption"
        problem = f"{where} names no key for {missing}: it has {', '.join(map(str, record)) or 'none'}"
        raise InputError(path, problem, LAYOUTS)
    image = image_id(path, where, record[name])
    if references and (record.get("is_rejected") is True or record.get("is_precanned") is True):
        found.left_out += 1
        found.emptied.add(image)
        return
    given = [record[key] for key in said if record[key]] or record[key]
    texts = texts_of(path, where, said[0] if said else key, given)
    if key == "reference_strs" and found.captions.get(image) == texts:
        # TextCaps repeats all references of an image in each of its entries.
        return
    found.add(image, texts)


def _key_of(record: Mapping[Any, Any], keys: Sequence[str]) -> Any:
    """The record's key that comes first among `keys`, in any case; None if there is none."""
    plain = {_plain(key): key for key in record}
    return next((plain[key] for key in keys if key in plain), None)


@lru_cache(maxsize=256)
def _keys_in(keys: tuple[Any, ...], references: bool) -> tuple[Any, Any, list[Any]]:
    """Which of a record's keys are the image, the caption and numbered captions; most records of a file are alike."""
    record = dict.fromkeys(keys)
    said = [key for key in keys if NUMBERED.fullmatch(_plain(key))] if references else []
    return _key_of(record, IMAGE_KEYS), _key_of(record, MEANT_KEYS if references else SAID_KEYS), said


def _plain(key: Any) -> str:
    return str(key).strip().lower()


def image_id(path: Path, where: str, value: Any) -> ImageId:
    """An image's number or name; 7.0 is 7. InputError for anything else."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise InputError(path, f"{where}: the image is {value!r:.60}", "give each caption its image's number or name")
    return value


def texts_of(path: Path, where: str, key: Any, value: Any) -> list[str]:
    """A caption, or several, as a list; each a text or an object with one. InputError for anything else."""
    listed = value if isinstance(value, list) else [value]
    texts = [_text_in(text) for text in listed]
    for text, given in zip(texts, listed, strict=True):
        if text is None:
            raise InputError(path, f"{where}: {key!r} is {given!r:.60}, not a text", LAYOUTS)
    return [text for text in texts if text is not None]


def _text_in(value: Any) -> str | None:
    found = next((value[key] for key in ("raw", "caption") if key in value), None) if isinstance(value, dict) else value
    return found if isinstance(found, str) else None


def _read_by_image(path: Path, value: dict[str, Any], found: Found) -> None:
    """{image: caption} or {image: [captions]}; keys are numbers if all of them look like numbers."""
    numbers = all(re.fullmatch(r"0|[1-9]\d{0,18}", key) for key in value)
    for key, captions in value.items():
        if not isinstance(captions, str | list) or (not captions and captions != ""):
            problem = f"image {key!r:.60}: {captions!r:.60} is no caption, nor a list of them"
            keys = ", ".join(list(value)[:8])
            raise InputError(path, f"{problem} (the file's keys: {keys:.120})", LAYOUTS)
        found.add(int(key) if numbers else key, texts_of(path, f"image {key!r:.60}", "caption", captions))


def _read_karpathy(path: Path, images: list[Any], split: str, found: Found) -> None:
    found.splits = True
    for number, image in enumerate(images):
        if not isinstance(image, dict) or not isinstance(image.get("sentences"), list):
            raise InputError(path, f"image {number} has no list of sentences", LAYOUTS)
        named = image.get("split")
        if not isinstance(named, str) or named not in SPLITS_OF_FILES:
            raise InputError(path, f"image {number}: split {named!r}", f"use one of {', '.join(SPLITS_OF_FILES)}")
        if SPLITS_OF_FILES[named] != split:
            continue
        # COCO's results use COCO's ids; others number images, or name their files.
        key = next((key for key in ("cocoid", "imgid", "filename") if key in image), None)
        if key is None:
            raise InputError(path, f"image {number} has no cocoid, imgid or filename", LAYOUTS)
        name = image_id(path, f"image {number}", image[key])
        for other in ("filename", "imgid"):
            if isinstance(image.get(other), str | int):
                found.names.setdefault(str(image[other]), name)
        found.add(name, texts_of(path, f"image {number}", "sentences", image["sentences"]))


def table_of(text: str) -> tuple[str, list[str]] | None:
    """The delimiter and columns of a table with a header that names image and caption; None if it is no such table."""
    header = text.lstrip("\n").split("\n", 1)[0]
    for delimiter in DELIMITERS:
        columns = [column.strip() for column in next(csv.reader([header], delimiter=delimiter), [])]
        plain = list(map(_plain, columns))
        image = any(key in plain for key in IMAGE_KEYS)
        caption = any(key in (*SAID_KEYS, *MEANT_KEYS) or NUMBERED.fullmatch(key) for key in plain)
        if len(columns) > 1 and image and caption:
            return delimiter, columns
    return None


def read_table_text(path: Path, text: str, references: bool) -> Found:
    """Captions of a table with a header; InputError if it names no image or no caption."""
    known = table_of(text)
    if known is None:
        header = text.lstrip("\n").split("\n", 1)[0]
        raise InputError(path, f"begins with {header!r:.80}, which names no image and caption", LAYOUTS)
    delimiter, columns = known
    found = Found()
    rows = csv.reader(io.StringIO(text.lstrip("\n")), delimiter=delimiter)
    next(rows)
    try:
        for row in rows:
            if not row:
                continue
            where = f"line {rows.line_num}"
            if len(row) < len(columns) and not any(map(NUMBERED.fullmatch, map(_plain, columns))):
                raise InputError(path, f"{where} has {len(row)} of {len(columns)} columns", "mend the line")
            record = dict(zip(columns, map(str.strip, row), strict=False))
            _read_record(path, where, record, references, found)
    except csv.Error as error:
        raise InputError(path, f"line {rows.line_num} is no table's ({error})", "mend the line") from None
    return found


def tabbed(lines: Iterator[str] | Sequence[str]) -> list[tuple[ImageId, str]] | None:
    """(image, caption) of lines such as Flickr8k's `1001.jpg#0<TAB>A dog.`; None if a line is another."""
    found: list[tuple[ImageId, str]] = []
    for line in lines:
        if not line.strip():
            continue
        image, tab, caption = line.partition("\t")
        if not tab or not image or len(image.split()) != 1:
            return None
        found.append((re.sub(r"#\d+$", "", image), caption))
    return found
