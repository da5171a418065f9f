"""Reads strangers' captions and references from the field's file formats (`layouts`): JSON and JSON lines of many
layouts, tables with a header (.csv, .tsv), plain text (.txt) with one caption per line, the first for image 1, and this
package's Parquet files. All but the last may be gzipped (.json.gz). `-` is standard input. Text is UTF-8, or UTF-16
with its mark."""

import codecs
import gzip
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, cast

from seqcap.data.tokenizer import tokenize
from seqcap.errors import InputError, printable
from seqcap.files.reading import read_stream
from seqcap.metrics.captions import Caption
from seqcap.metrics.layouts import (
    Found,
    ImageId,
    read_json_text,
    read_table_text,
    tabbed,
    table_of,
)
from seqcap.system.extras import require

Text = str | Caption  # a caption as it is written, or its words
TEXT, PARQUET, TABLES, GZIP = ".txt", ".parquet", (".csv", ".tsv"), ".gz"
STDIN = Path("-")
LONGEST_CAPTION = 5000  # words. METEOR compares each with each: 10,000 equal words take it 20 seconds and 2 GB
MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


class References:
    """References by image, under any name that the file gives to an image.

    Args:
        found: what the file says.
    """

    def __init__(self, found: Found) -> None:
        self._captions: dict[ImageId, list[Text]] = {}
        self._keys: dict[str, ImageId] = {}
        self.merged = 0  # images that are written in two ways, as 7 and "7"
        for image, texts in found.captions.items():
            known = self._keys.setdefault(str(image), image)
            self.merged += known != image
            self._captions.setdefault(known, []).extend(texts)
        self._names, self.left_out = found.names, found.left_out
        self.emptied = {str(image) for image in found.emptied}
        self.splits = found.splits

    def __len__(self) -> int:
        return len(self._captions)

    def __iter__(self) -> Iterator[ImageId]:
        return iter(self._captions)

    def __getitem__(self, image: ImageId) -> list[Text]:
        return self._captions[image]

    def find(self, image: ImageId) -> ImageId | None:
        """The image as the references name it: 7, "7" and, where the file tells, "7.jpg" are one. None if unknown."""
        if str(image) in self._keys:
            return self._keys[str(image)]
        return self._names.get(str(image))

    def examples(self) -> str:
        """How images are named here."""
        first = next(iter(self._captions))
        other = next((name for name, image in self._names.items() if image == first), None)
        return f"{first!r} or {other!r}" if other is not None else repr(first)


def words_of(text: Text, path: Path, image: ImageId) -> Caption:
    """The words of an image's caption; those of a Parquet file are as they were written. InputError for more words than
    METEOR can compare."""
    words = tokenize(text) if isinstance(text, str) else text
    if len(words) > LONGEST_CAPTION:
        fix = f"score captions of at most {LONGEST_CAPTION:,}"
        raise InputError(path, f"image {image!r:.60}: the caption has {len(words):,} words", fix)
    return words


def read_references(paths: Sequence[Path], split: str) -> References:
    """Each image's references, from one file, or from several of plain text, each with a reference or an empty line for
    every image. `split`: of a file that holds several. InputError if a file cannot be read, has another layout or
    number of lines, or has no captions of the split."""
    if len(paths) == 1:
        found = _read(paths[0], True, split)
        references = References(found)
        if not len(references):
            raise InputError(_name(paths[0]), f"has no captions in split {split!r}", "choose another split")
        return references
    for path in paths:
        if _suffix(path) != TEXT:
            raise InputError(path, "is one of several files of references, and no .txt", "name one file")
    files = [_lines(path, _decoded(path)) for path in paths]
    for path, lines in zip(paths, files, strict=True):
        if len(lines) != len(files[0]):
            problem = f"has {len(lines)} lines, and {paths[0]} has {len(files[0])}"
            raise InputError(path, problem, "write one reference of every image, or an empty line")
    found = Found()
    for lines in files:
        _add_lines(lines, found, empty=False)
    return References(found)


def read_candidates(path: Path) -> dict[str, dict[ImageId, list[Text]]]:
    """The captions to score: system -> image -> its captions, best first. A file is one system with its name; a Parquet
    file of decoded captions holds one system per run, seed and decoder. InputError if the file cannot be read, has
    another layout, or has no caption."""
    if path.suffix == PARQUET:
        systems = _decoded_systems(path)
    else:
        # A file's name need not be valid text, nor one line.
        name = "stdin" if path == STDIN else printable(_unzipped(path).stem)
        systems = {name: {image: list(texts) for image, texts in _read(path, False, "test").captions.items()}}
    if not any(systems.values()):
        raise InputError(_name(path), "holds no caption", "pass at least one")
    return systems


def _read(path: Path, references: bool, split: str) -> Found:
    if path.suffix == PARQUET:
        return _parquet_references(path, split)
    text = _decoded(path)
    name, suffix = _name(path), _suffix(path)
    is_json = path != STDIN and suffix not in (TEXT, *TABLES)
    if is_json or (path == STDIN and text.lstrip()[:1] in ("{", "[")):
        return read_json_text(name, text, references, split)
    if suffix in TABLES or table_of(text) is not None:
        return read_table_text(name, text, references)
    found = Found()
    lines = _lines(name, text)
    pairs = tabbed(lines)
    if pairs:
        for image, caption in pairs:
            found.add(image, [caption])
        return found
    _add_lines(lines, found, empty=not references)
    return found


def _add_lines(lines: Iterable[str], found: Found, empty: bool) -> None:
    """Captions of images 1, 2, ...; an `empty` line is an empty caption, or none."""
    for number, line in enumerate(lines, start=1):
        if empty or tokenize(line):
            found.add(number, [line])


def _parquet_references(path: Path, split: str) -> Found:
    require("meteor", str(path))
    from seqcap.files.parquet import read_table
    from seqcap.files.schemas import REFERENCES

    found = Found(splits=True)
    for row in read_table(path, REFERENCES).to_pylist():
        if row["split"] == split:
            found.captions.setdefault(row["item"], []).append(row["tokens"])
    return found


def _decoded_systems(path: Path) -> dict[str, dict[ImageId, list[Text]]]:
    require("meteor", str(path))
    from seqcap.files.parquet import read_table
    from seqcap.files.schemas import DECODED

    systems: dict[str, dict[ImageId, list[Text]]] = {}
    rows = read_table(path, DECODED).to_pylist()
    for row in sorted(rows, key=lambda row: (row["run"], row["seed"], row["decoder"], row["rank"])):
        name = printable(f"{row['run']} seed {row['seed']} {row['decoder']}")
        systems.setdefault(name, {}).setdefault(row["item"], []).append(row["tokens"])
    return systems


def _decoded(path: Path) -> str:
    """The text of a file, or of standard input."""
    name = _name(path)
    try:
        content = _content(path)
        encoding = next((encoding for mark, encoding in MARKS.items() if content.startswith(mark)), "utf-8")
        return content.decode(encoding)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InputError(name, "is no whole gzip file", "copy it again, or name it without .gz if it is none") from None
    except OSError as error:
        raise InputError(name, f"cannot be read ({error.strerror})", "check the path") from None
    except UnicodeDecodeError:
        raise InputError(name, "is not UTF-8 text", "save it as UTF-8") from None


def _content(path: Path) -> bytes:
    if path == STDIN:
        return bytes(read_stream(sys.stdin.buffer, "standard input"))
    if path.suffix == GZIP:
        with gzip.open(path) as unzipped:
            return bytes(read_stream(cast(IO[bytes], unzipped), path))
    if path.is_file():
        return path.read_bytes()
    with path.open("rb") as file:
        return bytes(read_stream(file, path))


def _lines(path: Path, text: str) -> list[str]:
    # `splitlines` would also split at characters that a caption may hold.
    return re.sub(r"\r\n?", "\n", text).removesuffix("\n").split("\n")


def _unzipped(path: Path) -> Path:
    """What a gzipped file is called without that."""
    return path.with_suffix("") if path.suffix == GZIP else path


def _suffix(path: Path) -> str:
    """What a file's name says of its layout."""
    return _unzipped(path).suffix


def _name(path: Path) -> Path:
    return Path("standard input") if path == STDIN else path
