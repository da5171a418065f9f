"""TGIF's layout, also that of generated clips: a table of urls and captions, lists of urls, and the clips.

Li et al., "TGIF: A new dataset and benchmark on animated GIF description", CVPR 2016.
"""

from pathlib import Path

from seqcap.data.frames import ClipSource
from seqcap.data.images import relative_parts
from seqcap.data.karpathy import Rows
from seqcap.data.text import lines
from seqcap.data.tokenizer import tokenize
from seqcap.errors import InputError
from seqcap.files.schemas import SPLITS

CAPTIONS_FILE, SPLITS_FOLDER = "tgif-v1.0.tsv", "splits"
FIX = "re-download or mend the file"


def read(root: Path) -> tuple[Rows, Rows]:
    """Reads captions and splits, and checks that every clip exists (clips are not decoded).

    `root` has `tgif-v1.0.tsv` (a url, a tab and a caption a line), `splits/train.txt`, `val.txt` and `test.txt` (a url
    a line), and the clips (see `ClipSource`), named like the ends of the urls. A url may have any number of captions:
    TGIF has one in training and validation and three in test. COCO's tokeniser gives their words. Clips of no split are
    left out.

    Returns rows of `schemas.IMAGES` and of `schemas.REFERENCES`, in the table's order. An item's id counts the table's
    urls, a caption's id its lines, both from 0. An `InputError` names the first wrong line or missing clip.
    """
    captions = _captions(root / CAPTIONS_FILE)
    split_of = _splits(root / SPLITS_FOLDER, captions)
    clips: Rows = []
    references: Rows = []
    urls: dict[str, str] = {}
    for item, (url, told) in enumerate(captions.items()):
        if url not in split_of:
            continue
        file = _file(root / CAPTIONS_FILE, url)
        if file in urls:
            problem = f"urls {urls[file]!r} and {url!r} name the same clip {file!r}"
            raise InputError(root / CAPTIONS_FILE, problem, "keep one of them")
        urls[file] = url
        clips.append({"item": item, "split": split_of[url], "file": file, "coco_id": None})
        references += [{"item": item, "split": split_of[url], **caption} for caption in told]
    source = ClipSource(root, 1)
    missing = source.missing([clip["file"] for clip in clips])
    if missing:
        problem = f"{len(missing)} of {len(clips)} clips are missing, first {missing[0]!r}"
        raise InputError(source.path, problem, f"restore them, or take their urls out of {SPLITS_FOLDER}/")
    return clips, references


def _captions(path: Path) -> dict[str, Rows]:
    found: dict[str, Rows] = {}
    for number, line in enumerate(lines(path)):
        where = f"line {number + 1}"
        url, tab, caption = line.partition("\t")
        if not tab or "\t" in caption:
            raise InputError(path, f"{where} has {line.count(chr(9))} tabs, not one", FIX)
        if not url.strip():
            raise InputError(path, f"{where} has no url", FIX)
        text = " ".join(caption.split())
        tokens = tokenize(text)
        if not tokens:
            raise InputError(path, f"{where}: {url!r} has no words in its caption", "give it words or drop the line")
        found.setdefault(url.strip(), []).append({"caption_id": number, "text": text, "tokens": tokens})
    return found


def _splits(folder: Path, captions: dict[str, Rows]) -> dict[str, str]:
    found: dict[str, str] = {}
    for split in SPLITS:
        path = folder / f"{split}.txt"
        urls = [line.strip() for line in lines(path)]
        if not urls:
            raise InputError(path, "is empty", "name at least one clip of each split")
        for number, url in enumerate(urls):
            where = f"line {number + 1}: url {url!r}"
            if url in found:
                raise InputError(path, f"{where} is there twice, before in {found[url]}.txt", "keep one of them")
            if url not in captions:
                raise InputError(path, f"{where} has no caption in {CAPTIONS_FILE}", "give it one, or drop the line")
            found[url] = split
    return found


def _file(path: Path, url: str) -> str:
    name = url.rpartition("/")[2].removesuffix(".gif")
    if relative_parts(name) != (name,):
        raise InputError(path, f"url {url!r} does not end in a file's name", FIX)
    return f"{name}.gif"
