"""Reads strangers' captions and references from the field's file formats.
COCO: `{"annotations": [{"image_id": 1, "caption": "a dog"}]}`, or the bare list that the COCO server takes;
coco-caption: `{"1": ["a dog"]}`; Karpathy: `{"images": [{"imgid": 1, "split": "test", "sentences": [{"raw": "A
dog."}]}]}`; plain text (`.txt`) with one caption per line, the first for image 1; and this package's Parquet files. `-`
is standard input, JSON or plain text."""

import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from seqcap.data.karpathy import SPLIT_OF
from seqcap.data.tokenizer import tokenize
from seqcap.errors import InputError, printable
from seqcap.files.json_file import read_json
from seqcap.files.parquet import read_table
from seqcap.files.reading import read_stream, read_text
from seqcap.files.schemas import DECODED, REFERENCES
from seqcap.metrics.captions import Caption

ImageId = int | str  # integers in COCO; other datasets use file names
Captions = dict[ImageId, list[Caption]]
Named = Iterable[tuple[ImageId, Caption]]
FORMATS = "use COCO's or Karpathy's JSON layout, plain text (.txt), or a Parquet file of this package"
LONGEST_CAPTION = 5000  # words. METEOR compares each with each: 10,000 equal words take it 20 seconds and 2 GB
TEXT = ".txt"
STDIN = Path("-")


def read_references(paths: Sequence[Path], split: str) -> Captions:
    """Each image's references, tokenized, from one file, or from several of plain text, each with a reference or an
    empty line for every image. `split`: of a Karpathy or Parquet file; other files hold one split. InputError if a file
    cannot be read, has another layout or number of lines, or has no captions of the split."""
    if len(paths) == 1:
        with _readable(paths[0]) as path:
            captions = _collected(_references(path, split))
            if not captions:
                raise InputError(path, f"has no captions in split {split!r}", "choose another split")
            return captions
    for path in paths:
        if path.suffix != TEXT:
            raise InputError(path, "is one of several files of references, and no .txt", "name one file")
    files = [_lines(path) for path in paths]
    for path, lines in zip(paths, files, strict=True):
        if len(lines) != len(files[0]):
            problem = f"has {len(lines)} lines, and {paths[0]} has {len(files[0])}"
            raise InputError(path, problem, "write one reference of every image, or an empty line")
    return _collected((number, tokens) for lines in files for number, tokens in lines if tokens)


def _references(path: Path, split: str) -> Named:
    if path.suffix == TEXT:
        return ((number, tokens) for number, tokens in _lines(path) if tokens)
    if path.suffix == ".parquet":
        rows = read_table(path, REFERENCES).to_pylist()
        return ((row["item"], list(row["tokens"])) for row in rows if row["split"] == split)
    value = read_json(path)
    if isinstance(value, dict) and isinstance(value.get("images"), list) and "annotations" not in value:
        return _karpathy_captions(path, value["images"], split)
    return _json_captions(path, value)


def read_candidates(path: Path) -> dict[str, Captions]:
    """The captions to score, tokenized: system -> image -> its captions, best first. A JSON or text file is one system
    with the file's name. A Parquet file of decoded captions holds one system per run, seed and decoder. InputError if
    the file cannot be read, has another layout, or has no caption."""
    with _readable(path) as readable:
        systems: dict[str, Captions] = {}
        # A file's name need not be valid text, nor one line.
        name = printable(readable.stem)
        if readable.suffix == TEXT:
            systems[name] = _collected(_lines(readable))
        elif readable.suffix == ".parquet":
            rows = read_table(readable, DECODED).to_pylist()
            for row in sorted(rows, key=lambda row: (row["variant"], row["seed"], row["decoder"], row["rank"])):
                name = printable(f"{row['variant']} seed {row['seed']} {row['decoder']}")
                systems.setdefault(name, {}).setdefault(row["item"], []).append(list(row["tokens"]))
        else:
            systems[name] = _collected(_json_captions(readable, read_json(readable)))
        if not any(systems.values()):
            raise InputError(readable, "holds no caption", "pass at least one")
        return systems


@contextmanager
def _readable(path: Path) -> Iterator[Path]:
    """The file itself; for standard input, a copy whose suffix tells its format."""
    if path != STDIN:
        yield path
        return
    content = read_stream(sys.stdin.buffer, "standard input")
    suffix = ".json" if content.lstrip()[:1] in (b"{", b"[") else TEXT
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / f"stdin{suffix}"
        copy.write_bytes(content)
        try:
            yield copy
        except InputError as error:
            _, (_, problem, fix) = error.__reduce__()
            raise InputError("standard input", problem, fix) from None


def _lines(path: Path) -> list[tuple[int, Caption]]:
    try:
        text = read_text(path, "utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        problem = f"cannot be read ({error.strerror})" if isinstance(error, OSError) else "is not UTF-8 text"
        raise InputError(path, problem, "check the path, and write a caption a line") from None
    # `splitlines` would also split at characters that a caption may hold.
    lines = text.removesuffix("\n").split("\n")
    return [(number, _tokenized(path, f"line {number}", line)) for number, line in enumerate(lines, start=1)]


def _collected(captions: Named) -> Captions:
    collected: Captions = {}
    for image_id, tokens in captions:
        collected.setdefault(image_id, []).append(tokens)
    return collected


def _json_captions(path: Path, value: Any) -> Named:
    """Captions in COCO's layouts, or in coco-caption's: image -> its captions, each a text or `{"caption": text}`."""
    if isinstance(value, dict) and value and "annotations" not in value:
        numbers = all(re.fullmatch(r"0|[1-9]\d{0,18}", key) for key in value)
        for key, captions in value.items():
            if not isinstance(captions, list) or not captions:
                raise InputError(path, f"image {key!r:.60}: {captions!r:.60} is no list of captions", FORMATS)
            for caption in captions:
                record = caption if isinstance(caption, dict) else {"caption": caption}
                yield (int(key) if numbers else key), _tokens(path, f"image {key!r:.60}", record, "caption")
        return
    records = value.get("annotations") if isinstance(value, dict) else value
    if not isinstance(records, list):
        raise InputError(path, "is neither a list of captions nor has one under `annotations`", FORMATS)
    for number, record in enumerate(records):
        image_id = _image_id(path, f"caption {number}", record, "image_id")
        yield image_id, _tokens(path, f"entry {number}", record, "caption")


def _karpathy_captions(path: Path, images: list[Any], split: str) -> Named:
    for number, image in enumerate(images):
        if not isinstance(image, dict) or not isinstance(image.get("sentences"), list):
            raise InputError(path, f"image {number} has no list of sentences", FORMATS)
        named = image.get("split")
        if not isinstance(named, str) or named not in SPLIT_OF:
            raise InputError(path, f"image {number}: split {named!r}", f"use one of {', '.join(SPLIT_OF)}")
        if SPLIT_OF[named] == split:
            # COCO's results use COCO's ids.
            image_id = _image_id(path, f"image {number}", image, "cocoid" if "cocoid" in image else "imgid")
            for sentence in image["sentences"]:
                yield image_id, _tokens(path, f"entry {number}", sentence, "raw")


def _image_id(path: Path, where: str, record: Any, key: str) -> ImageId:
    value = record.get(key) if isinstance(record, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise InputError(path, f"{where}: {key!r} is {value!r:.60}", "give each caption its image's number or name")
    return value


def _tokens(path: Path, where: str, record: Any, key: str) -> Caption:
    value = record.get(key) if isinstance(record, dict) else None
    if not isinstance(value, str):
        raise InputError(path, f"{where}: {key!r} is {value!r:.60}, not a text", FORMATS)
    return _tokenized(path, where, value)


def _tokenized(path: Path, where: str, text: str) -> Caption:
    tokens = tokenize(text)
    if len(tokens) > LONGEST_CAPTION:
        fix = f"score captions of at most {LONGEST_CAPTION:,}"
        raise InputError(path, f"{where}: the caption has {len(tokens):,} words", fix)
    return tokens
