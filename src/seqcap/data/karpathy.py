"""Karpathy's layout: `dataset_<name>.json` beside the images, as for Flickr8k, Flickr30k, COCO and generated scenes.

Karpathy & Fei-Fei, "Deep visual-semantic alignments for generating image descriptions", CVPR 2015 (the splits).
"""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from seqcap.data.images import ImageSource, relative_parts
from seqcap.errors import InputError
from seqcap.files.json_file import read_json
from seqcap.files.schemas import SERVER, SPLITS

# All five papers train on COCO's "restval" (validation images outside val and test). "unused" are Flickr8k's images
# outside the official splits, "server" is our own.
SPLIT_OF = {"train": "train", "restval": "train", "val": "val", "test": "test", SERVER: SERVER, "unused": None}
FIX = "re-download or mend the file"
Rows = list[dict[str, Any]]


def _one_word(token: str) -> str:
    # Scorers join tokens by spaces and captions by newlines.
    if token.split() != [token]:
        raise ValueError("it is empty or holds white space")
    return token


Id = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Tokens = Annotated[list[Annotated[str, AfterValidator(_one_word)]], Field(min_length=1)]


class _Sentence(BaseModel):
    model_config = ConfigDict(strict=True)
    sentid: Id
    raw: str
    tokens: Tokens


class _Image(BaseModel):
    model_config = ConfigDict(strict=True)
    imgid: Id
    filename: str
    filepath: str = ""
    cocoid: Id | None = None
    split: Literal["train", "restval", "val", "test", "server", "unused"]
    sentences: list[_Sentence]


class _File(BaseModel):
    model_config = ConfigDict(strict=True)
    images: list[_Image]


def read(root: Path, name: str) -> tuple[Rows, Rows]:
    """Reads captions and splits, and checks that every image exists (images are not decoded).

    Captions become one line (2,296 of COCO's 616,767 have line breaks), tokens lower-case. Only images of the split
    "server" may have no captions: those of COCO's test2014 are not public. `root` has the images (see `ImageSource`);
    COCO's key `filepath` (train2014, val2014) is a subfolder of it.

    Returns rows of `schemas.IMAGES` and of `schemas.REFERENCES`, in the file's order. An `InputError` names the first
    image that is missing or whose record is wrong.
    """
    path = root / f"dataset_{name}.json"
    if not path.is_file():
        raise InputError(path, "does not exist", "put Karpathy's JSON file there, or set the dataset's root")
    try:
        file = _File.model_validate(read_json(path))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "content"
        raise InputError(path, f"{where} is {first['input']!r:.60} ({first['msg']})", FIX) from None
    images, references = _rows(path, file.images)
    for split in SPLITS:
        if not any(image["split"] == split for image in images):
            raise InputError(path, f"has no {split} image", "use a file with train, val and test images")
    source = ImageSource(root)
    missing = source.missing([image["file"] for image in images])
    if missing:
        problem = f"{len(missing)} of {len(images)} images are missing, first {missing[0]!r}"
        raise InputError(source.path, problem, "restore them")
    return images, references


def _rows(path: Path, records: list[_Image]) -> tuple[Rows, Rows]:
    images: Rows = []
    references: Rows = []
    seen: set[tuple[str, Any]] = set()
    for position, image in enumerate(records):
        file = f"{image.filepath}/{image.filename}" if image.filepath else image.filename
        where, parts = f"image {position} (imgid {image.imgid}, {file!r})", relative_parts(file)
        if parts is None:
            raise InputError(path, f"{where}: file name {file!r} leaves the folder", FIX)
        split = SPLIT_OF[image.split]
        if not image.sentences and split != SERVER:
            raise InputError(path, f"{where} has no sentences", "give it a caption or drop the image")
        # With two ids, one image could be in training and in test.
        keys = [("imgid", image.imgid), ("file", "/".join(parts)), *(("sentid", s.sentid) for s in image.sentences)]
        keys += [("cocoid", image.cocoid)] if image.cocoid is not None else []
        for key in keys:
            if key in seen:
                raise InputError(path, f"{where}: {key[0]} {key[1]!r} occurs twice", FIX)
            seen.add(key)
        if split is None:
            continue
        images.append({"item": image.imgid, "split": split, "file": file, "coco_id": image.cocoid})
        for sentence in image.sentences:
            text, tokens = " ".join(sentence.raw.split()), [token.lower() for token in sentence.tokens]
            row = {"item": image.imgid, "split": split, "caption_id": sentence.sentid, "text": text, "tokens": tokens}
            references.append(row)
    return images, references
